/* One check for every wrapper of a kernel. */
#ifndef MLA_ENGINE_BACKEND_VIEW_H
#define MLA_ENGINE_BACKEND_VIEW_H

#include "engine/backend.h"

/* Every index below n[] must lie inside buf, in elements of 4 bytes. Empty views are fine. */
int mla_view_check(const char *what, const mla_buffer *buf, uint64_t offset, const uint32_t *n,
                   const uint32_t *step, int dims);

#endif
