// refused: f: pointer or reference without an address space
static inline void f(float &x)
{
	x = 1.0f;
}
