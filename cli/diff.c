/* Diffs through libgit2. It is given buffers, so nothing of a repository is read or written. */
#include "cli/diff.h"

#include "analyzer/str.h"

void mla_diff_options(git_diff_options *out)
{
	git_diff_options_init(out, GIT_DIFF_OPTIONS_VERSION);
	/* Full ids: an abbreviated one may become ambiguous. Text: Latin-1 must not turn binary. */
	out->id_abbrev = GIT_OID_HEXSZ;
	out->flags |= GIT_DIFF_FORCE_TEXT;
	/* Given here, so that diff.noprefix and diff.mnemonicPrefix of the user do not count. */
	out->old_prefix = "a";
	out->new_prefix = "b";
}

int mla_diff_print(FILE *to, const mla_change *c, unsigned mode)
{
	static const char index_mode[] = " 100644\n";
	git_diff_options options;
	mla_str before = mla_text_bytes(c->module->text);
	git_patch *patch = NULL;
	git_buf out = {0};
	const char *line;
	int error;

	mla_diff_options(&options);
	error = git_patch_from_buffers(&patch, before.ptr, before.len, c->module->path,
	                               c->after.ptr, c->after.len, c->module->path, &options);
	if (error == 0)
		error = git_patch_to_buf(&out, patch);
	if (error < 0) {
		const git_error *why = git_error_last();

		error = mla_error(MLA_EGIT, "%s: %s", c->module->path, why ? why->message : "diff");
		goto done;
	}
	/* libgit2 always writes 100644 for buffers. */
	line = (mode & 0111) ? strstr(out.ptr, index_mode) : NULL;
	if (line)
		fprintf(to, "%.*s 100755\n%s", (int)(line - out.ptr), out.ptr,
		        line + sizeof(index_mode) - 1);
	else
		fwrite(out.ptr, 1, out.size, to);
done:
	git_buf_dispose(&out);
	git_patch_free(patch);
	return error;
}
