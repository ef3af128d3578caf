/* Verdicts onto fixes, and the changes of those that are offered. Writes nothing. */
#include "cli/offer.h"

#include "analyzer/str.h"
#include "cli/report.h"
#include "cli/verbs.h"

static void take_verdict(mla_fix *f, const mla_site_verdict *v, mla_arena *arena)
{
	f->applicability = v->outcome == MLA_VERIFIED   ? MLA_FIX_SAFE
	                   : v->outcome == MLA_REJECTED ? MLA_FIX_REJECTED
	                                                : MLA_FIX_UNSAFE;
	f->reason = mla_arena_dup(arena, mla_str_c(v->reason));
}

static void distrust(mla_scan *s)
{
	for (uint32_t i = 0; i < s->trees.n; i++)
		for (uint32_t k = 0; k < s->trees.v[i].fixes.n; k++) {
			mla_fix *f = s->trees.v[i].fixes.v[k];

			if (f->applicability == MLA_FIX_SAFE)
				continue; /* it needs no numbers */
			f->applicability = MLA_FIX_UNSAFE;
			f->reason = mla_str_c("not verified: --no-verify");
		}
}

int mla_offer_judge(mla_verdicts *out, mla_scan *s)
{
	int error;

	*out = (mla_verdicts){0};
	if (s->options->no_verify) {
		distrust(s);
		return 0;
	}
	error = mla_verify_sites(out, s);
	for (uint32_t i = 0; i < out->v.n && error == 0; i++)
		take_verdict((mla_fix *)out->v.v[i].fix, &out->v.v[i].result, s->arena);
	return error;
}

static bool edits_module(const mla_fix *f, const mla_module *m)
{
	for (uint32_t i = 0; i < f->edits.n; i++)
		if (f->edits.file[i].module == m)
			return true;
	return false;
}

/* The first change whose result would be no source any more, after a message; NULL: none. */
static const mla_change *bad_change(const mla_changes *c, mla_python *python)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const char *path = c->v[i].module->path;
		int error = mla_change_check(&c->v[i], python);

		if (error == 0)
			continue;
		if (error == MLA_ELIMIT)
			mla_error(error,
			          "%s: the fix is left out: the file would be larger than %d MB",
			          path, MLA_TEXT_MAX >> 20);
		else if (error == MLA_EBUG)
			mla_error(error, "%s: the fix is left out: it would break the syntax",
			          path);
		mla_fail();
		return &c->v[i];
	}
	return NULL;
}

int mla_offer_make(mla_offer *out, mla_scan *s, const mla_scan_tree *t)
{
	const mla_fix **offered = mla_arena_array(s->arena, t->fixes.n, sizeof(*offered));
	bool *applied = mla_arena_array(s->arena, t->fixes.n, sizeof(*applied));
	const mla_change *bad;
	mla_python *python;
	uint32_t n = 0;
	int error;

	*out = (mla_offer){.fix = offered};
	for (uint32_t i = 0; i < t->fixes.n; i++)
		if (mla_fix_offered(t->fixes.v[i], s->options))
			offered[n++] = t->fixes.v[i];
	if ((error = mla_python_new(&python)) < 0)
		return error;
	for (;;) {
		uint32_t kept = 0;

		mla_apply(&out->changes, applied, s->arena, offered, n);
		if (!(bad = bad_change(&out->changes, python)))
			break;
		for (uint32_t i = 0; i < n; i++)
			if (!edits_module(offered[i], bad->module))
				offered[kept++] = offered[i];
		s->fixes_left_out += n - kept;
		n = kept;
	}
	mla_python_free(python);
	for (uint32_t i = 0; i < n; i++)
		if (applied[i])
			offered[out->n++] = offered[i];
	out->waiting = n - out->n;
	return 0;
}
