// refused: f: 36864 bytes of threadgroup memory, 32768 is the limit
kernel void f(device float *a [[buffer(0)]], uint3 gid [[thread_position_in_grid]])
{
	threadgroup float x[2 * 4096];
	threadgroup uint y[32][32];
	x[0] = 0.0f;
	y[0][0] = 0;
	a[gid.x] = x[0];
}
