/* Threshold arithmetic against the table of the literature and against the definition. */
#include "tests/unit/test.h"

#include "analyzer/geometry.h"

static uint32_t threshold(uint32_t r, uint32_t n, uint32_t v, int64_t cached)
{
	const mla_geometry g = {r, n, 64, v};

	assert_int_equal(mla_geometry_check(&g), 0);
	return mla_geometry_threshold(&g, cached);
}

static void long_cache(void **state)
{
	(void)state;
	assert_int_equal(threshold(512, 128, 128, 0), 170);
	assert_int_equal(threshold(512, 192, 256, 0), 398);
	assert_int_equal(threshold(512, 256, 256, 0), 512);
	assert_int_equal(threshold(256, 64, 64, 0), 85);
	assert_int_equal(threshold(64, 24, 32, 0), 49);
}

static void cached_length(void **state)
{
	static const int64_t cached[] = {512, 2048, 8192, 32768};
	static const uint32_t expected[3][4] = {
		{128, 157, 167, 169}, {224, 333, 379, 393}, {256, 409, 481, 504}};

	(void)state;
	for (int i = 0; i < 4; i++) {
		assert_int_equal(threshold(512, 128, 128, cached[i]), expected[0][i]);
		assert_int_equal(threshold(512, 192, 256, cached[i]), expected[1][i]);
		assert_int_equal(threshold(512, 256, 256, cached[i]), expected[2][i]);
	}
}

/* The threshold is the last L with absorbed <= materialised, counted as MLA.md counts. */
static void definition(void **state)
{
	static const uint32_t sizes[][3] = {
		{512, 128, 128}, {512, 192, 256}, {100, 7, 90}, {3, 1, 2}};
	static const int64_t cached[] = {1, 2, 17, 513, 4096};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		for (size_t k = 0; k < sizeof(cached) / sizeof(*cached); k++) {
			int64_t r = sizes[i][0], d = sizes[i][1] + sizes[i][2], t = cached[k],
				l = 0;

			while ((l + 1) * r * d + 2 * (l + 1) * t * r <= t * r * d + (l + 1) * t * d)
				l++;
			assert_int_equal(threshold(sizes[i][0], sizes[i][1], sizes[i][2], t),
			                 l > 1 ? l : 1);
		}
}

static void convention(void **state)
{
	(void)state;
	assert_int_equal(threshold(64, 64, 64, 0), 1);   /* 2 r = d */
	assert_int_equal(threshold(64, 128, 128, 0), 1); /* 2 r < d */
	assert_int_equal(threshold(64, 128, 128, 99), 1);
	assert_int_equal(threshold(MLA_DIM_MAX, 1, 1, 0), 1);
	assert_int_equal(threshold(MLA_DIM_MAX, MLA_DIM_MAX, MLA_DIM_MAX - 1, MLA_CACHE_LEN_MAX),
	                 1048575);
}

static void refused(void **state)
{
	static const mla_geometry bad[] = {{0, 1, 1, 1},
	                                   {1, 0, 1, 1},
	                                   {1, 1, 1, 0},
	                                   {MLA_DIM_MAX + 1, 1, 1, 1},
	                                   {1, 1, UINT32_MAX, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(mla_geometry_check(&bad[i]), MLA_ECONFIG);
	assert_int_equal(mla_geometry_check(&(mla_geometry){1, 1, 0, 1}), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_cache), cmocka_unit_test(cached_length),
		cmocka_unit_test(definition), cmocka_unit_test(convention),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
