/* The stable machine format. */
#include "analyzer/str.h"
#include "cli/json.h"
#include "cli/part.h"
#include "cli/related.h"
#include "cli/report.h"
#include "cli/statistics.h"

#include <limits.h>
#include <string.h>

static json_t *threshold(const mla_finding *f)
{
	const mla_threshold *t = &f->threshold;
	json_t *o;

	if (!f->threshold_known)
		return json_null();
	o = json_object();
	mla_json_put(o, "kv_lora_rank", json_integer(t->geometry.rank));
	mla_json_put(o, "qk_nope_head_dim", json_integer(t->geometry.nope));
	mla_json_put(o, "v_head_dim", json_integer(t->geometry.value));
	mla_json_put(o, "queries", json_integer(t->queries));
	mla_json_put(o, "source", mla_json_z(mla_source_name(t->source)));
	return o;
}

static json_t *fix(const mla_fix *f)
{
	json_t *o, *files;

	if (!f->edits.n || f->applicability == MLA_FIX_REJECTED)
		return json_null();
	o = json_object();
	files = json_array();
	mla_json_put(o, "applicability", mla_json_z(mla_applicability_name(f->applicability)));
	mla_json_put(o, "title", mla_json_z(f->title));
	for (uint32_t i = 0; i < f->edits.n; i++) {
		const mla_file_edits *e = &f->edits.file[i];
		json_t *file = json_object(), *edits = json_array();

		for (uint32_t k = 0; k < e->n; k++) {
			json_t *edit = json_object();

			mla_json_put(edit, "start", json_integer(e->v[k].span.start));
			mla_json_put(edit, "end", json_integer(e->v[k].span.end));
			mla_json_put(edit, "text", mla_json_text(e->v[k].text));
			json_array_append_new(edits, edit);
		}
		mla_json_put(file, "path", mla_json_z(e->module->path));
		mla_json_put(file, "edits", edits);
		json_array_append_new(files, file);
	}
	mla_json_put(o, "files", files);
	return o;
}

static json_t *verification(const mla_fix *f)
{
	json_t *o;

	if (!mla_verdict_name(f))
		return json_null();
	o = json_object();
	mla_json_put(o, "verdict", mla_json_z(mla_verdict_name(f)));
	mla_json_put(o, "reason", f->reason.len ? mla_json_text(f->reason) : json_null());
	return o;
}

static void place(json_t *o, const mla_module *m, mla_span span, bool end)
{
	mla_pos at = mla_text_pos(m->text, span.start);

	mla_json_put(o, "path", mla_json_z(m->path));
	mla_json_put(o, "line", json_integer(at.line));
	mla_json_put(o, "column", json_integer(at.column));
	if (end) {
		at = mla_text_pos(m->text, span.end);
		mla_json_put(o, "end_line", json_integer(at.line));
		mla_json_put(o, "end_column", json_integer(at.column));
	}
}

static json_t *related(const mla_scan *s, const mla_finding *f)
{
	const mla_related *v;
	uint32_t n = mla_related_list(&v, s->arena, f);
	json_t *list = json_array();

	for (uint32_t i = 0; i < n; i++) {
		json_t *o = json_object();

		place(o, v[i].module, v[i].span, false);
		mla_json_put(o, "role", mla_json_z(v[i].role));
		json_array_append_new(list, o);
	}
	return list;
}

/* Where there are several repositories, a path alone does not say in which one. */
static json_t *rooted(json_t *entry, const mla_scan *s, const mla_cursor *at)
{
	char folder[PATH_MAX];
	size_t n;

	if (s->files.trees.n < 2)
		return entry;
	mla_file_display(folder, sizeof(folder), &s->files.trees.v[at->tree], "");
	n = strlen(folder);
	if (n > 1 && folder[n - 1] == '/')
		folder[n - 1] = '\0';
	mla_json_put(entry, "root", mla_json_z(n ? folder : "."));
	return entry;
}

static json_t *finding(const mla_scan *s, const mla_result *r)
{
	const mla_finding *f = r->finding;
	json_t *o = json_object();

	mla_json_put(o, "code", mla_json_z(f->rule->code));
	mla_json_put(o, "name", mla_json_z(f->rule->name));
	mla_json_put(o, "severity", mla_json_z(mla_severity_name(f->severity)));
	place(o, f->module, f->span, true);
	mla_json_put(o, "symbol", f->symbol.len ? mla_json_text(f->symbol) : json_null());
	mla_json_put(o, "guard", mla_json_text(mla_text_slice(f->module->text, f->span)));
	mla_json_put(o, "role", f->role ? mla_json_z(mla_role_name(f->role)) : json_null());
	if (f->pair) {
		json_t *pair = json_object();

		place(pair, f->pair->module, f->pair->node->span, false);
		mla_json_put(o, "pair", pair);
	} else {
		mla_json_put(o, "pair", json_null());
	}
	mla_json_put(o, "related", related(s, f));
	mla_json_put(o, "message", mla_json_text(f->message));
	mla_json_put(o, "threshold", threshold(f));
	mla_json_put(o, "fix", fix(r->fix));
	mla_json_put(o, "no_fix_reason",
	             r->fix->edits.n ? json_null() : mla_json_text(r->fix->refusal));
	mla_json_put(o, "verification", verification(r->fix));
	mla_part_mark(o, s, f->module->path);
	return o;
}

static json_t *kept(const mla_scan *s, const mla_kept_test *k)
{
	json_t *o = json_object();

	place(o, k->module, k->test->node->span, false);
	mla_json_put(o, "guard", mla_json_text(mla_node_text(k->module->text, k->test->node)));
	mla_json_put(o, "symbol", mla_json_text(mla_test_symbol(s->arena, k->test)));
	mla_json_put(o, "reason", mla_json_z(mla_kept_name(k->test->kept)));
	mla_part_mark(o, s, k->module->path);
	return o;
}

static json_t *files(const mla_scan *s)
{
	json_t *o = json_object(), *list[4] = {NULL, json_array(), json_array(), json_array()};
	const mla_file *f;
	mla_cursor at = {0};

	mla_json_put(o, "checked", json_integer(s->checked + s->partial));
	while ((f = mla_next_file(&at, s))) {
		json_t *entry;

		if (f->state == MLA_FILE_CHECKED)
			continue;
		entry = json_object();
		rooted(entry, s, &at);
		mla_json_put(entry, "path", mla_json_z(f->path));
		mla_json_put(entry, "reason", mla_json_z(f->reason));
		mla_part_mark(entry, s, f->path);
		json_array_append_new(list[f->state], entry);
	}
	mla_json_put(o, "partial", list[MLA_FILE_PARTIAL]);
	mla_json_put(o, "skipped", list[MLA_FILE_SKIPPED]);
	mla_json_put(o, "failed", list[MLA_FILE_FAILED]);
	return o;
}

/* A note, only where there is one: most scans have no such code. */
static json_t *unanalysed(const mla_scan *s, const mla_unanalysed *u)
{
	json_t *o = json_object();

	place(o, u->module, u->span, false);
	mla_json_put(o, "guard", mla_json_text(mla_text_slice(u->module->text, u->span)));
	mla_part_mark(o, s, u->module->path);
	return o;
}

static json_t *statistics(const mla_scan *s)
{
	json_t *o = json_object(), *found = json_array(), *kept_list = json_array();
	mla_statistics all;

	mla_statistics_count(&all, s);
	for (uint32_t i = 0; i < all.rules; i++)
		json_array_append_new(found,
		                      json_pack("{s:s, s:s, s:i, s:i}", "code", all.v[i].code,
		                                "name", all.v[i].name, "count", (int)all.v[i].count,
		                                "fixable", (int)all.v[i].fixable));
	for (uint32_t i = all.rules; i < all.n; i++)
		json_array_append_new(kept_list, json_pack("{s:s, s:i}", "reason", all.v[i].name,
		                                           "count", (int)all.v[i].count));
	mla_json_put(o, "findings", found);
	if (s->options->show_kept)
		mla_json_put(o, "kept", kept_list);
	else
		json_decref(kept_list);
	return o;
}

void mla_report_json(const mla_report *r)
{
	json_t *o = json_object(), *findings = json_array(), *keeps = json_array();
	json_t *notes = json_array();
	const mla_scan *s = r->scan;
	const mla_result *result;
	const mla_kept_test *k;
	const mla_unanalysed *u;
	mla_cursor at = {0}, at_kept = {0}, at_note = {0};

	while ((u = mla_next_unanalysed(&at_note, s)))
		json_array_append_new(notes, rooted(unanalysed(s, u), s, &at_note));
	mla_json_put(o, "tool", mla_json_z("mlalint"));
	mla_json_put(o, "version", mla_json_z(MLA_VERSION));
	if (s->options->shards)
		mla_json_put(o, "shard", mla_part_shard(r));
	while ((result = mla_next_result(&at, s)))
		json_array_append_new(findings, rooted(finding(s, result), s, &at));
	while ((k = mla_next_kept(&at_kept, s)))
		json_array_append_new(keeps, rooted(kept(s, k), s, &at_kept));
	mla_json_put(o, "findings", findings);
	if (s->options->show_kept)
		mla_json_put(o, "kept", keeps);
	else
		json_decref(keeps);
	if (json_array_size(notes))
		mla_json_put(o, "unanalysed", notes);
	else
		json_decref(notes);
	mla_json_put(o, "files", files(s));
	if (s->options->statistics)
		mla_json_put(o, "statistics", statistics(s));
	json_dumpf(o, r->to, JSON_INDENT(1));
	fputc('\n', r->to);
	json_decref(o);
}
