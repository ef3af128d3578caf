/* The marks of parts: written into them, and read back. */
#include "cli/part.h"

#include "analyzer/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char mark[] = "order";

json_t *mla_part_shard(const mla_report *r)
{
	const mla_scan *s = r->scan;
	char run[17];

	snprintf(run, sizeof(run), "%016" PRIx64, s->run);
	return json_pack("{s:i, s:i, s:s, s:I, s:i}", "index", (int)s->options->shard, "count",
	                 (int)s->options->shards, "run", run, "files", (json_int_t)s->run_files,
	                 "status", r->status);
}

static int by_path(const void *key, const void *file)
{
	return strcmp(key, ((const mla_file *)file)->path);
}

/* A shard is of one root, and reports files of its list only. */
void mla_part_mark(json_t *entry, const mla_scan *s, const char *path)
{
	const mla_tree *t = s->files.trees.v;
	const mla_file *f;

	if (!s->options->shards)
		return;
	f = bsearch(path, t->files.v, t->files.n, sizeof(*f), by_path);
	mla_json_put(entry, mark, json_integer(f ? f->order : 0));
}

int mla_part_refuse(const mla_part *p, const char *what)
{
	return mla_error(MLA_ECONFIG, "%s: not a part of check --shard: %s", p->name, what);
}

int mla_part_entries_add(mla_part_entries *out, const mla_part *p, const json_t *list,
                         bool in_properties)
{
	json_t *entry;
	size_t i;

	if (!json_is_array(list))
		return mla_part_refuse(p, "a list is missing");
	json_array_foreach(list, i, entry)
	{
		json_t *bag = in_properties ? json_object_get(entry, "properties") : entry;
		const json_t *order = json_object_get(bag, mark);
		mla_part_entry e = {entry, json_integer_value(order), p->index, i};

		if (!json_is_integer(order) || e.order < 0 || e.order >= p->files)
			return mla_part_refuse(p, "the order of its entries");
		json_object_del(bag, mark);
		if (in_properties && json_object_size(bag) == 0)
			json_object_del(entry, "properties");
		mla_vec_push(out, e);
	}
	return 0;
}

static int by_order(const void *pa, const void *pb)
{
	const mla_part_entry *a = pa, *b = pb;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	if (a->shard != b->shard)
		return a->shard < b->shard ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

int mla_part_entries_sort(mla_part_entries *v)
{
	if (v->n)
		qsort(v->v, v->n, sizeof(*v->v), by_order);
	for (uint32_t i = 1; i < v->n; i++)
		if (v->v[i].order == v->v[i - 1].order && v->v[i].shard != v->v[i - 1].shard)
			return mla_error(MLA_ECONFIG, "shards %lld and %lld both report one file",
			                 (long long)v->v[i - 1].shard, (long long)v->v[i].shard);
	return 0;
}
