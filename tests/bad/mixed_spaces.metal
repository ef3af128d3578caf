// refused by clang: address space
#include "prelude.h"
static inline float f(device const float *p)
{
	return p[0];
}
kernel void g(device float *a [[buffer(0)]], threadgroup float *x [[threadgroup(0)]],
	      uint3 gid [[thread_position_in_grid]])
{
	x[0] = 1.0f;
	a[gid.x] = f(x);
}
