/* Verdicts of pools: their cases as a table and in the machine format. */
#include "cli/verify_pool.h"

#include "analyzer/str.h"
#include "cli/json.h"

#include <limits.h>

static uint32_t line_of(const mla_pool *p, const mla_node *n)
{
	return mla_text_line(p->module->text, n->span.start);
}

/* The lines of its tests; the gate's own where it has only one. */
static uint32_t lines_of(uint32_t line[2], const mla_pool *p)
{
	line[0] = line_of(p, p->gate);
	line[1] = p->single ? line_of(p, p->single) : line[0];
	return line[0] == line[1] ? 1 : 2;
}

/* One line for a number of new tokens: most of its cases follow a trim, and pool everything. */
static void put_cases(FILE *to, const mla_pool_verdict *r)
{
	if (r->case_count)
		fprintf(to,
		        "  the method after the fix against pooling from scratch: f32\n"
		        "  %5s %6s %6s %12s %14s %6s\n",
		        "width", "cases", "cached", "after a trim", "windows pooled", "ULP");
	for (uint32_t i = 0; i < r->case_count; i++) {
		uint32_t width = r->cases[i].width, n = 0, trims = 0, longest = 0, windows = 0;
		uint32_t scratch = 0;
		double ulp = 0;
		bool known = false;

		for (uint32_t k = 0; k < i; k++)
			known |= r->cases[k].width == width;
		for (uint32_t k = i; k < r->case_count && !known; k++) {
			const mla_pool_case *c = &r->cases[k];

			if (c->width != width)
				continue;
			n++;
			trims += c->trimmed != 0;
			ulp = c->ulp > ulp ? c->ulp : ulp;
			if (c->trimmed || c->cached < longest)
				continue;
			longest = c->cached;
			windows = c->windows;
			scratch = c->scratch;
		}
		if (!known)
			fprintf(to, "  %5u %6u %6u %12u %5u of %5u %6.2f\n", width, n, longest,
			        trims, windows, scratch, ulp);
	}
}

void mla_verify_pool_text(FILE *to, const mla_verdict *v)
{
	const mla_pool *p = v->fix->pool;
	const mla_pool_verdict *r = &v->pool;
	uint32_t line[2], n = lines_of(line, p);
	char path[PATH_MAX];

	mla_file_display(path, sizeof(path), v->tree->tree, p->module->path);
	fprintf(to, "%s: %.*s, line%s %u", path, MLA_ARG(p->symbol), n > 1 ? "s" : "", line[0]);
	if (n > 1)
		fprintf(to, ", %u", line[1]);
	fprintf(to, "\n  pool of indexer keys\n  verdict: %s%s%s\n", mla_outcome_name(r->outcome),
	        r->reason[0] ? ": " : "", r->reason);
	if (!v->fix->edits.n)
		fprintf(to, "  no fix: %.*s\n", MLA_ARG(v->fix->refusal));
	put_cases(to, r);
}

static json_t *one_case(const mla_pool_case *c)
{
	json_t *o = json_object();

	mla_json_put(o, "width", json_integer(c->width));
	mla_json_put(o, "cached", json_integer(c->cached));
	mla_json_put(o, "trimmed", json_integer(c->trimmed));
	mla_json_put(o, "batch", json_integer(c->batch));
	mla_json_put(o, "padding", json_integer(c->invalid));
	mla_json_put(o, "windows", json_integer(c->windows));
	mla_json_put(o, "windows_from_scratch", json_integer(c->scratch));
	mla_json_put(o, "window", json_integer(c->window));
	mla_json_put(o, "ulp", json_real(c->ulp));
	return o;
}

json_t *mla_verify_pool_json(const mla_verdict *v)
{
	const mla_pool *p = v->fix->pool;
	json_t *o = json_object(), *lines = json_array(), *cases = json_array();
	uint32_t line[2], n = lines_of(line, p);

	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(lines, json_integer(line[i]));
	for (uint32_t i = 0; i < v->pool.case_count; i++)
		json_array_append_new(cases, one_case(&v->pool.cases[i]));
	mla_json_put(o, "code", mla_json_z(p->single ? "MLA101" : "MLA102"));
	mla_json_put(o, "path", mla_json_z(p->module->path));
	mla_json_put(o, "symbol", mla_json_text(p->symbol));
	mla_json_put(o, "lines", lines);
	mla_json_put(o, "geometry", json_null());
	mla_json_put(o, "threshold", json_null());
	mla_json_put(o, "verdict", mla_json_z(mla_outcome_name(v->pool.outcome)));
	mla_json_put(o, "reason", v->pool.reason[0] ? mla_json_z(v->pool.reason) : json_null());
	mla_json_put(o, "notes", json_array());
	mla_json_put(o, "cases", cases);
	mla_json_put(o, "counts", json_null());
	return o;
}
