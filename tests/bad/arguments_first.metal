// refused: f: the argument struct must have the last buffer index
struct args {
	unsigned int n;
};
kernel void f(constant args &p [[buffer(0)]], device float *a [[buffer(1)]],
	      uint3 gid [[thread_position_in_grid]])
{
	a[gid.x] = (float)p.n;
}
