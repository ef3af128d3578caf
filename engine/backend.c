/*
 * The common half of every backend: names, the memory budget and the check of a launch. It refuses
 * what a device would answer with a crash or with silence.
 */
#include "engine/backend_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"

#define DEFAULT_MAX_BYTES ((uint64_t)4 << 30)

static const struct {
	const char *name;
	const mla_backend_ops *ops;
} backends[] = {
	{"cpu", &mla_backend_cpu},
	{"cpu-strict", &mla_backend_strict},
	{"metal", &mla_backend_metal},
	{"cuda", &mla_backend_cuda},
};

static int open_one(mla_backend **out, const char *name, const mla_backend_options *options)
{
	const mla_backend_ops *ops = NULL;
	mla_backend *b;
	int error;

	for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
		if (!strcmp(backends[i].name, name))
			ops = backends[i].ops;
	if (!ops)
		return mla_error(MLA_ECONFIG, "unknown backend '%s'", name);
	if (!ops->open)
		return mla_error(MLA_ECONFIG, "this build has no %s backend", name);
	b = mla_alloc(sizeof *b);
	b->ops = ops;
	b->max_bytes = options->max_bytes ? options->max_bytes : DEFAULT_MAX_BYTES;
	snprintf(b->label, sizeof b->label, "%s", name);
	if ((error = ops->open(b, options)) < 0) {
		free(b);
		return error;
	}
	*out = b;
	return 0;
}

int mla_backend_open(mla_backend **out, const char *name, const mla_backend_options *options)
{
	static const mla_backend_options defaults;
	char why[256];
	int error;

	options = options ? options : &defaults;
	if (strcmp(name, "auto"))
		return open_one(out, name, options);
	if (open_one(out, "metal", options) == 0)
		return 0;
	snprintf(why, sizeof why, "metal: %s", mla_error_last());
	if ((error = open_one(out, "cpu", options)) == 0)
		memcpy((*out)->note, why, sizeof why);
	return error;
}

void mla_backend_free(mla_backend *b)
{
	if (!b)
		return;
	for (unsigned i = 0; i < MLA_SCRATCH_SLOTS; i++)
		mla_buffer_free(b->scratch[i]);
	b->ops->close(b);
	free(b);
}

const char *mla_backend_name(const mla_backend *b)
{
	return b->label;
}

const char *mla_backend_note(const mla_backend *b)
{
	return b->note;
}

unsigned mla_backend_fvw(const mla_backend *b)
{
	return b->fvw;
}

unsigned mla_backend_tile_m(const mla_backend *b)
{
	return b->tile_m;
}

bool mla_backend_serial(const mla_backend *b)
{
	return b->ops == &mla_backend_cpu;
}

int mla_buffer_new(mla_buffer **out, mla_backend *b, uint64_t bytes)
{
	mla_buffer *m;
	int error;

	if (bytes > (uint64_t)UINT32_MAX * 4)
		return mla_error(MLA_ELIMIT, "a buffer of %llu bytes is past 32-bit indexing",
		                 (unsigned long long)bytes);
	if (bytes > b->max_bytes - b->used)
		return mla_error(MLA_ELIMIT,
		                 "%llu bytes more would pass the memory limit of %llu bytes",
		                 (unsigned long long)bytes, (unsigned long long)b->max_bytes);
	m = mla_alloc(sizeof *m);
	m->backend = b;
	m->size = bytes;
	/* An empty tensor still needs an address that can be bound. */
	if ((error = b->ops->alloc(b, m, bytes ? bytes : 16)) < 0) {
		free(m);
		return error;
	}
	b->used += bytes;
	*out = m;
	return 0;
}

void mla_buffer_free(mla_buffer *m)
{
	if (!m)
		return;
	m->backend->used -= m->size;
	m->backend->ops->release(m->backend, m);
	free(m);
}

int mla_backend_scratch(mla_buffer **out, mla_backend *b, unsigned slot, uint64_t bytes)
{
	int error = 0;

	if (!b->scratch[slot] || b->scratch[slot]->size < bytes) {
		mla_buffer_free(b->scratch[slot]);
		b->scratch[slot] = NULL;
		error = mla_buffer_new(&b->scratch[slot], b, bytes);
	}
	*out = b->scratch[slot];
	return error;
}

void *mla_buffer_data(mla_buffer *m)
{
	return m->data;
}

uint64_t mla_buffer_size(const mla_buffer *m)
{
	return m->size;
}

static int check_launch(const mla_kernel_info *k, const mla_launch *l)
{
	if (l->n_buffers >= MLA_KERNEL_BUFFERS || l->n_buffers + 1 != k->n_buffers)
		return mla_error(MLA_ECONFIG, "kernel %s takes %u buffers, %u given", l->kernel,
		                 k->n_buffers - 1, l->n_buffers);
	if (l->args_size != k->args_size)
		return mla_error(MLA_ECONFIG, "kernel %s takes %u bytes of arguments, %u given",
		                 l->kernel, k->args_size, l->args_size);
	for (unsigned i = 0; i < l->n_buffers; i++)
		if (!l->buffer[i] || l->offset[i] > l->buffer[i]->size)
			return mla_error(MLA_ECONFIG, "kernel %s: buffer %u is %s", l->kernel, i,
			                 l->buffer[i] ? "offset past its end" : "missing");
	if (l->group == 0 || (l->group != 1 && l->group % MLA_KERNEL_SIMD))
		return mla_error(MLA_ECONFIG,
		                 "kernel %s: %u threads per threadgroup is not a "
		                 "multiple of %d",
		                 l->kernel, l->group, MLA_KERNEL_SIMD);
	if (l->group > k->max_group)
		return mla_error(MLA_ECONFIG,
		                 "kernel %s: %u threads per threadgroup, %u is the limit",
		                 l->kernel, l->group, k->max_group);
	if (l->group_bytes % 16 || l->group_bytes > MLA_KERNEL_GROUP_BYTES)
		return mla_error(MLA_ECONFIG,
		                 "kernel %s: threadgroup memory of %u bytes: must be a "
		                 "multiple of 16 up to %d",
		                 l->kernel, l->group_bytes, MLA_KERNEL_GROUP_BYTES);
	return 0;
}

int mla_backend_launch(mla_backend *b, const mla_launch *l)
{
	mla_kernel_info info;
	const void *kernel;
	int error;

	if ((error = b->ops->find(&info, &kernel, b, l->kernel)) < 0 ||
	    (error = check_launch(&info, l)) < 0)
		return error;
	if (!l->grid[0] || !l->grid[1] || !l->grid[2])
		return 0;
	return b->ops->run(b, kernel, l);
}

int mla_backend_sync(mla_backend *b)
{
	return b->ops->sync ? b->ops->sync(b) : 0;
}
