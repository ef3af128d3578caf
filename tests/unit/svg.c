/* Charts with awkward numbers and names: where every text ends up, and what is drawn. */
#include "tests/unit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/svg.h"

enum { WIDTH = 760, HEIGHT = 440, TEXTS_MAX = 128 };

typedef struct {
	double x0, y0, x1, y1;
	char words[200];
} box;

/* Characters on the screen: an entity is one. */
static size_t shown(const char *s, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++, count++)
		if (s[i] == '&')
			i += strcspn(s + i, ";");
	return count;
}

/* Boxes of the texts of one chart; 0.64 em is the mean advance of DejaVu Sans, a wide face. */
static size_t boxes(box *out, const char *svg)
{
	size_t n = 0;

	for (const char *p = svg; (p = strstr(p, "<text")); p++) {
		const char *end = strchr(p, '>'), *close = strstr(p, "</text>");
		const char *x = strstr(p, " x=\""), *y = strstr(p, " y=\"");
		double size = strncmp(p + 6, "class=\"title\"", 13) == 0 ? 15 : 12, wide, left;
		const char *anchor = strstr(p, "text-anchor=\"");

		assert_true(n < TEXTS_MAX && end && close && x && x < end && y && y < end);
		wide = 0.64 * size * (double)shown(end + 1, (size_t)(close - end - 1));
		left = strtod(x + 4, NULL);
		if (anchor && anchor < end)
			left -= anchor[13] == 'e' ? wide : anchor[13] == 'm' ? wide / 2 : 0;
		out[n].x0 = left;
		out[n].x1 = left + wide;
		out[n].y0 = strtod(y + 4, NULL) - 0.8 * size;
		out[n].y1 = strtod(y + 4, NULL) + 0.25 * size;
		snprintf(out[n++].words, sizeof out->words, "%.*s", (int)(close - end - 1),
		         end + 1);
	}
	return n;
}

static void check(const mla_chart *c)
{
	box b[TEXTS_MAX];
	char *svg = NULL;
	size_t size, n;
	FILE *f = open_memstream(&svg, &size);

	mla_svg_write(f, c, 1);
	fclose(f);
	assert_null(strstr(svg, "nan"));
	assert_null(strstr(svg, "inf"));
	n = boxes(b, svg);
	for (size_t i = 0; i < n; i++) {
		if (b[i].x0 < 0 || b[i].x1 > WIDTH || b[i].y0 < 0 || b[i].y1 > HEIGHT)
			fail_msg("\"%s\" leaves the frame", b[i].words);
		for (size_t k = 0; k < i; k++)
			if (b[i].x0 < b[k].x1 && b[k].x0 < b[i].x1 && b[i].y0 < b[k].y1 &&
			    b[k].y0 < b[i].y1)
				fail_msg("\"%s\" lies on \"%s\"", b[i].words, b[k].words);
	}
	free(svg);
}

static void add(mla_chart *c, uint32_t series, double x, double y)
{
	mla_vec_push(&c->series[series].points, ((mla_chart_point){x, y, y * 0.9, y * 1.1}));
}

static void with_range(double x0, double x1, double y0, double y1)
{
	mla_chart c = {.x_label = "queries in a step", .n_series = 2, .n_marks = 2};

	snprintf(
		c.title, sizeof c.title, "%s",
		"1048576 cached positions: 4096/256/128/256, 65536 heads, metal (a device with <&> "
		"and a name that is long indeed)");
	snprintf(c.y_label, sizeof c.y_label, "%s",
	         "milliseconds, median; bars from quartile to quartile; both axes logarithmic");
	c.series[0].name = "materialised";
	c.series[1].name = "absorbed";
	c.mark[0].x = x0;
	c.mark[1].x = x1;
	snprintf(c.mark[0].label, sizeof c.mark[0].label, "threshold %.0f for this length", x0);
	snprintf(c.mark[1].label, sizeof c.mark[1].label, "threshold %.0f for any length", x1);
	for (int i = 0; i <= 8; i++) {
		double t = i / 8.0;

		add(&c, 0, x0 * pow(x1 / x0, t), y0 * pow(y1 / y0, t));
		add(&c, 1, x0 * pow(x1 / x0, t), y1 * pow(y0 / y1, t));
	}
	check(&c);
	mla_vec_free(&c.series[0].points);
	mla_vec_free(&c.series[1].points);
}

static void texts_keep_apart(void **state)
{
	static const double ranges[][4] = {
		{1, 758, 0.5, 2000},       {1, 2, 1, 1},           {379, 379, 3, 3.1},
		{512, 1048576, 1e-5, 1e6}, {1, 65536, 0.99, 1.01}, {3, 5, 9.99, 10.01},
		{100, 127, 1e-9, 1e-9},    {1, 1, 1e9, 1e9},
	};

	(void)state;
	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		with_range(ranges[i][0], ranges[i][1], ranges[i][2], ranges[i][3]);
}

/* A difference of two medians can be 0 or less, which a logarithmic axis has no place for. */
static void what_cannot_be_drawn(void **state)
{
	mla_chart c = {.title = "t", .x_label = "x", .y_label = "y", .n_series = 1};
	char *svg = NULL;
	size_t size;
	FILE *f;

	(void)state;
	c.series[0].name = "stock";
	add(&c, 0, 1, 0);
	add(&c, 0, 2, -3);
	add(&c, 0, 4, NAN);
	check(&c);
	f = open_memstream(&svg, &size);
	mla_svg_write(f, &c, 1);
	fclose(f);
	assert_non_null(strstr(svg, "nothing measured that can be drawn"));
	assert_null(strstr(svg, "<rect class=\"f0\""));
	free(svg);
	add(&c, 0, 8, 5);
	check(&c);
	mla_vec_free(&c.series[0].points);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_keep_apart),
		cmocka_unit_test(what_cannot_be_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
