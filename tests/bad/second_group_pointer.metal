// refused: f: [[threadgroup(0)]] must be a threadgroup pointer, the only one
kernel void f(device float *a [[buffer(0)]], threadgroup float *x [[threadgroup(0)]],
	      threadgroup float *y [[threadgroup(1)]], uint3 gid [[thread_position_in_grid]])
{
	a[gid.x] = x[0] + y[0];
}
