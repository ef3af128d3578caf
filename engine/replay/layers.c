/*
 * The frameworks' layers (Linear, RMSNorm, LayerNorm, RoPE ...) and the well-known ones that
 * runtimes write themselves (MultiLinear, initialize_rope), for when their source is not here.
 */
#include "engine/replay/functions.h"
#include "engine/view.h"

typedef enum {
	LAYER_LINEAR,
	LAYER_MULTI_LINEAR,
	LAYER_RMS_NORM,
	LAYER_LAYER_NORM,
	LAYER_ROPE,
	LAYER_INITIALIZE_ROPE,
	LAYER_EMBEDDING,
	LAYER_IDENTITY,
	LAYER_SILU,
} layer_kind;

struct mla_layer {
	layer_kind kind;
	mla_dictionary attributes;
};

static int put(mla_machine *m, mla_layer *l, const char *name, mla_value v)
{
	return mla_dictionary_set(m, &l->attributes, mla_value_c(name), v);
}

static mla_value get(const mla_layer *l, const char *name)
{
	mla_value v = mla_value_none;

	mla_dictionary_name(&v, &l->attributes, mla_str_c(name));
	return v;
}

static int size_argument(int64_t *out, mla_machine *m, mla_call *c, uint32_t at, const char *names)
{
	mla_value v;
	int error = mla_arg_required(&v, m, c, at, names);

	if (error < 0)
		return error;
	if (mla_value_is_sequence(v) && v.seq->n == 1)
		v = v.seq->v[0];
	if (mla_value_as_int(out, v) && *out >= 0)
		return 0;
	if (v.kind == MLA_V_OPEN)
		return mla_unsupported(m, "config value `%.*s` has no default", MLA_ARG(v.s));
	return mla_raise(m, "TypeError", "%s: a %s as a size", c->name, mla_value_type(v));
}

static int make_linear(mla_machine *m, mla_layer *l, mla_call *c)
{
	int64_t in, outputs;
	mla_value w, b = mla_value_none;
	bool bias;
	int error;

	if ((error = size_argument(&in, m, c, 0, "input_dims|in_features")) < 0 ||
	    (error = size_argument(&outputs, m, c, 1, "output_dims|out_features")) < 0 ||
	    (error = mla_arg_bool(&bias, m, c, 2, "bias", true)) < 0)
		return error;
	mla_arg(&w, c, 99, "dtype");
	mla_arg(&w, c, 99, "device");
	if ((error = mla_draw(&w, m, 2, (int64_t[]){outputs, in}, 0, 0)) < 0 ||
	    (bias && (error = mla_draw(&b, m, 1, (int64_t[]){outputs}, 0.1, 0)) < 0) ||
	    (error = put(m, l, "weight", w)) < 0)
		return error;
	return bias || m->torch ? put(m, l, "bias", b) : 0;
}

static int make_multi_linear(mla_machine *m, mla_layer *l, mla_call *c)
{
	int64_t in, outputs, heads;
	mla_value w;
	int error;

	if ((error = size_argument(&in, m, c, 0, "input_dims|in_dims")) < 0 ||
	    (error = size_argument(&outputs, m, c, 1, "output_dims|out_dims")) < 0 ||
	    (error = size_argument(&heads, m, c, 2, "num_heads|heads")) < 0 ||
	    (error = mla_draw(&w, m, 3, (int64_t[]){heads, outputs, in}, 0, 0)) < 0)
		return error;
	return put(m, l, "weight", w);
}

static int make_norm(mla_machine *m, mla_layer *l, mla_call *c, bool layer)
{
	mla_value w, b;
	double eps;
	bool affine, bias;
	int64_t n;
	int error;

	if ((error = size_argument(&n, m, c, 0, "dims|normalized_shape|dim|hidden_size")) < 0 ||
	    (error = mla_arg_float(&eps, m, c, 1, "eps", 1e-5)) < 0 ||
	    (error = mla_arg_bool(&affine, m, c, 2, "affine|elementwise_affine", true)) < 0 ||
	    (error = mla_arg_bool(&bias, m, c, 3, "bias", true)) < 0 ||
	    (error = put(m, l, "eps", mla_value_float(eps))) < 0)
		return error;
	if (!affine)
		return 0;
	if ((error = mla_draw(&w, m, 1, &n, 0.25, 1)) < 0 || (error = put(m, l, "weight", w)) < 0)
		return error;
	if (!layer || !bias)
		return 0;
	if ((error = mla_draw(&b, m, 1, &n, 0.1, 0)) < 0)
		return error;
	return put(m, l, "bias", b);
}

static int make_rope(mla_machine *m, mla_layer *l, mla_call *c)
{
	mla_value v, base = mla_value_float(10000), scale = mla_value_float(1);
	bool traditional;
	int64_t dims;
	int error;

	if ((error = size_argument(&dims, m, c, 0, "dims")) < 0 ||
	    (error = mla_arg_bool(&traditional, m, c, 1, "traditional", false)) < 0)
		return error;
	if (mla_arg(&v, c, 2, "base"))
		base = v;
	if (mla_arg(&v, c, 3, "scale"))
		scale = v;
	if ((error = put(m, l, "dims", mla_value_int(dims))) < 0 ||
	    (error = put(m, l, "traditional", mla_value_bool(traditional))) < 0 ||
	    (error = put(m, l, "base", base)) < 0)
		return error;
	return put(m, l, "scale", scale);
}

/* initialize_rope(dims, base, traditional, scaling_config, max_position_embeddings) */
static int initialize_rope(mla_machine *m, mla_layer *l, mla_call *c)
{
	mla_value dims, base = mla_value_float(10000), traditional = mla_value_bool(false), v;
	mla_value args[3];
	int error;

	if ((error = mla_arg_required(&dims, m, c, 0, "dims")) < 0)
		return error;
	mla_arg(&base, c, 1, "base");
	mla_arg(&traditional, c, 2, "traditional");
	if (mla_arg(&v, c, 3, "scaling_config") && v.kind != MLA_V_NONE)
		return mla_unsupported(m, "initialize_rope with a scaling config");
	mla_arg(&v, c, 4, "max_position_embeddings");
	if ((error = mla_call_done(m, c)) < 0)
		return error;
	args[0] = dims;
	args[1] = traditional;
	args[2] = base;
	return make_rope(m, l, &(mla_call){.args = args, .n = 3, .name = "RoPE"});
}

static int make_embedding(mla_machine *m, mla_layer *l, mla_call *c)
{
	int64_t rows, width;
	mla_value w;
	int error;

	if ((error = size_argument(&rows, m, c, 0, "num_embeddings")) < 0 ||
	    (error = size_argument(&width, m, c, 1, "dims|embedding_dim")) < 0 ||
	    (error = mla_draw(&w, m, 2, (int64_t[]){rows, width}, 0, 0)) < 0)
		return error;
	return put(m, l, "weight", w);
}

MLA_FN(layer)
{
	mla_layer *l = mla_machine_alloc(m, 1, sizeof(*l));
	mla_value ignored;
	int error = 0;

	if (!m->constructing)
		return mla_unsupported(m, "a layer made outside a constructor");
	l->kind = (layer_kind)variant;
	*out = (mla_value){.kind = MLA_V_LAYER, .layer = l};
	switch (l->kind) {
	case LAYER_LINEAR:
		error = make_linear(m, l, c);
		break;
	case LAYER_MULTI_LINEAR:
		error = make_multi_linear(m, l, c);
		break;
	case LAYER_RMS_NORM:
	case LAYER_LAYER_NORM:
		error = make_norm(m, l, c, l->kind == LAYER_LAYER_NORM);
		break;
	case LAYER_ROPE:
		error = make_rope(m, l, c);
		break;
	case LAYER_INITIALIZE_ROPE:
		l->kind = LAYER_ROPE;
		return initialize_rope(m, l, c);
	case LAYER_EMBEDDING:
		error = make_embedding(m, l, c);
		break;
	case LAYER_IDENTITY: /* dropout in inference too */
		mla_arg(&ignored, c, 0, "p");
		break;
	case LAYER_SILU:
		break;
	}
	return error < 0 ? error : mla_call_done(m, c);
}

static int call_multi_linear(mla_value *out, mla_machine *m, mla_layer *l, mla_call *c)
{
	mla_value x, w = get(l, "weight");
	mla_tensor *turned = w.t;
	bool transpose;
	int error;

	if ((error = mla_arg_tensor(&x, m, c, 0, "x")) < 0 ||
	    (error = mla_arg_bool(&transpose, m, c, 1, "transpose", true)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	if (transpose &&
	    (error = mla_engine_fault(m, mla_view_swapaxes(&turned, m->engine, w.t, -1, -2))) < 0)
		return error;
	return mla_tensor_product(out, m, x, mla_value_tensor(turned, w.from));
}

static int call_rope(mla_value *out, mla_machine *m, mla_layer *l, mla_call *c)
{
	static const char *const names[] = {"dims", "traditional", "base", "scale"};
	static const mla_str keyword[] = {
		{"traditional", 11}, {"base", 4}, {"scale", 5}, {"offset", 6}};
	mla_value args[2], value[4];
	int error;

	if ((error = mla_arg_required(&args[0], m, c, 0, "x")) < 0)
		return error;
	value[3] = mla_value_int(0);
	mla_arg(&value[3], c, 1, "offset");
	if ((error = mla_call_done(m, c)) < 0)
		return error;
	args[1] = get(l, names[0]);
	for (uint32_t i = 0; i < 3; i++)
		value[i] = get(l, names[i + 1]);
	return mla_fn_rope(out, m,
	                   &(mla_call){.args = args,
	                               .n = 2,
	                               .keyword = (mla_str *)keyword,
	                               .value = value,
	                               .keywords = 4,
	                               .name = "rope"},
	                   0);
}

static int call_norm(mla_value *out, mla_machine *m, mla_layer *l, mla_call *c, int variant)
{
	static const mla_str keyword[] = {
		{"weight", 6}, {"bias", 4}, {"eps", 3}, {"normalized_shape", 16}};
	mla_value x, value[] = {get(l, "weight"), get(l, "bias"), get(l, "eps"), mla_value_none};
	mla_call inner = {.args = &x,
	                  .n = 1,
	                  .keyword = (mla_str *)keyword,
	                  .value = value,
	                  .keywords = 4,
	                  .name = "norm"};
	int error;

	if ((error = mla_arg_required(&x, m, c, 0, "x|input")) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	return mla_fn_norm(out, m, &inner, variant);
}

int mla_layer_call(mla_value *out, mla_machine *m, mla_layer *l, mla_call *c)
{
	mla_value args[3];
	int error;

	c->name = "a layer";
	switch (l->kind) {
	case LAYER_LINEAR:
		if ((error = mla_arg_required(&args[0], m, c, 0, "x|input")) < 0 ||
		    (error = mla_call_done(m, c)) < 0)
			return error;
		args[1] = get(l, "weight");
		args[2] = get(l, "bias");
		return mla_fn_linear(out, m, &(mla_call){.args = args, .n = 3, .name = "Linear"},
		                     0);
	case LAYER_MULTI_LINEAR:
		return call_multi_linear(out, m, l, c);
	case LAYER_RMS_NORM:
	case LAYER_LAYER_NORM:
		return call_norm(out, m, l, c, l->kind == LAYER_LAYER_NORM);
	case LAYER_ROPE:
		return call_rope(out, m, l, c);
	case LAYER_IDENTITY:
		return mla_fn_identity(out, m, c, 0);
	case LAYER_SILU:
		return mla_fn_silu(out, m, c, 0);
	default:
		return mla_unsupported(m, "call of an embedding");
	}
}

int mla_layer_attribute(bool *found, mla_value *out, mla_machine *m, mla_value v, mla_str name)
{
	(void)m;
	*found = mla_dictionary_name(out, &v.layer->attributes, name);
	return 0;
}

int mla_layer_set(mla_machine *m, mla_layer *l, mla_str name, mla_value v)
{
	return mla_keep(m, &l->attributes, name, v);
}

mla_dictionary *mla_layer_attributes(mla_layer *l)
{
	return &l->attributes;
}
