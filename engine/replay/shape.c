/* Functions that look at an array in another way, or copy it to another place. */
#include "engine/move.h"
#include "engine/replay/functions.h"
#include "engine/view.h"

/* Sizes or axes given one by one or as one sequence, from argument `at` on. */
static int ints_from(uint32_t *n, int64_t v[MLA_DIMS], mla_machine *m, mla_call *c, uint32_t at,
                     const char *names)
{
	mla_value first, list;

	*n = 0;
	if (!mla_arg(&first, c, at, names))
		return 0;
	if (mla_value_is_sequence(first))
		return mla_as_ints(n, v, m, first);
	list = mla_sequence_new(m, MLA_V_TUPLE, c->n);
	list.seq->v[list.seq->n++] = first;
	for (uint32_t i = at + 1; i < c->n; i++) {
		c->used |= (uint64_t)1 << i;
		list.seq->v[list.seq->n++] = c->args[i];
	}
	return mla_as_ints(n, v, m, list);
}

static int made(mla_value *out, mla_machine *m, int error, mla_tensor *t, unsigned from)
{
	*out = mla_value_tensor(t, from);
	return mla_engine_fault(m, error);
}

MLA_FN(reshape)
{
	int64_t shape[MLA_DIMS];
	mla_tensor *t = NULL;
	mla_value x;
	uint32_t n;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input|x")) < 0 ||
	    (error = ints_from(&n, shape, m, c, 1, "shape|size")) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	/* PyTorch infers it where the other sizes are not 0, MLX never does. */
	for (uint32_t i = 0; i < n && !x.t->count && !m->torch; i++)
		if (shape[i] == -1)
			return mla_raise(m, "ValueError",
			                 "[reshape] Cannot infer the shape of an empty array");
	error = mla_view_reshape(&t, m->engine, x.t, n, shape);
	return made(out, m, error, t, x.from);
}

typedef struct {
	int (*view)(mla_tensor **out, mla_engine *e, const mla_tensor *t, int64_t a, int64_t b);
	const char *first, *second; /* names of the arguments 1 and 2 */
	int64_t otherwise;          /* the second axis where it is not given; the first is 0 */
} two_axes;

static int by_two_axes(mla_value *out, mla_machine *m, mla_call *c, mla_value x, const two_axes *f)
{
	mla_tensor *t = NULL;
	int64_t a, b;
	int error;

	if ((error = mla_arg_int(&a, m, c, 1, f->first, 0)) < 0 ||
	    (error = mla_arg_int(&b, m, c, 2, f->second, f->otherwise)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	error = f->view(&t, m->engine, x.t, a, b);
	return made(out, m, error, t, x.from);
}

MLA_FN(transpose)
{
	int64_t axes[MLA_DIMS];
	mla_tensor *t = NULL;
	mla_value x;
	uint32_t n;
	int error;

	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input|x")) < 0)
		return error;
	if (variant == 1 || (variant == 0 && m->torch))
		return by_two_axes(out, m, c, x, &(two_axes){mla_view_swapaxes, "dim0", "dim1", 1});
	if ((error = ints_from(&n, axes, m, c, 1, "axes|dims")) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_view_transpose(&t, m->engine, x.t, n ? n : x.t->ndim, n ? axes : NULL);
	return made(out, m, error, t, x.from);
}

MLA_FN(swapaxes)
{
	mla_value x;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0)
		return error;
	return by_two_axes(
		out, m, c, x,
		&(two_axes){mla_view_swapaxes, "axis1|axis0|dim0", "axis2|axis1|dim1", 1});
}

MLA_FN(moveaxis)
{
	mla_value x;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0)
		return error;
	return by_two_axes(out, m, c, x,
	                   &(two_axes){mla_view_moveaxis, "source", "destination", 0});
}

MLA_FN(expand_dims)
{
	int64_t axes[MLA_DIMS], sorted[MLA_DIMS];
	mla_tensor *t;
	mla_value x;
	uint32_t n;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = ints_from(&n, axes, m, c, 1, "axis|dim")) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	t = x.t;
	/* Axes count in the result: from the lowest on. */
	for (uint32_t i = 0; i < n; i++) {
		int64_t at = axes[i] < 0 ? axes[i] + x.t->ndim + n : axes[i];
		uint32_t k = i;

		for (; k > 0 && sorted[k - 1] > at; k--)
			sorted[k] = sorted[k - 1];
		sorted[k] = at;
	}
	for (uint32_t i = 0; i < n && error == 0; i++)
		error = mla_view_expand(&t, m->engine, t, sorted[i]);
	return made(out, m, error, t, x.from);
}

MLA_FN(squeeze)
{
	int64_t axes[MLA_DIMS];
	mla_tensor *t;
	mla_value x;
	uint32_t n;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = ints_from(&n, axes, m, c, 1, "axis|dim")) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	if (n != 1)
		return mla_unsupported(m, "squeeze of other than one axis");
	t = x.t;
	/* PyTorch leaves an axis of another size alone, MLX refuses. */
	if (m->torch) {
		uint32_t axis;

		if ((error = mla_tensor_axis(&axis, t, axes[0], "squeeze")) < 0)
			return mla_engine_fault(m, error);
		if (t->shape[axis] != 1) {
			*out = x;
			return 0;
		}
	}
	error = mla_view_squeeze(&t, m->engine, t, axes[0]);
	return made(out, m, error, t, x.from);
}

MLA_FN(broadcast_to)
{
	int64_t shape[MLA_DIMS];
	mla_tensor *t = NULL;
	mla_value x, like;
	uint32_t n = 0;
	int error;

	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0)
		return error;
	if (variant == 2) {
		if ((error = mla_arg_tensor(&like, m, c, 1, "other")) < 0)
			return error;
		n = like.t->ndim;
		memcpy(shape, like.t->shape, sizeof(shape));
	} else if ((error = ints_from(&n, shape, m, c, 1, "shape|size")) < 0) {
		return error;
	}
	if ((error = mla_call_done(m, c)) < 0)
		return error;
	for (uint32_t i = 0; variant == 1 && i < n; i++)
		if (shape[i] == -1 && i + x.t->ndim >= n)
			shape[i] = x.t->shape[i + x.t->ndim - n];
	error = mla_view_broadcast_to(&t, m->engine, x.t, n, shape);
	return made(out, m, error, t, x.from);
}

/* Where to cut: MLX gives positions or a number of equal parts, PyTorch sizes or one size. */
static int cuts_of(uint32_t *n, int64_t *cut, mla_machine *m, mla_value how, int64_t size,
                   int variant)
{
	int64_t parts, at = 0;

	*n = 0;
	if (mla_value_is_sequence(how)) {
		bool sizes = variant == 1;

		if (how.seq->n > 64)
			return mla_limit(m, "a split into more than 64 parts");
		for (uint32_t i = 0; i < how.seq->n; i++) {
			int64_t v;

			if (!mla_value_as_int(&v, how.seq->v[i]))
				return mla_raise(m, "TypeError", "a split at a %s",
				                 mla_value_type(how.seq->v[i]));
			at = sizes ? at + v : v < 0 ? v + size : v;
			cut[(*n)++] = at;
		}
		if (!sizes)
			return 0;
		if (at != size)
			return mla_raise(m, "RuntimeError", "split sizes sum to %lld, not %lld",
			                 (long long)at, (long long)size);
		*n -= *n > 0;
		return 0;
	}
	if (!mla_value_as_int(&parts, how) || parts < 1)
		return mla_unsupported(m, "a split by a %s", mla_value_type(how));
	if (variant == 1)
		parts = (size + parts - 1) / parts; /* one size */
	if (parts > 64)
		return mla_limit(m, "a split into more than 64 parts");
	if (size % parts)
		return variant ? mla_unsupported(m, "a split into unequal parts")
		               : mla_raise(m, "ValueError", "split of %lld into %lld equal parts",
		                           (long long)size, (long long)parts);
	for (int64_t i = 1; i < parts; i++)
		cut[(*n)++] = i * (size / parts);
	return 0;
}

MLA_FN(split)
{
	mla_tensor *part[65];
	int64_t cut[64], axis;
	mla_value x, how;
	uint32_t n, at;
	int error;

	if (variant == 0 && m->torch)
		variant = 1;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|tensor|input")) < 0 ||
	    (error = mla_arg_required(
		     &how, m, c, 1,
		     "indices_or_sections|split_size_or_sections|split_size|chunks")) < 0 ||
	    (error = mla_arg_int(&axis, m, c, 2, "axis|dim", 0)) < 0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	if ((error = mla_engine_fault(m, mla_tensor_axis(&at, x.t, axis, "split"))) < 0 ||
	    (error = cuts_of(&n, cut, m, how, x.t->shape[at], variant)) < 0 ||
	    (error = mla_engine_fault(m, mla_view_split(part, m->engine, x.t, axis, n, cut))) < 0)
		return error;
	*out = mla_sequence_new(m, m->torch ? MLA_V_TUPLE : MLA_V_LIST, n + 1);
	for (uint32_t i = 0; i <= n; i++)
		out->seq->v[out->seq->n++] = mla_value_tensor(part[i], x.from);
	return 0;
}

/* A cache whose rows are joined with new ones is known by that. */
static int join_operands(mla_tensor **t, uint32_t *n, unsigned *from, mla_machine *m,
                         mla_value list, int64_t axis)
{
	const mla_tensor *like = NULL;
	int error = 0;

	if (!mla_value_is_sequence(list))
		return mla_unsupported(m, "joining a %s", mla_value_type(list));
	if (list.seq->n > 256)
		return mla_limit(m, "more than 256 arrays joined");
	*n = list.seq->n;
	*from = 0;
	for (uint32_t i = 0; i < *n; i++)
		if (list.seq->v[i].kind == MLA_V_TENSOR)
			like = list.seq->v[i].t;
	for (uint32_t i = 0; i < *n && error == 0; i++) {
		mla_value v = list.seq->v[i];

		if (v.kind == MLA_V_CACHE && like)
			error = mla_cache_rows(&v, m, v.cache, like, axis);
		else if (v.kind != MLA_V_TENSOR)
			error = mla_raise(m, "TypeError", "joining a %s", mla_value_type(v));
		if (error < 0)
			return error;
		t[i] = v.t;
		*from |= v.from & ~(unsigned)MLA_QUANTISED;
	}
	return error;
}

MLA_FN(concatenate)
{
	mla_tensor *part[256], *t = NULL;
	mla_value list;
	unsigned from;
	int64_t axis;
	uint32_t n;
	int error;

	(void)variant;
	if ((error = mla_arg_required(&list, m, c, 0, "arrays|tensors")) < 0 ||
	    (error = mla_arg_int(&axis, m, c, 1, "axis|dim", 0)) < 0 ||
	    (error = mla_call_done(m, c)) < 0 ||
	    (error = join_operands(part, &n, &from, m, list, axis)) < 0)
		return error;
	error = mla_move_concat(&t, m->engine, (const mla_tensor *const *)part, n, axis);
	return made(out, m, error, t, from);
}

MLA_FN(stack)
{
	mla_tensor *part[256], *t = NULL;
	mla_value list;
	unsigned from;
	int64_t axis;
	uint32_t n;
	int error;

	(void)variant;
	if ((error = mla_arg_required(&list, m, c, 0, "arrays|tensors")) < 0 ||
	    (error = mla_arg_int(&axis, m, c, 1, "axis|dim", 0)) < 0 ||
	    (error = mla_call_done(m, c)) < 0 ||
	    (error = join_operands(part, &n, &from, m, list, axis)) < 0)
		return error;
	error = mla_move_stack(&t, m->engine, (const mla_tensor *const *)part, n, axis);
	return made(out, m, error, t, from);
}

MLA_FN(repeat)
{
	int64_t times, axis;
	mla_tensor *t = NULL;
	mla_value x, v;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "array|input")) < 0 ||
	    (error = mla_arg_int(&times, m, c, 1, "repeats", 1)) < 0)
		return error;
	if (!mla_arg(&v, c, 2, "axis|dim") || !mla_value_as_int(&axis, v))
		return mla_unsupported(m, "repeat without an axis");
	if ((error = mla_call_done(m, c)) < 0)
		return error;
	error = mla_move_repeat(&t, m->engine, x.t, times, axis);
	return made(out, m, error, t, x.from);
}

MLA_FN(flatten)
{
	int64_t shape[MLA_DIMS], from, to;
	uint32_t a = 0, b = 0, n = 0;
	mla_tensor *t = NULL;
	mla_value x;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = mla_arg_int(&from, m, c, 1, "start_axis|start_dim", 0)) < 0 ||
	    (error = mla_arg_int(&to, m, c, 2, "end_axis|end_dim", -1)) < 0 ||
	    (error = mla_call_done(m, c)) < 0 ||
	    (error = mla_engine_fault(m, mla_tensor_axis(&a, x.t, from, "flatten"))) < 0 ||
	    (error = mla_engine_fault(m, mla_tensor_axis(&b, x.t, to, "flatten"))) < 0)
		return error;
	for (uint32_t i = 0; i < x.t->ndim; i++) {
		if (i > a && i <= b)
			shape[n - 1] *= x.t->shape[i];
		else
			shape[n++] = x.t->shape[i];
	}
	error = mla_view_reshape(&t, m->engine, x.t, n, shape);
	return made(out, m, error, t, x.from);
}

MLA_FN(unflatten)
{
	int64_t shape[MLA_DIMS], parts[MLA_DIMS], axis;
	uint32_t a = 0, n = 0, k;
	mla_tensor *t = NULL;
	mla_value x, sizes;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = mla_arg_int(&axis, m, c, 1, "axis|dim", 0)) < 0 ||
	    (error = mla_arg_required(&sizes, m, c, 2, "shape|sizes")) < 0 ||
	    (error = mla_call_done(m, c)) < 0 || (error = mla_as_ints(&k, parts, m, sizes)) < 0 ||
	    (error = mla_engine_fault(m, mla_tensor_axis(&a, x.t, axis, "unflatten"))) < 0)
		return error;
	if (x.t->ndim + k - 1 > MLA_DIMS)
		return mla_unsupported(m, "more than %d dimensions", MLA_DIMS);
	for (uint32_t i = 0; i < x.t->ndim; i++) {
		if (i != a)
			shape[n++] = x.t->shape[i];
		for (uint32_t j = 0; i == a && j < k; j++)
			shape[n++] = parts[j];
	}
	error = mla_view_reshape(&t, m->engine, x.t, n, shape);
	return made(out, m, error, t, x.from);
}

MLA_FN(size)
{
	mla_value x, axis;
	uint32_t at;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "input")) < 0)
		return error;
	*out = mla_shape_value(m, x.t);
	if (!mla_arg(&axis, c, 1, "dim"))
		return mla_call_done(m, c);
	if (axis.kind != MLA_V_INT)
		return mla_unsupported(m, "size(%s)", mla_value_type(axis));
	if ((error = mla_engine_fault(m, mla_tensor_axis(&at, x.t, axis.i, "size"))) < 0)
		return error;
	*out = mla_value_int(x.t->shape[at]);
	return mla_call_done(m, c);
}

MLA_FN(pad)
{
	int64_t before[MLA_DIMS] = {0}, after[MLA_DIMS] = {0};
	mla_value x, width;
	mla_tensor *t = NULL;
	double value;
	int error;

	(void)variant;
	if ((error = mla_arg_tensor(&x, m, c, 0, "a|input")) < 0 ||
	    (error = mla_arg_required(&width, m, c, 1, "pad_width|pad")) < 0 ||
	    (error = mla_arg_float(&value, m, c, m->torch ? 3 : 9, "constant_values|value", 0)) <
	            0 ||
	    (error = mla_call_done(m, c)) < 0)
		return error;
	if (m->torch || !mla_value_is_sequence(width) || width.seq->n != x.t->ndim)
		return mla_unsupported(m, "this form of pad");
	for (uint32_t i = 0; i < x.t->ndim; i++) {
		int64_t pair[MLA_DIMS];
		uint32_t n;

		if ((error = mla_as_ints(&n, pair, m, width.seq->v[i])) < 0)
			return error;
		before[i] = pair[0];
		after[i] = pair[n > 1];
	}
	error = mla_move_pad(&t, m->engine, x.t, before, after, value);
	return made(out, m, error, t, x.from);
}
