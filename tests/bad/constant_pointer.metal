// refused: f: a buffer pointer must be device
kernel void f(constant float *a [[buffer(0)]], uint3 gid [[thread_position_in_grid]])
{
	(void)a, (void)gid;
}
