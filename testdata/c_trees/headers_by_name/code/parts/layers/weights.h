#pragma once

#include "products.h"

struct weights {
    tensor *wk_b, *wv_b, *wkv_b;
};
