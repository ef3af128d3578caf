/*
 * Growing array of any type, on the heap: declare `MLA_VEC(thing) v = {0};`, push, index v.v[i] up
 * to v.n, release with mla_vec_free(). Macros, so that the element type is checked.
 */
#ifndef MLA_ANALYZER_VEC_H
#define MLA_ANALYZER_VEC_H

#include "analyzer/arena.h"

#include <stdlib.h>

#define MLA_VEC(type)            \
	struct {                 \
		type *v;         \
		uint32_t n, cap; \
	}

#define mla_vec_push(vec, item)                                                          \
	do {                                                                             \
		if ((vec)->n == (vec)->cap) {                                            \
			(vec)->cap = (vec)->cap ? 2 * (vec)->cap : 8;                    \
			(vec)->v = mla_realloc((vec)->v, (vec)->cap, sizeof(*(vec)->v)); \
		}                                                                        \
		(vec)->v[(vec)->n++] = (item);                                           \
	} while (0)

#define mla_vec_free(vec)                  \
	do {                               \
		free((vec)->v);            \
		(vec)->v = NULL;           \
		(vec)->n = (vec)->cap = 0; \
	} while (0)

#endif
