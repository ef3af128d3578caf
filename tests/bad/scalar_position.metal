// refused: f: [[thread_position_in_grid]] must be uint3
kernel void f(device float *a [[buffer(0)]], uint gid [[thread_position_in_grid]])
{
	a[gid] = 0.0f;
}
