// refused: f: a buffer must be a device pointer or a constant reference
kernel void f(uint n [[buffer(0)]], uint3 gid [[thread_position_in_grid]])
{
	(void)n, (void)gid;
}
