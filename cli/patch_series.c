/* Sorting fixes into commits. */
#include "cli/patch_series.h"

#include "analyzer/str.h"

const mla_finding *mla_series_finding(const mla_series *s, const mla_fix *fix)
{
	for (uint32_t i = 0; i < s->tree->results.n; i++)
		if (s->tree->results.v[i].fix == fix)
			return s->tree->results.v[i].finding;
	return NULL; /* cannot be: fixes are made from findings */
}

const mla_verdict *mla_series_verdict(const mla_series *s, const mla_fix *fix)
{
	for (uint32_t i = 0; i < s->verdicts.v.n; i++)
		if (s->verdicts.v.v[i].fix == fix)
			return &s->verdicts.v.v[i];
	return NULL;
}

static const char *key_of(const mla_series *s, const mla_finding *f)
{
	switch (s->scan->options->split) {
	case MLA_SPLIT_RULE:
		return f->rule->code;
	case MLA_SPLIT_FILE:
		return f->module->path;
	case MLA_SPLIT_NOTHING:
		break;
	}
	return NULL;
}

bool mla_series_concerns(const mla_series *s, const mla_commit *c, const mla_finding *finding)
{
	const char *key = key_of(s, finding);

	return !key || strcmp(key, c->key) == 0;
}

static bool is_known(const mla_series *s, const char *key)
{
	for (uint32_t i = 0; i < s->commits.n; i++)
		if (!key || strcmp(s->commits.v[i].key, key) == 0)
			return true;
	return false;
}

/* Puts the fixes of one commit after the other into `sorted`. */
static void split(mla_series *s, const mla_fix **sorted, const mla_offer *offer)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < offer->n; i++) {
		mla_commit c = {.key = key_of(s, mla_series_finding(s, offer->fix[i])),
		                .fix = sorted + at};

		if (is_known(s, c.key))
			continue;
		for (uint32_t k = i; k < offer->n; k++)
			if (mla_series_concerns(s, &c, mla_series_finding(s, offer->fix[k])))
				sorted[at++] = offer->fix[k];
		c.n = (uint32_t)(sorted + at - c.fix);
		mla_vec_push(&s->commits, c);
	}
}

/* Every commit of a series has to leave sources behind, not only the last. */
static int make_changes(mla_series *s, const mla_fix *const *sorted, mla_python *python)
{
	mla_arena *arena = s->scan->arena;
	uint32_t n = 0;
	int error = 0;

	for (uint32_t i = 0; i < s->commits.n && error == 0; i++) {
		mla_commit *c = &s->commits.v[i];
		bool *applied = mla_arena_array(arena, n + c->n, sizeof(*applied));

		n += c->n;
		mla_apply(&c->changes, applied, arena, sorted, n);
		for (uint32_t k = 0; k < n && error == 0; k++)
			if (!applied[k])
				error = mla_error(MLA_EBUG,
				                  "two fixes of a patch exclude each other");
		for (uint32_t k = 0; k < c->changes.n && error == 0; k++)
			error = mla_change_check(&c->changes.v[k], python);
	}
	return error;
}

int mla_series_make(mla_series *out, mla_scan *scan)
{
	const mla_fix **sorted;
	mla_python *python;
	mla_offer offer;
	int error;

	*out = (mla_series){.scan = scan, .tree = &scan->trees.v[0]};
	if ((error = mla_offer_judge(&out->verdicts, scan)) < 0 ||
	    (error = mla_offer_make(&offer, scan, out->tree)) < 0 ||
	    (error = mla_python_new(&python)) < 0)
		return error;
	sorted = mla_arena_array(scan->arena, offer.n, sizeof(*sorted));
	out->waiting = offer.waiting;
	split(out, sorted, &offer);
	error = make_changes(out, sorted, python);
	mla_python_free(python);
	if (error == 0)
		mla_series_describe(out);
	return error;
}

void mla_series_free(mla_series *s)
{
	mla_vec_free(&s->verdicts.v);
	mla_vec_free(&s->commits);
}
