/* A pool of threads for one caller at a time: run f(0..n-1) on all of them and wait. */
#ifndef MLA_ENGINE_BACKEND_POOL_H
#define MLA_ENGINE_BACKEND_POOL_H

#include <stdint.h>

typedef struct mla_pool mla_pool;

mla_pool *mla_pool_new(
	unsigned threads); /* 0 = one for each processor; the caller is one of them */
void mla_pool_free(mla_pool *p);
unsigned mla_pool_threads(const mla_pool *p);
void mla_pool_run(mla_pool *p, uint32_t n, void (*f)(void *state, uint32_t task, unsigned worker),
                  void *state);

#endif
