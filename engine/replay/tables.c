/* The names under which frameworks offer their functions, and what they mean here. */
#include "engine/elementwise.h"
#include "engine/reduce.h"
#include "engine/replay/functions.h"

#define SHARED                                                                                    \
	{"reshape", mla_fn_reshape, 0}, {"transpose", mla_fn_transpose, 0},                       \
		{"permute", mla_fn_transpose, 2}, {"swapaxes", mla_fn_swapaxes, 0},               \
		{"moveaxis", mla_fn_moveaxis, 0}, {"squeeze", mla_fn_squeeze, 0},                 \
		{"split", mla_fn_split, 0}, {"flatten", mla_fn_flatten, 0},                       \
		{"unflatten", mla_fn_unflatten, 0}, {"matmul", mla_fn_matmul, 0},                 \
		{"softmax", mla_fn_softmax, 0}, {"sum", mla_fn_reduce, MLA_RED_SUM},              \
		{"mean", mla_fn_reduce, MLA_RED_MEAN}, {"max", mla_fn_reduce, MLA_RED_MAX},       \
		{"min", mla_fn_reduce, MLA_RED_MIN}, {"var", mla_fn_reduce, MLA_RED_VAR},         \
		{"prod", mla_fn_reduce, MLA_RED_PROD}, {"any", mla_fn_reduce, MLA_RED_ANY},       \
		{"all", mla_fn_reduce, MLA_RED_ALL}, {"argmax", mla_fn_reduce, MLA_RED_ARGMAX},   \
		{"argmin", mla_fn_reduce, MLA_RED_ARGMIN},                                        \
		{"logsumexp", mla_fn_reduce, MLA_RED_LOGSUMEXP}, {"cumsum", mla_fn_cumsum, 0},    \
		{"exp", mla_fn_unary, MLA_EW_EXP}, {"log", mla_fn_unary, MLA_EW_LOG},             \
		{"sqrt", mla_fn_unary, MLA_EW_SQRT}, {"rsqrt", mla_fn_unary, MLA_EW_RSQRT},       \
		{"sin", mla_fn_unary, MLA_EW_SIN}, {"cos", mla_fn_unary, MLA_EW_COS},             \
		{"tanh", mla_fn_unary, MLA_EW_TANH}, {"abs", mla_fn_unary, MLA_EW_ABS},           \
		{"square", mla_fn_unary, MLA_EW_SQUARE},                                          \
		{"sigmoid", mla_fn_unary, MLA_EW_SIGMOID}, {"floor", mla_fn_unary, MLA_EW_FLOOR}, \
		{"ceil", mla_fn_unary, MLA_EW_CEIL}, {"argsort", mla_fn_argsort, 0},              \
	{                                                                                         \
		"topk", mla_fn_topk, 0                                                            \
	}

#define FUNCTIONS                                                                                  \
	{"where", mla_fn_where, 0}, {"einsum", mla_fn_einsum, 0}, {"stack", mla_fn_stack, 0},      \
		{"isnan", mla_fn_unary, MLA_EW_ISNAN}, {"isinf", mla_fn_unary, MLA_EW_ISINF},      \
		{"negative", mla_fn_unary, MLA_EW_NEG}, {"logical_not", mla_fn_unary, MLA_EW_NOT}, \
		{"logical_and", mla_fn_binary, MLA_EW_AND},                                        \
		{"logical_or", mla_fn_binary, MLA_EW_OR}, {"maximum", mla_fn_binary, MLA_EW_MAX},  \
		{"minimum", mla_fn_binary, MLA_EW_MIN}, {"power", mla_fn_binary, MLA_EW_POW},      \
		{"add", mla_fn_operate, MLA_OP_ADD}, {"subtract", mla_fn_operate, MLA_OP_SUB},     \
		{"multiply", mla_fn_operate, MLA_OP_MUL}, {"divide", mla_fn_operate, MLA_OP_DIV},  \
		{"broadcast_to", mla_fn_broadcast_to, 0}, {"zeros", mla_fn_filled, 0},             \
		{"ones", mla_fn_filled, 1}, {"full", mla_fn_filled, 2},                            \
		{"zeros_like", mla_fn_filled_like, 0}, {"ones_like", mla_fn_filled_like, 1},       \
		{"full_like", mla_fn_filled_like, 2}, {"arange", mla_fn_arange, 0},                \
		{"finfo", mla_fn_finfo, 0}, {"tril", mla_fn_triangle, 0},                          \
		{"triu", mla_fn_triangle, 1},                                                      \
	{                                                                                          \
		"sort", mla_fn_sort, 0                                                             \
	}

const mla_builtin mla_array_functions[] = {
	SHARED,
	FUNCTIONS,
	{"expand_dims", mla_fn_expand_dims, 0},
	{"concatenate", mla_fn_concatenate, 0},
	{"concat", mla_fn_concatenate, 0},
	{"repeat", mla_fn_repeat, 0},
	{"pad", mla_fn_pad, 0},
	{"clip", mla_fn_clip, 0},
	{"take", mla_fn_take, 0},
	{"take_along_axis", mla_fn_take_along_axis, 0},
	{"put_along_axis", mla_fn_put_along_axis, 0},
	{"argpartition", mla_fn_argpartition, 0},
	{"array", mla_fn_array, 0},
	{"depends", mla_fn_identity, 1},
	{"stop_gradient", mla_fn_identity, 0},
	{"contiguous", mla_fn_identity, 1},
	{"eval", mla_fn_nothing, 0},
	{"async_eval", mla_fn_nothing, 0},
	{"quantized_matmul", mla_fn_quantised_matmul, 0},
	{"quantize", mla_fn_quantise, 0},
	{"dequantize", mla_fn_dequantise, 0},
	{NULL, NULL, 0},
};

const mla_builtin mla_array_functions_torch[] = {
	SHARED,
	FUNCTIONS,
	{"unsqueeze", mla_fn_expand_dims, 0},
	{"cat", mla_fn_concatenate, 0},
	{"concat", mla_fn_concatenate, 0},
	{"repeat_interleave", mla_fn_repeat, 0},
	{"clamp", mla_fn_clip, 0},
	{"gather", mla_fn_take_along_axis, 1},
	{"scatter", mla_fn_put_along_axis, 1},
	{"index_select", mla_fn_take_along_axis, 1},
	{"masked_fill", mla_fn_masked_fill, 0},
	{"tensor", mla_fn_array, 0},
	{"Tensor", mla_fn_array, 0},
	{"empty", mla_fn_filled, 3},
	{"rand", mla_fn_random, 2},
	{"randn", mla_fn_random, 3},
	{"bmm", mla_fn_matmul, 0},
	{"chunk", mla_fn_split, 2},
	{NULL, NULL, 0},
};

/* Methods of arrays; the array is the first argument. */
const mla_builtin mla_array_methods[] = {
	SHARED,
	{"view", mla_fn_reshape, 0},
	{"expand", mla_fn_broadcast_to, 1},
	{"expand_as", mla_fn_broadcast_to, 2},
	{"unsqueeze", mla_fn_expand_dims, 0},
	{"chunk", mla_fn_split, 2},
	{"size", mla_fn_size, 0},
	{"astype", mla_fn_cast, 0},
	{"to", mla_fn_cast, 0},
	{"type_as", mla_fn_cast, 0},
	{"float", mla_fn_cast_to, MLA_F32},
	{"bool", mla_fn_cast_to, MLA_BOOL},
	{"int", mla_fn_cast_to, MLA_I32},
	{"contiguous", mla_fn_identity, 0},
	{"detach", mla_fn_identity, 0},
	{"clone", mla_fn_identity, 0},
	{"masked_fill", mla_fn_masked_fill, 0},
	{"gather", mla_fn_take_along_axis, 1},
	{"scatter", mla_fn_put_along_axis, 1},
	{"bmm", mla_fn_matmul, 0},
	{"mul", mla_fn_operate, MLA_OP_MUL},
	{"add", mla_fn_operate, MLA_OP_ADD},
	{"logical_not", mla_fn_unary, MLA_EW_NOT},
	{"clamp", mla_fn_clip, 0},
	{"item", mla_fn_item, 0},
	{"tolist", mla_fn_tolist, 0},
	{NULL, NULL, 0},
};

const mla_builtin mla_fast_functions[] = {
	{"scaled_dot_product_attention", mla_fn_attention, 0},
	{"rms_norm", mla_fn_norm, 0},
	{"layer_norm", mla_fn_norm, 1},
	{"rope", mla_fn_rope, 0},
	{NULL, NULL, 0},
};

/* mlx.nn, torch.nn and torch.nn.functional; the numbers are the kinds of layers.c */
const mla_builtin mla_layer_functions[] = {
	{"Linear", mla_fn_layer, 0},
	{"RMSNorm", mla_fn_layer, 2},
	{"LayerNorm", mla_fn_layer, 3},
	{"RoPE", mla_fn_layer, 4},
	{"Embedding", mla_fn_layer, 6},
	{"Dropout", mla_fn_layer, 7},
	{"Identity", mla_fn_layer, 7},
	{"SiLU", mla_fn_layer, 8},
	{"Parameter", mla_fn_parameter, 0},
	{"silu", mla_fn_silu, 0},
	{"relu", mla_fn_relu, 0},
	{"gelu", mla_fn_gelu, 0},
	{"softplus", mla_fn_softplus, 0},
	{"softmax", mla_fn_softmax, 0},
	{"sigmoid", mla_fn_unary, MLA_EW_SIGMOID},
	{"tanh", mla_fn_unary, MLA_EW_TANH},
	{"linear", mla_fn_linear, 0},
	{"rms_norm", mla_fn_norm, 0},
	{"layer_norm", mla_fn_norm, 1},
	{"pad", mla_fn_pad, 0},
	{NULL, NULL, 0},
};

/* What runtimes write themselves, known by name when its source is not here. */
const mla_builtin mla_known_functions[] = {
	{"MultiLinear", mla_fn_layer, 1},
	{"RMSNorm", mla_fn_layer, 2},
	{"LayerNorm", mla_fn_layer, 3},
	{"Linear", mla_fn_layer, 0},
	{"RoPE", mla_fn_layer, 4},
	{"initialize_rope", mla_fn_layer, 5},
	{"scaled_dot_product_attention", mla_fn_attention, 1},
	{"swiglu", mla_fn_swiglu, 0},
	{NULL, NULL, 0},
};
