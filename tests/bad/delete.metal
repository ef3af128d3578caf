// refused: f: not allowed: delete
static inline void f(device uint *p)
{
	delete[] p;
}
