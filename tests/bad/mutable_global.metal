// refused: a variable at namespace scope must be constant
uint counter = 0;
static inline uint f()
{
	return counter++;
}
