/*
 * The fast CPU backend: every threadgroup is one thread, so barriers vanish and loops over threads
 * become plain loops; threadgroups go over a pthread pool. It cannot see synchronisation mistakes:
 * that is what backend_strict.c is for.
 */
#include "engine/backend_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "engine/backend_pool.h"

typedef struct {
	const mla_kernel_isa *isa;
	mla_pool *pool;
	char *group; /* MLA_KERNEL_GROUP_BYTES for each worker */
} cpu_state;

static bool runs_here(const char *isa)
{
	(void)isa;
#if defined(__x86_64__)
	if (!strcmp(isa, "avx512"))
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
		       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
	if (!strcmp(isa, "avx2") || !strcmp(isa, "wide"))
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
	return true;
}

const mla_kernel_isa *mla_kernels_isa(const char *name)
{
	for (const mla_kernel_isa *i = mla_kernel_isas; i->isa; i++)
		if (!strcmp(i->isa, name))
			return i;
	return NULL;
}

static int choose(const mla_kernel_isa **out, const char *name)
{
	if (name) {
		*out = strcmp(name, "strict") ? mla_kernels_isa(name) : NULL;
		if (!*out)
			return mla_error(MLA_ECONFIG, "kernels are not built for '%s'", name);
		if (!runs_here(name))
			return mla_error(MLA_ECONFIG, "this processor has no %s", name);
		return 0;
	}
	for (*out = mla_kernel_isas; !runs_here((*out)->isa); ++*out)
		;
	return 0;
}

int mla_kernels_find(mla_kernel_info *out, const void **kernel, const mla_kernel_isa *isa,
                     const char *name)
{
	for (const mla_kernel_table *const *t = isa->tables; *t; t++)
		for (unsigned i = 0; i < (*t)->n; i++)
			if (!strcmp((*t)->kernel[i].name, name)) {
				const mla_kernel_entry *e = &(*t)->kernel[i];

				*kernel = e;
				*out = (mla_kernel_info){e->n_buffers, e->args_size, 1024};
				return 0;
			}
	return mla_error(MLA_ECONFIG, "no kernel named %s", name);
}

int mla_host_alloc(mla_backend *b, mla_buffer *m, uint64_t bytes)
{
	uint64_t rounded = (bytes + 63) / 64 * 64;

	(void)b;
	if (rounded > SIZE_MAX || !(m->data = aligned_alloc(64, (size_t)rounded)))
		return mla_error(MLA_ELIMIT, "out of memory for a buffer of %llu bytes",
		                 (unsigned long long)bytes);
	memset(m->data, 0, (size_t)rounded);
	return 0;
}

void mla_host_release(mla_backend *b, mla_buffer *m)
{
	(void)b;
	free(m->data);
}

void mla_call_bind(mla_kernel_call *c, const mla_launch *l)
{
	union {
		const void *in;
		void *out;
	} args = {l->args};

	memset(c, 0, sizeof *c);
	for (unsigned i = 0; i < l->n_buffers; i++)
		c->buf[i] = (char *)l->buffer[i]->data + l->offset[i];
	c->buf[l->n_buffers] = args.out;
}

static int cpu_open(mla_backend *b, const mla_backend_options *o)
{
	cpu_state *s;
	const mla_kernel_isa *isa;
	int error;

	if ((error = choose(&isa, o->isa)) < 0)
		return error;
	s = mla_alloc(sizeof *s);
	s->isa = isa;
	s->pool = mla_pool_new(o->threads);
	s->group = mla_alloc((size_t)mla_pool_threads(s->pool) * MLA_KERNEL_GROUP_BYTES);
	b->state = s;
	b->fvw = isa->tables[0]->fvw;
	b->tile_m = isa->tables[0]->tile_m;
	snprintf(b->label, sizeof b->label, "cpu (%s)", isa->isa);
	return 0;
}

static void cpu_close(mla_backend *b)
{
	cpu_state *s = b->state;

	mla_pool_free(s->pool);
	free(s->group);
	free(s);
}

static int cpu_find(mla_kernel_info *out, const void **kernel, mla_backend *b, const char *name)
{
	cpu_state *s = b->state;

	return mla_kernels_find(out, kernel, s->isa, name);
}

typedef struct {
	const mla_kernel_entry *entry;
	const mla_kernel_call *call;
	char *group;
	uint32_t grid[3], block[2], across, down;
} cpu_job;

static void cpu_task(void *state, uint32_t i, unsigned worker)
{
	const cpu_job *j = state;
	mla_kernel_call c = *j->call;
	uint32_t x = i % j->across * j->block[0], y = i / j->across % j->down * j->block[1];
	uint32_t x1 = j->grid[0] - x > j->block[0] ? x + j->block[0] : j->grid[0];
	uint32_t y1 = j->grid[1] - y > j->block[1] ? y + j->block[1] : j->grid[1];

	c.group = j->group + (size_t)worker * MLA_KERNEL_GROUP_BYTES;
	c.ntg = 1;
	j->entry->fast(&c, x, x1, y, y1, i / j->across / j->down);
}

static int cpu_run(mla_backend *b, const void *kernel, const mla_launch *l)
{
	cpu_state *s = b->state;
	mla_kernel_call call;
	cpu_job j = {.entry = kernel, .call = &call, .group = s->group};
	uint64_t tasks;

	mla_call_bind(&call, l);
	memcpy(j.grid, l->grid, sizeof j.grid);
	for (int i = 0; i < 2; i++)
		j.block[i] = l->block[i] ? l->block[i] : 1;
	j.across = (uint32_t)(((uint64_t)j.grid[0] + j.block[0] - 1) / j.block[0]);
	j.down = (uint32_t)(((uint64_t)j.grid[1] + j.block[1] - 1) / j.block[1]);
	tasks = (uint64_t)j.across * j.down;
	if (tasks > UINT32_MAX || (tasks *= j.grid[2]) > UINT32_MAX - 1024)
		return mla_error(MLA_ELIMIT, "kernel %s: the grid is too large", l->kernel);
	mla_pool_run(s->pool, (uint32_t)tasks, cpu_task, &j);
	return 0;
}

const mla_backend_ops mla_backend_cpu = {
	.open = cpu_open,
	.close = cpu_close,
	.alloc = mla_host_alloc,
	.release = mla_host_release,
	.find = cpu_find,
	.run = cpu_run,
};
