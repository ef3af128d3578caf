/* Reading config.json with jansson. */
#include "cli/model_config.h"

#include "analyzer/str.h"
#include "analyzer/vec.h"
#include "cli/json.h"

typedef MLA_VEC(mla_setting) setting_list;

static void put(setting_list *list, const char *name, int64_t value)
{
	char *copy = mla_alloc(strlen(name) + 1);

	memcpy(copy, name, strlen(name));
	mla_vec_push(list, ((mla_setting){copy, value}));
}

typedef struct {
	mla_setting setting;
	uint32_t order;
} placed;

static int by_name(const void *pa, const void *pb)
{
	const placed *a = pa, *b = pb;
	int order = strcmp(a->setting.name, b->setting.name);

	return order ? order : a->order < b->order ? -1 : 1;
}

/* Each name once, with the value that came last. */
static void settle(setting_list *list)
{
	placed *p = mla_alloc((list->n + 1) * sizeof(*p));
	uint32_t n = list->n;

	for (uint32_t i = 0; i < n; i++)
		p[i] = (placed){list->v[i], i};
	qsort(p, n, sizeof(*p), by_name);
	list->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (i + 1 < n && strcmp(p[i].setting.name, p[i + 1].setting.name) == 0)
			free((char *)p[i].setting.name);
		else
			list->v[list->n++] = p[i].setting;
	}
	free(p);
}

static void take(setting_list *list, json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value) if (json_is_integer(value))
		put(list, key, json_integer_value(value));
}

int mla_model_config_read(mla_settings *out, const char *path)
{
	static const char *const nested[] = {"text_config", "language_config", "llm_config", NULL};
	setting_list list = {0};
	json_t *root;
	int error;

	*out = (mla_settings){0};
	if ((error = mla_json_object_read(&root, path)) < 0)
		return error;
	take(&list, root);
	for (int i = 0; nested[i]; i++)
		take(&list, json_object_get(root, nested[i]));
	json_decref(root);
	settle(&list);
	out->v = list.v;
	out->n = list.n;
	return 0;
}

void mla_model_config_free(mla_settings *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free((char *)s->v[i].name);
	free((mla_setting *)s->v);
	*s = (mla_settings){0};
}

static const mla_setting *find(const mla_settings *s, const char *name)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].name, name) == 0)
			return &s->v[i];
	return NULL;
}

static int sizes(mla_geometry *out, const char **missing, const mla_settings *s, const char *path)
{
	const char *const names[] = {"kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
	                             "v_head_dim"};
	uint32_t *field[] = {&out->rank, &out->nope, &out->rope, &out->value};

	*missing = NULL;
	for (int i = 0; i < 4; i++) {
		const mla_setting *v = find(s, names[i]);

		if (!v && i != 2 && !*missing)
			*missing = names[i];
		if (v && (v->value < (i != 2) || v->value > MLA_DIM_MAX))
			return mla_error(MLA_ECONFIG,
			                 "%s: \"%s\" is %lld; it must be from %d to %d", path,
			                 names[i], (long long)v->value, i != 2, MLA_DIM_MAX);
		*field[i] = v ? (uint32_t)v->value : 0;
	}
	return 0;
}

int mla_model_config_geometry(mla_geometry *out, const mla_settings *s, const char *path)
{
	const char *missing;
	int error = sizes(out, &missing, s, path);

	if (error == 0 && missing)
		error = mla_error(MLA_ECONFIG, "%s: no integer \"%s\"", path, missing);
	return error;
}

int mla_model_config_check(const char **missing, const mla_settings *s, const char *path)
{
	mla_geometry ignored;

	return sizes(&ignored, missing, s, path);
}
