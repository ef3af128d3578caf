/*
 * GitLab's code quality report: an array of issues. GitLab shows the description alone, tells new
 * issues from known ones by their fingerprint, and drops all but one of those that share it.
 */
#include "analyzer/str.h"
#include "analyzer/vec.h"
#include "cli/fingerprint.h"
#include "cli/json.h"
#include "cli/report.h"

#include <git2.h>

static const char *const severities[] = {
	[MLA_NOTE] = "info",
	[MLA_WARNING] = "minor",
	[MLA_ERROR] = "major",
};

static json_t *position(mla_pos at)
{
	json_t *o = json_object();

	mla_json_put(o, "line", json_integer(at.line));
	mla_json_put(o, "column", json_integer(at.column));
	return o;
}

static json_t *issue(const char *name, mla_severity severity, mla_str description,
                     const char *fingerprint, const char *path, mla_pos begin, mla_pos end)
{
	json_t *o = json_object(), *location = json_object(), *positions = json_object();

	mla_json_put(positions, "begin", position(begin));
	mla_json_put(positions, "end", position(end));
	mla_json_put(location, "path", mla_json_z(path));
	mla_json_put(location, "positions", positions);
	mla_json_put(o, "type", mla_json_z("issue"));
	mla_json_put(o, "check_name", mla_json_z(name));
	mla_json_put(o, "description", mla_json_text(description));
	mla_json_put(o, "severity", mla_json_z(severities[severity]));
	mla_json_put(o, "fingerprint", mla_json_z(fingerprint));
	mla_json_put(o, "location", location);
	return o;
}

/* Of all roots together, so that equal findings under two of them differ in their occurrence. */
static void add_findings(json_t *list, const mla_scan *s)
{
	MLA_VEC(const mla_finding *) found = {0};
	mla_fingerprint *print;
	const mla_result *r;
	mla_cursor at = {0}, again = {0};

	while ((r = mla_next_result(&at, s)))
		mla_vec_push(&found, r->finding);
	print = mla_fingerprints(s->arena, found.v, found.n);
	for (uint32_t i = 0; (r = mla_next_result(&again, s)); i++) {
		const mla_finding *f = found.v[i];
		char digest[MLA_DIGEST_SIZE];

		mla_fingerprint_digest(digest, &print[i]);
		json_array_append_new(
			list,
			issue(f->rule->code, f->severity,
		              mla_arena_format(s->arena, "%s: %.*s; %.*s", f->rule->code,
		                               MLA_ARG(mla_joined(s->arena, f->message)),
		                               MLA_ARG(mla_fix_text(s->arena, r->fix))),
		              digest, f->module->path, mla_text_pos(f->module->text, f->span.start),
		              mla_text_pos(f->module->text, f->span.end)));
	}
	mla_vec_free(&found);
}

static void add_files(json_t *list, const mla_scan *s)
{
	const mla_pos start = {1, 1};
	const mla_file *f;
	mla_cursor at = {0};

	while ((f = mla_next_file(&at, s))) {
		const char *state = mla_file_state_name(f->state);
		char hex[GIT_OID_HEXSZ + 1];
		mla_str key;
		git_oid id;

		if (f->state == MLA_FILE_CHECKED)
			continue;
		key = mla_arena_format(s->arena, "%u/%s: %s", at.tree, f->path, state);
		if (git_odb_hash(&id, key.ptr, key.len, GIT_OBJECT_BLOB) < 0)
			continue; /* cannot happen: nothing is read */
		git_oid_tostr(hex, sizeof(hex), &id);
		json_array_append_new(
			list, issue(mla_arena_format(s->arena, "file-%s", state).ptr,
		                    mla_file_severity(f),
		                    mla_arena_format(s->arena, "file %s: %s", state, f->reason),
		                    hex, f->path, start, start));
	}
}

/* Equal ones in a file are told apart by their number. */
static void add_unanalysed(json_t *list, const mla_scan *s)
{
	const mla_unanalysed *u, *last = NULL;
	mla_cursor at = {0};
	uint32_t n = 0;

	for (; (u = mla_next_unanalysed(&at, s)); last = u) {
		mla_str text = mla_joined(s->arena, mla_text_slice(u->module->text, u->span)), key;
		char hex[GIT_OID_HEXSZ + 1];
		git_oid id;

		n = last && last->module == u->module ? n + 1 : 0;
		key = mla_arena_format(s->arena, "%u/%s: unanalysed %u: %.*s", at.tree,
		                       u->module->path, n, MLA_ARG(text));
		if (git_odb_hash(&id, key.ptr, key.len, GIT_OBJECT_BLOB) < 0)
			continue; /* cannot happen: nothing is read */
		git_oid_tostr(hex, sizeof(hex), &id);
		json_array_append_new(
			list,
			issue("unanalysed", MLA_NOTE,
		              mla_arena_format(s->arena, "unanalysed: %.*s", MLA_ARG(text)), hex,
		              u->module->path, mla_text_pos(u->module->text, u->span.start),
		              mla_text_pos(u->module->text, u->span.end)));
	}
}

void mla_report_gitlab(const mla_report *r)
{
	json_t *list = json_array();

	add_findings(list, r->scan);
	add_files(list, r->scan);
	add_unanalysed(list, r->scan);
	json_dumpf(list, r->to, JSON_INDENT(1));
	fputc('\n', r->to);
	json_decref(list);
}
