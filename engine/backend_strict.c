/*
 * The strict CPU backend runs a threadgroup as fibers, one for each thread: the order of the
 * threads is forward, reverse or random at every phase, threadgroup memory starts as NaN, and a
 * barrier that not every thread reaches is an error. It is how a missing barrier is found.
 */
#include "engine/backend_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "engine/backend_fiber.h"

enum { GROUP_MAX = 1024 };

typedef struct {
	const mla_kernel_isa *isa;
	mla_fibers *fibers;
	mla_thread_order order;
	unsigned group;
	const mla_barrier_site *skip;
	uint32_t random;
	char *memory; /* threadgroup memory */
	/* the threadgroup that is running */
	const mla_kernel_entry *entry;
	mla_kernel_call call;
	uint32_t at[3];
	float slot[GROUP_MAX];        /* for shuffles */
	const void *where[GROUP_MAX]; /* the barrier each thread stopped at */
} strict_state;

/* A kernel has no way to carry the state, so the runner's is per thread while it runs. */
static _Thread_local strict_state *running;

static const mla_barrier_site shuffle_site = {"shuffle", 0};

static void stop_at(strict_state *s, const mla_barrier_site *site)
{
	s->where[mla_fiber_current(s->fibers)] = site;
	mla_fiber_yield(s->fibers);
}

void mla_strict_barrier(const mla_barrier_site *site)
{
	const mla_barrier_site *skip = running->skip;

	if (!skip || site->line != skip->line || strcmp(site->file, skip->file))
		stop_at(running, site);
}

float mla_strict_shuffle_xor(float x, unsigned mask)
{
	strict_state *s = running;
	unsigned me = mla_fiber_current(s->fibers), other = me ^ mask;

	s->slot[me] = x;
	stop_at(s, &shuffle_site);
	/* A lane that does not exist is undefined on a GPU: NaN shows. */
	if (other < s->call.ntg)
		x = s->slot[other];
	else
		memset(&x, 0xff, sizeof x);
	stop_at(s, &shuffle_site);
	return x;
}

static void thread(void *arg, unsigned tid)
{
	strict_state *s = arg;

	s->entry->strict(&s->call, s->at[0], s->at[1], s->at[2], tid);
	s->where[tid] = NULL;
}

static void permute(strict_state *s, unsigned *order, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		order[i] = s->order == MLA_ORDER_REVERSE ? n - 1 - i : i;
	for (unsigned i = n; s->order == MLA_ORDER_RANDOM && i > 1; i--) {
		unsigned k, t = order[i - 1];

		s->random = s->random * 1664525u + 1013904223u;
		k = (s->random >> 8) % i;
		order[i - 1] = order[k];
		order[k] = t;
	}
}

static int same_place(const strict_state *s, unsigned first, unsigned n)
{
	for (unsigned i = first + 1; i < first + n; i++)
		if (s->where[i] != s->where[first])
			return mla_error(MLA_EBUG,
			                 "kernel %s: threads %u and %u are not at the same "
			                 "barrier",
			                 s->entry->name, first, i);
	return 0;
}

/*
 * A simdgroup up to its next threadgroup barrier. Only its own threads wait for each other at a
 * shuffle: were it the whole threadgroup, shuffles would hide missing barriers.
 */
static int run_simdgroup(strict_state *s, unsigned first)
{
	unsigned order[MLA_KERNEL_SIMD];
	unsigned n = s->call.ntg - first < MLA_KERNEL_SIMD ? s->call.ntg - first : MLA_KERNEL_SIMD;
	int error;

	do {
		permute(s, order, n);
		for (unsigned i = 0; i < n; i++)
			mla_fiber_resume(s->fibers, first + order[i]);
		if ((error = same_place(s, first, n)) < 0)
			return error;
	} while (s->where[first] == &shuffle_site);
	return 0;
}

/* One threadgroup: phases from barrier to barrier until every thread has ended. */
static int run_group(strict_state *s)
{
	unsigned order[GROUP_MAX / MLA_KERNEL_SIMD], n = s->call.ntg;
	unsigned groups = (n + MLA_KERNEL_SIMD - 1) / MLA_KERNEL_SIMD;
	int error;

	memset(s->memory, 0xff, MLA_KERNEL_GROUP_BYTES);
	for (unsigned i = 0; i < n; i++)
		mla_fiber_reset(s->fibers, i, thread, s);
	do {
		permute(s, order, groups);
		for (unsigned i = 0; i < groups; i++)
			if ((error = run_simdgroup(s, order[i] * MLA_KERNEL_SIMD)) < 0)
				return error;
		if ((error = same_place(s, 0, n)) < 0)
			return error;
	} while (s->where[0]);
	return 0;
}

static int strict_open(mla_backend *b, const mla_backend_options *o)
{
	const mla_kernel_isa *isa = mla_kernels_isa("strict");
	strict_state *s;

	if (!isa)
		return mla_error(MLA_ECONFIG, "this build has no strict kernels");
	if (o->group > GROUP_MAX || o->group % MLA_KERNEL_SIMD)
		return mla_error(MLA_ECONFIG,
		                 "%u threads per threadgroup is not a multiple of %d up "
		                 "to %d",
		                 o->group, MLA_KERNEL_SIMD, GROUP_MAX);
	s = mla_alloc(sizeof *s);
	s->isa = isa;
	s->order = o->order;
	s->group = o->group;
	s->skip = o->skip_barrier;
	s->random = 12345;
	s->memory = mla_alloc(MLA_KERNEL_GROUP_BYTES);
	s->fibers = mla_fibers_new(GROUP_MAX);
	if (!s->fibers) {
		free(s->memory);
		free(s);
		return mla_error(MLA_ELIMIT, "out of memory for %d fibers", GROUP_MAX);
	}
	b->state = s;
	b->fvw = isa->tables[0]->fvw;
	b->tile_m = isa->tables[0]->tile_m;
	return 0;
}

static void strict_close(mla_backend *b)
{
	strict_state *s = b->state;

	mla_fibers_free(s->fibers);
	free(s->memory);
	free(s);
}

static int strict_find(mla_kernel_info *out, const void **kernel, mla_backend *b, const char *name)
{
	strict_state *s = b->state;

	return mla_kernels_find(out, kernel, s->isa, name);
}

static int strict_run(mla_backend *b, const void *kernel, const mla_launch *l)
{
	strict_state *s = b->state;
	strict_state *before = running;
	unsigned group = s->group && l->group != 1 ? s->group : l->group;
	uint32_t grid[3];
	int error = 0;

	memcpy(grid, l->grid, sizeof grid);
	/* Whole threadgroups: the threads past the end exist, as in a dispatch of threadgroups. */
	if (l->threads)
		grid[0] = (uint32_t)(((uint64_t)grid[0] + group - 1) / group);
	s->entry = kernel;
	mla_call_bind(&s->call, l);
	s->call.group = s->memory;
	s->call.ntg = group;
	running = s;
	for (uint32_t z = 0; z < grid[2]; z++)
		for (uint32_t y = 0; y < grid[1]; y++)
			for (uint32_t x = 0; x < grid[0] && error == 0; x++) {
				s->at[0] = x, s->at[1] = y, s->at[2] = z;
				error = run_group(s);
			}
	running = before;
	return error;
}

const mla_backend_ops mla_backend_strict = {
	.open = strict_open,
	.close = strict_close,
	.alloc = mla_host_alloc,
	.release = mla_host_release,
	.find = strict_find,
	.run = strict_run,
};
