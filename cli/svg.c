/* The drawing. Sizes are in pixels of a viewer at 100 %. */
#include "cli/svg.h"

#include <math.h>
#include <string.h>

enum {
	WIDTH = 760,
	HEIGHT = 440,
	LEFT = 72, /* of the plot: room for labels such as 0.00005 */
	RIGHT = WIDTH - 28,
	TOP = 88,
	BOTTOM = 372,
	TITLE_Y = 26,
	LABEL_Y = 48,
	LEGEND_Y = 72,
	TICK_Y = BOTTOM + 20,
	X_LABEL_Y = BOTTOM + 44,
	MARK_ROW = 16,
	TICKS_MAX = 48,
};
/* Widest mean advance of a sans-serif face in 12 px (DejaVu Sans), for cutting and spacing. */
static const double ADVANCE = 7.6;

static const char style[] =
	"<style>\n"
	"text{font-family:system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif;"
	"font-size:12px;fill:#1f2328}\n"
	".title{font-size:15px;font-weight:600}\n"
	".dim{fill:#59636e}\n"
	".bg{fill:#ffffff}\n"
	".grid{stroke:#d8dee4;stroke-width:1}\n"
	".axis{stroke:#59636e;stroke-width:1;fill:none}\n"
	".mark{stroke:#59636e;stroke-width:1.5;stroke-dasharray:5 4}\n"
	".halo{paint-order:stroke;stroke:#ffffff;stroke-width:4px;stroke-linejoin:round}\n"
	".line{fill:none;stroke-width:2;stroke-linejoin:round}\n"
	".s0{stroke:#bc4c00}.f0{fill:#bc4c00}\n"
	".s1{stroke:#0969da}.f1{fill:#0969da}\n"
	".s2{stroke:#8250df}.f2{fill:#8250df}\n"
	".s3{stroke:#1a7f37}.f3{fill:#1a7f37}\n"
	"@media (prefers-color-scheme:dark){\n"
	"text{fill:#e6edf3}\n"
	".dim{fill:#9198a1}\n"
	".bg{fill:#0d1117}\n"
	".grid{stroke:#2a313c}\n"
	".axis,.mark{stroke:#9198a1}\n"
	".halo{stroke:#0d1117}\n"
	".s0{stroke:#f0883e}.f0{fill:#f0883e}\n"
	".s1{stroke:#58a6ff}.f1{fill:#58a6ff}\n"
	".s2{stroke:#bc8cff}.f2{fill:#bc8cff}\n"
	".s3{stroke:#3fb950}.f3{fill:#3fb950}\n"
	"}\n"
	"</style>\n";

/* At most `room` pixels of text; what stands for markup is escaped, control characters dropped. */
static void put_text(FILE *to, const char *s, double room)
{
	size_t most = room > 0 ? (size_t)(room / ADVANCE) : 0, n = strlen(s);
	bool cut = n > most;

	for (size_t i = 0; i < n && i + (cut ? 1 : 0) < most; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '&' || c == '<' || c == '>')
			fputs(c == '&' ? "&amp;" : c == '<' ? "&lt;" : "&gt;", to);
		else if (c >= 0x20 && c < 0x7f)
			fputc(c, to);
	}
	if (cut)
		fputs("&#8230;", to);
}

typedef struct {
	double low, high; /* log10 */
	int from, to;     /* pixels */
} scale;

static double at(const scale *s, double value)
{
	return s->from + (log10(value) - s->low) / (s->high - s->low) * (s->to - s->from);
}

static bool drawable(const mla_chart_point *p)
{
	return p->x > 0 && p->y > 0 && isfinite(p->x) && isfinite(p->y);
}

typedef struct {
	double x[2], y[2];
	bool any;
} extent;

static void reach(double range[2], double v)
{
	if (!(v > 0) || !isfinite(v))
		return;
	range[0] = fmin(range[0], v);
	range[1] = fmax(range[1], v);
}

static extent extent_of(const mla_chart *c)
{
	extent e = {{INFINITY, 0}, {INFINITY, 0}, false};

	for (uint32_t i = 0; i < c->n_series; i++)
		for (uint32_t k = 0; k < c->series[i].points.n; k++) {
			const mla_chart_point *p = &c->series[i].points.v[k];

			if (!drawable(p))
				continue;
			e.any = true;
			reach(e.x, p->x);
			reach(e.y, p->y);
			reach(e.y, p->low);
			reach(e.y, p->high);
		}
	for (uint32_t i = 0; i < c->n_marks && e.any; i++)
		reach(e.x, c->mark[i].x);
	return e;
}

/* 1, 2, 5, 10, ... times a power of ten: the largest such number up to `value`, or the next. */
static double nice(double value, bool up)
{
	static const double steps[] = {1, 2, 5, 10};
	double power = pow(10, floor(log10(value)));

	for (int i = 0; i < 3; i++)
		if (value <= power * steps[up ? i : i + 1] * (1 + 1e-9) &&
		    (up || value < power * steps[i + 1] * (1 - 1e-9)))
			return power * steps[i];
	return power * 10;
}

static uint32_t y_ticks(double out[TICKS_MAX], double low, double high)
{
	static const double steps[] = {1, 2, 5};
	bool fine = log10(high / low) <= 3.5;
	uint32_t n = 0;

	for (int e = (int)floor(log10(low) + 1e-9); n < TICKS_MAX - 2; e++)
		for (int i = 0; i < (fine ? 3 : 1); i++) {
			double v = steps[i] * pow(10, e);

			if (v > high * (1 + 1e-9))
				return n;
			if (v >= low * (1 - 1e-9))
				out[n++] = v;
		}
	return n;
}

/* Powers of two, every one or as many as there is room for. */
static uint32_t x_ticks(double out[TICKS_MAX], double low, double high)
{
	double first = ceil(log2(low) - 1e-9), last = floor(log2(high) + 1e-9);
	double step = fmax(1, ceil((last - first) / 12));
	uint32_t n = 0;

	for (double e = first; e <= last && n < TICKS_MAX; e += step)
		out[n++] = exp2(e);
	if (n == 0)
		out[n++] = low;
	return n;
}

static void y_axis(FILE *to, const scale *y)
{
	double tick[TICKS_MAX];
	uint32_t n = y_ticks(tick, pow(10, y->low), pow(10, y->high));

	for (uint32_t i = 0; i < n; i++) {
		double v = at(y, tick[i]);

		fprintf(to, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
		        LEFT, RIGHT, v, v);
		fprintf(to,
		        "<text class=\"dim\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%g</text>\n",
		        LEFT - 8, v + 4, tick[i]);
	}
}

static void x_axis(FILE *to, const mla_chart *c, const scale *x, const double range[2])
{
	double tick[TICKS_MAX];
	uint32_t n = x_ticks(tick, range[0], range[1]);

	for (uint32_t i = 0; i < n; i++) {
		double v = at(x, tick[i]);

		fprintf(to, "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n",
		        v, v, BOTTOM, BOTTOM + 5);
		fprintf(to,
		        "<text class=\"dim\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%.0f"
		        "</text>\n",
		        v, TICK_Y, tick[i]);
	}
	fprintf(to, "<text text-anchor=\"middle\" x=\"%d\" y=\"%d\">", (LEFT + RIGHT) / 2,
	        X_LABEL_Y);
	put_text(to, c->x_label, RIGHT - LEFT);
	fputs("</text>\n", to);
}

/* The shape of a point, so that lines can be told apart without their colours. */
static void shape(FILE *to, uint32_t i, double x, double y)
{
	if (i == 0)
		fprintf(to, "<rect class=\"f0\" x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\"/>\n",
		        x - 4, y - 4);
	else if (i == 1)
		fprintf(to, "<circle class=\"f1\" cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\"/>\n", x, y);
	else
		fprintf(to, "<path class=\"f%u\" d=\"M%.1f %.1fl5 %dl-10 0z\"/>\n", i, x,
		        i == 2 ? y - 5 : y + 5, i == 2 ? 9 : -9);
}

static void series(FILE *to, const mla_chart_series *s, uint32_t i, const scale *x, const scale *y)
{
	bool first = true;

	fprintf(to, "<path class=\"line s%u\" d=\"", i);
	for (uint32_t k = 0; k < s->points.n; k++) {
		const mla_chart_point *p = &s->points.v[k];

		if (!drawable(p))
			continue;
		fprintf(to, "%s%.1f %.1f", first ? "M" : "L", at(x, p->x), at(y, p->y));
		first = false;
	}
	fputs("\"/>\n", to);
	for (uint32_t k = 0; k < s->points.n; k++) {
		const mla_chart_point *p = &s->points.v[k];

		if (!drawable(p))
			continue;
		if (p->low > 0 && p->high > p->low)
			fprintf(to,
			        "<line class=\"line s%u\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
			        "y2=\"%.1f\"/>\n",
			        i, at(x, p->x), at(x, p->x), at(y, p->low), at(y, p->high));
		shape(to, i, at(x, p->x), at(y, p->y));
	}
}

/* A row of its own for each label, on the side of its line where there is more room. */
static void marks(FILE *to, const mla_chart *c, const scale *x)
{
	for (uint32_t i = 0; i < c->n_marks; i++) {
		double v = at(x, c->mark[i].x);
		bool left = v > (LEFT + RIGHT) / 2.0;

		fprintf(to, "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n",
		        v, v, TOP, BOTTOM);
		fprintf(to, "<text class=\"halo\" text-anchor=\"%s\" x=\"%.1f\" y=\"%u\">",
		        left ? "end" : "start", left ? v - 7 : v + 7, TOP + 14 + i * MARK_ROW);
		put_text(to, c->mark[i].label, (left ? v - LEFT : RIGHT - v) - 7);
		fputs("</text>\n", to);
	}
}

static void legend(FILE *to, const mla_chart *c)
{
	double step = (RIGHT - LEFT) / (double)(c->n_series ? c->n_series : 1), x = LEFT + 8;

	for (uint32_t i = 0; i < c->n_series; i++) {
		double room = step - 24, wide = ADVANCE * (double)strlen(c->series[i].name);

		shape(to, i, x, LEGEND_Y - 4);
		fprintf(to, "<text x=\"%.1f\" y=\"%d\">", x + 12, LEGEND_Y);
		put_text(to, c->series[i].name, room);
		fputs("</text>\n", to);
		x += 40 + fmin(room, wide);
	}
}

static void chart(FILE *to, const mla_chart *c, uint32_t row)
{
	extent e = extent_of(c);

	fprintf(to, "<g transform=\"translate(0 %u)\">\n<text class=\"title\" x=\"16\" y=\"%d\">",
	        row * HEIGHT, TITLE_Y);
	put_text(to, c->title, (WIDTH - 32) * 12.0 / 16.0);
	fprintf(to, "</text>\n<text class=\"dim\" x=\"16\" y=\"%d\">", LABEL_Y);
	put_text(to, e.any ? c->y_label : "nothing measured that can be drawn", WIDTH - 32);
	fputs("</text>\n", to);
	if (e.any) {
		/* Points stay off the frame and, as far as it goes, out of the rows of labels; one
		 * x alone still makes a scale. */
		double wide = e.x[1] > e.x[0] ? 1.15 : 2;
		scale x = {log10(e.x[0] / wide), log10(e.x[1] * wide), LEFT, RIGHT};
		scale y = {log10(nice(e.y[0] / 1.1, false)), log10(nice(e.y[1] * 1.6, true)),
		           BOTTOM, TOP};

		if (y.high <= y.low)
			y.high = y.low + 1;
		legend(to, c);
		y_axis(to, &y);
		x_axis(to, c, &x, e.x);
		fprintf(to, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>\n", LEFT, TOP, BOTTOM,
		        RIGHT);
		for (uint32_t i = 0; i < c->n_series; i++)
			series(to, &c->series[i], i, &x, &y);
		marks(to, c, &x);
	}
	fputs("</g>\n", to);
}

void mla_svg_write(FILE *to, const mla_chart *charts, uint32_t n)
{
	fprintf(to,
	        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
	        "viewBox=\"0 0 %d %u\" role=\"img\">\n<title>",
	        WIDTH, n * HEIGHT, WIDTH, n * HEIGHT);
	if (n)
		put_text(to, charts[0].title, 1000);
	fprintf(to, "</title>\n%s<rect class=\"bg\" x=\"0\" y=\"0\" width=\"%d\" height=\"%u\"/>\n",
	        style, WIDTH, n * HEIGHT);
	for (uint32_t i = 0; i < n; i++)
		chart(to, &charts[i], i);
	fputs("</svg>\n", to);
}
