/* Makes the patched project of one fix and asks the engine. Writes nothing. */
#include "cli/replay.h"

#include "analyzer/str.h"

/* The tree, with some files as a fix leaves them. */
typedef struct {
	const mla_tree *tree;
	mla_changes changes;
} overlay;

static int read_patched(mla_text **out, void *payload, const char *path)
{
	const overlay *o = payload;
	struct stat st;

	for (uint32_t i = 0; i < o->changes.n; i++)
		if (strcmp(o->changes.v[i].module->path, path) == 0)
			return mla_text_new(out, path, o->changes.v[i].after);
	return mla_file_read(out, &st, o->tree, path);
}

int mla_replay_fix(mla_site_verdict *out, const mla_scan *s, const mla_scan_tree *t,
                   const mla_fix *fix)
{
	enum { SEED = 1 };
	mla_site_options options = {.settings = &s->settings, .seed = SEED};
	overlay patched = {.tree = t->tree};
	mla_project *after = NULL;
	bool applied = false;
	int error;

	if (s->options->form == MLA_FORM_CACHE_LENGTH)
		options.cache_len = MLA_REPLAY_CACHE_LEN;
	if (fix->edits.n) {
		mla_apply(&patched.changes, &applied, s->arena, &fix, 1);
		error = mla_project_new(&after, (mla_reader){read_patched, &patched});
		if (error < 0)
			return error;
	}
	mla_site_verify(out, t->project, after, fix->site, &options);
	mla_project_free(after);
	return 0;
}
