/* From findings to suppression comments on disk. */
#include "cli/add_ignore.h"

#include "analyzer/str.h"
#include "cli/write.h"
#include "fixers/add_suppression.h"

int mla_add_ignore_check(const char *reason)
{
	bool blank = true;

	for (const char *p = reason; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return mla_error(MLA_ECONFIG, "--add-ignore: the reason has to be one line "
			                              "without control characters");
		blank &= *p == ' ';
	}
	return blank ? mla_error(MLA_ECONFIG, "--add-ignore: the reason is empty") : 0;
}

/* The results from `from` on that lie in one module. */
static uint32_t of_module(const mla_scan_tree *t, uint32_t from)
{
	uint32_t end = from;

	while (end < t->results.n &&
	       t->results.v[end].finding->module == t->results.v[from].finding->module)
		end++;
	return end;
}

static int collect(mla_fix *fix, mla_scan *s, const mla_scan_tree *t)
{
	const mla_finding **list = mla_arena_array(s->arena, t->results.n, sizeof(*list));
	mla_str reason = mla_str_c(s->options->add_ignore);
	int error = 0;

	for (uint32_t i = 0; i < t->results.n; i++)
		list[i] = t->results.v[i].finding;
	for (uint32_t i = 0; i < t->results.n && error == 0;) {
		uint32_t end = of_module(t, i);

		error = mla_suppression_add(&fix->edits, s->arena, list + i, end - i, reason);
		i = end;
	}
	return error;
}

static int write_tree(uint32_t *files, mla_scan *s, const mla_scan_tree *t, mla_python *python)
{
	mla_fix fix = {.edits = {.arena = s->arena}};
	const mla_fix *one = &fix;
	const mla_change **list;
	mla_changes c;
	bool applied;
	int error = collect(&fix, s, t);

	if (error < 0 || !fix.edits.n)
		return error;
	mla_apply(&c, &applied, s->arena, &one, 1);
	list = mla_arena_array(s->arena, c.n, sizeof(*list));
	for (uint32_t i = 0; i < c.n && error == 0; i++) {
		list[i] = &c.v[i];
		error = mla_change_check(&c.v[i], python);
	}
	if (error == 0)
		error = mla_write_changes(t->tree, list, c.n);
	*files += error == 0 ? c.n : 0;
	return error;
}

int mla_add_ignore(uint32_t *files, mla_scan *s)
{
	mla_python *python;
	int error = mla_python_new(&python);

	*files = 0;
	if (error < 0)
		return error;
	for (uint32_t i = 0; i < s->trees.n && error == 0; i++)
		error = write_tree(files, s, &s->trees.v[i], python);
	mla_python_free(python);
	return error;
}
