// refused: f: not allowed: static local
static inline uint f()
{
	static uint calls = 0;
	return calls++;
}
