/* The merge verb: the parts of a sharded run to the report of the whole. The parts may come from
 * anyone. */
#include "cli/format.h"
#include "cli/output.h"
#include "cli/part.h"
#include "cli/shard.h"
#include "cli/verbs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PART_MAX_MB = 256 };

/* How a format keeps what is for merge. */
typedef struct {
	mla_format format;
	mla_merger *merge;
} kind;

static const kind kinds[] = {{MLA_FORMAT_JSON, mla_merge_json},
                             {MLA_FORMAT_SARIF, mla_merge_sarif}};

/* The run of a SARIF log; NULL: it is none. */
static json_t *sarif_run(const json_t *root)
{
	return json_array_get(json_object_get(root, "runs"), 0);
}

static const kind *kind_of(const mla_part *p)
{
	return &kinds[sarif_run(p->root) != NULL];
}

/* What the part says of itself. */
static int read_shard(mla_part *p)
{
	json_t *run = sarif_run(p->root);
	json_t *driver = json_object_get(json_object_get(run, "tool"), "driver");
	json_t *bag = run ? json_object_get(run, "properties") : p->root;
	json_t *shard = json_object_get(bag, "shard");
	const char *version = json_string_value(json_object_get(run ? driver : p->root, "version"));

	p->index = json_integer_value(json_object_get(shard, "index"));
	p->count = json_integer_value(json_object_get(shard, "count"));
	p->run = json_string_value(json_object_get(shard, "run"));
	p->files = json_integer_value(json_object_get(shard, "files"));
	p->status = json_integer_value(json_object_get(shard, "status"));
	if (!shard || !version)
		return mla_part_refuse(p, "tool, version or shard");
	/* What a version writes into its parts is for itself. */
	if (strcmp(version, MLA_VERSION) != 0)
		return mla_error(MLA_ECONFIG, "%s: made by version %s; this is %s", p->name,
		                 version, MLA_VERSION);
	if (!p->run || p->count < 1 || p->count > MLA_SHARDS_MAX || p->index < 1 ||
	    p->index > p->count)
		return mla_part_refuse(p, "shard");
	if (!json_is_integer(json_object_get(shard, "status")) || p->status < MLA_EXIT_CLEAN ||
	    p->status > MLA_EXIT_NO_VERDICT)
		return mla_part_refuse(p, "status");
	return 0;
}

static int read_part(mla_part *out, const char *name)
{
	struct stat st;
	json_error_t why;

	out->name = name;
	if (stat(name, &st) == 0 && st.st_size > (off_t)PART_MAX_MB << 20)
		return mla_error(MLA_ECONFIG, "%s: larger than %d MB", name, PART_MAX_MB);
	out->root = json_load_file(name, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!out->root)
		return mla_error(MLA_ECONFIG, "%s:%d: %s", name, why.line, why.text);
	return read_shard(out);
}

/* Each shard once, all of one run. */
static int check_parts(const mla_part *p, uint32_t n)
{
	const mla_part **seen = calloc((size_t)p[0].count + 1, sizeof(*seen));
	int error = 0;

	for (uint32_t i = 0; i < n && error == 0; i++) {
		if (kind_of(&p[i]) != kind_of(&p[0]))
			error = mla_error(MLA_ECONFIG, "%s and %s have different formats",
			                  p[0].name, p[i].name);
		else if (p[i].count != p[0].count || p[i].files != p[0].files ||
		         strcmp(p[i].run, p[0].run) != 0)
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

/* The whole is written as the parts are: merge translates nothing. It replaces none of them. */
static int check_outputs(const mla_options *o, const kind *k)
{
	struct stat out, in;

	for (uint32_t i = 0; i < o->output_count; i++) {
		const mla_target *t = &o->output[i];

		if (t->format != (mla_format)MLA_FORMATS && t->format != k->format)
			return mla_error(MLA_ECONFIG, "-o %s:%s: the parts are %s",
			                 mla_formats[t->format].name, t->path,
			                 mla_formats[k->format].name);
		for (uint32_t n = 0; n < o->arg_count && !mla_output_is_stdout(t->path); n++)
			if (stat(t->path, &out) == 0 && stat(o->args[n], &in) == 0 &&
			    out.st_dev == in.st_dev && out.st_ino == in.st_ino)
				return mla_error(MLA_ECONFIG,
				                 "-o %s: this is a part; the report would replace "
				                 "it",
				                 t->path);
	}
	return 0;
}

static void print(const mla_outputs *to, const json_t *whole)
{
	for (uint32_t i = 0; i < to->n; i++) {
		json_dumpf(whole, to->v[i].to, JSON_INDENT(1));
		fputc('\n', to->v[i].to);
	}
}

static int write_whole(const mla_options *o, const mla_part *p, uint32_t n, int status)
{
	json_t *whole = NULL;
	mla_outputs to;

	if (check_outputs(o, kind_of(p)) < 0 || kind_of(p)->merge(&whole, p, n) < 0 ||
	    mla_outputs_open(&to, o) < 0) {
		status = mla_fail();
	} else {
		print(&to, whole);
		status = mla_outputs_close(&to, status);
	}
	json_decref(whole);
	return status;
}

int mla_verb_merge(const mla_options *o)
{
	uint32_t n = o->arg_count;
	mla_part *p = calloc(n + 1, sizeof(*p));
	int error = n ? 0 : mla_error(MLA_ECONFIG, "merge needs the parts of a run");
	int status = MLA_EXIT_CLEAN;

	for (uint32_t i = 0; i < n && error == 0; i++)
		if ((error = read_part(&p[i], o->args[i])) == 0 && p[i].status > status)
			status = (int)p[i].status;
	if (error == 0)
		error = check_parts(p, n);
	status = error < 0 ? mla_fail() : write_whole(o, p, n, status);
	for (uint32_t i = 0; i < n; i++)
		json_decref(p[i].root);
	free(p);
	return status;
}
