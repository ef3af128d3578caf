// refused: a variable at namespace scope must be constant
static float table[4];
