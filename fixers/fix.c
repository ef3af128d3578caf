/* The table of fixers, made from fixers.def. */
#include "fixers/fix.h"

#include "fixers/c_threshold.h"

#include "analyzer/str.h"

#include <stdarg.h>
#include <stdio.h>

static const struct {
	const char *code;
	mla_fixer *fixer;
} table[] = {
#define MLA_FIXER(code, x) {code, mla_fix_##x},
#include "fixers/fixers.def"
#undef MLA_FIXER
};

int mla_fix_make(mla_fix *out, mla_arena *arena, mla_project *project, const mla_finding *finding,
                 mla_form form)
{
	*out = (mla_fix){.site = finding->site, .pool = finding->pool, .edits = {.arena = arena}};
	out->refusal = finding->no_fix;
	if (out->refusal.len)
		return 0;
	if (finding->site && finding->site->module->c)
		return mla_fix_c_threshold(out, arena, project, finding,
		                           finding->rule->cached_form ? MLA_FORM_CACHE_LENGTH
		                                                      : form);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (strcmp(table[i].code, finding->rule->code) == 0)
			return table[i].fixer(out, arena, project, finding, form);
	out->refusal = mla_str_c("this rule has no fix");
	return 0;
}

bool mla_fix_refuse(mla_fix *fix, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (!fix->refusal.len)
		fix->refusal = mla_arena_format(fix->edits.arena, "%s", text);
	return false;
}
