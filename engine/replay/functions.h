/*
 * What frameworks call on arrays, by concept. Each takes its arguments as a call; methods have the
 * array in front. `variant` picks among relatives. The names they go by are in tables.c alone.
 */
#ifndef MLA_ENGINE_REPLAY_FUNCTIONS_H
#define MLA_ENGINE_REPLAY_FUNCTIONS_H

#include "engine/replay/machine.h"

#define MLA_FN(name) int mla_fn_##name(mla_value *out, mla_machine *m, mla_call *c, int variant)

/* shape.c */
MLA_FN(reshape);
MLA_FN(transpose); /* variant 1: PyTorch's transpose of two axes; 2: permute */
MLA_FN(swapaxes);
MLA_FN(moveaxis);
MLA_FN(expand_dims);
MLA_FN(squeeze);
MLA_FN(broadcast_to); /* variant 1: expand, where -1 keeps a size; 2: expand_as */
MLA_FN(split);        /* variant 1: PyTorch's, by sizes; 2: chunk */
MLA_FN(concatenate);
MLA_FN(stack);
MLA_FN(repeat);
MLA_FN(flatten);
MLA_FN(unflatten);
MLA_FN(size);
MLA_FN(pad);

/* arithmetic.c */
MLA_FN(unary);   /* variant: mla_unary */
MLA_FN(binary);  /* variant: mla_binary */
MLA_FN(operate); /* variant: mla_op */
MLA_FN(reduce);  /* variant: mla_reduction */
MLA_FN(softmax);
MLA_FN(cumsum);
MLA_FN(clip);
MLA_FN(silu);
MLA_FN(gelu);
MLA_FN(relu);
MLA_FN(softplus);
MLA_FN(norm); /* variant 0: rms_norm, 1: layer_norm */

/* select.c */
MLA_FN(where);
MLA_FN(masked_fill);
MLA_FN(take);
MLA_FN(take_along_axis); /* variant 1: gather(x, axis, index) */
MLA_FN(put_along_axis);  /* variant 1: scatter(x, axis, index, values) */
MLA_FN(argpartition);
MLA_FN(argsort);
MLA_FN(sort);
MLA_FN(topk);
MLA_FN(triangle); /* variant 0: tril, 1: triu */

/* create.c */
MLA_FN(array);
MLA_FN(filled); /* variant 0: zeros, 1: ones, 2: full, 3: empty */
MLA_FN(filled_like);
MLA_FN(arange);
MLA_FN(random); /* variant 0: uniform, 1: normal (MLX); 2: rand, 3: randn (PyTorch) */
MLA_FN(cast);
MLA_FN(cast_to);  /* variant: mla_dtype */
MLA_FN(identity); /* one argument comes back; variant 1: others are ignored */
MLA_FN(nothing);
MLA_FN(false);
MLA_FN(finfo);
MLA_FN(item);
MLA_FN(tolist);
MLA_FN(parameter);

/* product.c */
MLA_FN(matmul);
MLA_FN(einsum);
MLA_FN(linear);
MLA_FN(attention); /* variant 0: fast.scaled_dot_product_attention, 1: a runtime's own, 2: torch's
                    */
MLA_FN(quantised_matmul);
MLA_FN(quantise);
MLA_FN(dequantise);
MLA_FN(rope);

/* layers.c */
MLA_FN(layer); /* variant: mla_layer_kind */

/* python.c */
MLA_FN(swiglu);

#endif
