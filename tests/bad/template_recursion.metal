// refused: power: recursion
template <int N> static inline float power(float x)
{
	return x * power<N - 1>(x);
}
