/* Up-projections by construction and by name, and the expressions of their sizes. */
#include "analyzer/latent.h"

#include "analyzer/str.h"

bool mla_up_by_name(mla_up_role *role, mla_str name)
{
	static const char *const keys[] = {"embed_q",  "w_kc", "wk_b",   "w_uk",     "W_UK",
	                                   "k_up",     "up_k", "key_up", "k_b_proj", "wk_up",
	                                   "q_absorb", "qabs", NULL};
	static const char *const values[] = {"unembed_out", "w_vc",       "wv_b",  "w_uv",
	                                     "W_UV",        "v_up",       "up_v",  "value_up",
	                                     "v_b_proj",    "out_absorb", "wv_up", NULL};
	static const char *const both[] = {"kv_b_proj", "wkv_b", "kv_b", "kv_up_proj", NULL};

	while (name.len && name.ptr[0] == '_') {
		name.ptr++;
		name.len--;
	}
	if (mla_str_in(name, keys))
		*role = MLA_UP_KEY;
	else if (mla_str_in(name, values))
		*role = MLA_UP_VALUE;
	else if (mla_str_in(name, both))
		*role = MLA_UP_BOTH;
	else
		return false;
	return true;
}

bool mla_latent_up(mla_up_role *role, const mla_latent *l, mla_str attribute)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (mla_str_eq(l->up[i].attribute, attribute)) {
			*role = l->up[i].role;
			return true;
		}
	return false;
}

/* `self.name = Maker(in, out, heads)`: a matrix for every head. */
typedef struct {
	mla_str name;
	const mla_node *call;
	const mla_node *in, *out, *heads;
	mla_method init;
} maker_call;

static const mla_node *argument(const mla_node *call, uint32_t i)
{
	const mla_node *a = mla_kid(call, 1 + i);

	return a && a->kind == MLA_N_KEYWORD ? a->kid[0] : a;
}

/* A third argument that is a switch makes it a plain layer: Linear(in, out, bias=False). */
static bool is_head_count(const mla_node *call)
{
	const mla_node *a = mla_kid(call, 3), *value = argument(call, 2);

	if (a && a->kind == MLA_N_KEYWORD && !mla_str_mentions(a->name, "head"))
		return false;
	return value && value->kind != MLA_N_TRUE && value->kind != MLA_N_FALSE &&
	       value->kind != MLA_N_NONE;
}

enum { MAKER_MAX = 32 };

/* In the constructors, or `anywhere` in their classes: one may leave the building to another
 * method. */
static uint32_t maker_calls(maker_call *out, const mla_constructors *constructors, bool anywhere)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < constructors->n; i++) {
		mla_method init = constructors->v[i];
		const mla_node *top = anywhere ? init.owner.node : init.node;
		mla_str self = mla_method_self(init.node);

		for (const mla_node *n = top; n; n = mla_node_next(n, top, false)) {
			const mla_node *target, *call;

			if (n->kind != MLA_N_ASSIGN || n->n != 2 || count == MAKER_MAX)
				continue;
			target = n->kid[0];
			call = n->kid[1];
			if (target->kind != MLA_N_ATTRIBUTE ||
			    !mla_str_eq(target->kid[0]->name, self) || call->kind != MLA_N_CALL ||
			    !is_head_count(call))
				continue;
			if (anywhere)
				init.node = mla_node_function(n);
			out[count++] = (maker_call){target->name,      call,
			                            argument(call, 0), argument(call, 1),
			                            argument(call, 2), init};
		}
	}
	return count;
}

static bool same(const maker_call *a, const mla_node *x, const maker_call *b, const mla_node *y)
{
	return mla_node_same(a->init.owner.module->text, x, b->init.owner.module->text, y);
}

/* The attribute that holds `expr` in constructor `init`, or an empty string. */
static mla_str holder(const mla_node *expr, mla_method init)
{
	mla_str self = mla_method_self(init.node);
	const mla_text *text = init.owner.module->text;

	if (expr->kind == MLA_N_ATTRIBUTE && expr->kid[0]->kind == MLA_N_NAME &&
	    mla_str_eq(expr->kid[0]->name, self))
		return expr->name;
	for (const mla_node *n = init.node; n; n = mla_node_next(n, init.node, false)) {
		if (n->kind != MLA_N_ASSIGN || n->n != 2)
			continue;
		if (n->kid[0]->kind == MLA_N_ATTRIBUTE && n->kid[0]->kid[0]->kind == MLA_N_NAME &&
		    mla_str_eq(n->kid[0]->kid[0]->name, self) &&
		    mla_node_same(text, n->kid[1], text, expr))
			return n->kid[0]->name;
	}
	return (mla_str){"", 0};
}

static void measure(mla_size *s, const mla_scope *scope)
{
	mla_scope inside = *scope;

	if (!s->expr)
		return;
	inside.module = s->init.owner.module;
	inside.function = s->init.node;
	if (!s->attribute.len)
		s->attribute = holder(s->expr, s->init);
	s->number = mla_evaluate(&inside, s->expr);
}

/*
 * r is the size that the two projections share: the first one's output and the second one's input.
 * Expert layers are built alike (up then down), so somebody must also call it a rank or the maker
 * a per-head linear layer.
 */
static bool is_pair(const maker_call *a, const maker_call *b)
{
	static const char *const words[] = {"rank", "lora", "latent", "compress", NULL};
	mla_str maker = mla_node_text(a->init.owner.module->text, a->call->kid[0]);
	mla_str rank = mla_node_text(a->init.owner.module->text, a->out);
	bool named = mla_str_contains(maker, "MultiLinear");

	if (!same(a, a->call->kid[0], b, b->call->kid[0]) || !same(a, a->out, b, b->in) ||
	    !same(a, a->heads, b, b->heads))
		return false;
	for (int i = 0; words[i] && !named; i++)
		named = mla_str_mentions(rank, words[i]);
	return named;
}

/* MultiLinear(r, r, h) twice gives no direction; the names do then. */
static bool reversed(const maker_call *a, const maker_call *b)
{
	mla_up_role role;

	return same(b, b->out, a, a->in) && mla_up_by_name(&role, a->name) && role == MLA_UP_VALUE;
}

static void add_up(mla_latent *out, const maker_call *m, mla_up_role role)
{
	mla_up_role known;

	if (out->n < MLA_UP_MAX && !mla_latent_up(&known, out, m->name))
		out->up[out->n++] = (mla_up){m->name, role, m->call, m->init};
}

/* Has this pair the sizes of the first one? */
static bool same_sizes(const mla_latent *l, const maker_call *a, const maker_call *b)
{
	const mla_text *text = l->rank.init.owner.module->text;
	const mla_text *here = a->init.owner.module->text;

	return mla_node_same(text, l->nope.expr, here, a->in) &&
	       mla_node_same(text, l->rank.expr, here, a->out) &&
	       mla_node_same(text, l->value.expr, here, b->out);
}

static void by_construction(mla_latent *out, const mla_constructors *constructors, bool anywhere)
{
	maker_call m[MAKER_MAX];
	uint32_t n = maker_calls(m, constructors, anywhere);

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++) {
			const maker_call *a = &m[i], *b = &m[k];

			if (i == k || !is_pair(a, b) || reversed(a, b))
				continue;
			add_up(out, a, MLA_UP_KEY);
			add_up(out, b, MLA_UP_VALUE);
			if (out->maker) {
				out->several |= !same_sizes(out, a, b);
				continue;
			}
			out->maker = a->call->kid[0];
			out->class_name = mla_node_text(a->init.owner.module->text, out->maker);
			out->nope = (mla_size){.expr = a->in, .init = a->init};
			out->rank = (mla_size){.expr = a->out, .init = a->init};
			out->value = (mla_size){.expr = b->out, .init = b->init};
		}
}

/* What an operation is done to: x.split(...), mx.split(x, ...). */
static const mla_node *operand_of(const mla_node *call, mla_module *m)
{
	const mla_node *callee = call->kid[0], *object = mla_kid(callee, 0);
	bool method = callee->kind == MLA_N_ATTRIBUTE &&
	              !(object->kind == MLA_N_NAME && mla_module_alias(m, object->name));

	return method ? object : mla_kid(call, 1);
}

/* Is it cut out of, or another view of, what has the name of an up-projection? */
static bool is_cut(const mla_node *value, mla_module *m)
{
	static const char *const views[] = {"reshape",   "view",     "transpose", "permute",
	                                    "swapaxes",  "split",    "chunk",     "contiguous",
	                                    "unflatten", "moveaxis", NULL};
	mla_up_role role;

	for (const mla_node *n = value; n;) {
		if ((n->kind == MLA_N_NAME || n->kind == MLA_N_ATTRIBUTE) &&
		    mla_up_by_name(&role, n->name))
			return n != value;
		if (n->kind == MLA_N_CALL)
			n = mla_str_in(n->kid[0]->name, views) ? operand_of(n, m) : NULL;
		else
			n = n->kind == MLA_N_SUBSCRIPT || n->kind == MLA_N_ATTRIBUTE ? n->kid[0]
			                                                             : NULL;
	}
	return false;
}

/* `self.w_kc = ...`, `self.w_kc, self.w_vc = ...`, likewise */
static void by_name(mla_latent *out, const mla_constructors *constructors, bool anywhere)
{
	for (uint32_t i = 0; i < constructors->n; i++) {
		mla_method init = constructors->v[i];
		const mla_node *top = anywhere ? init.owner.node : init.node;

		for (const mla_node *n = top; n; n = mla_node_next(n, top, false)) {
			const mla_node *target = n->kind == MLA_N_ASSIGN ? n->kid[0] : NULL;
			bool several = target && target->kind == MLA_N_TUPLE;

			for (uint32_t k = 0; target && k < (several ? target->n : 1); k++) {
				const mla_node *t = several ? target->kid[k] : target;
				maker_call m = {.name = t->name, .init = init};
				mla_up_role role;

				if (t->kind == MLA_N_ATTRIBUTE && mla_up_by_name(&role, t->name))
					add_up(out, &m, role);
				else if (t->kind == MLA_N_ATTRIBUTE &&
				         is_cut(n->kid[n->n - 1], init.owner.module))
					add_up(out, &m, MLA_UP_BOTH);
			}
		}
	}
}

/* `config.kv_lora_rank`, `kv_lora_rank`, `config.kv_lora_rank or 512` */
static bool reads_field(const mla_node *value, mla_str field)
{
	while (value && value->kind == MLA_N_OR)
		value = value->kid[0];
	return value && (value->kind == MLA_N_ATTRIBUTE || value->kind == MLA_N_NAME) &&
	       mla_str_eq(value->name, field);
}

/* The constructor's assignment of a config field to an attribute of any name; else a plain use of
 * the field in it. */
static bool field_use(mla_size *s, const mla_constructors *c, mla_str field)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const mla_node *init = c->v[i].node;
		mla_str self = mla_method_self(init);

		for (const mla_node *n = init; n; n = mla_node_next(n, init, false)) {
			const mla_node *target =
				n->kind == MLA_N_ASSIGN && n->n == 2 ? n->kid[0] : NULL;

			if (target && target->kind == MLA_N_ATTRIBUTE &&
			    mla_str_eq(target->kid[0]->name, self) &&
			    reads_field(n->kid[1], field)) {
				*s = (mla_size){target->name, n->kid[1], c->v[i], {0}};
				return true;
			}
			if (!s->expr && n->kind == MLA_N_ATTRIBUTE && mla_str_eq(n->name, field))
				*s = (mla_size){{"", 0}, n, c->v[i], {0}};
		}
	}
	return s->expr != NULL;
}

/* A size by its usual name: an attribute of self, or a config field the constructor reads. */
static mla_size usual_size(const mla_scope *scope, const char *name)
{
	mla_size s = {0};
	mla_attribute a;

	if (mla_class_attribute(&a, scope->constructors, mla_str_c(name)))
		s = (mla_size){mla_str_c(name), a.value, a.init, {0}};
	else if (!field_use(&s, scope->constructors, mla_str_c(name)))
		return s;
	measure(&s, scope);
	return s;
}

static bool mentions_rope(const mla_lineage *lineage)
{
	for (uint32_t i = 0; i < lineage->n; i++)
		if (mla_str_mentions(mla_node_text(lineage->v[i].module->text, lineage->v[i].node),
		                     "rope"))
			return true;
	return false;
}

static mla_number rope_size(const mla_scope *scope, const mla_lineage *lineage)
{
	static const char field[] = "qk_rope_head_dim";
	mla_size s = usual_size(scope, field);

	/* Not kept on self: ask the config the constructor was given. */
	for (uint32_t i = 0; !s.number.known && i < scope->constructors->n; i++) {
		const mla_node *init = scope->constructors->v[i].node, *list = mla_kid(init, 0);

		for (uint32_t k = 1; list && k < list->n && !s.number.known; k++) {
			mla_scope inside = *scope;
			mla_node name = {.kind = MLA_N_NAME, .name = list->kid[k]->name};
			mla_class config;

			inside.module = scope->constructors->v[i].owner.module;
			inside.function = init;
			config = mla_evaluate_class(&inside, &name);
			if (config.node)
				s.number = mla_evaluate_field(&inside, config, mla_str_c(field));
		}
	}
	if (!s.number.known && !mentions_rope(lineage))
		s.number = (mla_number){MLA_IS_INT, MLA_SOURCE_FILE, 0};
	return s.number;
}

static mla_number given(uint32_t size)
{
	return (mla_number){MLA_IS_INT, MLA_SOURCE_OPTION, size};
}

static void override(mla_latent *out, const mla_geometry *g)
{
	out->rank.number = given(g->rank);
	out->nope.number = given(g->nope);
	out->rope = given(g->rope);
	out->value.number = given(g->value);
}

bool mla_latent_threshold(mla_threshold *out, const mla_latent *l)
{
	const mla_number *n[] = {&l->rank.number, &l->nope.number, &l->value.number};
	mla_geometry g = {.rope = 0};

	*out = (mla_threshold){0};
	for (int i = 0; i < 3; i++) {
		if (n[i]->known != MLA_IS_INT || n[i]->value < 1 || n[i]->value > MLA_DIM_MAX)
			return false;
		if (n[i]->source > out->source)
			out->source = n[i]->source;
	}
	g.rank = (uint32_t)n[0]->value;
	g.nope = (uint32_t)n[1]->value;
	g.value = (uint32_t)n[2]->value;
	if (l->rope.known == MLA_IS_INT && l->rope.value >= 0 && l->rope.value <= MLA_DIM_MAX) {
		g.rope = (uint32_t)l->rope.value;
		out->rope_known = true;
	}
	out->geometry = g;
	out->queries = mla_geometry_threshold(&g, 0);
	return true;
}

static mla_number setting(const mla_settings *s, const char *name)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].name, name) == 0)
			return (mla_number){MLA_IS_INT, MLA_SOURCE_MODEL, s->v[i].value};
	return (mla_number){0};
}

void mla_latent_given(mla_latent *l, const mla_settings *settings)
{
	l->rank.number = setting(settings, "kv_lora_rank");
	l->nope.number = setting(settings, "qk_nope_head_dim");
	l->rope = setting(settings, "qk_rope_head_dim");
	l->value.number = setting(settings, "v_head_dim");
	if (settings->geometry)
		override(l, settings->geometry);
}

void mla_latent_find(mla_latent *out, const mla_constructors *constructors)
{
	*out = (mla_latent){0};
	for (int anywhere = 0; anywhere < 2 && !out->n; anywhere++) {
		by_construction(out, constructors, anywhere == 1);
		by_name(out, constructors, anywhere == 1);
	}
}

void mla_latent_measure(mla_latent *l, mla_project *p, const mla_settings *settings,
                        const mla_lineage *lineage, const mla_constructors *constructors)
{
	mla_scope scope = {.project = p, .settings = settings, .constructors = constructors};

	if (lineage->n)
		scope.module = lineage->v[0].module;
	if (l->maker) {
		measure(&l->rank, &scope);
		measure(&l->nope, &scope);
		measure(&l->value, &scope);
	} else {
		l->rank = usual_size(&scope, "kv_lora_rank");
		l->nope = usual_size(&scope, "qk_nope_head_dim");
		l->value = usual_size(&scope, "v_head_dim");
	}
	l->rope = rope_size(&scope, lineage);
	if (settings && settings->geometry)
		override(l, settings->geometry);
}
