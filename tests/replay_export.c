/*
 * Writes what a replay computed with, and its result, as a safetensors file, so that the real
 * framework can be given the same numbers: tests/upstream.py compares. The config goes to standard
 * output as JSON.
 * usage: replay_export ROOT PATH OUT WIDTH CACHED TOPK
 */
#include "analyzer/facts.h"
#include "engine/replay/machine.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
	char name[160];
	const mla_tensor *t;
} entry;

typedef struct {
	entry v[256];
	uint32_t n;
} entries;

static int read_file(mla_text **out, void *payload, const char *path)
{
	char name[1024], *bytes;
	FILE *f;
	long n;
	int error;

	snprintf(name, sizeof(name), "%s/%s", (const char *)payload, path);
	if (!(f = fopen(name, "rb")))
		return 1;
	fseek(f, 0, SEEK_END);
	n = ftell(f);
	rewind(f);
	bytes = mla_alloc(n > 0 ? (size_t)n : 1);
	if (n < 0 || fread(bytes, 1, (size_t)n, f) != (size_t)n) {
		fclose(f);
		free(bytes);
		return 1;
	}
	fclose(f);
	error = mla_text_new(out, path, (mla_str){bytes, (uint32_t)n});
	free(bytes);
	return error;
}

static void add(entries *e, const char *prefix, mla_str name, const mla_tensor *t)
{
	if (e->n == 256 || !t)
		return;
	snprintf(e->v[e->n].name, sizeof(e->v[e->n].name), "%s%.*s", prefix, MLA_ARG(name));
	e->v[e->n++].t = t;
}

/* Parameters by their path: "indexer.k_norm.bias". */
static void add_all(entries *e, const char *prefix, const mla_dictionary *d)
{
	for (uint32_t i = 0; i < d->n; i++) {
		mla_value v = d->v[i].value;
		mla_str name = d->v[i].key.s;
		char path[160];

		snprintf(path, sizeof(path), "%s%.*s.", prefix, MLA_ARG(name));
		if (v.kind == MLA_V_TENSOR && name.ptr[0] != '_')
			add(e, prefix, name, v.t);
		else if (v.kind == MLA_V_LAYER)
			add_all(e, path, mla_layer_attributes(v.layer));
		else if (v.kind == MLA_V_INSTANCE && v.instance->class->module_base)
			add_all(e, path, &v.instance->attributes);
	}
}

static void write_safetensors(const char *path, const entries *e)
{
	json_t *header = json_object();
	uint64_t at = 0, length;
	FILE *f = fopen(path, "wb");
	char *text;

	if (!f)
		exit(1);
	for (uint32_t i = 0; i < e->n; i++) {
		json_t *shape = json_array();

		for (uint32_t k = 0; k < e->v[i].t->ndim; k++)
			json_array_append_new(shape, json_integer(e->v[i].t->shape[k]));
		json_object_set_new(header, e->v[i].name,
		                    json_pack("{s:s,s:o,s:[I,I]}", "dtype", "F32", "shape", shape,
		                              "data_offsets", (json_int_t)at,
		                              (json_int_t)(at + 4 * (uint64_t)e->v[i].t->count)));
		at += 4 * (uint64_t)e->v[i].t->count;
	}
	text = json_dumps(header, JSON_COMPACT);
	length = strlen(text);
	fwrite(&length, 8, 1, f);
	fwrite(text, 1, length, f);
	for (uint32_t i = 0; i < e->n; i++)
		for (int64_t k = 0; k < e->v[i].t->count; k++) {
			float x = (float)mla_tensor_at(e->v[i].t, k);

			fwrite(&x, 4, 1, f);
		}
	fclose(f);
	free(text);
	json_decref(header);
}

static json_t *plain(mla_value v)
{
	json_t *o;

	switch (v.kind) {
	case MLA_V_BOOL:
		return json_boolean(v.b);
	case MLA_V_INT:
		return json_integer(v.i);
	case MLA_V_FLOAT:
		return json_real(v.f);
	case MLA_V_STR:
		return json_stringn(v.s.ptr, v.s.len);
	case MLA_V_DICT:
		o = json_object();
		for (uint32_t i = 0; i < v.dict->n; i++) {
			char key[128];

			snprintf(key, sizeof(key), "%.*s", MLA_ARG(v.dict->v[i].key.s));
			json_object_set_new(o, key, plain(v.dict->v[i].value));
		}
		return o;
	default:
		return json_null();
	}
}

static void print_config(const mla_machine *m)
{
	json_t *o = m->config.kind == MLA_V_INSTANCE ? json_object() : NULL;

	for (uint32_t i = 0; o && i < m->config.instance->attributes.n; i++) {
		const mla_item *item = &m->config.instance->attributes.v[i];
		char key[128];

		snprintf(key, sizeof(key), "%.*s", MLA_ARG(item->key.s));
		json_object_set_new(o, key, plain(item->value));
	}
	json_dumpf(o ? o : json_null(), stdout, JSON_COMPACT | JSON_ENCODE_ANY);
	json_decref(o);
}

static int fail(const mla_machine *m)
{
	const mla_fault *f = mla_machine_fault(m);

	fprintf(stderr, "%.*s: %.*s at line %u\n", MLA_ARG(f->type), MLA_ARG(f->message), f->line);
	return 1;
}

static bool build(mla_machine **m, mla_layer_object **layer, mla_project *p, const mla_site *site,
                  int64_t topk)
{
	mla_replay_target target = {
		.owner = site->owner, .module = site->module, .function = site->function};

	/* Open booleans true, sizes that are None by default first as they are, then assumed. */
	for (int assume = 0; assume < 2; assume++) {
		mla_replay_options o = {.project = p,
		                        .mode = MLA_REPLAY_F32,
		                        .seed = 1,
		                        .topk = topk,
		                        .choices = 15,
		                        .assume_none = assume};

		*m = mla_machine_new(&o);
		if (mla_replay_construct(layer, *m, &target) == 0)
			return true;
		if (!assume)
			mla_machine_free(*m);
	}
	return false;
}

int main(int argc, char **argv)
{
	mla_run run = {.batch = 2};
	entries *e = mla_alloc(sizeof(*e));
	mla_arena *arena = mla_arena_new();
	mla_layer_object *layer;
	mla_project *p;
	mla_facts facts;
	mla_machine *m;
	mla_tensor *out;

	if (argc != 7 || mla_project_new(&p, (mla_reader){read_file, argv[1]}) < 0)
		return 2;
	run.width = (uint32_t)atoi(argv[4]);
	run.cached = atoi(argv[5]);
	if (!mla_project_module(p, argv[2]) ||
	    mla_facts_build(&facts, arena, p, NULL, mla_project_module(p, argv[2]), false) < 0 ||
	    !facts.site_count)
		return 2;
	if (!build(&m, &layer, p, facts.site[0], atoi(argv[6])) ||
	    mla_replay_run(&out, m, layer, &run) < 0)
		return fail(m);
	add(e, "out", mla_str_c(""), out);
	add(e, "x", mla_str_c(""), m->input.t);
	if (m->mask.kind == MLA_V_TENSOR)
		add(e, "mask", mla_str_c(""), m->mask.t);
	for (uint32_t i = 0; i < m->kept.n; i++)
		add(e, "rows.", mla_machine_format(m, "%u", i), m->kept.v[i]);
	add_all(e, "weights.", &mla_layer_object_self(layer).instance->attributes);
	write_safetensors(argv[3], e);
	printf("{\"symbol\":\"%.*s\",\"config\":", MLA_ARG(facts.site[0]->symbol));
	print_config(m);
	printf("}\n");
	mla_machine_free(m);
	mla_project_free(p);
	mla_arena_free(arena);
	free(e);
	return 0;
}
