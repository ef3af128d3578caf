/* Entry point: options, then the verb. */
#include "cli/git.h"
#include "cli/stop.h"
#include "cli/verbs.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static int run(const mla_options *o)
{
	switch (o->verb) {
	case MLA_VERB_CHECK:
		return mla_verb_check(o);
	case MLA_VERB_PATCH:
		return mla_verb_patch(o);
	case MLA_VERB_VERIFY:
		return mla_verb_verify(o);
	case MLA_VERB_THRESHOLD:
		return mla_verb_threshold(o);
	case MLA_VERB_BENCH:
		return mla_verb_bench(o);
	case MLA_VERB_PLAN:
		return mla_verb_plan(o);
	case MLA_VERB_RULE:
		return mla_verb_rule(o);
	case MLA_VERB_CONFIG:
		return mla_verb_config(o);
	case MLA_VERB_VERSION:
		return mla_verb_version(o);
	case MLA_VERB_MERGE:
		return mla_verb_merge(o);
	case MLA_VERB_HELP:
		return mla_verb_help(o);
	}
	return MLA_EXIT_NO_VERDICT;
}

/* Of the standard streams that are closed: a file of ours in their place would get our messages.
 * Each is opened for what it is not for, so that its use fails as it would. */
static void open_standard(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			_exit(MLA_EXIT_NO_VERDICT);
}

int main(int argc, char **argv)
{
	mla_options o;
	int status;

	/* A reader that goes away, and a limit of the size of files, are noticed by the write that
	 * fails, with a status of ours. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	open_standard();
	mla_stop_start();
	status = mla_options_parse(&o, argc, argv);
	if (status < 0)
		return mla_fail();
	mla_git_start();
	status = run(&o);
	mla_git_end();
	return status;
}
