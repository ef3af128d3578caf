/* The stable machine format. */
#include "analyzer/str.h"
#include "cli/report.h"

#include <jansson.h>

/* Bytes as JSON text: what is not UTF-8 becomes U+FFFD. */
static json_t *text(mla_str s)
{
	json_t *v = json_stringn(s.ptr, s.len);
	char *fixed;
	size_t n = 0;

	if (v)
		return v;
	fixed = mla_alloc(3 * (size_t)s.len + 1);
	for (uint32_t i = 0; i < s.len;) {
		uint32_t k = 1;

		/* The longest prefix that is valid on its own is one code point. */
		while (k <= 4 && i + k <= s.len) {
			json_t *probe = json_stringn(s.ptr + i, k);

			if (probe) {
				json_decref(probe);
				break;
			}
			k++;
		}
		if (k <= 4 && i + k <= s.len) {
			memcpy(fixed + n, s.ptr + i, k);
			n += k;
			i += k;
		} else {
			memcpy(fixed + n, "\xEF\xBF\xBD", 3);
			n += 3;
			i++;
		}
	}
	v = json_stringn(fixed, n);
	free(fixed);
	return v ? v : json_null();
}

static json_t *z(const char *s)
{
	return text(mla_str_c(s));
}

static void put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static json_t *threshold(const mla_finding *f)
{
	const mla_threshold *t = &f->threshold;
	json_t *o;

	if (!f->threshold_known)
		return json_null();
	o = json_object();
	put(o, "kv_lora_rank", json_integer(t->geometry.rank));
	put(o, "qk_nope_head_dim", json_integer(t->geometry.nope));
	put(o, "v_head_dim", json_integer(t->geometry.value));
	put(o, "queries", json_integer(t->queries));
	put(o, "source", z(mla_source_name(t->source)));
	return o;
}

static json_t *fix(const mla_fix *f)
{
	json_t *o, *files;

	if (!f->edits.n || f->applicability == MLA_FIX_REJECTED)
		return json_null();
	o = json_object();
	files = json_array();
	put(o, "applicability", z(mla_applicability_name(f->applicability)));
	put(o, "title", z(f->title));
	for (uint32_t i = 0; i < f->edits.n; i++) {
		const mla_file_edits *e = &f->edits.file[i];
		json_t *file = json_object(), *edits = json_array();

		for (uint32_t k = 0; k < e->n; k++) {
			json_t *edit = json_object();

			put(edit, "start", json_integer(e->v[k].span.start));
			put(edit, "end", json_integer(e->v[k].span.end));
			put(edit, "text", text(e->v[k].text));
			json_array_append_new(edits, edit);
		}
		put(file, "path", z(e->module->path));
		put(file, "edits", edits);
		json_array_append_new(files, file);
	}
	put(o, "files", files);
	return o;
}

static json_t *verification(const mla_fix *f)
{
	json_t *o;

	if (f->applicability == MLA_FIX_UNVERIFIED)
		return json_null();
	o = json_object();
	put(o, "verdict",
	    z(f->applicability == MLA_FIX_SAFE       ? "verified"
	      : f->applicability == MLA_FIX_REJECTED ? "rejected"
	                                             : "unverified"));
	put(o, "reason", f->reason.len ? text(f->reason) : json_null());
	return o;
}

static void place(json_t *o, const mla_module *m, mla_span span, bool end)
{
	mla_pos at = mla_text_pos(m->text, span.start);

	put(o, "path", z(m->path));
	put(o, "line", json_integer(at.line));
	put(o, "column", json_integer(at.column));
	if (end) {
		at = mla_text_pos(m->text, span.end);
		put(o, "end_line", json_integer(at.line));
		put(o, "end_column", json_integer(at.column));
	}
}

static json_t *finding(const mla_result *r)
{
	const mla_finding *f = r->finding;
	json_t *o = json_object();

	put(o, "code", z(f->rule->code));
	put(o, "name", z(f->rule->name));
	put(o, "severity", z(mla_severity_name(f->rule->severity)));
	place(o, f->module, f->span, true);
	put(o, "symbol", text(f->site->symbol));
	put(o, "guard", text(mla_text_slice(f->module->text, f->span)));
	put(o, "role", z(mla_role_name(f->role)));
	if (f->pair) {
		json_t *pair = json_object();

		place(pair, f->pair->module, f->pair->node->span, false);
		put(o, "pair", pair);
	} else {
		put(o, "pair", json_null());
	}
	put(o, "message", text(f->message));
	put(o, "threshold", threshold(f));
	put(o, "fix", fix(r->fix));
	put(o, "no_fix_reason", r->fix->edits.n ? json_null() : text(r->fix->refusal));
	put(o, "verification", verification(r->fix));
	return o;
}

static mla_str symbol_of(mla_arena *arena, const mla_test *t)
{
	const mla_node *class = mla_node_class(t->node);

	if (class)
		return mla_arena_format(arena, "%.*s.%.*s", MLA_ARG(class->name),
		                        MLA_ARG(t->function->name));
	return t->function->name;
}

static json_t *kept(const mla_scan *s, const mla_kept_test *k)
{
	json_t *o = json_object();

	place(o, k->module, k->test->node->span, false);
	put(o, "guard", text(mla_node_text(k->module->text, k->test->node)));
	put(o, "symbol", text(symbol_of(s->arena, k->test)));
	put(o, "reason", z(mla_kept_name(k->test->kept)));
	return o;
}

static json_t *files(const mla_scan *s)
{
	json_t *o = json_object(), *list[4] = {NULL, json_array(), json_array(), json_array()};

	put(o, "checked", json_integer(s->checked + s->partial));
	for (uint32_t i = 0; i < s->files.trees.n; i++)
		for (uint32_t k = 0; k < s->files.trees.v[i].files.n; k++) {
			const mla_file *f = &s->files.trees.v[i].files.v[k];
			json_t *entry;

			if (f->state == MLA_FILE_CHECKED)
				continue;
			entry = json_object();
			put(entry, "path", z(f->path));
			put(entry, "reason", z(f->reason));
			json_array_append_new(list[f->state], entry);
		}
	put(o, "partial", list[MLA_FILE_PARTIAL]);
	put(o, "skipped", list[MLA_FILE_SKIPPED]);
	put(o, "failed", list[MLA_FILE_FAILED]);
	return o;
}

void mla_report_json(FILE *to, const mla_scan *s)
{
	json_t *o = json_object(), *findings = json_array(), *keeps = json_array();

	put(o, "tool", z("mlalint"));
	put(o, "version", z(MLA_VERSION));
	for (uint32_t i = 0; i < s->trees.n; i++) {
		for (uint32_t k = 0; k < s->trees.v[i].results.n; k++)
			json_array_append_new(findings, finding(&s->trees.v[i].results.v[k]));
		for (uint32_t k = 0; k < s->trees.v[i].kept.n; k++)
			json_array_append_new(keeps, kept(s, &s->trees.v[i].kept.v[k]));
	}
	put(o, "findings", findings);
	if (s->options->show_kept)
		put(o, "kept", keeps);
	else
		json_decref(keeps);
	put(o, "files", files(s));
	json_dumpf(o, to, JSON_INDENT(1));
	fputc('\n', to);
	json_decref(o);
}
