// refused: the size of threadgroup memory must be plain numbers
kernel void f(device float *a [[buffer(0)]], uint3 gid [[thread_position_in_grid]])
{
	threadgroup float x[N];
	a[gid.x] = x[0];
}
