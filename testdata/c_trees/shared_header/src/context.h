#ifndef CONTEXT_H
#define CONTEXT_H

#include "../include/model.h"

struct context {
    struct model_sizes sizes;
    struct settings settings;
};

#endif
