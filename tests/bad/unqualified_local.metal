// refused: f: pointer or reference without an address space
static inline float f(device const float *p)
{
	const float *q = p;
	return q[0];
}
