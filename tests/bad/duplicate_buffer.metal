// refused: f: buffer index 1 is used twice
kernel void f(device float *a [[buffer(0)]], device float *b [[buffer(1)]],
	      device float *c [[buffer(1)]], uint3 gid [[thread_position_in_grid]])
{
	a[gid.x] = b[gid.x] + c[gid.x];
}
