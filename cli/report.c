/* What reports share: the order of things, and their names. */
#include "cli/report.h"

#include "analyzer/str.h"
#include "cli/format.h"
#include "cli/verbs.h"

#include <stdlib.h>

const mla_format_row mla_formats[MLA_FORMATS] = {
#define MLA_FORMAT(id, name, check, ...) {name, check, __VA_ARGS__},
#include "cli/formats.def"
#undef MLA_FORMAT
};

static bool has(mla_verb verb, mla_format f)
{
	return verb == MLA_VERB_CHECK    ? mla_formats[f].check != NULL
	       : verb == MLA_VERB_VERIFY ? mla_formats[f].verify != NULL
	       : verb == MLA_VERB_RULE   ? mla_formats[f].rule != NULL
	       : verb == MLA_VERB_BENCH  ? mla_formats[f].bench != NULL
	       : verb == MLA_VERB_PLAN   ? mla_formats[f].plan != NULL
	       : verb == MLA_VERB_MERGE  ? f == MLA_FORMAT_JSON || f == MLA_FORMAT_SARIF
	       : verb == MLA_VERB_PATCH  ? f == MLA_FORMAT_TEXT /* the diff */
	                                 : true;
}

const char *mla_format_list(char *out, size_t size, mla_verb verb)
{
	size_t n = 0;

	*out = '\0';
	for (int i = 0; i < MLA_FORMATS && n < size; i++)
		if (has(verb, (mla_format)i))
			n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "",
			                      mla_formats[i].name);
	return out;
}

int mla_format_check(mla_verb verb, mla_format f)
{
	char list[128];

	if (has(verb, f))
		return 0;
	return mla_error(MLA_ECONFIG, "this verb has no report in the format %s, only in %s",
	                 mla_formats[f].name, mla_format_list(list, sizeof(list), verb));
}

#define NEXT(list, element)                                                   \
	do {                                                                  \
		for (; c->tree < (list).n; c->tree++, c->at = 0)              \
			if (c->at < (list).v[c->tree].element.n)              \
				return &(list).v[c->tree].element.v[c->at++]; \
		return NULL;                                                  \
	} while (0)

const mla_result *mla_next_result(mla_cursor *c, const mla_scan *s)
{
	NEXT(s->trees, results);
}

const mla_finding *const *mla_next_suppressed(mla_cursor *c, const mla_scan *s)
{
	if (!s->options->show_suppressed)
		return NULL;
	NEXT(s->trees, suppressed);
}

const mla_kept_test *mla_next_kept(mla_cursor *c, const mla_scan *s)
{
	NEXT(s->trees, kept);
}

const mla_unanalysed *mla_next_unanalysed(mla_cursor *c, const mla_scan *s)
{
	for (; c->tree < s->trees.n; c->tree++, c->at = 0)
		if (c->at < s->trees.v[c->tree].unanalysed_count)
			return &s->trees.v[c->tree].unanalysed[c->at++];
	return NULL;
}

const mla_file *mla_next_file(mla_cursor *c, const mla_scan *s)
{
	NEXT(s->files.trees, files);
}

const char *mla_file_state_name(mla_file_state state)
{
	static const char *const names[] = {
		[MLA_FILE_CHECKED] = "checked",
		[MLA_FILE_PARTIAL] = "partial",
		[MLA_FILE_SKIPPED] = "skipped",
		[MLA_FILE_FAILED] = "failed",
	};

	return names[state];
}

bool mla_file_without_verdict(const mla_file *f)
{
	return f->state == MLA_FILE_FAILED || (f->state == MLA_FILE_SKIPPED && f->named) ||
	       (f->state == MLA_FILE_PARTIAL && f->doubtful);
}

mla_severity mla_file_severity(const mla_file *f)
{
	return mla_file_without_verdict(f)    ? MLA_ERROR
	       : f->state == MLA_FILE_PARTIAL ? MLA_WARNING
	                                      : MLA_NOTE;
}

const char *mla_applicability_name(mla_applicability a)
{
	static const char *const names[] = {
		[MLA_FIX_UNVERIFIED] = "unverified",
		[MLA_FIX_UNSAFE] = "unsafe",
		[MLA_FIX_SAFE] = "safe",
		[MLA_FIX_REJECTED] = "rejected",
	};

	return names[a];
}

const char *mla_verdict_name(const mla_fix *f)
{
	static const char *const names[] = {
		[MLA_FIX_UNVERIFIED] = NULL,
		[MLA_FIX_UNSAFE] = "unverified",
		[MLA_FIX_SAFE] = "verified",
		[MLA_FIX_REJECTED] = "rejected",
	};

	return names[f->applicability];
}

mla_str mla_joined(mla_arena *arena, mla_str s)
{
	char *text;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	mla_str out;

	mla_put_joined(to, s);
	fclose(to);
	out = mla_arena_dup(arena, (mla_str){text, (uint32_t)size});
	free(text);
	return out;
}

mla_str mla_suppressed_text(mla_arena *arena, const mla_finding *f)
{
	mla_str reason = mla_joined(arena, f->suppression->reason);
	mla_str test = mla_joined(arena, mla_text_slice(f->module->text, f->span));

	return mla_arena_format(arena, "suppressed %s%s%.*s%s: %.*s", f->rule->code,
	                        reason.len ? " (" : "", MLA_ARG(reason), reason.len ? ")" : "",
	                        MLA_ARG(test));
}

/* That the engine was not asked is no verdict about the fix. */
mla_str mla_fix_text(mla_arena *arena, const mla_fix *f)
{
	mla_str reason = mla_joined(arena, f->edits.n ? f->reason : f->refusal), verdict = {"", 0};

	if (!f->edits.n)
		return mla_arena_format(arena, "no fix: %.*s", MLA_ARG(reason));
	if (f->applicability != MLA_FIX_UNVERIFIED)
		verdict = mla_arena_format(arena, " (%s%s%.*s)",
		                           mla_applicability_name(f->applicability),
		                           reason.len ? ": " : "", MLA_ARG(reason));
	return mla_arena_format(arena, "fix%.*s: %s, %u file%s", MLA_ARG(verdict), f->title,
	                        f->edits.n, f->edits.n == 1 ? "" : "s");
}

mla_str mla_test_symbol(mla_arena *arena, const mla_test *t)
{
	const mla_node *class = mla_node_class(t->node);

	if (class)
		return mla_arena_format(arena, "%.*s.%.*s", MLA_ARG(class->name),
		                        MLA_ARG(t->function->name));
	return t->function->name;
}

bool mla_fix_offered(const mla_fix *f, const mla_options *o)
{
	if (!f->edits.n || f->applicability == MLA_FIX_REJECTED)
		return false;
	return f->applicability == MLA_FIX_SAFE || o->unsafe_fixes;
}
