// refused: f: [[thread_index_in_threadgroup]] must be uint
kernel void f(device float *a [[buffer(0)]], uint3 tid [[thread_index_in_threadgroup]])
{
	a[tid.x] = 0.0f;
}
