/* Reading and printing baselines. The files may come from anyone. */
#include "cli/baseline.h"

#include "analyzer/str.h"
#include "cli/json.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
	FORMAT = 1,
	SIZE_MAX_MB = 64, /* some 300,000 findings */
};

static bool text(mla_str *out, mla_arena *arena, const json_t *entry, const char *key)
{
	const json_t *v = json_object_get(entry, key);

	if (!json_is_string(v))
		return false;
	*out = mla_arena_dup(arena,
	                     (mla_str){json_string_value(v), (uint32_t)json_string_length(v)});
	return true;
}

static bool take(mla_fingerprint *out, mla_arena *arena, const json_t *entry)
{
	const json_t *number = json_object_get(entry, "occurrence");
	json_int_t n = json_integer_value(number);

	out->occurrence = (uint32_t)n;
	return json_object_size(entry) == 5 && json_is_integer(number) && n >= 1 &&
	       n <= UINT32_MAX && text(&out->path, arena, entry, "path") &&
	       text(&out->code, arena, entry, "code") &&
	       text(&out->symbol, arena, entry, "symbol") &&
	       text(&out->guard, arena, entry, "guard");
}

static int take_all(mla_baseline *out, mla_arena *arena, const json_t *root, const char *path)
{
	const json_t *version = json_object_get(root, "version");
	const json_t *list = json_object_get(root, "findings"), *entry;
	size_t i;

	if (!json_is_integer(version) || !json_is_array(list) || json_object_size(root) != 3 ||
	    !json_is_string(json_object_get(root, "tool")))
		return mla_error(MLA_ECONFIG, "%s: not a baseline of mlalint", path);
	if (json_integer_value(version) != FORMAT)
		return mla_error(MLA_ECONFIG, "%s: baseline version %lld; this mlalint reads %d",
		                 path, (long long)json_integer_value(version), FORMAT);
	out->v = mla_arena_array(arena, json_array_size(list), sizeof(*out->v));
	json_array_foreach(list, i, entry)
	{
		if (!take(&out->v[i], arena, entry))
			return mla_error(MLA_ECONFIG,
			                 "%s: finding %zu is not of the form {\"path\", \"code\", "
			                 "\"symbol\", \"guard\", \"occurrence\"}",
			                 path, i + 1);
		out->n++;
	}
	if (out->n)
		qsort(out->v, out->n, sizeof(*out->v), mla_fingerprint_cmp);
	return 0;
}

int mla_baseline_read(mla_baseline *out, mla_arena *arena, const char *path)
{
	json_error_t why;
	struct stat st;
	json_t *root;
	int error;

	*out = (mla_baseline){0};
	if (stat(path, &st) < 0)
		return mla_error(MLA_ECONFIG, "%s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode) || st.st_size > (off_t)SIZE_MAX_MB << 20)
		return mla_error(MLA_ECONFIG, "%s: not a baseline of mlalint", path);
	root = json_load_file(path, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!root)
		return mla_error(MLA_ECONFIG, "%s: line %d: %s", path, why.line, why.text);
	error = take_all(out, arena, root, path);
	json_decref(root);
	return error;
}

const mla_fingerprint *mla_baseline_find(const mla_baseline *b, const mla_fingerprint *f)
{
	return b->n ? bsearch(f, b->v, b->n, sizeof(*b->v), mla_fingerprint_cmp) : NULL;
}

void mla_baseline_print(FILE *to, mla_fingerprint *v, uint32_t n)
{
	if (n)
		qsort(v, n, sizeof(*v), mla_fingerprint_cmp);
	fprintf(to, "{\"tool\": \"mlalint\", \"version\": %d, \"findings\": [", FORMAT);
	for (uint32_t i = 0; i < n; i++) {
		json_t *entry = json_object();

		mla_json_put(entry, "path", mla_json_text(v[i].path));
		mla_json_put(entry, "code", mla_json_text(v[i].code));
		mla_json_put(entry, "symbol", mla_json_text(v[i].symbol));
		mla_json_put(entry, "guard", mla_json_text(v[i].guard));
		mla_json_put(entry, "occurrence", json_integer(v[i].occurrence));
		fputs(i ? ",\n" : "\n", to);
		json_dumpf(entry, to, 0);
		json_decref(entry);
	}
	fputs(n ? "\n]}\n" : "]}\n", to);
}
