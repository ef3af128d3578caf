// refused: f: buffer indices must be 0, 1, 2, ...
kernel void f(device float *a [[buffer(0)]], device float *b [[buffer(2)]],
	      uint3 gid [[thread_position_in_grid]])
{
	a[gid.x] = b[gid.x];
}
