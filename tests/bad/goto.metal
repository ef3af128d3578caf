// refused: f: not allowed: goto
static inline uint f(uint n)
{
again:
	if (n-- > 3)
		goto again;
	return n;
}
