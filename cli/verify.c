/*
 * The verify verb. Until methods are executed from their source, it runs the generic tails at each
 * site's geometry and says so: no site is verified by them.
 */
#include "cli/verify.h"

#include "cli/report.h"
#include "cli/verbs.h"

const char *mla_verdict_name(mla_verdict_kind v)
{
	return v == MLA_VERIFIED ? "verified" : v == MLA_REJECTED ? "rejected" : "unverified";
}

static uint32_t size_or(const mla_number *n, uint32_t usual, mla_source *source)
{
	bool usable = n->known == MLA_IS_INT && n->value >= 0 && n->value <= MLA_DIM_MAX;
	mla_source from = usable ? n->source : MLA_SOURCE_ASSUMED;

	if (from > *source)
		*source = from;
	return usable ? (uint32_t)n->value : usual;
}

/* What the source leaves open is taken as 512/128/64/128, the most common sizes. */
static void geometry_of(mla_verdict *v, const mla_latent *l)
{
	v->source = MLA_SOURCE_FILE;
	v->geometry.rank = size_or(&l->rank.number, 512, &v->source);
	v->geometry.nope = size_or(&l->nope.number, 128, &v->source);
	v->geometry.rope = size_or(&l->rope, 64, &v->source);
	v->geometry.value = size_or(&l->value.number, 128, &v->source);
}

static bool same_geometry(const mla_geometry *a, const mla_geometry *b)
{
	return a->rank == b->rank && a->nope == b->nope && a->rope == b->rope &&
	       a->value == b->value;
}

/* Sites of one geometry share the numbers. */
static int run_tails(mla_verdict *v, mla_verdicts *all, mla_form form)
{
	enum { SEED = 1, CACHE_LEN = 8192 };
	mla_tail_check_options options = {.geometry = v->geometry, .seed = SEED};
	mla_tail_check *t;
	int error;

	for (uint32_t i = 0; i < all->v.n; i++)
		if (all->v.v[i].tails && same_geometry(&all->v.v[i].geometry, &v->geometry)) {
			v->tails = all->v.v[i].tails;
			return 0;
		}
	options.cache_len = form == MLA_FORM_CACHE_LENGTH ? CACHE_LEN : 0;
	t = mla_arena_alloc(all->arena, sizeof(*t));
	error = mla_tail_check_run(t, &options);
	if (error == MLA_ELIMIT) {
		snprintf(v->reason, sizeof(v->reason), "%s", mla_error_last());
		return 0;
	}
	if (error < 0)
		return error;
	v->tails = t;
	if (!t->passes)
		return mla_error(MLA_EBUG, "the engine's own tails disagree at %u/%u/%u/%u",
		                 v->geometry.rank, v->geometry.nope, v->geometry.rope,
		                 v->geometry.value);
	return 0;
}

static int verify_site(mla_verdicts *out, const mla_scan_tree *t, const mla_fix *fix, mla_form form)
{
	mla_verdict v = {.tree = t, .site = fix->site, .fix = fix};
	int error;

	geometry_of(&v, &fix->site->latent);
	if ((error = mla_geometry_check(&v.geometry)) < 0) {
		snprintf(v.reason, sizeof(v.reason), "%s", mla_error_last());
		mla_vec_push(&out->v, v);
		return 0;
	}
	v.threshold = mla_geometry_threshold(&v.geometry, 0);
	if (!fix->edits.n)
		snprintf(v.reason, sizeof(v.reason), "no fix: %.*s", (int)fix->refusal.len,
		         fix->refusal.ptr);
	else
		snprintf(v.reason, sizeof(v.reason), "arms not replayed");
	error = run_tails(&v, out, form);
	mla_vec_push(&out->v, v);
	return error;
}

int mla_verify_sites(mla_verdicts *out, const mla_scan *s)
{
	int error = 0;

	*out = (mla_verdicts){.arena = s->arena};
	for (uint32_t i = 0; i < s->trees.n; i++)
		for (uint32_t k = 0; k < s->trees.v[i].fixes.n && error == 0; k++)
			if (s->trees.v[i].fixes.v[k]->site)
				error = verify_site(out, &s->trees.v[i], s->trees.v[i].fixes.v[k],
				                    s->options->form);
	return error;
}

static int status_of(const mla_scan *s, const mla_verdicts *v)
{
	if (mla_scan_incomplete(s))
		return MLA_EXIT_NO_VERDICT;
	for (uint32_t i = 0; i < v->v.n; i++)
		if (v->v.v[i].verdict == MLA_REJECTED && !s->options->exit_zero)
			return MLA_EXIT_FINDINGS;
	return MLA_EXIT_CLEAN;
}

int mla_verb_verify(const mla_options *o)
{
	FILE *to = mla_output_open(o);
	mla_verdicts v = {0};
	mla_scan s;
	int error, status;

	if (!to)
		return MLA_EXIT_NO_VERDICT;
	error = mla_scan_run(&s, o);
	if (error == 0)
		error = mla_verify_sites(&v, &s);
	if (error < 0) {
		status = mla_fail();
	} else {
		if (o->format == MLA_FORMAT_JSON)
			mla_verify_json(to, &v);
		else
			mla_verify_text(to, &v);
		status = status_of(&s, &v);
	}
	fflush(to);
	if (!o->quiet && error == 0)
		mla_report_summary(stderr, &s);
	mla_vec_free(&v.v);
	mla_scan_free(&s);
	return mla_output_close(o, to, status);
}
