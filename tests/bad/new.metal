// refused: f: not allowed: new
static inline uint f(uint n)
{
	thread uint *p = new uint[n];
	return p[0];
}
