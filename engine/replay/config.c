/*
 * Config values. Sizes of the latent keep what the source (or the user) says; sizes that decide
 * nothing are small; what nobody says is assumed, chosen both ways, or open: using it ends the
 * replay. Values go by the names that configs of this family of models share.
 */
#include "engine/replay/machine.h"

enum { HIDDEN = 64, SMALL = 4, MANY = 1 << 30 };

static bool ends(mla_str s, const char *const *words)
{
	for (; *words; words++)
		if (mla_str_ends(s, *words))
			return true;
	return false;
}

/* The user's word for a name; geometry options count for the four latent sizes. */
static bool setting(int64_t *out, const mla_machine *m, mla_str name)
{
	const mla_settings *s = m->options.settings;
	const mla_geometry *g = s ? s->geometry : NULL;

	if (g && mla_str_is(name, "kv_lora_rank"))
		*out = g->rank;
	else if (g && mla_str_is(name, "qk_nope_head_dim"))
		*out = g->nope;
	else if (g && mla_str_is(name, "qk_rope_head_dim"))
		*out = g->rope;
	else if (g && mla_str_is(name, "v_head_dim"))
		*out = g->value;
	else {
		for (uint32_t i = 0; s && i < s->n; i++)
			if (mla_str_is(name, s->v[i].name)) {
				*out = s->v[i].value;
				return true;
			}
		return false;
	}
	return true;
}

static bool assumed_size(int64_t *out, mla_machine *m, mla_str name)
{
	static const struct {
		const char *name;
		int64_t value;
	} table[] = {{"kv_lora_rank", 512},
	             {"qk_nope_head_dim", 128},
	             {"qk_rope_head_dim", 64},
	             {"v_head_dim", 128},
	             {"head_dim", 128}};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (mla_str_is(name, table[i].name)) {
			bool there = false;

			*out = table[i].value;
			for (uint32_t k = 0; k < m->assumed.n; k++)
				there |= mla_str_eq(m->assumed.v[k], name);
			if (!there && i < 4)
				mla_vec_push(&m->assumed, name);
			return true;
		}
	return false;
}

/* Sizes that decide nothing, whatever their default. */
static bool small_size(int64_t *out, const mla_machine *m, mla_str name)
{
	static const char *const heads[] = {"heads", "n_head", NULL};
	static const char *const selected[] = {"topk", "top_k", NULL};
	static const char *const widths[] = {"hidden_size", "d_model",  "n_embd",    "embed_dim",
	                                     "hidden_dim",  "dim",      "model_dim", "dims",
	                                     "width",       "features", NULL};
	static const char *const inner[] = {"intermediate_size", "ffn_hidden_size", "inter_dim",
	                                    "q_lora_rank", NULL};

	if (ends(name, heads))
		*out = m->options.heads;
	else if (ends(name, selected))
		*out = m->options.topk ? m->options.topk : MANY;
	else if (mla_str_in(name, widths))
		*out = HIDDEN;
	else if (ends(name, inner))
		*out = HIDDEN;
	else if (mla_str_is(name, "vocab_size"))
		*out = HIDDEN;
	else
		return false;
	return true;
}

static int chosen(mla_value *out, mla_machine *m, mla_str name)
{
	uint32_t i = 0;

	while (i < m->choices.n && !mla_str_eq(m->choices.v[i].name, name))
		i++;
	if (i == m->choices.n) {
		if (i == 4)
			return mla_limit(m, "more than 4 booleans without a default");
		mla_vec_push(&m->choices, ((mla_choice){name, m->options.choices >> i & 1}));
	}
	*out = mla_value_bool(m->choices.v[i].value);
	return 0;
}

static bool float_by_name(double *out, mla_str name)
{
	static const struct {
		const char *part;
		double value;
	} table[] = {{"eps", 1e-6}, {"theta", 10000}, {"base", 10000},
	             {"factor", 1}, {"scale", 1},     {"scaling", 1}};

	for (uint32_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (mla_str_contains(name, table[i].part)) {
			*out = table[i].value;
			return true;
		}
	return false;
}

/* The type an annotation names: NAME, Optional[NAME], NAME | None, "NAME". */
static mla_str annotation_name(const mla_node *a, bool *optional)
{
	*optional = false;
	while (a) {
		if (a->kind == MLA_N_NAME || a->kind == MLA_N_ATTRIBUTE)
			return a->name;
		/* A generic type is a subscript in an expression, and no known kind elsewhere. */
		if ((a->kind == MLA_N_SUBSCRIPT || a->kind == MLA_N_OTHER) && a->n >= 2 &&
		    a->kid[0]) {
			mla_str outer = a->kid[0]->name;

			if (!mla_str_is(outer, "Optional"))
				return outer;
			*optional = true;
			a = a->kid[1];
			if (a && a->kind == MLA_N_OTHER && a->n == 1)
				a = a->kid[0];
		} else if (a->kind == MLA_N_BINARY && a->op == MLA_OP_BITOR) {
			*optional |= a->kid[1]->kind == MLA_N_NONE;
			a = a->kid[0];
		} else {
			break;
		}
	}
	return (mla_str){"", 0};
}

static int by_annotation(mla_value *out, mla_machine *m, mla_str name, const mla_node *annotation)
{
	static const char *const dictionaries[] = {"Dict", "dict", "Mapping", NULL};
	bool optional;
	mla_str type = annotation_name(annotation, &optional);
	double f;
	int64_t i;

	*out = (mla_value){.kind = MLA_V_OPEN, .s = name};
	if (assumed_size(&i, m, name)) {
		*out = mla_value_int(i);
	} else if (optional) {
		*out = mla_value_none;
	} else if (mla_str_is(type, "bool")) {
		return chosen(out, m, name);
	} else if (mla_str_in(type, dictionaries)) {
		*out = mla_dictionary_new(m);
		out->dict->open = true;
	} else if ((!type.len || mla_str_is(type, "float")) && float_by_name(&f, name)) {
		*out = mla_value_float(f);
	} else if (mla_str_is(type, "float")) {
		*out = mla_value_float(1);
	} else if (mla_str_ends(name, "max_position_embeddings")) {
		*out = mla_value_int(4096);
	} else if (mla_str_ends(name, "_idx") || mla_str_is(name, "idx") ||
	           mla_str_is(name, "layer_id")) {
		*out = mla_value_int(0);
	} else if (mla_str_ends(name, "_dim")) {
		*out = mla_value_int(128);
	} else if (mla_str_is(type, "int")) {
		*out = mla_value_int(SMALL);
	}
	return 0;
}

int mla_config_field(mla_value *out, mla_machine *m, mla_str name, const mla_node *annotation,
                     mla_value otherwise)
{
	int64_t size;

	if (otherwise.kind == MLA_V_FUNCTION || otherwise.kind == MLA_V_PROPERTY) {
		*out = otherwise;
		return 0;
	}
	/* A rank that is None by default means another form of the layer: it stays. */
	if ((otherwise.kind != MLA_V_NONE || mla_str_ends(name, "heads")) &&
	    small_size(&size, m, name)) {
		*out = mla_value_int(size);
		return 0;
	}
	if (setting(&size, m, name)) {
		*out = mla_value_int(size);
		return 0;
	}
	if (otherwise.kind == MLA_V_NONE && m->options.assume_none &&
	    !mla_str_is(name, "head_dim") && assumed_size(&size, m, name)) {
		*out = mla_value_int(size);
		return 0;
	}
	if (otherwise.kind != MLA_V_UNBOUND) {
		*out = otherwise;
		return 0;
	}
	return by_annotation(out, m, name, annotation);
}

int mla_config_make(mla_value *out, mla_machine *m, mla_value class)
{
	mla_value args[1], value[MLA_REPLAY_ARGUMENTS], init;
	mla_str keyword[MLA_REPLAY_ARGUMENTS];
	mla_call c = {.args = args, .keyword = keyword, .value = value, .name = "a config"};
	mla_replay_class *owner;
	bool found;
	int error;

	*out = (mla_value){.kind = MLA_V_INSTANCE,
	                   .instance = mla_machine_alloc(m, 1, sizeof(mla_instance))};
	out->instance->class = class.class;
	out->instance->config = true;
	if (class.class->is_dataclass)
		return mla_dataclass_init(m, out->instance, &c);
	error = mla_class_attribute_find(&found, &init, m, class.class, 0, mla_str_c("__init__"),
	                                 &owner);
	if (error < 0 || !found || init.kind != MLA_V_FUNCTION)
		return error;
	for (uint32_t i = 1; i < init.function->parameters; i++) {
		const mla_node *p = init.function->node->kid[0]->kid[i];

		if (p->op != MLA_OP_NONE)
			continue;
		if (c.keywords == MLA_REPLAY_ARGUMENTS)
			return mla_limit(m, "a config class of more than %d arguments",
			                 MLA_REPLAY_ARGUMENTS);
		keyword[c.keywords] = p->name;
		if ((error = mla_config_field(&value[c.keywords++], m, p->name, mla_kid(p, 0),
		                              init.function->defaults[i])) < 0)
			return error;
	}
	if ((error = mla_attribute_find(&found, &init, m, *out, mla_str_c("__init__"))) < 0)
		return error;
	return mla_call_value(&init, m, init, &c);
}
