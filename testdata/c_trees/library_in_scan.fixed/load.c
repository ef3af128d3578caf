/* What is stored in the fields of weights while a model is read says nothing of what they are. */
#include "graph.h"

static tensor *part_of(context *ctx, tensor *whole, tensor *rest, int part)
{
	return split(ctx, part ? whole : rest, part);
}

void load(context *ctx, model *m, tensor *x)
{
	for (int i = 0; i < 8; i++) {
		layer_weights *l = &m->layer[i];

		l->wk_b = part_of(ctx, l->wkv_b, l->wv_b, 0);
		l->wv_b = part_of(ctx, l->wkv_b, l->wk_b, 1);
		l->wkv_b = part_of(ctx, l->wk_b, l->wv_b, 0);
		l->attn_norm = part_of(ctx, l->wk_b, l->wv_b, 1);
	}
	m->mask = part_of(ctx, m->layer[0].attn_norm, x, 0);
}
