/*
 * Results in SARIF. Columns count UTF-16 units, as the run's columnKind says; the order is that of
 * every report: what is found, then what is suppressed, then what is kept.
 */
#include "analyzer/str.h"
#include "analyzer/vec.h"
#include "cli/fingerprint.h"
#include "cli/line_hash.h"
#include "cli/related.h"
#include "cli/sarif.h"

#include <inttypes.h>

typedef struct {
	const mla_scan *scan;
	mla_fingerprint *print; /* of the findings, suppressed ones behind the others */
	const mla_module *hashed;
	mla_line_hash *hash; /* of that module's lines */
	uint32_t room;       /* results that may still be added */
	uint32_t left_out;
} writer;

static json_t *region(const mla_module *m, mla_span span, bool bytes)
{
	json_t *o = json_object();
	mla_pos start = mla_text_pos_utf16(m->text, span.start);
	mla_pos end = mla_text_pos_utf16(m->text, span.end);

	mla_json_put(o, "startLine", json_integer(start.line));
	mla_json_put(o, "startColumn", json_integer(start.column));
	mla_json_put(o, "endLine", json_integer(end.line));
	mla_json_put(o, "endColumn", json_integer(end.column));
	if (bytes) {
		mla_json_put(o, "byteOffset", json_integer(span.start));
		mla_json_put(o, "byteLength", json_integer(span.end - span.start));
	}
	return o;
}

json_t *mla_sarif_region(const mla_module *m, mla_span span)
{
	return region(m, span, false);
}

static json_t *quoted(const mla_module *m, mla_span span)
{
	json_t *o = region(m, span, false);

	mla_json_put(o, "snippet", mla_sarif_text(mla_text_slice(m->text, span)));
	return o;
}

static json_t *location(const mla_module *m, uint32_t tree, mla_span span, mla_str symbol)
{
	json_t *o = json_object();

	mla_json_put(o, "physicalLocation", mla_sarif_place(m->path, tree, quoted(m, span)));
	if (symbol.len)
		mla_json_put(o, "logicalLocations",
		             json_pack("[{s:o, s:s}]", "fullyQualifiedName", mla_json_text(symbol),
		                       "kind", "function"));
	return o;
}

static json_t *line_hash(writer *w, const mla_module *m, mla_span span)
{
	const mla_line_hash *h;
	char text[40];

	if (w->hashed != m) {
		free(w->hash);
		w->hash = mla_line_hashes(m->text);
		w->hashed = m;
	}
	h = &w->hash[mla_text_line(m->text, span.start) - 1];
	snprintf(text, sizeof(text), "%" PRIx64 ":%u", h->hash, h->occurrence);
	return json_string(text);
}

/* The rest of the decision. The message links to the first, its pair, by its id. */
static json_t *related(mla_arena *arena, const mla_finding *f, uint32_t tree)
{
	const mla_related *v;
	uint32_t n = mla_related_list(&v, arena, f);
	json_t *list = n ? json_array() : NULL;

	for (uint32_t i = 0; i < n; i++) {
		json_t *o = location(v[i].module, tree, v[i].span, (mla_str){NULL, 0});

		mla_json_put(o, "id", json_integer(i + 1));
		mla_json_put(o, "message", mla_sarif_text(mla_str_c(v[i].role)));
		json_array_append_new(list, o);
	}
	return list;
}

/* What looks like a link in a message is none: `f[0](L) == 1`. */
static mla_str without_links(mla_arena *arena, mla_str s)
{
	char *out;
	uint32_t n = 0;

	if (!mla_str_contains(s, "]("))
		return s;
	out = mla_arena_alloc(arena, 2 * (size_t)s.len + 1);
	for (uint32_t i = 0; i < s.len; i++) {
		if (s.ptr[i] == '[' || s.ptr[i] == ']')
			out[n++] = '\\';
		out[n++] = s.ptr[i];
	}
	return (mla_str){out, n};
}

static json_t *message(mla_arena *arena, const mla_finding *f)
{
	mla_str s = without_links(arena, mla_joined(arena, f->message));

	if (f->pair)
		s = mla_arena_format(arena, "%.*s ([%s](1))", MLA_ARG(s),
		                     mla_role_name(f->pair->role));
	return mla_sarif_text(s);
}

static json_t *change(const mla_file_edits *e, uint32_t tree)
{
	json_t *o = json_object(), *list = json_array();
	json_t *place = mla_sarif_place(e->module->path, tree, NULL);

	for (uint32_t i = 0; i < e->n; i++) {
		json_t *one = json_object();

		mla_json_put(one, "deletedRegion", region(e->module, e->v[i].span, true));
		if (e->v[i].text.len)
			mla_json_put(one, "insertedContent", mla_sarif_text(e->v[i].text));
		json_array_append_new(list, one);
	}
	json_object_set(o, "artifactLocation", json_object_get(place, "artifactLocation"));
	json_decref(place);
	mla_json_put(o, "replacements", list);
	return o;
}

static json_t *fixes(mla_arena *arena, const mla_fix *f, uint32_t tree)
{
	json_t *o = json_object(), *changes = json_array(), *list = json_array();

	for (uint32_t i = 0; i < f->edits.n; i++)
		json_array_append_new(changes, change(&f->edits.file[i], tree));
	mla_json_put(o, "description", mla_sarif_text(mla_fix_text(arena, f)));
	mla_json_put(o, "artifactChanges", changes);
	mla_json_put(o, "properties",
	             json_pack("{s:s}", "applicability", mla_applicability_name(f->applicability)));
	json_array_append_new(list, o);
	return list;
}

static json_t *properties(const mla_finding *f, const mla_fix *fix)
{
	json_t *o = json_object();

	if (f->role)
		mla_json_put(o, "role", mla_json_z(mla_role_name(f->role)));
	if (f->threshold_known)
		mla_json_put(o, "threshold", json_integer(f->threshold.queries));
	if (fix && !fix->edits.n)
		mla_json_put(o, "noFixReason", mla_json_text(fix->refusal));
	if (fix && mla_verdict_name(fix)) {
		mla_json_put(o, "verdict", mla_json_z(mla_verdict_name(fix)));
		if (fix->reason.len)
			mla_json_put(o, "verdictReason", mla_json_text(fix->reason));
	}
	return o;
}

static json_t *start_result(const mla_rule *rule, const char *level)
{
	json_t *o = json_object();
	int index = 0;

	while (mla_rules[index] != rule)
		index++;
	mla_json_put(o, "ruleId", mla_json_z(rule->code));
	mla_json_put(o, "ruleIndex", json_integer(index));
	mla_json_put(o, "level", mla_json_z(level));
	return o;
}

static json_t *finding(writer *w, const mla_finding *f, const mla_fix *fix, uint32_t tree,
                       const mla_fingerprint *print)
{
	mla_arena *arena = w->scan->arena;
	json_t *o = start_result(f->rule, mla_sarif_level(f->severity));
	json_t *places = json_array(), *prints = json_object(), *others = related(arena, f, tree);
	char digest[MLA_DIGEST_SIZE];

	json_array_append_new(places, location(f->module, tree, f->span, f->symbol));
	mla_fingerprint_digest(digest, print);
	mla_json_put(prints, "primaryLocationLineHash", line_hash(w, f->module, f->span));
	mla_json_put(prints, "mlalintFinding/v1", mla_json_z(digest));
	mla_json_put(o, "message", message(arena, f));
	mla_json_put(o, "locations", places);
	mla_json_put(o, "partialFingerprints", prints);
	if (others)
		mla_json_put(o, "relatedLocations", others);
	if (fix && fix->edits.n && fix->applicability != MLA_FIX_REJECTED)
		mla_json_put(o, "fixes", fixes(arena, fix, tree));
	mla_json_put(o, "properties", properties(f, fix));
	mla_sarif_mark(o, w->scan, f->module->path);
	return o;
}

uint32_t mla_sarif_budget(uint32_t budget[MLA_ERROR + 1], uint32_t room)
{
	for (int k = MLA_ERROR; k >= MLA_NOTE; k--) {
		if (budget[k] > room)
			budget[k] = room;
		room -= budget[k];
	}
	return room;
}

static void add_findings(writer *w, json_t *list)
{
	uint32_t budget[MLA_ERROR + 1] = {0};
	const mla_result *r;
	mla_cursor at = {0}, again = {0};

	while ((r = mla_next_result(&at, w->scan)))
		budget[r->finding->severity]++;
	w->room = mla_sarif_budget(budget, w->room);
	for (uint32_t i = 0; (r = mla_next_result(&again, w->scan)); i++) {
		json_t *o;

		if (!budget[r->finding->severity]) {
			w->left_out++;
			continue;
		}
		budget[r->finding->severity]--;
		o = finding(w, r->finding, r->fix, again.tree, &w->print[i]);
		if (w->scan->options->show_suppressed)
			mla_json_put(o, "suppressions", json_array());
		json_array_append_new(list, o);
	}
}

static void add_suppressed(writer *w, json_t *list, const mla_fingerprint *print)
{
	const mla_finding *const *f;
	mla_cursor at = {0};

	for (uint32_t i = 0; (f = mla_next_suppressed(&at, w->scan)); i++) {
		json_t *o, *how;

		if (!w->room) {
			w->left_out++;
			continue;
		}
		w->room--;
		o = finding(w, *f, NULL, at.tree, &print[i]);
		how = json_pack("{s:s}", "kind", "inSource");
		if ((*f)->suppression->reason.len)
			mla_json_put(how, "justification",
			             mla_json_text((*f)->suppression->reason));
		mla_json_put(o, "suppressions", json_pack("[o]", how));
		json_array_append_new(list, o);
	}
}

/* A test that stays is no problem: SARIF has a kind for what is merely told. */
static void add_kept(writer *w, json_t *list)
{
	const mla_rule *rule = mla_rule_find(mla_str_c("MLA001"));
	const mla_kept_test *k;
	mla_cursor at = {0};

	while ((k = mla_next_kept(&at, w->scan))) {
		mla_arena *arena = w->scan->arena;
		mla_span span = k->test->node->span;
		mla_str text = mla_joined(arena, mla_node_text(k->module->text, k->test->node));
		json_t *o, *places = json_array();

		if (!w->room) {
			w->left_out++;
			continue;
		}
		w->room--;
		o = start_result(rule, "none");
		json_array_append_new(places, location(k->module, at.tree, span,
		                                       mla_test_symbol(arena, k->test)));
		mla_json_put(o, "kind", mla_json_z("informational"));
		mla_json_put(o, "message",
		             mla_sarif_text(mla_arena_format(arena, "kept (%s): %.*s",
		                                             mla_kept_name(k->test->kept),
		                                             MLA_ARG(without_links(arena, text)))));
		mla_json_put(o, "locations", places);
		mla_json_put(o, "partialFingerprints",
		             json_pack("{s:o}", "primaryLocationLineHash",
		                       line_hash(w, k->module, span)));
		mla_sarif_mark(o, w->scan, k->module->path);
		json_array_append_new(list, o);
	}
}

json_t *mla_sarif_results(const mla_scan *s, uint32_t *left_out)
{
	writer w = {.scan = s, .room = MLA_SARIF_LIMIT};
	MLA_VEC(const mla_finding *) all = {0};
	const mla_result *r;
	const mla_finding *const *f;
	mla_cursor at = {0}, at_suppressed = {0};
	json_t *list = json_array();
	uint32_t n;

	while ((r = mla_next_result(&at, s)))
		mla_vec_push(&all, r->finding);
	n = all.n;
	while ((f = mla_next_suppressed(&at_suppressed, s)))
		mla_vec_push(&all, *f);
	w.print = mla_fingerprints(s->arena, all.v, all.n);
	add_findings(&w, list);
	add_suppressed(&w, list, w.print + n);
	add_kept(&w, list);
	*left_out = w.left_out;
	mla_vec_free(&all);
	free(w.hash);
	return list;
}
