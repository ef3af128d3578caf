/* Reading a report of bench back. It is a file of the user's: nothing in it is taken on trust. */
#include "cli/bench.h"

#include "analyzer/str.h"
#include "cli/json.h"

#include <math.h>

enum { POINTS_MAX = MLA_BENCH_LENGTHS_MAX * (MLA_BENCH_WIDTHS_MAX + 2) * 2 };

static bool text_is(json_t *o, const char *key, const char *text)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s && strcmp(s, text) == 0;
}

static bool integer(uint32_t *out, json_t *o, const char *key, json_int_t max)
{
	json_t *v = json_object_get(o, key);
	json_int_t n = json_integer_value(v);

	*out = 0;
	if (!json_is_integer(v) || n < 1 || n > max)
		return false;
	*out = (uint32_t)n;
	return true;
}

static bool milliseconds(double *out, json_t *side, const char *key)
{
	json_t *v = json_object_get(side, key);

	*out = json_number_value(v);
	return json_is_number(v) && *out >= 1e-9 && *out <= 1e9;
}

static bool read_side(mla_bench_point *p, unsigned i, json_t *side)
{
	mla_bench_stats *s = &p->ms[i];

	for (int arm = 0; arm < MLA_BENCH_ARMS; arm++)
		if (text_is(side, "arm", mla_bench_arm_name((mla_bench_arm)arm))) {
			p->arm[i] = (mla_bench_arm)arm;
			return integer(&s->n, side, "samples", 1 << 20) &&
			       integer(&p->times[i], side, "repeats", 1 << 20) &&
			       milliseconds(&s->median, side, "median_ms") &&
			       milliseconds(&s->min, side, "min_ms") &&
			       milliseconds(&s->q1, side, "q1_ms") &&
			       milliseconds(&s->q3, side, "q3_ms") &&
			       milliseconds(&s->max, side, "max_ms");
		}
	return false;
}

static bool read_paired(mla_bench_paired *out, json_t *o, const char *name, const char *unit)
{
	char key[MLA_BENCH_KEY];

	for (uint32_t i = 0; i < MLA_BENCH_FIELDS; i++) {
		const mla_bench_field *f = &mla_bench_fields[i];
		json_t *v;

		snprintf(key, sizeof key, "%s%s%s", name, f->key, unit);
		v = json_object_get(o, key);
		if (!json_is_number(v) || !(fabs(json_number_value(v)) <= 1e18))
			return false;
		*(double *)((char *)out + f->at) = json_number_value(v);
	}
	return true;
}

/* Ratios are of times, so above 0; a difference is of the second query alone. */
static bool read_pairs(mla_bench_point *p, json_t *o)
{
	p->ratio.stats.n = p->more.stats.n = p->ms[0].n;
	return read_paired(&p->ratio, o, "ratio", "") && p->ratio.stats.min > 0 &&
	       p->ratio.low > 0 && p->ratio.stats.median > 0 &&
	       (!mla_bench_second(p) || read_paired(&p->more, o, "difference", "_ms"));
}

static int read_points(mla_bench_report *out, json_t *list, const char *path)
{
	size_t n = json_array_size(list);

	if (!json_is_array(list) || n == 0 || n > POINTS_MAX)
		return mla_error(MLA_ECONFIG, "%s: \"points\" is not a list of 1 to %d points",
		                 path, POINTS_MAX);
	out->points = mla_alloc(n * sizeof(*out->points));
	for (size_t i = 0; i < n; i++) {
		json_t *o = json_array_get(list, i);
		mla_bench_point *p = &out->points[i];

		if (!integer(&p->cached, o, "cached", MLA_CACHE_LEN_MAX) ||
		    !integer(&p->width, o, "width", MLA_CACHE_LEN_MAX) ||
		    !read_side(p, 0, json_object_get(o, "stock")) ||
		    !read_side(p, 1, json_object_get(o, "patched")) || !read_pairs(p, o))
			return mla_error(MLA_ECONFIG, "%s: point %zu of \"points\" is not complete",
			                 path, i + 1);
		p->measured = true;
		out->n = (uint32_t)(i + 1);
	}
	return 0;
}

static void read_text(char *out, size_t size, json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	snprintf(out, size, "%s", s ? s : "");
	for (; *out; out++)
		if (*out < 0x20 || *out > 0x7e)
			*out = '?';
}

static bool read_sizes(mla_bench_spec *out, json_t *b)
{
	json_t *g = json_object_get(b, "geometry");
	mla_geometry *to = &out->geometry;

	integer(&to->rope, g, "qk_rope_head_dim", MLA_DIM_MAX); /* 0 for none */
	return integer(&to->rank, g, "kv_lora_rank", MLA_DIM_MAX) &&
	       integer(&to->nope, g, "qk_nope_head_dim", MLA_DIM_MAX) &&
	       integer(&to->value, g, "v_head_dim", MLA_DIM_MAX) &&
	       integer(&out->heads, b, "heads", 1 << 16);
}

static int read_spec(mla_bench_spec *out, json_t *b, const char *path)
{
	int kind = 0;

	while (kind < MLA_BENCH_KINDS && !text_is(b, "kind", mla_bench_kind_name(kind)))
		kind++;
	if (!json_is_object(b) || kind == MLA_BENCH_KINDS)
		return mla_error(MLA_ECONFIG, "%s: not a report of bench (--output-format json)",
		                 path);
	out->kind = (mla_bench_kind)kind;
	if (kind != MLA_BENCH_POOL && !read_sizes(out, b))
		return mla_error(MLA_ECONFIG,
		                 "%s: \"geometry\" or \"heads\" is missing or out of range", path);
	if (kind == MLA_BENCH_SPARSE && !integer(&out->top_k, b, "top_k", MLA_CACHE_LEN_MAX))
		return mla_error(MLA_ECONFIG, "%s: \"top_k\" is missing or out of range", path);
	return 0;
}

static int read_bench(mla_bench_report *out, json_t *b, const char *path)
{
	int error = read_spec(&out->spec, b, path);

	if (error < 0)
		return error;
	read_text(out->backend, sizeof(out->backend), b, "backend");
	read_text(out->note, sizeof(out->note), b, "note");
	integer(&out->threads, b, "threads", 1 << 16); /* none on a GPU */
	if (!integer(&out->effort.samples, b, "samples", MLA_BENCH_SAMPLES_MAX) ||
	    !integer(&out->effort.patience, b, "patience_s", MLA_BENCH_PATIENCE_MAX))
		return mla_error(MLA_ECONFIG,
		                 "%s: \"samples\" or \"patience_s\" is missing or out of range",
		                 path);
	out->interrupted = json_is_true(json_object_get(b, "interrupted"));
	return read_points(out, json_object_get(b, "points"), path);
}

int mla_bench_json_read(mla_bench_report *out, const char *path)
{
	json_t *root;
	int error = mla_json_object_read(&root, path);

	*out = (mla_bench_report){.n = 0};
	if (error < 0)
		return error;
	error = read_bench(out, json_object_get(root, "bench"), path);
	json_decref(root);
	if (error < 0)
		mla_bench_report_free(out);
	return error;
}
