/* What a fix says and refuses about the helper, for a model file and the files beside it. */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "fixers/helper.h"

#include <stdio.h>

/* Files by name; the first is the model. */
typedef struct {
	const char *path, *bytes;
} file;

static int read_file(mla_text **out, void *payload, const char *path)
{
	for (const file *f = payload; f->path; f++)
		if (strcmp(f->path, path) == 0)
			return mla_text_new(out, path, mla_str_c(f->bytes));
	return 1;
}

typedef struct {
	mla_project *project;
	mla_arena *arena;
	mla_fix fix;
	mla_str callee;
	bool done;
} result;

/* Asks for the helper in the first function of the model, whose first call makes a projection. */
static result require(const file *files)
{
	result r = {.arena = mla_arena_new()};
	mla_latent latent = {.n = 1};
	const mla_node *function = NULL, *call = NULL, *root;
	mla_module *m;

	assert_int_equal(mla_project_new(&r.project, (mla_reader){read_file, (void *)files}), 0);
	m = mla_project_module(r.project, files->path);
	root = m->syntax.root;
	for (const mla_node *n = root; n; n = mla_node_next(n, root, false)) {
		if (n->kind == MLA_N_FUNCTION && !function)
			function = n;
		if (n->kind == MLA_N_CALL && !call && mla_node_function(n))
			call = n;
	}
	latent.maker = call->kid[0];
	latent.up[0].init.owner.module = m;
	r.fix = (mla_fix){.title = "T", .edits = {.arena = r.arena}};
	r.done = mla_helper_require(&r.callee, &r.fix, r.project, m, function, &latent,
	                            MLA_FORM_GEOMETRY);
	return r;
}

static void release(result *r)
{
	mla_project_free(r->project);
	mla_arena_free(r->arena);
}

static void check_title(const file *files, const char *title)
{
	result r = require(files);

	assert_true(r.done);
	assert_string_equal(r.fix.title, title);
	release(&r);
}

#define CLASS(x) "class A:\n  def __init__(self):\n    self.e = " x "(1, 2, 3)\n"

static void title(void **state)
{
	const file missing[] = {{"m.py", "from .mla import P\n" CLASS("P")}, {0}};
	const file as_module[] = {{"m.py", "from . import mla\n" CLASS("mla.P")}, {0}};
	const file framework[] = {{"m.py", "from torch import nn\n" CLASS("nn.P")}, {0}};
	const file here[] = {{"m.py", "class P: pass\n" CLASS("P")}, {0}};
	const file there[] = {
		{"m.py", "from .mla import P\n" CLASS("P")}, {"mla.py", "class P: pass\n"}, {0}};

	(void)state;
	check_title(missing, "T (helper in this file: .mla was not found)");
	check_title(as_module, "T (helper in this file: .mla was not found)");
	check_title(framework, "T");
	check_title(here, "T");
	check_title(there, "T");
}

/* Refused, with `reason` in the words, and nothing left behind. */
static void check_refused(const file *files, const char *reason)
{
	result r = require(files);

	assert_false(r.done);
	if (!mla_str_contains(r.fix.refusal, reason))
		fail_msg("%.*s", MLA_ARG(r.fix.refusal));
	assert_int_equal(r.fix.edits.n, 0);
	release(&r);
}

static void names(void **state)
{
	static const char *const model[][2] = {
		{"max_absorbed_queries = 4\n", "another use"},
		{"max_absorbed_queries, b = 4, 5\n", "another use"},
		{"for max_absorbed_queries in []: pass\n", "another use"},
		{"class max_absorbed_queries: pass\n", "another use"},
		{"def max_absorbed_queries(batch): pass\n", "other parameters"},
		{"async def max_absorbed_queries(kv_lora_rank, qk_nope_head_dim, v_head_dim): "
	         "pass\n",
	         "coroutine"},
		{"def max_absorbed_queries(kv_lora_rank, qk_nope_head_dim, v_head_dim): pass\n",
	         "does not compute"},
		{"from .gone import max_absorbed_queries\n", "was not found"},
		{"import max_absorbed_queries\n", "was not found"},
		{"from .mla import P as max_absorbed_queries\n", "another use"},
		{"if P:\n  from .mla import max_absorbed_queries\n", "under a condition"},
		{"if P:\n  def max_absorbed_queries(): pass\n", "under a condition"},
		{"def g():\n  global max_absorbed_queries\n  max_absorbed_queries = 1\n"
	         "max_absorbed_queries = 1\n",
	         "more than once"},
		{"try:\n  from .fast import P\nexcept ImportError:\n  from .mla import P\n",
	         "more than one place"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(model) / sizeof(*model); i++) {
		char bytes[1024];
		const file files[] = {{"m.py", bytes},
		                      {"mla.py", "class P:\n  def __init__(self, a, b, c): pass\n"},
		                      {0}};
		bool own = strstr(model[i][0], "import P\n") != NULL;

		snprintf(bytes, sizeof(bytes), "%s" CLASS("P") "%s",
		         own ? "" : "from .mla import P\n", model[i][0]);
		check_refused(files, model[i][1]);
	}
}

/* A name that is local where the call goes, be it the helper's or its module's. */
static void locals(void **state)
{
	const file parameter[] = {{"m.py", "from .mla import P\n"
	                                   "class A:\n  def __init__(self, max_absorbed_queries):\n"
	                                   "    self.e = P(1, 2, 3)\n"},
	                          {"mla.py", "class P: pass\n"},
	                          {0}};
	const file module[] = {{"m.py", "from . import mla\n"
	                                "class A:\n  def __init__(self):\n"
	                                "    self.e = mla.P(1, 2, 3)\n    mla = 4\n"},
	                       {"mla.py", "class P: pass\n"},
	                       {0}};
	const file method[] = {{"m.py", "from .mla import P\n" CLASS(
						"P") "  def max_absorbed_queries(self): pass\n"},
	                       {"mla.py", "class P: pass\n"},
	                       {0}};
	result r;

	(void)state;
	check_refused(parameter, "is local");
	check_refused(module, "is local");
	r = require(method);
	assert_true(r.done);
	release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(title),
		cmocka_unit_test(names),
		cmocka_unit_test(locals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
