// refused: f: buffer index 12 is over 11
kernel void f(device float *a [[buffer(12)]], uint3 gid [[thread_position_in_grid]])
{
	a[gid.x] = 0.0f;
}
