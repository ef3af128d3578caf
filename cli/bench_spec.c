/* What the command line asks bench to measure. */
#include "cli/bench.h"

#include "analyzer/str.h"
#include "cli/model_config.h"
#include "cli/scan.h"

static int list(uint32_t *out, uint32_t *n, uint32_t max, const char *option, const char *text,
                int64_t largest)
{
	*n = 0;
	for (const char *p = text;; p++) {
		mla_str part = {p, (uint32_t)strcspn(p, ",")};
		int64_t v;

		if (!mla_str_int(&v, part, 1, largest))
			return mla_error(MLA_ECONFIG,
			                 "--%s: '%s' is not a list of integers from 1 to %lld, "
			                 "such as 1,2,4",
			                 option, text, (long long)largest);
		if (*n == max)
			return mla_error(MLA_ECONFIG, "--%s: more than %u numbers", option, max);
		out[(*n)++] = (uint32_t)v;
		p += part.len;
		if (!*p)
			return 0;
	}
}

static bool same_sizes(const mla_geometry *a, const mla_geometry *b)
{
	return a->rank == b->rank && a->nope == b->nope && a->rope == b->rope &&
	       a->value == b->value;
}

/* One geometry of all decisions; `where` is a file that has it. */
static int sole_geometry(mla_geometry *out, const mla_scan *s, const char *path)
{
	const char *where = NULL;

	for (uint32_t i = 0; i < s->trees.n; i++)
		for (uint32_t k = 0; k < s->trees.v[i].sites.n; k++) {
			const mla_site *site = s->trees.v[i].sites.v[k];
			mla_threshold t;

			if (!mla_latent_threshold(&t, &site->latent))
				continue;
			if (!t.rope_known)
				t.geometry.rope = 64; /* of every public model that has one */
			if (where && !same_sizes(out, &t.geometry))
				return mla_error(
					MLA_ECONFIG,
					"%s: %s has %u/%u/%u/%u, %s has %u/%u/%u/%u; name one "
					"file, or give --geometry",
					path, where, out->rank, out->nope, out->rope, out->value,
					site->module->path, t.geometry.rank, t.geometry.nope,
					t.geometry.rope, t.geometry.value);
			*out = t.geometry;
			where = site->module->path;
		}
	if (!where)
		return mla_error(MLA_ECONFIG,
		                 "%s: no choice between the two forms whose sizes are known; give "
		                 "--geometry or --model-config",
		                 path);
	return 0;
}

static int from_sources(mla_geometry *out, const mla_options *o)
{
	mla_scan s;
	int error = mla_scan_run(&s, o);

	if (error == 0)
		error = sole_geometry(out, &s, o->args[0]);
	mla_scan_free(&s);
	return error;
}

static int geometry(mla_geometry *out, const mla_options *o)
{
	mla_settings settings;
	int error;

	if (o->has_geometry + (o->model_config != NULL) + (o->arg_count != 0) != 1 ||
	    o->arg_count > 1)
		return mla_error(MLA_ECONFIG, "bench needs one of --geometry, --model-config and a "
		                              "path");
	if (o->has_geometry) {
		*out = o->geometry;
		return 0;
	}
	if (!o->model_config)
		return from_sources(out, o);
	error = mla_model_config_read(&settings, o->model_config);
	if (error < 0)
		return error;
	error = mla_model_config_geometry(out, &settings, o->model_config);
	mla_model_config_free(&settings);
	return error;
}

int mla_bench_spec_from(mla_bench_spec *out, const mla_options *o)
{
	int error = 0;

	*out = (mla_bench_spec){
		.kind = o->pool    ? MLA_BENCH_POOL
	                : o->top_k ? MLA_BENCH_SPARSE
	                           : MLA_BENCH_ATTENTION,
		.heads = o->heads ? (uint32_t)o->heads : MLA_BENCH_HEADS,
		.top_k = (uint32_t)o->top_k,
	};
	if (o->pool && o->top_k)
		return mla_error(MLA_ECONFIG, "--pool and --sparse-topk exclude each other");
	if (o->pool && (o->has_geometry || o->model_config || o->arg_count))
		return mla_error(MLA_ECONFIG, "--pool does not depend on the sizes of attention; "
		                              "leave out the geometry and the path");
	if (o->widths)
		error = list(out->width, &out->n_widths, MLA_BENCH_WIDTHS_MAX, "widths", o->widths,
		             1 << 16);
	if (error == 0 && o->cached)
		error = list(out->cached, &out->n_cached, MLA_BENCH_LENGTHS_MAX, "cached",
		             o->cached, MLA_CACHE_LEN_MAX);
	return error == 0 && !o->pool ? geometry(&out->geometry, o) : error;
}
