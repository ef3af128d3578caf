/* Fibers: many call stacks on one thread, switched by hand. Only the strict backend uses them. */
#ifndef MLA_ENGINE_BACKEND_FIBER_H
#define MLA_ENGINE_BACKEND_FIBER_H

#include <stddef.h>

typedef struct mla_fibers mla_fibers;

/* n stacks; NULL when the system has no memory for them. */
mla_fibers *mla_fibers_new(unsigned n);
void mla_fibers_free(mla_fibers *f);

/* Fiber i will run entry(arg, i) from its start, whatever it did before. */
void mla_fiber_reset(mla_fibers *f, unsigned i, void (*entry)(void *arg, unsigned i), void *arg);
void mla_fiber_resume(mla_fibers *f, unsigned i); /* until it yields or ends */
void mla_fiber_yield(mla_fibers *f);              /* from inside one */
unsigned mla_fiber_current(const mla_fibers *f);
int mla_fiber_ended(const mla_fibers *f, unsigned i);

#endif
