/* A library that builds a graph: bodies link nodes and reckon with sizes and strides. */
#include "graph.h"

static void check(int holds)
{
	while (!holds)
		;
}

static tensor *view_of(context *ctx, tensor *a, int n, const int64_t *ne, size_t offset)
{
	tensor *result = new_tensor(ctx, n, ne);

	result->op = 5;
	result->nb[0] = offset;
	result->view_of = a;
	return result;
}

tensor *view_2d(context *ctx, tensor *a, int64_t ne0, int64_t ne1, size_t nb1, size_t offset)
{
	const int64_t ne[2] = {ne0, ne1};
	tensor *result = view_of(ctx, a, 2, ne, offset);

	result->nb[1] = nb1;
	result->nb[2] = result->nb[1] * (size_t)ne1;
	result->nb[3] = result->nb[2] * (size_t)ne0;
	return result;
}

tensor *cont(context *ctx, tensor *a)
{
	tensor *result = new_tensor(ctx, 4, a->ne);

	result->op = 6;
	result->src[0] = a;
	return result;
}

static tensor *mul_mat_of(context *ctx, tensor *a, tensor *b, int op)
{
	const int64_t ne[4] = {a->ne[1], b->ne[1], b->ne[2], b->ne[3]};
	tensor *result = new_tensor(ctx, 4, ne);

	check(is_contiguous(a));
	result->op = op;
	result->src[0] = a;
	result->src[1] = b;
	return result;
}

tensor *mul_mat(context *ctx, tensor *a, tensor *b)
{
	return mul_mat_of(ctx, a, b, 7);
}

tensor *soft_max(context *ctx, tensor *a, tensor *mask)
{
	tensor *result = new_tensor(ctx, 4, a->ne);

	check(is_contiguous(a));
	result->op = 8;
	result->src[0] = a;
	result->src[1] = mask;
	return result;
}
