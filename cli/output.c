/* Where reports go, and noticing when they do not get there. */
#include "cli/verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int mla_fail(void)
{
	fprintf(stderr, "mlalint: %s\n", mla_error_last());
	return MLA_EXIT_NO_VERDICT;
}

FILE *mla_output_open(const mla_options *o)
{
	FILE *f;

	if (!o->output || strcmp(o->output, "-") == 0)
		return stdout;
	f = fopen(o->output, "w");
	if (!f) {
		mla_error(MLA_EIO, "%s: %s", o->output, strerror(errno));
		mla_fail();
	}
	return f;
}

int mla_output_close(const mla_options *o, FILE *f, int status)
{
	bool failed = fflush(f) != 0 || ferror(f);

	if (f != stdout)
		failed |= fclose(f) != 0;
	if (failed) {
		mla_error(MLA_EIO, "%s: %s", o->output ? o->output : "standard output",
		          strerror(errno));
		return mla_fail();
	}
	return status;
}

bool mla_use_color(const mla_options *o, FILE *f)
{
	const char *no_color = getenv("NO_COLOR");

	if (o->color != MLA_COLOR_AUTO)
		return o->color == MLA_COLOR_ALWAYS;
	return !(no_color && *no_color) && isatty(fileno(f));
}
