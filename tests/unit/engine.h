/* What the unit tests of tensor operations share: an engine for each group of tests. */
#ifndef MLA_TESTS_UNIT_ENGINE_H
#define MLA_TESTS_UNIT_ENGINE_H

#include "tests/unit/test.h"

#include "engine/tensor.h"

static mla_engine *engine;

static int setup(void **state)
{
	(void)state;
	engine = mla_engine_new(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	mla_engine_free(engine);
	return 0;
}

static inline void assert_raises(int code, const char *message)
{
	assert_int_equal(code, MLA_ERAISE);
	assert_string_equal(mla_error_last(), message);
}

#endif
