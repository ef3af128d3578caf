/* Parts of a scan. Every part follows imports and heirs through all files; only what it reports,
 * and therefore verifies, is divided. */
#include "cli/shard.h"

#include "cli/json.h"

#include <stdlib.h>
#include <string.h>

/* FNV-1a with 64 bits. It must never change: parts of a matrix are run at different times. */
static const uint64_t fnv_start = 0xcbf29ce484222325u;

static uint64_t fnv(uint64_t h, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return h;
}

/* With the end of the string, so that "a", "bc" is not "ab", "c"; 0xff is in no UTF-8. */
static uint64_t fnv_z(uint64_t h, const char *s)
{
	return s ? fnv(h, s, strlen(s) + 1) : fnv(h, "\xff", 1);
}

uint32_t mla_shard_of(const char *path, uint32_t shards)
{
	json_t *text = mla_json_z(path);
	uint64_t h = fnv(fnv_start, json_string_value(text), json_string_length(text));

	json_decref(text);
	return (uint32_t)((h ^ h >> 32) % shards) + 1;
}

uint64_t mla_shard_run(const mla_options *o, const mla_tree *t)
{
	const char *const text[] = {o->select,       o->ignore, o->extend_select, o->exclude,
	                            o->config,       o->rev,    o->diff_base,     o->baseline,
	                            o->model_config, o->backend};
	const bool flags[] = {o->isolated,     o->force_exclude, o->show_kept, o->show_suppressed,
	                      o->exit_zero,    o->no_ignore,     o->verify,    o->no_verify,
	                      o->unsafe_fixes, o->has_geometry,  o->has_form};
	const uint32_t numbers[] = {(uint32_t)o->form, o->geometry.rank, o->geometry.nope,
	                            o->geometry.rope, o->geometry.value};
	uint64_t h = fnv_start;

	for (size_t i = 0; i < sizeof(text) / sizeof(*text); i++)
		h = fnv_z(h, text[i]);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		h = fnv(h, flags[i] ? "1" : "0", 1);
	h = fnv(h, numbers, sizeof(numbers));
	for (uint32_t i = 0; t && i < t->files.n; i++)
		h = fnv_z(h, t->files.v[i].path);
	return h;
}

static bool is_mine(const mla_scan *s, const char *path)
{
	return mla_shard_of(path, s->options->shards) == s->options->shard;
}

static void take_results(mla_scan *s, mla_scan_tree *t)
{
	uint32_t n = 0, fixes = 0;

	for (uint32_t i = 0; i < t->results.n; i++)
		if (is_mine(s, t->results.v[i].finding->module->path)) {
			t->results.v[n++] = t->results.v[i];
		} else {
			s->findings--;
			s->fixable -= t->results.v[i].fix->edits.n != 0;
		}
	t->results.n = n;
	for (uint32_t i = 0; i < t->fixes.n; i++)
		for (uint32_t k = 0; k < n; k++)
			if (t->results.v[k].fix == t->fixes.v[i]) {
				t->fixes.v[fixes++] = t->fixes.v[i];
				break;
			}
	t->fixes.n = fixes;
}

static void take_files(mla_scan *s, mla_tree *t)
{
	uint32_t n = 0;

	s->run_files = t->files.n;
	for (uint32_t i = 0; i < t->files.n; i++)
		t->files.v[i].order = i;
	for (uint32_t i = 0; i < t->files.n; i++)
		if (is_mine(s, t->files.v[i].path)) {
			t->files.v[n++] = t->files.v[i];
		} else {
			free(t->files.v[i].path);
			mla_text_free(t->files.v[i].text);
		}
	t->files.n = n;
}

void mla_shard_take(mla_scan *s, mla_scan_tree *t)
{
	uint32_t n = 0;
	mla_unanalysed *mine = mla_arena_array(s->arena, t->unanalysed_count, sizeof(*mine));

	s->run = mla_shard_run(s->options, t->tree);
	take_results(s, t);
	for (uint32_t i = 0; i < t->suppressed.n; i++)
		if (is_mine(s, t->suppressed.v[i]->module->path))
			t->suppressed.v[n++] = t->suppressed.v[i];
	s->suppressed -= t->suppressed.n - n;
	t->suppressed.n = n;
	n = 0;
	for (uint32_t i = 0; i < t->kept.n; i++)
		if (is_mine(s, t->kept.v[i].module->path))
			t->kept.v[n++] = t->kept.v[i];
	s->kept -= t->kept.n - n;
	t->kept.n = n;
	n = 0;
	for (uint32_t i = 0; i < t->unanalysed_count; i++)
		if (is_mine(s, t->unanalysed[i].module->path))
			mine[n++] = t->unanalysed[i];
	t->unanalysed = mine;
	t->unanalysed_count = n;
	take_files(s, t->tree);
}
