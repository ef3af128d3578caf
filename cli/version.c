/* The version verb. */
#include "analyzer/clang.h"
#include "analyzer/python.h"
#include "analyzer/toml.h"
#include "cli/output.h"
#include "cli/verbs.h"

#include <git2.h>
#include <jansson.h>

int mla_verb_version(const mla_options *o)
{
	int major, minor, patch;
	unsigned min, max;

	if (o->arg_count) {
		mla_error(MLA_ECONFIG, "version takes no argument '%s'", o->args[0]);
		return mla_fail();
	}
	git_libgit2_version(&major, &minor, &patch);
	mla_python_library_abi(&min, &max);
	printf("mlalint %s\n", MLA_VERSION);
	printf("libgit2 %d.%d.%d\n", major, minor, patch);
	printf("tree-sitter grammar ABI %u to %u, tree-sitter-python ABI %u, "
	       "tree-sitter-toml ABI %u\n",
	       min, max, mla_python_grammar_abi(), mla_toml_grammar_abi());
	printf("jansson %s\n", JANSSON_VERSION);
	printf("libclang %s\n", mla_clang_version());
	return mla_stdout_close(MLA_EXIT_CLEAN);
}
