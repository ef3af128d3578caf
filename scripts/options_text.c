/*
 * Prints what is made from the table of options: the manual page from its template, and the
 * completions of three shells. Part of the build, not of the program.
 * usage: options_text bash|zsh|fish
 *        options_text man TEMPLATE
 */
#include "cli/config.h"
#include "cli/format.h"

#include <stdio.h>
#include <string.h>

/* The formats that a verb has reports in. */
static const char *formats(const mla_verb_text *v)
{
	static char list[128];
	mla_verb_text other;
	uint32_t verb = 0;

	while (mla_options_verb(&other, verb) && other.letter != v->letter)
		verb++;
	mla_format_list(list, sizeof(list), (mla_verb)verb);
	for (char *p = list; *p; p++)
		if (*p == ',')
			memmove(p, p + 1, strlen(p));
	return list;
}

/* The words that an argument of this name can be for a verb; NULL: it is something else. */
static const char *words(const char *argument, const mla_verb_text *v)
{
	static char codes[1024];

	if (strcmp(argument, "FORM") == 0)
		return "geometry cache-length";
	if (strcmp(argument, "WHEN") == 0)
		return "auto always never";
	if (strcmp(argument, "HOW") == 0)
		return "rule file";
	if (strcmp(argument, "FORMAT") == 0)
		return formats(v);
	if (strcmp(argument, "CODES") != 0)
		return NULL;
	codes[0] = '\0';
	for (uint32_t i = 0; mla_rules[i]; i++)
		snprintf(codes + strlen(codes), sizeof(codes) - strlen(codes), "%s%s", i ? " " : "",
		         mla_rules[i]->code);
	return codes;
}

static const char *verb_names(void)
{
	static char names[256];
	mla_verb_text v;

	names[0] = '\0';
	for (uint32_t i = 0; mla_options_verb(&v, i); i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s", i ? " " : "",
		         v.name);
	return names;
}

/* What a verb takes besides options; NULL: files. */
static const char *operands(const mla_verb_text *v)
{
	if (strcmp(v->name, "rule") == 0)
		return words("CODES", v);
	return strcmp(v->name, "help") == 0 ? verb_names() : NULL;
}

static bool is_file(const char *argument)
{
	return strstr(argument, "FILE") || strcmp(argument, "DIR") == 0;
}

static bool has(const mla_option_text *o, const mla_verb_text *v)
{
	return strchr(o->verbs, v->letter) != NULL;
}

/* In quotes of a shell: ' becomes '\'' (zsh, bash), in fish \'. */
static void quoted(const char *s, const char *quote)
{
	putchar('\'');
	for (; *s; s++)
		if (*s == '\'')
			fputs(quote, stdout);
		else
			putchar(*s);
	putchar('\'');
}

/* The arguments of a verb's options; of a list of codes, the last one is completed. */
static void bash_arguments(const mla_verb_text *v)
{
	mla_option_text o;

	puts("\t\tcase $prev in");
	for (uint32_t i = 0; mla_options_at(&o, i); i++) {
		if (!o.argument || !has(&o, v))
			continue;
		printf("\t\t--%s", o.name);
		if (o.letter)
			printf(" | -%c", o.letter);
		if (strcmp(o.argument, "CODES") == 0)
			printf(") words='%s' list=${cur%%\"${cur##*,}\"} ;;\n",
			       words(o.argument, v));
		else if (words(o.argument, v))
			printf(") words='%s' ;;\n", words(o.argument, v));
		else
			puts(is_file(o.argument) ? ") files=1 ;;" : ") return ;;");
	}
	puts("\t\tesac");
}

static void bash(void)
{
	mla_verb_text v;
	mla_option_text o;

	puts("# bash completion of mlalint; made from the table of options\n\n_mlalint() {\n"
	     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	     "\tlocal verb=check words= list= files= options operands=\n\tCOMPREPLY=()\n"
	     "\tif [[ $cur == = ]]; then\n\t\tcur=\n\telif [[ $prev == = ]]; then\n"
	     "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
	     "\tif ((COMP_CWORD > 1)); then\n\t\tcase ${COMP_WORDS[1]} in");
	for (uint32_t i = 0; mla_options_verb(&v, i); i++)
		printf("%s%s", i ? " | " : "\t\t", v.name);
	puts(") verb=${COMP_WORDS[1]} ;;\n\t\tesac\n\tfi\n\tcase $verb in");
	for (uint32_t i = 0; mla_options_verb(&v, i); i++) {
		printf("\t%s)\n\t\toptions='", v.name);
		for (uint32_t k = 0; mla_options_at(&o, k); k++)
			if (has(&o, &v))
				printf("--%s ", o.name);
		puts("'");
		if (operands(&v))
			printf("\t\toperands='%s'\n", operands(&v));
		bash_arguments(&v);
		puts("\t\t;;");
	}
	puts("\tesac\n\tif [[ $words ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -P \"$list\" -W \"$words\" -- \"${cur#\"$list\"}\"))\n"
	     "\t\treturn\n\tfi\n"
	     "\tif [[ ! $files && $cur == -* ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
	     "\tif [[ ! $files && $operands ]]; then\n"
	     "\t\tCOMPREPLY=($(compgen -W \"$operands\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
	     "\tcompopt -o filenames\n\tCOMPREPLY=($(compgen -f -- \"$cur\"))");
	printf("\t((COMP_CWORD == 1)) && COMPREPLY+=($(compgen -W '%s' -- \"$cur\"))\n"
	       "\treturn 0\n}\ncomplete -F _mlalint mlalint\n",
	       verb_names());
}

/* [ ] and : have a meaning in a specification of zsh. */
static void zsh_help(const char *s)
{
	for (; *s; s++) {
		if (strchr("[]:\\", *s))
			putchar('\\');
		if (*s == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*s);
	}
}

static void zsh_option(const mla_option_text *o, const mla_verb_text *v)
{
	for (int dash = o->letter ? 0 : 1; dash < 2; dash++) {
		if (dash)
			printf("\t\t'--%s%s[", o->name, o->argument ? "=" : "");
		else
			printf("\t\t'-%c%s[", o->letter, o->argument ? "+" : "");
		zsh_help(o->help);
		putchar(']');
		if (o->argument) {
			putchar(':');
			zsh_help(o->argument);
			putchar(':');
			if (strcmp(o->argument, "CODES") == 0)
				printf("_values -s , code %s", words(o->argument, v));
			else if (words(o->argument, v))
				printf("(%s)", words(o->argument, v));
			else if (is_file(o->argument))
				fputs("_files", stdout);
		}
		puts("' \\");
	}
}

static void zsh(void)
{
	mla_verb_text v;
	mla_option_text o;

	puts("#compdef mlalint\n# made from the table of options\n\n_mlalint() {\n"
	     "\tlocal verb=check\n\tlocal -a verbs=(");
	for (uint32_t i = 0; mla_options_verb(&v, i); i++) {
		printf("\t\t'%s:", v.name);
		zsh_help(v.summary);
		puts("'");
	}
	puts("\t)\n\tif ((CURRENT == 2)); then\n\t\t[[ $words[2] == -* ]] || _describe verb verbs\n"
	     "\telif ((${verbs[(I)${words[2]}:*]})); then\n"
	     "\t\tverb=$words[2]\n\t\twords=($words[1] $words[3,-1])\n\t\t((CURRENT--))\n\tfi\n"
	     "\tcase $verb in");
	for (uint32_t i = 0; mla_options_verb(&v, i); i++) {
		printf("\t%s)\n\t\t_arguments -s \\\n", v.name);
		for (uint32_t k = 0; mla_options_at(&o, k); k++)
			if (has(&o, &v))
				zsh_option(&o, &v);
		if (operands(&v))
			printf("\t\t'*:word:(%s)'\n\t\t;;\n", operands(&v));
		else
			puts("\t\t'*:path:_files'\n\t\t;;");
	}
	puts("\tesac\n}\n\n_mlalint \"$@\"");
}

static void fish_option(const mla_option_text *o, const mla_verb_text *v)
{
	fputs("complete -c mlalint -n ", stdout);
	if (v->letter == 'C')
		fputs("__mlalint_no_verb", stdout);
	else
		printf("'__fish_seen_subcommand_from %s'", v->name);
	printf(" -l %s", o->name);
	if (o->letter)
		printf(" -s %c", o->letter);
	if (o->argument) {
		fputs(is_file(o->argument) ? " -r" : " -x", stdout);
		if (words(o->argument, v))
			printf(" -a '%s'", words(o->argument, v));
	}
	fputs(" -d ", stdout);
	quoted(o->help, "\\'");
	putchar('\n');
}

static void fish(void)
{
	mla_verb_text v;
	mla_option_text o;

	puts("# fish completion of mlalint; made from the table of options\n\n"
	     "function __mlalint_no_verb");
	fputs("\tnot __fish_seen_subcommand_from", stdout);
	for (uint32_t i = 1; mla_options_verb(&v, i); i++)
		printf(" %s", v.name);
	puts("\nend");
	for (uint32_t i = 0; mla_options_verb(&v, i); i++) {
		printf("complete -c mlalint -n __fish_use_subcommand -a %s -d ", v.name);
		quoted(v.summary, "\\'");
		putchar('\n');
	}
	for (uint32_t i = 0; mla_options_verb(&v, i); i++)
		for (uint32_t k = 0; mla_options_at(&o, k); k++)
			if (has(&o, &v))
				fish_option(&o, &v);
	for (uint32_t i = 0; mla_options_verb(&v, i); i++)
		if (operands(&v))
			printf("complete -c mlalint -n '__fish_seen_subcommand_from %s' -f -a "
			       "'%s'\n",
			       v.name, operands(&v));
}

/* A line of mdoc starts with no dot or quote, and its hyphens are those of a command line. */
static void man_text(const char *s)
{
	if (*s == '.' || *s == '\'')
		fputs("\\&", stdout);
	for (; *s; s++)
		if (*s == '\\')
			fputs("\\e", stdout);
		else if (*s == '-' && s[1] == '-')
			fputs("\\-", stdout);
		else
			putchar(*s);
	putchar('\n');
}

static void man_verbs(void)
{
	mla_verb_text v;

	for (uint32_t i = 0; mla_options_verb(&v, i); i++) {
		printf(".It Cm %s\n", v.name);
		man_text(v.summary);
	}
}

static void man_statuses(void)
{
	mla_verb_text v;

	for (uint32_t i = 0; mla_options_verb(&v, i); i++) {
		printf(".It Cm %s\n", v.name);
		man_text(v.status);
	}
}

/* The verbs that take an option, with the formats that each has. */
static void man_verbs_of(const mla_option_text *o)
{
	bool with_formats = o->argument && strcmp(o->argument, "FORMAT") == 0, first = true;
	mla_verb_text v;

	fputs(".Pq ", stdout);
	for (uint32_t i = 0; mla_options_verb(&v, i); i++) {
		if (!has(o, &v))
			continue;
		printf("%s%s", first ? "" : with_formats ? "; " : ", ", v.name);
		if (with_formats)
			printf(": %s", formats(&v));
		first = false;
	}
	putchar('\n');
}

static void man_options(void)
{
	mla_option_text o;

	for (uint32_t i = 0; mla_options_at(&o, i); i++) {
		fputs(".It", stdout);
		if (o.letter && o.argument)
			printf(" Fl %c Ar %s ,", o.letter, o.argument);
		else if (o.letter)
			printf(" Fl %c ,", o.letter);
		printf(" Fl -%s", o.name);
		if (o.argument)
			printf(" Ar %s", o.argument);
		putchar('\n');
		man_text(o.help);
		man_verbs_of(&o);
	}
}

static void man_keys(void)
{
#define MLA_KEY(id, name, kind, help) \
	puts(".It Cm " name);         \
	man_text(help);
#include "cli/config.def"
#undef MLA_KEY
}

static int man(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[1024];

	if (!f) {
		perror(path);
		return 1;
	}
	while (fgets(line, sizeof(line), f)) {
		if (strcmp(line, ".\\\" @VERBS@\n") == 0)
			man_verbs();
		else if (strcmp(line, ".\\\" @OPTIONS@\n") == 0)
			man_options();
		else if (strcmp(line, ".\\\" @STATUSES@\n") == 0)
			man_statuses();
		else if (strcmp(line, ".\\\" @KEYS@\n") == 0)
			man_keys();
		else
			fputs(line, stdout);
	}
	return fclose(f) != 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "man") == 0 && argc == 3)
		return man(argv[2]);
	if (strcmp(what, "bash") == 0)
		bash();
	else if (strcmp(what, "zsh") == 0)
		zsh();
	else if (strcmp(what, "fish") == 0)
		fish();
	else
		return 2;
	return fflush(stdout) != 0;
}
