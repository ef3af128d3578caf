/* The help verb: what there is, or all about one verb. */
#include "analyzer/str.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/verbs.h"

static void print_verbs(void)
{
	mla_verb_text v;

	printf("usage: mlalint [VERB] [OPTION]... [PATH]...\n"
	       "Finds, explains and patches single-query guards on absorbed latent attention.\n"
	       "\nverbs (mlalint VERB --help says more):\n");
	for (uint32_t i = 0; mla_options_verb(&v, i); i++)
		printf("  %-10s %s\n", v.name, v.summary);
	printf("\nfirst steps:\n"
	       "  mlalint PATH                what is found in a file or a folder\n"
	       "  mlalint check --diff PATH   the patch, verified; nothing is written\n"
	       "  mlalint verify PATH         the verdicts and the numbers behind them\n"
	       "  mlalint rule MLA001         what a rule finds, and why\n");
}

/* For a person, the formats are part of what the option is. */
static void print_option(const mla_option_text *o, mla_verb verb)
{
	char left[64], letter[8] = "    ", formats[128];

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
	         o->argument ? o->argument : "");
	printf("  %-28s %s", left, o->help);
	if (o->argument && strcmp(o->argument, "FORMAT") == 0)
		printf(": %s", mla_format_list(formats, sizeof(formats), verb));
	putchar('\n');
}

static void print_verb(mla_verb verb)
{
	mla_option_text o;
	mla_verb_text v;

	mla_options_verb(&v, verb);
	printf("usage: mlalint %s\n%s\n\noptions:\n", v.usage, v.summary);
	for (uint32_t i = 0; mla_options_at(&o, i); i++)
		if (strchr(o.verbs, v.letter))
			print_option(&o, verb);
	printf("\nexit status: %s\n", v.status);
}

int mla_verb_help(const mla_options *o)
{
	if (o->has_help_of)
		print_verb(o->help_of);
	else
		print_verbs();
	return mla_stdout_close(MLA_EXIT_CLEAN);
}
