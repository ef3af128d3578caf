/*
 * Normalisation over the last axis, as MLX's fast.rms_norm and fast.layer_norm without their fused
 * kernels: the normalised value is computed in f32 (f64 in oracle mode), stored in the format in
 * which x and the parameters meet, and then multiplied by the weight and moved by the bias, each a
 * store of its own. The kernel of layer_norm stores once.
 */
#ifndef MLA_ENGINE_NORM_H
#define MLA_ENGINE_NORM_H

#include "engine/tensor.h"

/* x / sqrt(mean(x^2) + epsilon) * weight; weight [size of the last axis] or NULL. */
int mla_rms_norm(mla_tensor **out, mla_engine *e, const mla_tensor *x, const mla_tensor *weight,
                 double epsilon);

/* (x - mean) / sqrt(variance + epsilon) * weight + bias, either of them NULL. */
int mla_layer_norm(mla_tensor **out, mla_engine *e, const mla_tensor *x, const mla_tensor *weight,
                   const mla_tensor *bias, double epsilon);

#endif
