#pragma once

#include "sizes.h"

tensor * mul_mat(tensor * w, tensor * x);
tensor * attend(tensor * q, tensor * k, tensor * v);
