#ifndef GRAPH_H
#define GRAPH_H

#include <stddef.h>
#include <stdint.h>

typedef struct context context;

typedef struct tensor {
	int op;
	int64_t ne[4];
	size_t nb[4];
	struct tensor *src[3];
	struct tensor *view_of;
} tensor;

typedef struct {
	tensor *wq_b, *wk_b, *wv_b, *wkv_b, *attn_norm;
} layer_weights;

typedef struct {
	int kv_lora_rank, qk_nope_head_dim, v_head_dim;
	tensor *mask, *kv_cache;
	layer_weights layer[8];
} model;

tensor *new_tensor(context *ctx, int n, const int64_t *ne);
tensor *view_2d(context *ctx, tensor *a, int64_t ne0, int64_t ne1, size_t nb1, size_t offset);
tensor *cont(context *ctx, tensor *a);
tensor *mul_mat(context *ctx, tensor *a, tensor *b);
tensor *soft_max(context *ctx, tensor *a, tensor *mask);
tensor *split(context *ctx, tensor *a, int part);
int is_contiguous(const tensor *t);

#endif
