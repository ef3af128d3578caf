/*
 * Strict mode must be able to fail: with any one barrier of any kernel ignored, some case in some
 * order of threads goes wrong. So a barrier that is forgotten is found, and none is there for show.
 */
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

#include "engine/shim/abi.h"
#include "tests/support/kernel_run.h"

enum { SITES_MAX = 256 };

static const mla_barrier_site *site[SITES_MAX];

/* Barriers of a shared header appear in every file's table. */
static unsigned all_sites(void)
{
	const mla_kernel_isa *isa = mla_kernel_isas;
	unsigned n = 0;

	while (strcmp(isa->isa, "strict"))
		isa++;
	for (const mla_kernel_table *const *t = isa->tables; *t; t++)
		for (unsigned i = 0; i < (*t)->n_sites; i++) {
			const mla_barrier_site *s = &(*t)->site[i];
			unsigned k = 0;

			while (k < n &&
			       (site[k]->line != s->line || strcmp(site[k]->file, s->file)))
				k++;
			if (k == n && n < SITES_MAX)
				site[n++] = s;
		}
	return n;
}

/* The name of the case that notices, or NULL. */
static const char *killed_by(const mla_barrier_site *s)
{
	static const mla_thread_order order[] = {MLA_ORDER_REVERSE, MLA_ORDER_FORWARD,
	                                         MLA_ORDER_RANDOM};

	for (size_t k = 0; k < sizeof order / sizeof *order; k++)
		for (unsigned i = 0; kernel_case_at(i); i++) {
			mla_backend_options o = {.order = order[k], .group = 64, .skip_barrier = s};
			kernel_run r = {.quiet = true};
			const kernel_case *c = kernel_case_at(i);
			mla_backend *be;

			if (!c->barriers)
				continue;
			assert_int_equal(mla_backend_open(&be, "cpu-strict", &o), 0);
			kernel_run_case(&r, be, c);
			mla_backend_free(be);
			if (!(r.worst <= 1))
				return c->name;
		}
	return NULL;
}

static void every_barrier_matters(void **state)
{
	unsigned n = all_sites(), lines = 0;

	(void)state;
	assert_true(n > 0 && n < SITES_MAX);
	for (unsigned i = 0; i < n; i++) {
		const char *by = killed_by(site[i]);

		if (!by)
			fail_msg("ignoring the barrier at %s:%u changes nothing", site[i]->file,
			         site[i]->line);
		print_message("# %s:%u is missed by %s\n", site[i]->file, site[i]->line, by);
		lines++;
	}
	assert_int_equal(lines, n);
}

/* The control: with no barrier ignored the same cases pass. */
static void control(void **state)
{
	(void)state;
	assert_null(killed_by(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_barrier_matters),
		cmocka_unit_test(control),
	};

	return cmocka_run_group_tests_name("kernel mutants", tests, NULL, NULL);
}
