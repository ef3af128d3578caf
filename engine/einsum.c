/* Parsing the equation, and its reduction to transposes and one matrix multiplication. */
#include "engine/einsum.h"

#include "analyzer/str.h"
#include "engine/matmul.h"
#include "engine/reduce.h"
#include "engine/view.h"

enum { OPERANDS = 2, LETTERS = 52 };

/* The letters of one operand or of the result, as 0 .. LETTERS - 1. */
typedef struct {
	uint8_t v[MLA_DIMS * OPERANDS];
	uint32_t n;
	uint64_t set;
} labels;

typedef struct {
	mla_str text;
	labels in[OPERANDS], out;
	int64_t size[LETTERS];
} equation;

static int refuse(const equation *q)
{
	return mla_error(MLA_EPARSE, "einsum: \"%.*s\" is not supported", MLA_ARG(q->text));
}

static int letter(char c)
{
	return c >= 'a' && c <= 'z' ? c - 'a' : c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

static int add(equation *q, labels *l, int x, uint32_t most)
{
	if (l->n == most || l->set & (uint64_t)1 << x)
		return refuse(q);
	l->v[l->n++] = (uint8_t)x;
	l->set |= (uint64_t)1 << x;
	return 0;
}

/* Letters in alphabetical order (capitals first) that are in exactly one operand. */
static int implicit_output(equation *q)
{
	uint64_t once = q->in[0].set ^ q->in[1].set;
	int error = 0;

	for (int x = 26; x < LETTERS && error == 0; x++)
		if (once & (uint64_t)1 << x)
			error = add(q, &q->out, x, MLA_DIMS);
	for (int x = 0; x < 26 && error == 0; x++)
		if (once & (uint64_t)1 << x)
			error = add(q, &q->out, x, MLA_DIMS);
	return error;
}

static int parse(equation *q, mla_str text, uint32_t n)
{
	uint32_t operand = 0;
	bool arrow = false;
	int error;

	*q = (equation){.text = text};
	for (uint32_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		int x = letter(c);

		if (c == ' ')
			continue;
		if (x >= 0) {
			if ((error = add(q, arrow ? &q->out : &q->in[operand], x, MLA_DIMS)) < 0)
				return error;
		} else if (c == ',' && !arrow && operand + 1 < n && operand + 1 < OPERANDS) {
			operand++;
		} else if (c == '-' && !arrow && i + 1 < text.len && text.ptr[i + 1] == '>') {
			arrow = true;
			i++;
		} else {
			return refuse(q);
		}
	}
	if (operand + 1 != n || q->out.set & ~(q->in[0].set | q->in[1].set))
		return refuse(q);
	return arrow ? 0 : implicit_output(q);
}

static int measure(equation *q, const mla_tensor *const *tensors, uint32_t n)
{
	char text[MLA_SHAPE_TEXT];

	for (int x = 0; x < LETTERS; x++)
		q->size[x] = -1;
	for (uint32_t i = 0; i < n; i++) {
		const mla_tensor *t = tensors[i];
		bool fits = t->ndim == q->in[i].n;

		for (uint32_t k = 0; fits && k < t->ndim; k++) {
			int64_t *size = &q->size[q->in[i].v[k]];

			fits = *size < 0 || *size == t->shape[k];
			*size = t->shape[k];
		}
		if (!fits)
			return mla_error(MLA_ERAISE, "einsum: \"%.*s\" with %s", MLA_ARG(q->text),
			                 mla_shape_text(text, t->ndim, t->shape));
	}
	return 0;
}

/* Sums over the letters that are neither in the result nor in the other operand. */
static int sum_out(mla_tensor **out, mla_engine *e, labels *l, const mla_tensor *t, uint64_t needed)
{
	int64_t axes[MLA_DIMS];
	labels rest = {.set = l->set & needed};
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n; i++)
		if (needed & (uint64_t)1 << l->v[i])
			rest.v[rest.n++] = l->v[i];
		else
			axes[n++] = i;
	*l = rest;
	return n ? mla_reduce(out, e, MLA_RED_SUM, t, n, axes, false) : mla_tensor__view(out, e, t);
}

/* The axes of `t`, lettered `have`, in the order of `want`, which has the same letters. */
static int arranged(mla_tensor **out, mla_engine *e, const mla_tensor *t, const labels *have,
                    const labels *want)
{
	int64_t axes[MLA_DIMS];

	for (uint32_t i = 0; i < want->n; i++)
		for (uint32_t k = 0; k < have->n; k++)
			if (have->v[k] == want->v[i])
				axes[i] = k;
	return mla_view_transpose(out, e, t, want->n, axes);
}

/* Appends the letters of `from` that are in `set`; returns the product of their sizes. */
static int64_t append(labels *to, const labels *from, uint64_t set, const equation *q)
{
	int64_t product = 1;

	for (uint32_t i = 0; i < from->n; i++)
		if (set & (uint64_t)1 << from->v[i]) {
			to->v[to->n++] = from->v[i];
			product *= q->size[from->v[i]];
		}
	return product;
}

static int multiply(mla_tensor **out, mla_engine *e, equation *q, mla_tensor *a, mla_tensor *b)
{
	uint64_t both = q->in[0].set & q->in[1].set, kept = q->out.set;
	labels left = {0}, right = {0}, result = {0};
	int64_t shape[MLA_DIMS], batch, m, k, n;
	mla_tensor *product;
	int error;

	batch = append(&left, &q->in[0], both & kept, q);
	m = append(&left, &q->in[0], ~both, q);
	k = append(&left, &q->in[0], both & ~kept, q);
	append(&right, &q->in[0], both & kept, q);
	append(&right, &q->in[0], both & ~kept, q);
	n = append(&right, &q->in[1], ~both, q);
	append(&result, &q->in[0], both & kept, q);
	append(&result, &q->in[0], ~both, q);
	append(&result, &q->in[1], ~both, q);
	for (uint32_t i = 0; i < result.n && i < MLA_DIMS; i++)
		shape[i] = q->size[result.v[i]];
	if ((error = arranged(&a, e, a, &q->in[0], &left)) < 0 ||
	    (error = arranged(&b, e, b, &q->in[1], &right)) < 0 ||
	    (error = mla_view_reshape(&a, e, a, 3, (int64_t[]){batch, m, k})) < 0 ||
	    (error = mla_view_reshape(&b, e, b, 3, (int64_t[]){batch, k, n})) < 0 ||
	    (error = mla_matmul(&product, e, a, b)) < 0 ||
	    (error = mla_view_reshape(&product, e, product, result.n, shape)) < 0)
		return error;
	return arranged(out, e, product, &result, &q->out);
}

static int evaluate(mla_tensor **out, mla_engine *e, equation *q, const mla_tensor *const *tensors,
                    uint32_t n)
{
	uint64_t needed = q->out.set;
	mla_tensor *t[OPERANDS];
	int error;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t other = n == 2 ? q->in[1 - i].set : 0;

		/* A letter in both operands is not summed out of either alone. */
		if ((error = sum_out(&t[i], e, &q->in[i], tensors[i], needed | other)) < 0)
			return error;
	}
	return n == 1 ? arranged(out, e, t[0], &q->in[0], &q->out)
	              : multiply(out, e, q, t[0], t[1]);
}

int mla_einsum(mla_tensor **out, mla_engine *e, mla_str text, const mla_tensor *const *tensors,
               uint32_t n)
{
	mla_tensor_scope scope = mla_tensor_scope_open(e);
	equation q;
	int error;

	*out = NULL;
	if (n < 1 || n > OPERANDS)
		return mla_error(MLA_EPARSE, "einsum: %u operands", n);
	if ((error = parse(&q, text, n)) < 0 || (error = measure(&q, tensors, n)) < 0)
		return error;
	error = evaluate(out, e, &q, tensors, n);
	mla_tensor_scope_close(e, scope, out, 1);
	return error;
}
