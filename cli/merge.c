/* The merge verb: the JSON parts of a sharded run to the report of the whole. The parts may come
 * from anyone. */
#include "cli/json.h"
#include "cli/output.h"
#include "cli/shard.h"
#include "cli/verbs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PART_MAX_MB = 256 };

typedef struct {
	json_t *root;
	const char *name; /* of the file */
	const char *run;
	json_int_t index, count, status;
} part;

static int not_a_part(const char *name, const char *what)
{
	return mla_error(MLA_ECONFIG, "%s: not a part of check --shard --output-format json: %s",
	                 name, what);
}

/* Entries about files of the shard only. */
static int check_list(const part *p, const json_t *list, const char *what)
{
	const json_t *entry;
	size_t i;

	if (!json_is_array(list))
		return not_a_part(p->name, what);
	json_array_foreach(list, i, entry)
	{
		const char *path = json_string_value(json_object_get(entry, "path"));

		if (!path)
			return not_a_part(p->name, what);
		if (mla_shard_of(path, (uint32_t)p->count) != p->index)
			return mla_error(MLA_ECONFIG, "%s: %s is not in shard %lld/%lld", p->name,
			                 path, (long long)p->index, (long long)p->count);
	}
	return 0;
}

static const char *const file_lists[] = {"partial", "skipped", "failed", NULL};

static int check_part(const part *p)
{
	const json_t *files = json_object_get(p->root, "files");
	const json_t *checked = json_object_get(files, "checked");
	static const char *const optional[] = {"kept", "unanalysed", NULL};
	size_t keys = 5; /* tool, version, shard, findings, files */
	int error = check_list(p, json_object_get(p->root, "findings"), "findings");

	for (int i = 0; optional[i] && error == 0; i++)
		if (json_object_get(p->root, optional[i])) {
			keys++;
			error = check_list(p, json_object_get(p->root, optional[i]), optional[i]);
		}
	for (int i = 0; file_lists[i] && error == 0; i++)
		error = check_list(p, json_object_get(files, file_lists[i]), file_lists[i]);
	if (error == 0 && (!json_is_integer(checked) || json_integer_value(checked) < 0 ||
	                   json_integer_value(checked) > UINT32_MAX))
		error = not_a_part(p->name, "files");
	if (error == 0 && (json_object_size(p->root) != keys || json_object_size(files) != 4))
		error = not_a_part(p->name, "unknown keys");
	return error;
}

static int read_part(part *out, const char *name)
{
	const json_t *shard;
	const char *version;
	struct stat st;
	json_error_t why;

	out->name = name;
	if (stat(name, &st) == 0 && st.st_size > (off_t)PART_MAX_MB << 20)
		return mla_error(MLA_ECONFIG, "%s: larger than %d MB", name, PART_MAX_MB);
	out->root = json_load_file(name, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!out->root)
		return mla_error(MLA_ECONFIG, "%s:%d: %s", name, why.line, why.text);
	shard = json_object_get(out->root, "shard");
	version = json_string_value(json_object_get(out->root, "version"));
	out->index = json_integer_value(json_object_get(shard, "index"));
	out->count = json_integer_value(json_object_get(shard, "count"));
	out->run = json_string_value(json_object_get(shard, "run"));
	if (!shard || !version || !out->run || out->count < 1 || out->count > MLA_SHARDS_MAX ||
	    out->index < 1 || out->index > out->count ||
	    !json_is_integer(json_object_get(shard, "status")))
		return not_a_part(name, "tool, version or shard");
	if (strcmp(version, MLA_VERSION) != 0)
		return mla_error(MLA_ECONFIG, "%s: made by version %s; this is %s", name, version,
		                 MLA_VERSION);
	out->status = json_integer_value(json_object_get(shard, "status"));
	if (out->status < MLA_EXIT_CLEAN || out->status > MLA_EXIT_NO_VERDICT)
		return not_a_part(name, "status");
	return check_part(out);
}

/* Each shard once, all of one run. */
static int check_parts(const part *p, uint32_t n)
{
	const part **seen = calloc((size_t)p[0].count + 1, sizeof(*seen));
	int error = 0;

	for (uint32_t i = 0; i < n && error == 0; i++) {
		if (p[i].count != p[0].count || strcmp(p[i].run, p[0].run) != 0)
			error = mla_error(MLA_ECONFIG,
			                  "%s and %s are parts of different runs: options, files "
			                  "or number of shards differ",
			                  p[0].name, p[i].name);
		else if (seen[p[i].index])
			error = mla_error(MLA_ECONFIG, "%s and %s are both shard %lld/%lld",
			                  seen[p[i].index]->name, p[i].name, (long long)p[i].index,
			                  (long long)p[i].count);
		else
			seen[p[i].index] = &p[i];
	}
	for (json_int_t k = 1; k <= p[0].count && error == 0; k++)
		if (!seen[k])
			error = mla_error(MLA_ECONFIG, "shard %lld/%lld is missing", (long long)k,
			                  (long long)p[0].count);
	free(seen);
	return error;
}

typedef struct {
	json_t *entry;
	const char *path;
	size_t at; /* in its part: entries of one file stay in order */
} item;

static int by_path(const void *pa, const void *pb)
{
	const item *a = pa, *b = pb;
	int order = strcmp(a->path, b->path);

	return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* The list named `key` of all parts, below `outer` if that is not NULL. */
static json_t *join(const part *p, uint32_t n, const char *outer, const char *key)
{
	json_t *out = json_array(), *entry;
	MLA_VEC(item) items = {0};
	size_t at;

	for (uint32_t i = 0; i < n; i++) {
		json_t *in = outer ? json_object_get(p[i].root, outer) : p[i].root;

		json_array_foreach(json_object_get(in, key), at, entry)
		{
			const char *path = json_string_value(json_object_get(entry, "path"));

			mla_vec_push(&items, ((item){entry, path, at}));
		}
	}
	if (items.n)
		qsort(items.v, items.n, sizeof(*items.v), by_path);
	for (uint32_t i = 0; i < items.n; i++)
		json_array_append(out, items.v[i].entry);
	mla_vec_free(&items);
	return out;
}

static int check_twice(const json_t *findings)
{
	for (size_t i = 1; i < json_array_size(findings); i++) {
		const json_t *f = json_array_get(findings, i);

		if (json_equal(f, json_array_get(findings, i - 1)))
			return mla_error(MLA_ECONFIG, "a finding in %s is there twice",
			                 json_string_value(json_object_get(f, "path")));
	}
	return 0;
}

static int merge(FILE *to, const part *p, uint32_t n)
{
	json_t *o = json_object(), *files = json_object(), *list;
	json_int_t checked = 0;
	int error;

	mla_json_put(o, "tool", mla_json_z("mlalint"));
	mla_json_put(o, "version", mla_json_z(MLA_VERSION));
	mla_json_put(o, "findings", join(p, n, NULL, "findings"));
	if (json_object_get(p[0].root, "kept"))
		mla_json_put(o, "kept", join(p, n, NULL, "kept"));
	list = join(p, n, NULL, "unanalysed");
	if (json_array_size(list))
		json_object_set(o, "unanalysed", list);
	json_decref(list);
	for (uint32_t i = 0; i < n; i++)
		checked += json_integer_value(
			json_object_get(json_object_get(p[i].root, "files"), "checked"));
	mla_json_put(files, "checked", json_integer(checked));
	for (int i = 0; file_lists[i]; i++)
		mla_json_put(files, file_lists[i], join(p, n, "files", file_lists[i]));
	mla_json_put(o, "files", files);
	error = check_twice(json_object_get(o, "findings"));
	if (error == 0) {
		json_dumpf(o, to, JSON_INDENT(1));
		fputc('\n', to);
	}
	json_decref(o);
	return error;
}

int mla_verb_merge(const mla_options *o)
{
	const mla_options out = {.output = {{MLA_FORMAT_JSON, "-"}}, .output_count = 1};
	uint32_t n = o->arg_count;
	part *p = calloc(n + 1, sizeof(*p));
	int error = n ? 0 : mla_error(MLA_ECONFIG, "merge needs the parts of a run");
	int status = MLA_EXIT_CLEAN;
	mla_outputs to;

	for (uint32_t i = 0; i < n && error == 0; i++)
		if ((error = read_part(&p[i], o->args[i])) == 0 && p[i].status > status)
			status = (int)p[i].status;
	if (error == 0)
		error = check_parts(p, n);
	if (error == 0)
		error = mla_outputs_open(&to, &out);
	if (error == 0) {
		if (merge(to.v[0].to, p, n) < 0)
			status = mla_fail();
		status = mla_outputs_close(&to, status);
	} else {
		status = mla_fail();
	}
	for (uint32_t i = 0; i < n; i++)
		json_decref(p[i].root);
	free(p);
	return status;
}
