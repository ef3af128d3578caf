/* Parts in JSON to the JSON report of the whole. */
#include "cli/part.h"

#include "analyzer/vec.h"

static const char *const file_lists[] = {"partial", "skipped", "failed", NULL};

/* Nothing may be lost on the way: a key that is not known here would be. */
static int check(const mla_part *p)
{
	const json_t *files = json_object_get(p->root, "files");
	const json_t *checked = json_object_get(files, "checked");
	size_t keys = 5; /* tool, version, shard, findings, files */

	keys += json_object_get(p->root, "kept") != NULL;
	keys += json_object_get(p->root, "unanalysed") != NULL;
	if (!json_is_integer(checked) || json_integer_value(checked) < 0 ||
	    json_integer_value(checked) > UINT32_MAX)
		return mla_part_refuse(p, "files");
	if (json_object_size(p->root) != keys || json_object_size(files) != 4)
		return mla_part_refuse(p, "unknown keys");
	return 0;
}

/* The list named `key` of all parts, below `outer` if that is not NULL. Parts may be without an
 * optional one. */
static int join(json_t **out, const mla_part *p, uint32_t n, const char *outer, const char *key,
                bool optional)
{
	mla_part_entries all = {0};
	int error = 0;

	*out = json_array();
	for (uint32_t i = 0; i < n && error == 0; i++) {
		json_t *in = outer ? json_object_get(p[i].root, outer) : p[i].root;

		if (!optional || json_object_get(in, key))
			error = mla_part_entries_add(&all, &p[i], json_object_get(in, key), false);
	}
	if (error == 0)
		error = mla_part_entries_sort(&all);
	for (uint32_t i = 0; i < all.n && error == 0; i++)
		json_array_append(*out, all.v[i].entry);
	mla_vec_free(&all);
	return error;
}

/* The same, into an object. */
static int put(json_t *o, const mla_part *p, uint32_t n, const char *outer, const char *key,
               bool optional)
{
	json_t *list;
	int error = join(&list, p, n, outer, key, optional);

	if (optional && json_array_size(list) == 0)
		json_decref(list);
	else
		mla_json_put(o, key, list);
	return error;
}

static int put_files(json_t *o, const mla_part *p, uint32_t n)
{
	json_t *files = json_object();
	json_int_t checked = 0;
	int error = 0;

	for (uint32_t i = 0; i < n; i++)
		checked += json_integer_value(
			json_object_get(json_object_get(p[i].root, "files"), "checked"));
	mla_json_put(files, "checked", json_integer(checked));
	for (int i = 0; file_lists[i] && error == 0; i++)
		error = put(files, p, n, "files", file_lists[i], false);
	mla_json_put(o, "files", files);
	return error;
}

int mla_merge_json(json_t **out, const mla_part *p, uint32_t n)
{
	json_t *o = *out = json_object();
	int error = 0;

	for (uint32_t i = 0; i < n && error == 0; i++)
		error = check(&p[i]);
	mla_json_put(o, "tool", mla_json_z("mlalint"));
	mla_json_put(o, "version", mla_json_z(MLA_VERSION));
	if (error == 0)
		error = put(o, p, n, NULL, "findings", false);
	if (error == 0 && json_object_get(p[0].root, "kept"))
		error = put(o, p, n, NULL, "kept", false);
	if (error == 0)
		error = put(o, p, n, NULL, "unanalysed", true);
	return error == 0 ? put_files(o, p, n) : error;
}
