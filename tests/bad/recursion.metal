// refused: odd: recursion
static inline bool odd(uint n);
static inline bool even(uint n)
{
	return n == 0 || odd(n - 1);
}
static inline bool odd(uint n)
{
	return n != 0 && even(n - 1);
}
