// refused: f: pointer or reference without an address space
static inline float f(const float *p)
{
	return p[0];
}
