// refused: parameter struct args: members must be 32-bit scalars
typedef struct {
	float w[4];
} args;
kernel void f(device float *a [[buffer(0)]], constant args &p [[buffer(1)]],
	      uint3 gid [[thread_position_in_grid]])
{
	a[gid.x] = p.w[0];
}
