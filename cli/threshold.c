/* The threshold verb: the number, and how it comes about. */
#include "cli/model_config.h"
#include "cli/output.h"
#include "cli/verbs.h"

static int geometry(mla_geometry *g, const mla_options *o)
{
	mla_settings s;
	int error;

	*g = (mla_geometry){0};
	if (o->arg_count)
		return mla_error(MLA_ECONFIG, "threshold takes no argument '%s'", o->args[0]);
	if (o->model_config) {
		if (o->rank >= 0 || o->nope >= 0 || o->value >= 0)
			return mla_error(MLA_ECONFIG, "--model-config excludes --rank, --nope and "
			                              "--value");
		if ((error = mla_model_config_read(&s, o->model_config)) < 0)
			return error;
		error = mla_model_config_geometry(g, &s, o->model_config);
		mla_model_config_free(&s);
		return error;
	}
	if (o->rank < 0 || o->nope < 0 || o->value < 0)
		return mla_error(MLA_ECONFIG, "threshold needs --rank, --nope and --value, or "
		                              "--model-config");
	g->rank = (uint32_t)o->rank;
	g->nope = (uint32_t)o->nope;
	g->value = (uint32_t)o->value;
	return mla_geometry_check(g);
}

static void explain(const mla_geometry *g, int64_t cached)
{
	long long r = g->rank, n = g->nope, v = g->value, d = n + v;
	uint32_t queries = mla_geometry_threshold(g, cached < 0 ? 0 : cached);

	printf("%u\n", queries);
	printf("r = %lld, d = n + v = %lld + %lld = %lld\n", r, n, v, d);
	if (2 * r <= d) {
		printf("2 r = %lld <= d: absorbing never loses on a warm cache; 1 by convention, "
		       "nothing changes\n",
		       2 * r);
		return;
	}
	if (cached > 0)
		printf("floor(r d T / (r d + (2 r - d) T)) = floor(%lld * %lld / (%lld + %lld * "
		       "%lld))\n",
		       r * d, (long long)cached, r * d, 2 * r - d, (long long)cached);
	else
		printf("floor(r d / (2 r - d)) = floor(%lld / %lld): the limit for a long cache; "
		       "--cache-length counts the fold of the queries too\n",
		       r * d, 2 * r - d);
	printf("absorbed: L r d + 2 L T r multiply-adds a head; materialised: T r d + L T d\n");
}

int mla_verb_threshold(const mla_options *o)
{
	mla_geometry g;

	if (geometry(&g, o) < 0)
		return mla_fail();
	explain(&g, o->cache_length);
	return mla_stdout_close(MLA_EXIT_CLEAN);
}
