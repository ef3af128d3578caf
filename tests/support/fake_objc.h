/*
 * The test double of the Objective-C runtime and of Metal for tests/unit/metal.c, which includes it
 * once: classes with the methods the host uses, their type encodings as the frameworks declare
 * them, reference counts, autorelease pools, and the misuse Apple documents as an error. What it
 * knows was written from Apple's documentation, not seen on a Mac.
 */
#ifndef MLA_TESTS_FAKE_OBJC_H
#define MLA_TESTS_FAKE_OBJC_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/arena.h"
#include "engine/backend_impl.h"
#include "engine/backend_metal_abi.h"

typedef struct {
	const char *selector, *types; /* Objective-C type encoding, as the framework declares it */
	void (*implementation)(void);
} method;

typedef struct {
	const char *name;
	const method *methods;
} fake_class;

struct mla_objc_object {
	const fake_class *isa;
	int count;
	char *text;   /* NSString, NSError; the source of a library; the name of a function */
	void *memory; /* MTLBuffer */
	uint64_t length;
	bool fast_math; /* MTLCompileOptions: true until told otherwise */
	int state; /* command buffer: 0 made, 1 encoding, 2 encoded, 3 committed, 4 done, 5 failed
	            */
	/* encoder */
	mla_objc_id commands, pipeline, buffer[16];
	uint64_t offset[16];
	const void *bytes;
	uint64_t bytes_length, bytes_at, group_bytes;
};

static struct {
	bool no_device, old_macos, no_memory, wide_simd, fail_command;
	int live, pools, pool_depth;
	unsigned max_threads;
	mla_objc_id pool[4096]; /* autoreleased */
	int pool_mark[64];
	bool used[MLA_METAL_MESSAGES_N];
	mla_backend *strict;
} fake;

static mla_objc_id make(const fake_class *isa)
{
	mla_objc_id o = mla_alloc(sizeof *o);

	o->isa = isa;
	o->count = 1;
	fake.live++;
	return o;
}

static void drop(mla_objc_id o)
{
	assert_true(o->count > 0);
	if (--o->count)
		return;
	fake.live--;
	free(o->text);
	free(o->memory);
	free(o);
}

static mla_objc_id autorelease(mla_objc_id o)
{
	assert_true(fake.pool_depth > 0 && fake.pools < 4096);
	fake.pool[fake.pools++] = o;
	return o;
}

void *objc_autoreleasePoolPush(void)
{
	assert_true(fake.pool_depth < 64);
	fake.pool_mark[fake.pool_depth++] = fake.pools;
	return &fake;
}

void objc_autoreleasePoolPop(void *pool)
{
	assert_true(pool == &fake && fake.pool_depth > 0);
	fake.pool_depth--;
	while (fake.pools > fake.pool_mark[fake.pool_depth])
		drop(fake.pool[--fake.pools]);
}

/* A selector is its interned name. */
mla_objc_sel sel_registerName(const char *name)
{
	static const char *known[64];
	static int n;
	union {
		const char *in;
		mla_objc_sel out;
	} u;

	for (int i = 0; i < n; i++)
		if (!strcmp(known[i], name)) {
			u.in = known[i];
			return u.out;
		}
	assert_true(n < 64);
	u.in = known[n++] = name;
	return u.out;
}

static const char *sel_name(mla_objc_sel s)
{
	union {
		mla_objc_sel in;
		const char *out;
	} u = {s};

	return u.out;
}

static mla_objc_id text_object(const fake_class *isa, const char *text)
{
	mla_objc_id o = make(isa);

	o->text = mla_alloc(strlen(text) + 1);
	strcpy(o->text, text);
	return o;
}

/* ---- methods */

static const fake_class string_class, options_class, error_class, library_class, function_class,
	pipeline_class, buffer_class, queue_class, commands_class, encoder_class, device_class;

static void object_release(mla_objc_id o, mla_objc_sel s)
{
	(void)s;
	drop(o);
}

static mla_objc_id string_make(mla_objc_id class, mla_objc_sel s, const char *text)
{
	(void)class, (void)s;
	return autorelease(text_object(&string_class, text));
}

static const char *string_utf8(mla_objc_id o, mla_objc_sel s)
{
	(void)s;
	return o->text;
}

static mla_objc_id error_description(mla_objc_id o, mla_objc_sel s)
{
	(void)s;
	return autorelease(text_object(&string_class, o->text));
}

static mla_objc_id options_new(mla_objc_id class, mla_objc_sel s)
{
	mla_objc_id o = make(&options_class);

	(void)class, (void)s;
	o->fast_math = true;
	return o;
}

static mla_objc_bool options_responds(mla_objc_id o, mla_objc_sel s, mla_objc_sel asked)
{
	(void)s;
	if (fake.old_macos && !strcmp(sel_name(asked), "setMathMode:"))
		return 0;
	for (const method *m = o->isa->methods; m->selector; m++)
		if (!strcmp(m->selector, sel_name(asked)))
			return 1;
	return 0;
}

static void options_set_math(mla_objc_id o, mla_objc_sel s, long mode)
{
	(void)s;
	assert_false(fake.old_macos);
	o->fast_math = mode != 0;
}

static void options_set_fast(mla_objc_id o, mla_objc_sel s, mla_objc_bool on)
{
	(void)s;
	o->fast_math = on != 0;
}

static mla_objc_id device_get_name(mla_objc_id o, mla_objc_sel s)
{
	(void)o, (void)s;
	return autorelease(text_object(&string_class, "test double"));
}

static mla_objc_uint device_get_max(mla_objc_id o, mla_objc_sel s)
{
	(void)o, (void)s;
	return (mla_objc_uint)1 << 30;
}

/* "Compiles": no include path, no double, no #error, and fast math must be off. */
static mla_objc_id device_make_library(mla_objc_id o, mla_objc_sel s, mla_objc_id source,
                                       mla_objc_id options, mla_objc_id *error)
{
	const char *why = strstr(source->text, "#include \"") ? "file not found"
	                  : strstr(source->text, "double ")   ? "'double' is not supported in Metal"
	                  : strstr(source->text, "#error")    ? "#error"
	                  : options->fast_math                ? "fast math is on"
	                                                      : NULL;

	(void)o, (void)s;
	if (why) {
		*error = autorelease(text_object(&error_class, why));
		return NULL;
	}
	return text_object(&library_class, source->text);
}

static mla_objc_id library_make_function(mla_objc_id o, mla_objc_sel s, mla_objc_id name)
{
	(void)s;
	return strstr(o->text, name->text) ? text_object(&function_class, name->text) : NULL;
}

static mla_objc_id device_make_pipeline(mla_objc_id o, mla_objc_sel s, mla_objc_id function,
                                        mla_objc_id *error)
{
	(void)o, (void)s, (void)error;
	return text_object(&pipeline_class, function->text);
}

static mla_objc_uint pipeline_get_max(mla_objc_id o, mla_objc_sel s)
{
	(void)o, (void)s;
	return fake.max_threads ? fake.max_threads : 1024;
}

static mla_objc_uint pipeline_get_width(mla_objc_id o, mla_objc_sel s)
{
	(void)o, (void)s;
	return fake.wide_simd ? 64 : 32;
}

static mla_objc_id device_make_queue(mla_objc_id o, mla_objc_sel s)
{
	(void)o, (void)s;
	return make(&queue_class);
}

static mla_objc_id device_make_buffer(mla_objc_id o, mla_objc_sel s, mla_objc_uint length,
                                      mla_objc_uint options)
{
	mla_objc_id b;

	(void)o, (void)s;
	assert_int_equal(options, 0);
	assert_true(length > 0); /* the real one returns nil and logs */
	if (fake.no_memory)
		return NULL;
	b = make(&buffer_class);
	b->memory = aligned_alloc(4096, (length + 4095) / 4096 * 4096);
	b->length = length;
	return b;
}

static void *buffer_get_contents(mla_objc_id o, mla_objc_sel s)
{
	(void)s;
	return o->memory;
}

static mla_objc_id queue_make_commands(mla_objc_id o, mla_objc_sel s)
{
	(void)o, (void)s;
	return autorelease(make(&commands_class));
}

static mla_objc_id commands_make_encoder(mla_objc_id o, mla_objc_sel s)
{
	mla_objc_id e = autorelease(make(&encoder_class));

	(void)s;
	assert_int_equal(o->state, 0);
	o->state = 1;
	e->commands = o;
	return e;
}

static void encoder_set_pipeline(mla_objc_id o, mla_objc_sel s, mla_objc_id pipeline)
{
	(void)s;
	assert_ptr_equal(pipeline->isa, &pipeline_class);
	o->pipeline = pipeline;
}

static void encoder_set_buffer(mla_objc_id o, mla_objc_sel s, mla_objc_id b, mla_objc_uint offset,
                               mla_objc_uint at)
{
	(void)s;
	assert_ptr_equal(b->isa, &buffer_class);
	assert_true(at < 16 && offset <= b->length);
	o->buffer[at] = b;
	o->offset[at] = offset;
}

static void encoder_set_bytes(mla_objc_id o, mla_objc_sel s, const void *bytes,
                              mla_objc_uint length, mla_objc_uint at)
{
	(void)s;
	assert_true(length <= 4096 && at < 16); /* setBytes takes at most 4 KiB */
	o->bytes = bytes;
	o->bytes_length = length;
	o->bytes_at = at;
}

static void encoder_set_group(mla_objc_id o, mla_objc_sel s, mla_objc_uint length, mla_objc_uint at)
{
	(void)s;
	assert_true(length % 16 == 0 && length <= 32768 && at == 0);
	o->group_bytes = length;
}

static void encoder_run(mla_objc_id o, mla_objc_sel s, mla_objc_size grid, mla_objc_size threads)
{
	mla_buffer view[16];
	mla_launch l = {
		.kernel = o->pipeline->text,
		.n_buffers = (unsigned)o->bytes_at,
		.args = o->bytes,
		.args_size = (uint32_t)o->bytes_length,
		.grid = {(uint32_t)grid.width, (uint32_t)grid.height, (uint32_t)grid.depth},
		.group = (uint32_t)threads.width,
		.group_bytes = (uint32_t)o->group_bytes,
	};

	(void)s;
	assert_true(threads.width * threads.height * threads.depth <= 1024);
	for (unsigned i = 0; i < l.n_buffers; i++) {
		assert_non_null(o->buffer[i]);
		view[i] = (mla_buffer){.data = (char *)o->buffer[i]->memory + o->offset[i],
		                       .size = o->buffer[i]->length - o->offset[i]};
		l.buffer[i] = &view[i];
	}
	assert_int_equal(mla_backend_launch(fake.strict, &l), 0);
}

static void encoder_finish(mla_objc_id o, mla_objc_sel s)
{
	(void)s;
	assert_int_equal(o->commands->state, 1);
	o->commands->state = 2;
}

static void commands_do_commit(mla_objc_id o, mla_objc_sel s)
{
	(void)s;
	assert_int_equal(o->state, 2);
	o->state = 3;
}

static void commands_do_wait(mla_objc_id o, mla_objc_sel s)
{
	(void)s;
	assert_int_equal(o->state, 3);
	o->state = fake.fail_command ? 5 : 4;
}

static mla_objc_uint commands_get_status(mla_objc_id o, mla_objc_sel s)
{
	(void)s;
	return (mla_objc_uint)o->state;
}

static mla_objc_id commands_get_error(mla_objc_id o, mla_objc_sel s)
{
	(void)s;
	return o->state == 5 ? autorelease(text_object(&error_class, "page fault")) : NULL;
}

#define M(selector, types, f)                      \
	{                                          \
		selector, types, (void (*)(void))f \
	}
#define RELEASE M("release", "v@:", object_release)
#define END                      \
	{                        \
		NULL, NULL, NULL \
	}

static const method string_meta[] = {M("stringWithUTF8String:", "@@:*", string_make), END};
static const method string_methods[] = {M("UTF8String", "*@:", string_utf8), RELEASE, END};
static const method options_meta[] = {M("new", "@@:", options_new), END};
static const method options_methods[] = {
	M("respondsToSelector:", "c@::", options_responds),
	M("setMathMode:", "v@:q", options_set_math),
	M("setFastMathEnabled:", "v@:c", options_set_fast),
	RELEASE,
	END,
};
static const method error_methods[] = {M("localizedDescription", "@@:", error_description), RELEASE,
                                       END};
static const method device_methods[] = {
	M("name", "@@:", device_get_name),
	M("maxBufferLength", "Q@:", device_get_max),
	M("newLibraryWithSource:options:error:", "@@:@@^@", device_make_library),
	M("newComputePipelineStateWithFunction:error:", "@@:@^@", device_make_pipeline),
	M("newCommandQueue", "@@:", device_make_queue),
	M("newBufferWithLength:options:", "@@:QQ", device_make_buffer),
	RELEASE,
	END,
};
static const method library_methods[] = {M("newFunctionWithName:", "@@:@", library_make_function),
                                         RELEASE, END};
static const method plain_methods[] = {RELEASE, END};
static const method pipeline_methods[] = {
	M("maxTotalThreadsPerThreadgroup", "Q@:", pipeline_get_max),
	M("threadExecutionWidth", "Q@:", pipeline_get_width),
	RELEASE,
	END,
};
static const method buffer_methods[] = {M("contents", "^v@:", buffer_get_contents), RELEASE, END};
static const method queue_methods[] = {M("commandBuffer", "@@:", queue_make_commands), RELEASE,
                                       END};
static const method commands_methods[] = {
	M("computeCommandEncoder", "@@:", commands_make_encoder),
	M("commit", "v@:", commands_do_commit),
	M("waitUntilCompleted", "v@:", commands_do_wait),
	M("status", "Q@:", commands_get_status),
	M("error", "@@:", commands_get_error),
	END,
};
static const method encoder_methods[] = {
	M("setComputePipelineState:", "v@:@", encoder_set_pipeline),
	M("setBuffer:offset:atIndex:", "v@:@QQ", encoder_set_buffer),
	M("setBytes:length:atIndex:", "v@:^vQQ", encoder_set_bytes),
	M("setThreadgroupMemoryLength:atIndex:", "v@:QQ", encoder_set_group),
	M("dispatchThreadgroups:threadsPerThreadgroup:", "v@:{MTLSize=QQQ}{MTLSize=QQQ}",
          encoder_run),
	M("endEncoding", "v@:", encoder_finish),
	END,
};
static const fake_class string_class = {"NSString", string_methods};
static const fake_class options_class = {"MTLCompileOptions", options_methods};
static const fake_class error_class = {"NSError", error_methods};
static const fake_class device_class = {"MTLDevice", device_methods};
static const fake_class library_class = {"MTLLibrary", library_methods};
static const fake_class function_class = {"MTLFunction", plain_methods};
static const fake_class pipeline_class = {"MTLComputePipelineState", pipeline_methods};
static const fake_class buffer_class = {"MTLBuffer", buffer_methods};
static const fake_class queue_class = {"MTLCommandQueue", queue_methods};
static const fake_class commands_class = {"MTLCommandBuffer", commands_methods};
static const fake_class encoder_class = {"MTLComputeCommandEncoder", encoder_methods};
static const fake_class string_metaclass = {"NSString", string_meta};
static const fake_class options_metaclass = {"MTLCompileOptions", options_meta};

static const fake_class *const classes[] = {
	&string_class,   &options_class,  &error_class,      &device_class,
	&library_class,  &pipeline_class, &buffer_class,     &queue_class,
	&commands_class, &encoder_class,  &string_metaclass, &options_metaclass,
};

mla_objc_id objc_getClass(const char *name)
{
	static struct mla_objc_object string_object = {.isa = &string_metaclass, .count = 1};
	static struct mla_objc_object options_object = {.isa = &options_metaclass, .count = 1};

	if (!strcmp(name, "NSString"))
		return &string_object;
	return strcmp(name, "MTLCompileOptions") ? NULL : &options_object;
}

mla_objc_id MTLCreateSystemDefaultDevice(void)
{
	return fake.no_device ? NULL : make(&device_class);
}

/* The method for a message; no message may go to nil or to an object without the method. */
void *fake_lookup(mla_objc_id o, mla_objc_sel s);
void *fake_lookup(mla_objc_id o, mla_objc_sel s)
{
	union {
		void (*in)(void);
		void *out;
	} u;

	if (!o)
		fail_msg("message %s to nil", sel_name(s));
	for (int i = 0; i < MLA_METAL_MESSAGES_N; i++)
		if (!strcmp(mla_metal_selector[i], sel_name(s)))
			fake.used[i] = true;
	for (const method *m = o->isa->methods; m->selector; m++)
		if (!strcmp(m->selector, sel_name(s))) {
			u.in = m->implementation;
			return u.out;
		}
	fail_msg("%s does not respond to %s", o->isa->name, sel_name(s));
	return NULL;
}

/* Keeps every argument register, looks the method up and jumps there. */
/* clang-format off */
#if defined(__x86_64__)
__asm__(
	".text\n"
	".globl objc_msgSend\n"
	"objc_msgSend:\n"
	"	push %rdi\n"
	"	push %rsi\n"
	"	push %rdx\n"
	"	push %rcx\n"
	"	push %r8\n"
	"	push %r9\n"
	"	sub $8, %rsp\n"
	"	call fake_lookup\n"
	"	add $8, %rsp\n"
	"	pop %r9\n"
	"	pop %r8\n"
	"	pop %rcx\n"
	"	pop %rdx\n"
	"	pop %rsi\n"
	"	pop %rdi\n"
	"	jmp *%rax\n");
#else
__asm__(
	".text\n"
	".globl objc_msgSend\n"
	"objc_msgSend:\n"
	"	sub sp, sp, #80\n"
	"	stp x0, x1, [sp]\n"
	"	stp x2, x3, [sp, #16]\n"
	"	stp x4, x5, [sp, #32]\n"
	"	stp x6, x7, [sp, #48]\n"
	"	stp x8, x30, [sp, #64]\n"
	"	bl fake_lookup\n"
	"	mov x16, x0\n"
	"	ldp x0, x1, [sp]\n"
	"	ldp x2, x3, [sp, #16]\n"
	"	ldp x4, x5, [sp, #32]\n"
	"	ldp x6, x7, [sp, #48]\n"
	"	ldp x8, x30, [sp, #64]\n"
	"	add sp, sp, #80\n"
	"	br x16\n");
#endif
/* clang-format on */

#endif
