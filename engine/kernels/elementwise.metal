// Elementwise operations with broadcasting; a thread makes up to 64 elements of the last dimension.
// Booleans are 0 and 1.
#include "prelude.h"

#define ELEMENTS 64u

static inline float binary_op(uint op, float a, float b)
{
	switch (op) {
	case MLA_ADD:
		return a + b;
	case MLA_SUB:
		return a - b;
	case MLA_MUL:
		return a * b;
	case MLA_DIV:
		return a / b;
	case MLA_MAX: // a NaN on either side stays
		return a != a ? a : max(a, b);
	case MLA_MIN:
		return a != a ? a : min(a, b);
	case MLA_EQ:
		return a == b ? 1.0f : 0.0f;
	case MLA_NE:
		return a != b ? 1.0f : 0.0f;
	case MLA_LT:
		return a < b ? 1.0f : 0.0f;
	case MLA_LE:
		return a <= b ? 1.0f : 0.0f;
	case MLA_GT:
		return a > b ? 1.0f : 0.0f;
	case MLA_GE:
		return a >= b ? 1.0f : 0.0f;
	case MLA_AND:
		return a != 0.0f && b != 0.0f ? 1.0f : 0.0f;
	default:
		return a != 0.0f || b != 0.0f ? 1.0f : 0.0f;
	}
}

static inline float unary_op(uint op, float a)
{
	switch (op) {
	case MLA_NEG:
		return -a;
	case MLA_ABS:
		return a < 0.0f ? -a : a;
	case MLA_SQUARE:
		return a * a;
	case MLA_SQRT:
		return sqrt(a);
	case MLA_RSQRT:
		return rsqrt_of(a);
	case MLA_RECIPROCAL:
		return 1.0f / a;
	case MLA_EXP:
		return exp_of(a);
	case MLA_SIGMOID:
		return sigmoid_of(a);
	case MLA_SILU:
		return a * sigmoid_of(a);
	case MLA_RELU:
		return a < 0.0f ? 0.0f : a;
	case MLA_TANH:
		return tanh_of(a);
	case MLA_FLOOR:
		return floor(a);
	case MLA_NOT:
		return a == 0.0f ? 1.0f : 0.0f;
	default:
		return a;
	}
}

kernel void binary(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
		   device float *y [[buffer(2)]], constant mla_elementwise_args &p [[buffer(3)]],
		   uint3 gid [[thread_position_in_grid]])
{
	uint first = gid.x * ELEMENTS;
	device const float *pa = a + gid.z * p.a0 + gid.y * p.a1;
	device const float *pb = b + gid.z * p.b0 + gid.y * p.b1;
	device float *to = y + (gid.z * p.n1 + gid.y) * p.n2;
	for (uint i = first; i < min(first + ELEMENTS, p.n2); i++)
		to[i] = stored(binary_op(p.op, pa[i * p.a2], pb[i * p.b2]), p.store);
}

kernel void unary(device const float *a [[buffer(0)]], device float *y [[buffer(1)]],
		  constant mla_elementwise_args &p [[buffer(2)]],
		  uint3 gid [[thread_position_in_grid]])
{
	uint first = gid.x * ELEMENTS;
	device const float *pa = a + gid.z * p.a0 + gid.y * p.a1;
	device float *to = y + (gid.z * p.n1 + gid.y) * p.n2;
	for (uint i = first; i < min(first + ELEMENTS, p.n2); i++)
		to[i] = stored(unary_op(p.op, pa[i * p.a2]), p.store);
}

// y = c ? a : b
kernel void select_where(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]],
			 device const float *c [[buffer(2)]], device float *y [[buffer(3)]],
			 constant mla_elementwise_args &p [[buffer(4)]],
			 uint3 gid [[thread_position_in_grid]])
{
	uint first = gid.x * ELEMENTS;
	device const float *pa = a + gid.z * p.a0 + gid.y * p.a1;
	device const float *pb = b + gid.z * p.b0 + gid.y * p.b1;
	device const float *pc = c + gid.z * p.c0 + gid.y * p.c1;
	device float *to = y + (gid.z * p.n1 + gid.y) * p.n2;
	for (uint i = first; i < min(first + ELEMENTS, p.n2); i++)
		to[i] = stored(pc[i * p.c2] != 0.0f ? pa[i * p.a2] : pb[i * p.b2], p.store);
}
