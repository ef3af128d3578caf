/* Parts in SARIF to the log of the whole. What every log of this version has is written anew, and
 * must be the same in the parts. */
#include "cli/part.h"
#include "cli/sarif.h"

#include "analyzer/vec.h"

#include <string.h>

/* The order of results in a log; each in the order of files. */
typedef enum { FOUND, SUPPRESSED, KEPT, CATEGORIES } category;

typedef struct {
	mla_arena *arena;
	mla_part_entries results[CATEGORIES];
	mla_part_entries said[2]; /* notifications: about files, and about code in them */
	json_int_t counts[MLA_SARIF_COUNTS];
	json_int_t left_out;
	json_t *taken; /* what was in the parts: it holds the entries */
	int status;
	bool successful;
} whole;

static json_t *take(whole *w, json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	if (v)
		json_array_append(w->taken, v);
	json_object_del(o, key);
	return v;
}

static int add_counts(whole *w, const mla_part *p, const json_t *counts)
{
	for (int i = 0; i < MLA_SARIF_COUNTS; i++) {
		const json_t *n = json_object_get(counts, mla_sarif_counts[i]);

		if (!json_is_integer(n) || json_integer_value(n) < 0 ||
		    json_integer_value(n) > UINT32_MAX)
			return mla_part_refuse(p, "the numbers of files");
		w->counts[i] += json_integer_value(n);
	}
	return 0;
}

/* Takes the notice of the limit out: the whole has its own. */
static void drop_limit(json_t *said)
{
	for (size_t i = json_array_size(said); i-- > 0;)
		if (mla_sarif_is_limit(json_array_get(said, i)))
			json_array_remove(said, i);
}

static int add_notifications(whole *w, const mla_part *p, const json_t *said)
{
	mla_part_entries all = {0};
	int error = mla_part_entries_add(&all, p, said, true);

	for (uint32_t i = 0; i < all.n && error == 0; i++)
		mla_vec_push(&w->said[mla_sarif_is_unanalysed(all.v[i].entry)], all.v[i]);
	mla_vec_free(&all);
	return error;
}

static int add_invocation(whole *w, const mla_part *p, const json_t *invocations)
{
	const json_t *o = json_array_get(invocations, 0);
	const json_t *successful = json_object_get(o, "executionSuccessful");
	json_t *said = json_object_get(o, "toolExecutionNotifications");

	if (json_array_size(invocations) != 1 || json_object_size(o) != 4 ||
	    !json_is_boolean(successful) || !json_is_array(said))
		return mla_part_refuse(p, "invocations");
	w->successful &= json_is_true(successful);
	drop_limit(said);
	if (add_counts(w, p, json_object_get(json_object_get(o, "properties"), "files")) < 0)
		return MLA_ECONFIG;
	return add_notifications(w, p, said);
}

static category category_of(const json_t *result)
{
	return json_array_size(json_object_get(result, "suppressions")) ? SUPPRESSED
	       : json_object_get(result, "kind")                        ? KEPT
	                                                                : FOUND;
}

/* Results of a part, by category. */
static int add_results(whole *w, const mla_part *p, const json_t *results)
{
	mla_part_entries all = {0};
	int error = mla_part_entries_add(&all, p, results, true);

	for (uint32_t i = 0; i < all.n && error == 0; i++) {
		const char *level = json_string_value(json_object_get(all.v[i].entry, "level"));

		if (!level || (mla_sarif_severity(level) < 0 && strcmp(level, "none") != 0))
			error = mla_part_refuse(p, "results");
		mla_vec_push(&w->results[category_of(all.v[i].entry)], all.v[i]);
	}
	mla_vec_free(&all);
	return error;
}

static int add_part(whole *w, const mla_part *p, const json_t *frame)
{
	json_t *run = json_array_get(json_object_get(p->root, "runs"), 0);
	json_t *results = take(w, run, "results"), *invocations = take(w, run, "invocations");
	json_t *left_out =
		json_object_get(json_object_get(take(w, run, "properties"), "shard"), "leftOut");
	int error = 0;

	if (!json_equal(p->root, frame))
		error = mla_part_refuse(p, "the log is not one that this version writes");
	else if (!json_is_integer(left_out) || json_integer_value(left_out) < 0 ||
	         json_integer_value(left_out) > UINT32_MAX)
		error = mla_part_refuse(p, "leftOut");
	w->left_out += json_integer_value(left_out);
	if (p->status > w->status)
		w->status = (int)p->status;
	if (error == 0)
		error = add_invocation(w, p, invocations);
	return error == 0 ? add_results(w, p, results) : error;
}

static int severity_of(const mla_part_entry *e)
{
	int k = mla_sarif_severity(json_string_value(json_object_get(e->entry, "level")));

	return k < 0 ? MLA_NOTE : k;
}

/* A part has left out what is last in its own order, which the whole leaves out as well. */
static json_t *results_of(whole *w)
{
	uint32_t budget[MLA_ERROR + 1] = {0}, room = MLA_SARIF_LIMIT;
	json_t *list = json_array();

	for (uint32_t i = 0; i < w->results[FOUND].n; i++)
		budget[severity_of(&w->results[FOUND].v[i])]++;
	room = mla_sarif_budget(budget, room);
	for (int c = FOUND; c < CATEGORIES; c++)
		for (uint32_t i = 0; i < w->results[c].n; i++) {
			const mla_part_entry *e = &w->results[c].v[i];
			uint32_t *left = c == FOUND ? &budget[severity_of(e)] : &room;

			if (*left) {
				json_array_append(list, e->entry);
				--*left;
			} else {
				w->left_out++;
			}
		}
	return list;
}

static json_t *log_of(whole *w)
{
	json_t *results = results_of(w), *said = json_array();

	if (w->left_out)
		json_array_append_new(said, mla_sarif_left_out(w->arena, w->left_out));
	for (int k = 0; k < 2; k++)
		for (uint32_t i = 0; i < w->said[k].n; i++)
			json_array_append(said, w->said[k].v[i].entry);
	return mla_sarif_log(w->arena, 1, results,
	                     mla_sarif_invocation(w->successful, w->status, said, w->counts));
}

int mla_merge_sarif(json_t **out, const mla_part *p, uint32_t n)
{
	whole w = {.arena = mla_arena_new(), .taken = json_array(), .successful = true};
	json_t *frame = mla_sarif_log(w.arena, 1, NULL, NULL);
	int error = 0;

	for (uint32_t i = 0; i < n && error == 0; i++)
		error = add_part(&w, &p[i], frame);
	for (int c = 0; c < CATEGORIES && error == 0; c++)
		error = mla_part_entries_sort(&w.results[c]);
	for (int k = 0; k < 2 && error == 0; k++)
		error = mla_part_entries_sort(&w.said[k]);
	if (error == 0) {
		*out = log_of(&w);
		mla_sarif_say_left_out(w.left_out);
	}
	for (int c = 0; c < CATEGORIES; c++)
		mla_vec_free(&w.results[c]);
	for (int k = 0; k < 2; k++)
		mla_vec_free(&w.said[k]);
	json_decref(frame);
	json_decref(w.taken);
	mla_arena_free(w.arena);
	return error;
}
