/*
 * Metal in plain C, through the Objective-C runtime. It compiles the flat kernel text with fast
 * math off (Apple's default is on, and breaks exp(-inf) in a masked softmax), keeps one pipeline
 * for each kernel and waits after every launch: it is here to check numbers, not to be fast.
 * Linux builds it too, against a test double of the runtime (tests/unit/metal.c).
 */
#include "engine/backend_impl.h"

#if defined(__APPLE__) || defined(MLA_METAL_DOUBLE)

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "engine/backend_metal_abi.h"

extern const char mla_metal_source[]; /* generated: every .metal file in one text */

typedef struct {
	char name[48];
	mla_objc_id pipeline;
	mla_kernel_info info;
} metal_kernel;

typedef struct {
	mla_objc_id device, library, queue;
	metal_kernel *kernel[64];
	unsigned n;
} metal_state;

static mla_objc_id string(const char *text)
{
	return SEND(ns_string, objc_getClass("NSString"), text);
}

static const char *text_of(mla_objc_id error)
{
	mla_objc_id description = error ? SEND0(ns_description, error) : NULL;
	const char *text = description ? SEND0(ns_utf8, description) : NULL;

	return text ? text : "no reason given";
}

static void release(mla_objc_id object)
{
	if (object)
		SEND0(objc_release, object);
}

/* mathMode is macOS 15 and later; before, fastMathEnabled says the same. */
static mla_objc_id safe_options(void)
{
	mla_objc_id options = SEND0(objc_new, objc_getClass("MTLCompileOptions"));

	if (SEND(objc_responds, options, sel_registerName("setMathMode:")))
		SEND(options_math_mode, options, (long)MLA_MTL_MATH_SAFE);
	else
		SEND(options_fast_math, options, (mla_objc_bool)0);
	return options;
}

static int build(metal_state *s, const char *source)
{
	mla_objc_id options = safe_options(), error = NULL;

	s->library = SEND(device_library, s->device, string(source), options, &error);
	release(options);
	if (!s->library)
		return mla_error(MLA_EIO, "Metal cannot compile the kernels: %s", text_of(error));
	s->queue = SEND0(device_queue, s->device);
	if (!s->queue)
		return mla_error(MLA_EIO, "Metal gives no command queue");
	return 0;
}

static void metal_close(mla_backend *b)
{
	metal_state *s = b->state;

	for (unsigned i = 0; i < s->n; i++) {
		release(s->kernel[i]->pipeline);
		free(s->kernel[i]);
	}
	release(s->queue);
	release(s->library);
	release(s->device);
	free(s);
}

static int metal_open(mla_backend *b, const mla_backend_options *o)
{
	metal_state *s = mla_alloc(sizeof *s);
	void *pool = objc_autoreleasePoolPush();
	int error = 0;

	b->state = s;
	b->fvw = 4;
	b->tile_m = 4;
	s->device = MTLCreateSystemDefaultDevice();
	if (!s->device)
		error = mla_error(MLA_EIO, "this machine has no Metal device");
	else
		error = build(s, o->source ? o->source : mla_metal_source);
	if (error == 0) {
		mla_objc_id name = SEND0(device_name, s->device);

		snprintf(b->label, sizeof b->label, "metal (%s)",
		         name ? SEND0(ns_utf8, name) : "unnamed");
	}
	objc_autoreleasePoolPop(pool);
	if (error < 0)
		metal_close(b);
	return error;
}

static int metal_alloc(mla_backend *b, mla_buffer *m, uint64_t bytes)
{
	metal_state *s = b->state;
	mla_objc_id buffer = NULL;
	void *pool = objc_autoreleasePoolPush();

	if (bytes <= SEND0(device_max_buffer, s->device))
		buffer = SEND(device_buffer, s->device, (mla_objc_uint)bytes,
		              (mla_objc_uint)MLA_MTL_STORAGE_SHARED);
	m->handle = buffer;
	m->data = buffer ? SEND0(buffer_contents, buffer) : NULL;
	objc_autoreleasePoolPop(pool);
	if (!m->data) {
		release(buffer);
		return mla_error(MLA_ELIMIT, "Metal has no memory for a buffer of %llu bytes",
		                 (unsigned long long)bytes);
	}
	memset(m->data, 0, (size_t)bytes);
	return 0;
}

static void metal_release(mla_backend *b, mla_buffer *m)
{
	(void)b;
	release(m->handle);
}

static int make_pipeline(metal_kernel *k, metal_state *s)
{
	mla_objc_id error = NULL;
	mla_objc_id function = SEND(library_function, s->library, string(k->name));
	mla_objc_uint width;

	if (!function)
		return mla_error(MLA_ECONFIG, "the Metal library has no kernel %s", k->name);
	k->pipeline = SEND(device_pipeline, s->device, function, &error);
	release(function);
	if (!k->pipeline)
		return mla_error(MLA_EIO, "Metal cannot build kernel %s: %s", k->name,
		                 text_of(error));
	k->info.max_group = (unsigned)SEND0(pipeline_max_threads, k->pipeline);
	width = SEND0(pipeline_simd_width, k->pipeline);
	if (width != MLA_KERNEL_SIMD)
		return mla_error(MLA_EIO, "kernel %s runs in simdgroups of %lu, not %d", k->name,
		                 width, MLA_KERNEL_SIMD);
	return 0;
}

static int metal_find(mla_kernel_info *out, const void **kernel, mla_backend *b, const char *name)
{
	metal_state *s = b->state;
	const void *entry;
	metal_kernel *k;
	void *pool;
	int error;

	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->kernel[i]->name, name)) {
			*kernel = s->kernel[i];
			*out = s->kernel[i]->info;
			return 0;
		}
	/* The CPU tables say how many buffers it takes; Metal cannot be asked. */
	if ((error = mla_kernels_find(out, &entry, mla_kernels_isa("strict"), name)) < 0)
		return error;
	if (s->n == sizeof s->kernel / sizeof *s->kernel)
		return mla_error(MLA_EBUG, "too many Metal kernels");
	k = mla_alloc(sizeof *k);
	k->info = *out;
	snprintf(k->name, sizeof k->name, "%s", name);
	pool = objc_autoreleasePoolPush();
	error = make_pipeline(k, s);
	objc_autoreleasePoolPop(pool);
	if (error < 0) {
		release(k->pipeline);
		free(k);
		return error;
	}
	s->kernel[s->n++] = k;
	*kernel = k;
	*out = k->info;
	return 0;
}

static void encode(mla_objc_id encoder, const metal_kernel *k, const mla_launch *l)
{
	mla_objc_size groups = {l->grid[0], l->grid[1], l->grid[2]}, threads = {l->group, 1, 1};

	if (l->threads)
		groups.width = (groups.width + l->group - 1) / l->group;
	SEND(encoder_pipeline, encoder, k->pipeline);
	for (unsigned i = 0; i < l->n_buffers; i++)
		SEND(encoder_buffer, encoder, (mla_objc_id)l->buffer[i]->handle,
		     (mla_objc_uint)l->offset[i], (mla_objc_uint)i);
	SEND(encoder_bytes, encoder, l->args, (mla_objc_uint)l->args_size,
	     (mla_objc_uint)l->n_buffers);
	if (l->group_bytes)
		SEND(encoder_group_memory, encoder, (mla_objc_uint)l->group_bytes,
		     (mla_objc_uint)0);
	SEND(encoder_dispatch, encoder, groups, threads);
	SEND0(encoder_end, encoder);
}

static int metal_run(mla_backend *b, const void *kernel, const mla_launch *l)
{
	metal_state *s = b->state;
	void *pool = objc_autoreleasePoolPush();
	mla_objc_id commands = SEND0(queue_commands, s->queue);
	mla_objc_id encoder = commands ? SEND0(commands_encoder, commands) : NULL;
	int error = 0;

	if (encoder) {
		encode(encoder, kernel, l);
		SEND0(commands_commit, commands);
		SEND0(commands_wait, commands);
		if (SEND0(commands_status, commands) != MLA_MTL_STATUS_COMPLETED)
			error = mla_error(MLA_EIO, "Metal failed in kernel %s: %s", l->kernel,
			                  text_of(SEND0(commands_error, commands)));
	} else {
		error = mla_error(MLA_EIO, "Metal gives no command encoder");
	}
	objc_autoreleasePoolPop(pool);
	return error;
}

const mla_backend_ops mla_backend_metal = {
	.open = metal_open,
	.close = metal_close,
	.alloc = metal_alloc,
	.release = metal_release,
	.find = metal_find,
	.run = metal_run,
};

#else

const mla_backend_ops mla_backend_metal = {.open = NULL};

#endif
