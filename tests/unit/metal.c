/*
 * The Metal host against a test double: a small Objective-C runtime with classes that behave as
 * Apple documents theirs. A dispatch runs the strict CPU kernels, so what goes through the host
 * must give the bits of strict mode. What this cannot show: that Metal's compiler accepts the text,
 * and what a GPU computes.
 */
#include "tests/unit/test.h"

#if !defined(__APPLE__) && (defined(__x86_64__) || defined(__aarch64__))

#define MLA_METAL_DOUBLE 1
#define mla_backend_metal mla_backend_metal_double
#include "engine/backend_metal.c"

#include "tests/support/fake_objc.h"
#include "tests/support/kernel_run.h"

static int open_metal(mla_backend **out, const mla_backend_options *o)
{
	static const mla_backend_options defaults;
	mla_backend *b = mla_alloc(sizeof *b);
	int error;

	*out = NULL;
	b->ops = &mla_backend_metal_double;
	b->max_bytes = (uint64_t)1 << 32;
	error = b->ops->open(b, o ? o : &defaults);
	if (error < 0)
		free(b);
	else
		*out = b;
	return error;
}

static int setup(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof fake);
	return mla_backend_open(&fake.strict, "cpu-strict", NULL);
}

/* Nothing may be left alive: every new, make and alloc is released. */
static int teardown(void **state)
{
	(void)state;
	mla_backend_free(fake.strict);
	return fake.live || fake.pool_depth || fake.pools;
}

static void refused(const mla_backend_options *o, int code, const char *message)
{
	mla_backend *b = NULL;

	assert_int_equal(open_metal(&b, o), code);
	if (!strstr(mla_error_last(), message))
		fail_msg("\"%s\" instead of \"%s\"", mla_error_last(), message);
}

static void no_device(void **state)
{
	(void)state;
	fake.no_device = true;
	refused(NULL, MLA_EIO, "no Metal device");
}

static void compile_errors(void **state)
{
	static const mla_backend_options bad = {.source = "kernel void f(double x) {}"};

	(void)state;
	refused(&bad, MLA_EIO, "Metal cannot compile the kernels: 'double' is not supported");
}

/* The kernels' text is whole: no include is left, and each kernel the CPU has is in it. */
static void flat_text(void **state)
{
	const mla_kernel_isa *isa = mla_kernels_isa("strict");
	mla_backend *b = NULL;

	(void)state;
	assert_non_null(strstr(mla_metal_source, "#include <metal_stdlib>"));
	assert_int_equal(open_metal(&b, NULL), 0);
	assert_string_equal(mla_backend_name(b), "metal (test double)");
	for (const mla_kernel_table *const *t = isa->tables; *t; t++)
		for (unsigned i = 0; i < (*t)->n; i++) {
			mla_kernel_info info;
			const void *kernel;

			assert_int_equal(b->ops->find(&info, &kernel, b, (*t)->kernel[i].name), 0);
		}
	mla_backend_free(b);
}

static void old_macos(void **state)
{
	mla_backend *b = NULL;

	(void)state;
	fake.old_macos = true;
	assert_int_equal(open_metal(&b, NULL), 0);
	mla_backend_free(b);
}

/* A launch that must fail with a message. */
static void launch_fails(mla_backend *b, const mla_launch *l, const char *message)
{
	assert_true(mla_backend_launch(b, l) < 0);
	if (!strstr(mla_error_last(), message))
		fail_msg("\"%s\" instead of \"%s\"", mla_error_last(), message);
}

static void launches(void **state)
{
	unsigned args[3] = {4, 4, 4};
	mla_launch l = {.kernel = "top_k",
	                .n_buffers = 2,
	                .args = args,
	                .args_size = sizeof args,
	                .grid = {1, 1, 1},
	                .group = 64,
	                .group_bytes = 2048};
	mla_backend *b = NULL;

	(void)state;
	assert_int_equal(open_metal(&b, NULL), 0);
	assert_int_equal(mla_buffer_new(&l.buffer[0], b, 64), 0);
	assert_int_equal(mla_buffer_new(&l.buffer[1], b, 64), 0);
	l.kernel = "no_such";
	launch_fails(b, &l, "no kernel named no_such");
	l.kernel = "top_k";
	fake.wide_simd = true;
	launch_fails(b, &l, "runs in simdgroups of 64, not 32");
	fake.wide_simd = false;
	fake.max_threads = 32;
	launch_fails(b, &l, "64 threads per threadgroup, 32 is the limit");
	l.group = 48;
	launch_fails(b, &l, "48 threads per threadgroup is not a multiple of 32");
	l.group = 32;
	l.group_bytes = 40;
	launch_fails(b, &l, "threadgroup memory of 40 bytes");
	l.group_bytes = 2048;
	assert_int_equal(mla_backend_launch(b, &l), 0);
	fake.fail_command = true;
	launch_fails(b, &l, "Metal failed in kernel top_k: page fault");
	mla_buffer_free(l.buffer[0]);
	mla_buffer_free(l.buffer[1]);
	mla_backend_free(b);
}

static void missing_kernel(void **state)
{
	static const mla_backend_options empty = {.source = "#include <metal_stdlib>\n"};
	mla_kernel_info info;
	const void *kernel;
	mla_backend *b = NULL;

	(void)state;
	assert_int_equal(open_metal(&b, &empty), 0);
	assert_int_equal(b->ops->find(&info, &kernel, b, "gemm"), MLA_ECONFIG);
	assert_string_equal(mla_error_last(), "the Metal library has no kernel gemm");
	mla_backend_free(b);
}

static void no_memory(void **state)
{
	mla_buffer *m;
	mla_backend *b = NULL;

	(void)state;
	assert_int_equal(open_metal(&b, NULL), 0);
	assert_int_equal(mla_buffer_new(&m, b, ((uint64_t)1 << 30) + 4), MLA_ELIMIT);
	fake.no_memory = true;
	assert_int_equal(mla_buffer_new(&m, b, 64), MLA_ELIMIT);
	assert_string_equal(mla_error_last(), "Metal has no memory for a buffer of 64 bytes");
	mla_backend_free(b);
}

static void every_kernel(void **state)
{
	mla_backend *b = NULL;

	(void)state;
	assert_int_equal(open_metal(&b, NULL), 0);
	for (unsigned i = 0; kernel_case_at(i); i++) {
		kernel_run metal = {0}, strict = {0};

		kernel_run_case(&metal, b, kernel_case_at(i));
		kernel_run_case(&strict, fake.strict, kernel_case_at(i));
		if (!(metal.worst <= 1))
			fail_msg("%s: %s", metal.name, metal.where);
		assert_true(metal.hash == strict.hash);
	}
	mla_backend_free(b);
}

/* The encoding of a C type, as the compiler would write it for a method. */
#define ENCODE(T) \
	_Generic((T *)0, \
	void *: "v", mla_objc_id *: "@", mla_objc_sel *: ":", mla_objc_bool *: "c", long *: "q", \
	mla_objc_uint *: "Q", const char **: "*", void **: "^v", const void **: "^v", \
	mla_objc_id **: "^@", mla_objc_size *: "{MTLSize=QQQ}")
#define TYPES0(f, s, r) {ENCODE(r)},
#define TYPES1(f, s, r, a) {ENCODE(r), ENCODE(a)},
#define TYPES2(f, s, r, a, b) {ENCODE(r), ENCODE(a), ENCODE(b)},
#define TYPES3(f, s, r, a, b, c) {ENCODE(r), ENCODE(a), ENCODE(b), ENCODE(c)},

static const char *declared(const char *selector)
{
	for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
		for (const method *m = classes[k]->methods; m->selector; m++)
			if (!strcmp(m->selector, selector))
				return m->types;
	return NULL;
}

/* Every message of the host is sent with the types its method is declared with, and no other. */
static void selectors(void **state)
{
	static const char *const types[][4] = {MLA_METAL_MESSAGES(TYPES0, TYPES1, TYPES2, TYPES3)};
	unsigned declared_n = 0;

	(void)state;
	for (int i = 0; i < MLA_METAL_MESSAGES_N; i++) {
		const char *want = declared(mla_metal_selector[i]);
		char got[96] = "";

		snprintf(got, sizeof got, "%s@:%s%s%s", types[i][0], types[i][1] ? types[i][1] : "",
		         types[i][2] ? types[i][2] : "", types[i][3] ? types[i][3] : "");
		if (!want || strcmp(want, got))
			fail_msg("%s is sent as %s, declared as %s", mla_metal_selector[i], got,
			         want ? want : "nothing");
	}
	for (size_t k = 0; k < sizeof classes / sizeof *classes; k++)
		for (const method *m = classes[k]->methods; m->selector; m++)
			declared_n += strcmp(m->selector, "release") != 0;
	assert_int_equal(declared_n + 1, MLA_METAL_MESSAGES_N);
}

/* Every message of the list is really sent somewhere in a run with an old and a new system. */
static void every_message(void **state)
{
	(void)state;
	every_kernel(NULL);
	old_macos(NULL);
	compile_errors(NULL);
	fake.old_macos = false;
	launches(NULL);
	for (int i = 0; i < MLA_METAL_MESSAGES_N; i++)
		if (!fake.used[i])
			fail_msg("%s is never sent", mla_metal_selector[i]);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(no_device), TEST(compile_errors), TEST(flat_text), TEST(old_macos),
		TEST(launches),  TEST(missing_kernel), TEST(no_memory), TEST(every_kernel),
		TEST(selectors), TEST(every_message),
	};

	return cmocka_run_group_tests_name("metal host", tests, NULL, NULL);
}

#else

/* On a Mac the symbols are the real runtime's; `make mac-check` runs Metal itself there. */
static void nothing(void **state)
{
	(void)state;
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(nothing)};

	return cmocka_run_group_tests_name("metal host", tests, NULL, NULL);
}

#endif
