// refused: f: not allowed: double
static inline float f(float x)
{
	return (float)((double)x * 2.0);
}
