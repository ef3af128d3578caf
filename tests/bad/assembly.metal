// refused: f: not allowed: inline assembly
static inline void f()
{
	asm("nop");
}
