/* The bench verb: measures, then writes report and charts. */
#include "cli/bench.h"

#include "analyzer/str.h"
#include "cli/bench_watch.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "engine/bench_kernels.h"

#include <unistd.h>

/* Half of the memory of the machine at most, and no more than 4 GiB: other programs want some. */
static uint64_t memory_limit(void)
{
	const uint64_t most = (uint64_t)4 << 30;
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	uint64_t half = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : most;

	return half < most ? half : most;
}

static int open_backend(mla_backend **out, mla_bench_report *r, const mla_options *o,
                        uint64_t memory)
{
	static const char *const names[] = {"cpu", "metal", "cuda", "auto", NULL};
	mla_backend_options options = {.threads = o->jobs, .max_bytes = memory};
	const char *name = o->backend ? o->backend : "auto";
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	int error;

	if (!mla_str_in(mla_str_c(name), names))
		return mla_error(MLA_ECONFIG,
		                 "--backend: '%s' is not one of cpu, metal, cuda, auto", name);
	if ((error = mla_backend_open(out, name, &options)) < 0)
		return error;
	snprintf(r->backend, sizeof(r->backend), "%s", mla_backend_name(*out));
	snprintf(r->note, sizeof(r->note), "%s", mla_backend_note(*out));
	if (mla_backend_serial(*out))
		r->threads = o->jobs ? o->jobs : processors > 0 ? (uint32_t)processors : 1;
	return 0;
}

static int measure(mla_bench_report *r, const mla_options *o)
{
	mla_bench_kernels *kernels = NULL;
	uint64_t memory = memory_limit();
	mla_bench_watcher watcher;
	mla_bench_watch watch = mla_bench_watch_begin(&watcher, o->quiet);
	mla_backend *be = NULL;
	int error = open_backend(&be, r, o, memory);

	if (error == 0)
		error = mla_bench_kernels_new(&kernels, be, &r->spec, r->points, r->n, memory);
	if (error == 0) {
		mla_bench_device device = mla_bench_kernels_device(kernels);

		error = mla_bench_run(r->points, r->n, &r->spec, &r->effort, &device, &watch);
	}
	mla_bench_watch_end(&watcher);
	mla_bench_kernels_free(kernels);
	mla_backend_free(be);
	r->interrupted = error == 1;
	return error < 0 ? error : 0;
}

/* Nothing that says what to measure goes with a report that is there already. */
static int read_report(mla_bench_report *r, const mla_options *o)
{
	if (o->has_geometry || o->model_config || o->arg_count || o->pool || o->top_k ||
	    o->widths || o->cached || o->samples || o->patience || o->backend)
		return mla_error(MLA_ECONFIG, "--from measures nothing; leave out what there is to "
		                              "measure");
	return mla_bench_json_read(r, o->from);
}

static int status_of(const mla_bench_report *r, const mla_options *o)
{
	if (r->interrupted)
		return MLA_EXIT_NO_VERDICT;
	return mla_bench_valid(r->points, r->n) || o->keep_invalid ? MLA_EXIT_CLEAN
	                                                           : MLA_EXIT_NO_VERDICT;
}

/* The report, and charts in a file of their own: both places are known before minutes pass. */
static int open_outputs(mla_outputs *report, mla_outputs *charts, const mla_options *o)
{
	const mla_options plot = {.output = {{MLA_FORMAT_TEXT, o->plot}},
	                          .output_count = o->plot != NULL};
	int error = mla_outputs_open(report, o);

	if (error == 0 && (error = mla_outputs_open(charts, &plot)) < 0)
		mla_outputs_close(report, MLA_EXIT_NO_VERDICT);
	return error;
}

static void print(mla_outputs *report, mla_outputs *charts, const mla_bench_report *r)
{
	for (uint32_t i = 0; i < report->n; i++)
		mla_formats[report->v[i].format].bench(report->v[i].to, r);
	for (uint32_t i = 0; i < charts->n; i++)
		mla_bench_plot(charts->v[i].to, r);
	mla_outputs_flush(report);
}

int mla_verb_bench(const mla_options *o)
{
	mla_bench_report r = {
		.effort = {o->samples ? (uint32_t)o->samples : MLA_BENCH_SAMPLES,
	                   o->patience ? (uint32_t)o->patience : MLA_BENCH_PATIENCE},
	};
	int error = o->from ? read_report(&r, o) : mla_bench_spec_from(&r.spec, o), status;
	mla_outputs report, charts;

	if (error == 0 && !o->from)
		error = mla_bench_points(&r.points, &r.n, &r.spec);
	if (error == 0)
		error = open_outputs(&report, &charts, o);
	if (error < 0) {
		mla_bench_report_free(&r);
		return mla_fail();
	}
	error = o->from ? 0 : measure(&r, o);
	status = error < 0 ? mla_fail() : status_of(&r, o);
	if (error == 0)
		print(&report, &charts, &r);
	if (r.interrupted && !o->from && !o->quiet)
		fprintf(stderr, "mlalint: interrupted: what was measured so far\n");
	mla_bench_report_free(&r);
	status = mla_outputs_close(&report, status);
	return mla_outputs_close(&charts, status);
}
