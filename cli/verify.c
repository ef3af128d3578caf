/* The verify verb: a verdict for every site of a scan. */
#include "cli/verify.h"

#include "cli/format.h"
#include "cli/output.h"
#include "cli/verbs.h"

int mla_verify_sites(mla_verdicts *out, const mla_scan *s)
{
	*out = (mla_verdicts){.arena = s->arena};
	for (uint32_t i = 0; i < s->trees.n; i++)
		for (uint32_t k = 0; k < s->trees.v[i].fixes.n; k++)
			if (s->trees.v[i].fixes.v[k]->site || s->trees.v[i].fixes.v[k]->pool)
				mla_vec_push(&out->v,
				             ((mla_verdict){.tree = &s->trees.v[i],
				                            .fix = s->trees.v[i].fixes.v[k]}));
	return mla_replay_all(&out->device, s, out->v.v, out->v.n);
}

static int status_of(const mla_scan *s, const mla_verdicts *v)
{
	if (mla_scan_incomplete(s))
		return MLA_EXIT_NO_VERDICT;
	for (uint32_t i = 0; i < v->v.n; i++)
		if (v->v.v[i].result.outcome == MLA_REJECTED && !s->options->exit_zero)
			return MLA_EXIT_FINDINGS;
	return MLA_EXIT_CLEAN;
}

int mla_verb_verify(const mla_options *o)
{
	mla_verdicts v = {0};
	mla_outputs to;
	mla_scan s;
	int error, status;

	if (mla_outputs_open(&to, o) < 0)
		return mla_fail();
	error = mla_scan_run(&s, o);
	if (error == 0)
		error = mla_verify_sites(&v, &s);
	status = error < 0 ? mla_fail() : status_of(&s, &v);
	for (uint32_t i = 0; i < to.n && error == 0; i++)
		mla_formats[to.v[i].format].verify(to.v[i].to, &v);
	mla_outputs_flush(&to);
	mla_report_notes(stderr, &s);
	if (!o->quiet && error == 0)
		mla_report_summary(stderr, &s);
	mla_vec_free(&v.v);
	mla_scan_free(&s);
	return mla_outputs_close(&to, status);
}
