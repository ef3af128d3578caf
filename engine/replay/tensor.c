/* Tensors of the program: products and where they come from, attributes, drawing weights. */
#include "engine/matmul.h"
#include "engine/replay/functions.h"
#include "engine/view.h"

#include <math.h>

mla_dtype mla_replay_dtype(const mla_machine *m)
{
	switch (m->options.mode) {
	case MLA_REPLAY_F64:
		return MLA_F64;
	case MLA_REPLAY_F32:
		return MLA_F32;
	default:
		return MLA_BF16;
	}
}

/*
 * Of a weight by its inputs, of a stack of matrices by the larger side (an up-projection is used
 * both ways). Scores then have a deviation well below 1: with peaked ones the rounding of a stored
 * bf16 score, which the arms do not share, moves single rows, and no tolerance tells that from a
 * fault.
 */
static double usual_deviation(uint32_t ndim, const int64_t *shape)
{
	double n = ndim ? (double)shape[ndim - 1] : 1;

	if (ndim >= 3 && (double)shape[ndim - 2] > n)
		n = (double)shape[ndim - 2];
	return (ndim >= 3 ? 0.35 : 0.5) / sqrt(n > 0 ? n : 1);
}

/* The same numbers in every mode: on the bf16 grid, from a stream of their own. */
int mla_draw(mla_value *out, mla_machine *m, uint32_t ndim, const int64_t *shape, double deviation,
             double middle)
{
	mla_random r = mla_random_stream(m->options.seed, ++m->drawn);
	mla_tensor *t = NULL;
	int error;

	if (deviation == 0)
		deviation = usual_deviation(ndim, shape);
	if (middle != 0)
		error = mla_random_uniforms(&t, m->engine, mla_replay_dtype(m), MLA_BF16, ndim,
		                            shape, &r, middle - deviation, middle + deviation);
	else
		error = mla_random_normals(&t, m->engine, mla_replay_dtype(m), MLA_BF16, ndim,
		                           shape, &r, deviation);
	*out = mla_value_tensor(t, MLA_PARAMETER);
	return mla_engine_fault(m, error);
}

static bool is_weight(mla_value v)
{
	return !(v.from & (MLA_FROM_INPUT | MLA_FROM_CACHE));
}

/*
 * A row of cached numbers stays one when it is multiplied with a weight, and is none any more when
 * it meets a query or probabilities. An up-projection that meets cached rows expands the cache.
 */
int mla_note_product(unsigned *from, mla_machine *m, mla_value a, mla_value b)
{
	bool up = (is_weight(a) && a.from & MLA_FROM_UP) || (is_weight(b) && b.from & MLA_FROM_UP);
	unsigned both = (a.from | b.from) & ~(unsigned)MLA_QUANTISED;

	if (up && m->run && !(is_weight(a) && is_weight(b))) {
		if (both & MLA_FROM_CACHE)
			m->run->expansions++;
		else
			m->run->folds++;
	}
	if (!is_weight(a) && !is_weight(b))
		both &= ~(unsigned)MLA_FROM_CACHE;
	if (both & MLA_FROM_INPUT)
		both &= ~(unsigned)(MLA_FROM_UP | MLA_PARAMETER);
	*from = both;
	return 0;
}

int mla_tensor_product(mla_value *out, mla_machine *m, mla_value a, mla_value b)
{
	bool qa = a.from & MLA_QUANTISED, qb = b.from & MLA_QUANTISED;
	mla_tensor *t = NULL;
	unsigned from;
	int error;

	if (qa && qb)
		return mla_unsupported(m, "a product of two quantised weights");
	error = qa || qb ? mla_matmul_as(&t, m->engine, a.t, b.t, qa ? b.t->dtype : a.t->dtype)
	                 : mla_matmul(&t, m->engine, a.t, b.t);
	if ((error = mla_engine_fault(m, error)) < 0)
		return error;
	mla_note_product(&from, m, a, b);
	*out = mla_value_tensor(t, from);
	return 0;
}

mla_value mla_shape_value(mla_machine *m, const mla_tensor *t)
{
	mla_value v = mla_sequence_new(m, MLA_V_TUPLE, t->ndim);

	for (uint32_t i = 0; i < t->ndim; i++)
		v.seq->v[v.seq->n++] = mla_value_int(t->shape[i]);
	return v;
}

static int method_of(bool *found, mla_value *out, mla_machine *m, mla_value self, mla_str name)
{
	for (const mla_builtin *b = mla_array_methods; b->name; b++)
		if (mla_str_is(name, b->name)) {
			mla_bound *bound = mla_machine_alloc(m, 1, sizeof(*bound));

			bound->callee = (mla_value){.kind = MLA_V_BUILTIN, .builtin = b};
			bound->self = self;
			*out = (mla_value){.kind = MLA_V_METHOD, .bound = bound};
			*found = true;
			return 0;
		}
	return 0;
}

int mla_tensor_attribute(bool *found, mla_value *out, mla_machine *m, mla_value v, mla_str name)
{
	const mla_tensor *t = v.t;
	mla_tensor *turned = NULL;
	int error = 0;

	*found = true;
	if (mla_str_is(name, "shape"))
		*out = mla_shape_value(m, t);
	else if (mla_str_is(name, "ndim"))
		*out = mla_value_int(t->ndim);
	else if (mla_str_is(name, "dtype"))
		*out = (mla_value){.kind = MLA_V_DTYPE, .dtype = t->dtype};
	else if (mla_str_is(name, "size") && !m->torch)
		*out = mla_value_int(t->count);
	else if (mla_str_is(name, "device"))
		*out = mla_value_c("cpu");
	else if (mla_str_is(name, "data"))
		*out = v;
	else if (mla_str_is(name, "T") || mla_str_is(name, "mT")) {
		error = mla_str_is(name, "T")
		                ? mla_view_transpose(&turned, m->engine, t, t->ndim, NULL)
		                : mla_view_swapaxes(&turned, m->engine, t, -1, -2);
		*out = mla_value_tensor(turned, v.from);
	} else {
		*found = false;
		return method_of(found, out, m, v, name);
	}
	return mla_engine_fault(m, error);
}
