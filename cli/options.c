/* Parsing of the command line against options.def. */
#include "cli/files.h"
#include "cli/options.h"

#include "analyzer/str.h"
#include "cli/add_ignore.h"
#include "cli/format.h"
#include "cli/shard.h"
#include "cli/suggest.h"
#include "engine/bench.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum option_id {
	OPTION_NONE = 256, /* above every short letter */
#define MLA_OPTION(id, name, letter, argument, verbs, help) OPTION_##id,
#include "cli/options.def"
#undef MLA_OPTION
};

static const struct {
	enum option_id id;
	const char *name;
	int letter;
	const char *argument, *verbs, *help, *dashed;
} table[] = {
#define MLA_OPTION(id, name, letter, argument, verbs, help) \
	{OPTION_##id, name, letter, argument, verbs, help, "--" name},
#include "cli/options.def"
#undef MLA_OPTION
};

enum { TABLE_SIZE = sizeof(table) / sizeof(*table) };

static const mla_verb_text verbs[] = {
#define MLA_VERB(id, name, letter, usage, summary, status) \
	[MLA_VERB_##id] = {name, letter, usage, summary, status},
#include "cli/verbs.def"
#undef MLA_VERB
};

enum { VERB_COUNT = sizeof(verbs) / sizeof(*verbs) };

static int choose(int *out, const char *option, const char *text, const char *const *words)
{
	char list[128] = "";
	size_t n = 0;

	for (int i = 0; words[i]; i++)
		if (strcmp(words[i], text) == 0) {
			*out = i;
			return 0;
		}
	for (int i = 0; words[i] && n < sizeof(list); i++)
		n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", i ? ", " : "", words[i]);
	return mla_error(MLA_ECONFIG, "--%s: '%s' is not one of %s", option, text, list);
}

static int integer(int64_t *out, const char *option, const char *text, int64_t min, int64_t max)
{
	if (mla_str_int(out, mla_str_c(text), min, max))
		return 0;
	return mla_error(MLA_ECONFIG, "--%s: '%s' is not an integer from %lld to %lld", option,
	                 text, (long long)min, (long long)max);
}

bool mla_options_number(double *out, const char *text, size_t len)
{
	char copy[32], *end;

	/* strtod also takes "inf", "nan", hexadecimal and leading blanks. */
	if (!len || len >= sizeof(copy) || strspn(text, "0123456789.eE+-") < len ||
	    strchr("eE+-", text[0]))
		return false;
	memcpy(copy, text, len);
	copy[len] = '\0';
	*out = strtod(copy, &end);
	return !*end && isfinite(*out);
}

static int milliseconds(double *out, const char *option, const char *text)
{
	if (mla_options_number(out, text, strlen(text)) && *out <= 1e9)
		return 0;
	return mla_error(MLA_ECONFIG, "--%s: '%s' is not a number of milliseconds", option, text);
}

int mla_options_geometry(mla_geometry *out, int64_t *heads, const char *text)
{
	uint32_t *field[] = {&out->rank, &out->nope, &out->rope, &out->value};
	const char *times = heads ? strchr(text, 'x') : NULL;
	mla_str rest = times ? (mla_str){text, (uint32_t)(times - text)} : mla_str_c(text);
	int error = 0;

	for (int i = 0; i < 4; i++) {
		mla_str part = {rest.ptr, 0};
		int64_t v;

		while (part.len < rest.len && rest.ptr[part.len] != '/')
			part.len++;
		if ((i < 3) == (part.len == rest.len) || !mla_str_int(&v, part, 0, UINT32_MAX))
			return mla_error(MLA_ECONFIG,
			                 "--geometry: '%s' is not R/N/P/V%s, four sizes such as "
			                 "512/128/64/128",
			                 text, heads ? "[xH]" : "");
		*field[i] = (uint32_t)v;
		rest.ptr += part.len + (i < 3);
		rest.len -= part.len + (i < 3);
	}
	if (heads)
		*heads = 0;
	if (times)
		error = integer(heads, "geometry", times + 1, 1, 1 << 16);
	return error < 0 ? error : mla_geometry_check(out);
}

static const char *const formats[] = {
#define MLA_FORMAT(id, name, check, ...) name,
#include "cli/formats.def"
#undef MLA_FORMAT
	NULL};

enum { FORMAT_OF_OPTIONS = MLA_FORMATS }; /* until all options are read */

bool mla_output_is_stdout(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

/* [FORMAT:]FILE; a lower-case word before the first colon must be a format. */
static int add_output(mla_options *o, const char *arg)
{
	size_t word = strspn(arg, "abcdefghijklmnopqrstuvwxyz");
	mla_target t = {(mla_format)FORMAT_OF_OPTIONS, arg};

	if (word && arg[word] == ':') {
		for (int i = 0; i < MLA_FORMATS; i++)
			if (strlen(formats[i]) == word && memcmp(formats[i], arg, word) == 0)
				t = (mla_target){(mla_format)i, arg + word + 1};
		if (t.path == arg)
			return mla_error(MLA_ECONFIG,
			                 "-o %s: there is no format '%.*s'; ./%s would be a file",
			                 arg, (int)word, arg, arg);
	}
	if (!*t.path)
		return mla_error(MLA_ECONFIG, "-o %s: a file, or -, is missing", arg);
	if (o->output_count == MLA_OUTPUTS_MAX)
		return mla_error(MLA_ECONFIG, "-o: more than %d outputs", MLA_OUTPUTS_MAX);
	o->output[o->output_count++] = t;
	return 0;
}

int mla_options_form(mla_form *out, const char *text)
{
	static const char *const forms[] = {"geometry", "cache-length", NULL};
	int choice = 0, error = choose(&choice, "threshold", text, forms);

	*out = (mla_form)choice;
	return error;
}

/* "2/7" */
static int set_shard(mla_options *o, const char *arg)
{
	const char *slash = strchr(arg, '/');
	int64_t i = 0, n = 0;

	if (!slash || !mla_str_int(&n, mla_str_c(slash + 1), 1, MLA_SHARDS_MAX) ||
	    !mla_str_int(&i, (mla_str){arg, (uint32_t)(slash - arg)}, 1, n))
		return mla_error(MLA_ECONFIG, "--shard: '%s' is not I/N with 1 <= I <= N <= %d",
		                 arg, MLA_SHARDS_MAX);
	o->shard = (uint32_t)i;
	o->shards = (uint32_t)n;
	return 0;
}

static int set(mla_options *o, int id, const char *name, const char *arg)
{
	static const char *const splits[] = {"rule", "file", NULL};
	static const char *const colors[] = {"auto", "always", "never", NULL};
	int64_t n = 0;
	int choice = 0, error = 0;

	switch (id) {
	case OPTION_select:
		o->select = arg;
		break;
	case OPTION_ignore:
		o->ignore = arg;
		break;
	case OPTION_threshold:
		o->has_form = true;
		error = mla_options_form(&o->form, arg);
		break;
	case OPTION_geometry:
		o->has_geometry = true;
		error = mla_options_geometry(&o->geometry,
		                             o->verb == MLA_VERB_BENCH ? &o->heads : NULL, arg);
		break;
	case OPTION_model_config:
		o->model_config = arg;
		break;
	case OPTION_output_format:
		error = choose(&choice, name, arg, formats);
		o->format = (mla_format)choice;
		break;
	case OPTION_output:
		error = add_output(o, arg);
		break;
	case OPTION_branch:
		o->branch = arg;
		break;
	case OPTION_mbox:
		o->mbox = arg;
		break;
	case OPTION_split:
		error = choose(&choice, name, arg, splits);
		o->split = (mla_split)(choice + 1);
		break;
	case OPTION_show_kept:
		o->show_kept = true;
		break;
	case OPTION_show_suppressed:
		o->show_suppressed = true;
		break;
	case OPTION_statistics:
		o->statistics = true;
		break;
	case OPTION_diff:
		o->diff = true;
		break;
	case OPTION_fix:
		o->fix = true;
		break;
	case OPTION_add_ignore:
		o->add_ignore = arg;
		error = mla_add_ignore_check(arg);
		break;
	case OPTION_unsafe_fixes:
		o->unsafe_fixes = true;
		break;
	case OPTION_verify:
		o->verify = true;
		break;
	case OPTION_no_verify:
		o->no_verify = true;
		break;
	case OPTION_exit_zero:
		o->exit_zero = true;
		break;
	case OPTION_no_ignore:
		o->no_ignore = true;
		break;
	case OPTION_rev:
		o->rev = arg;
		break;
	case OPTION_diff_base:
		o->diff_base = arg;
		break;
	case OPTION_baseline:
		o->baseline = arg;
		break;
	case OPTION_write_baseline:
		o->write_baseline = arg;
		break;
	case OPTION_stdin_filename:
		o->stdin_filename = arg;
		break;
	case OPTION_shard:
		error = set_shard(o, arg);
		break;
	case OPTION_jobs:
		error = integer(&n, name, arg, 1, 256);
		o->jobs = (uint32_t)n;
		break;
	case OPTION_color:
		error = choose(&choice, name, arg, colors);
		o->color = (mla_color)choice;
		break;
	case OPTION_verbose:
		o->verbose = true;
		break;
	case OPTION_quiet:
		o->quiet = true;
		break;
	case OPTION_rank:
		error = integer(&o->rank, name, arg, 1, MLA_DIM_MAX);
		break;
	case OPTION_nope:
		error = integer(&o->nope, name, arg, 1, MLA_DIM_MAX);
		break;
	case OPTION_value:
		error = integer(&o->value, name, arg, 1, MLA_DIM_MAX);
		break;
	case OPTION_cache_length:
		error = integer(&o->cache_length, name, arg, 1, MLA_CACHE_LEN_MAX);
		break;
	case OPTION_extend_select:
		o->extend_select = arg;
		break;
	case OPTION_exclude:
		o->exclude = arg;
		break;
	case OPTION_force_exclude:
		o->force_exclude = true;
		break;
	case OPTION_config:
		o->config = arg;
		break;
	case OPTION_isolated:
		o->isolated = true;
		break;
	case OPTION_dump:
		o->dump = true;
		break;
	case OPTION_check:
		o->check = true;
		break;
	case OPTION_all:
		o->all = true;
		break;
	case OPTION_backend:
		o->backend = arg;
		break;
	case OPTION_widths:
		o->widths = arg;
		break;
	case OPTION_cached:
		o->cached = arg;
		break;
	case OPTION_samples:
		error = integer(&o->samples, name, arg, MLA_BENCH_SAMPLES, MLA_BENCH_SAMPLES_MAX);
		break;
	case OPTION_patience:
		error = integer(&o->patience, name, arg, 1, MLA_BENCH_PATIENCE_MAX);
		break;
	case OPTION_pool:
		o->pool = true;
		break;
	case OPTION_sparse_topk:
		error = integer(&o->top_k, name, arg, 16, MLA_CACHE_LEN_MAX / 4);
		break;
	case OPTION_plot:
		o->plot = arg;
		break;
	case OPTION_from:
		o->from = arg;
		break;
	case OPTION_keep_invalid:
		o->keep_invalid = true;
		break;
	case OPTION_accept:
		o->accept = arg;
		break;
	case OPTION_draft_ms:
		error = milliseconds(&o->draft_ms, name, arg);
		break;
	case OPTION_decode_ms:
		error = milliseconds(&o->decode_ms, name, arg);
		break;
	case OPTION_verify_ms:
		o->verify_ms = arg;
		break;
	case OPTION_bench:
		o->bench = arg;
		break;
	case OPTION_layers:
		error = integer(&o->layers, name, arg, 1, 10000);
		break;
	default:
		break;
	}
	return error;
}

/* A name for standard input means that it is read. */
static void imply_stdin(mla_options *o)
{
	static const char *const implied[] = {"-"};

	if (o->stdin_filename && !o->arg_count) {
		o->args = implied;
		o->arg_count = 1;
	}
}

static int check_stdin(mla_options *o)
{
	uint32_t times = 0;

	imply_stdin(o);
	for (uint32_t i = 0; i < o->arg_count; i++)
		times += strcmp(o->args[i], "-") == 0;
	if (o->stdin_filename && !times)
		return mla_error(MLA_ECONFIG,
		                 "--stdin-filename names what the path - reads; '%s' "
		                 "is not read from standard input",
		                 o->args[0]);
	if (times > 1)
		return mla_error(MLA_ECONFIG,
		                 "standard input can be read once only; - is given "
		                 "%u times",
		                 times);
	if (times && o->add_ignore)
		return mla_error(MLA_ECONFIG, "standard input takes no comments");
	if (times && o->fix)
		return mla_error(MLA_ECONFIG, "standard input cannot be fixed in place; "
		                              "--diff prints the change");
	if (times && o->rev)
		return mla_error(MLA_ECONFIG, "standard input is in no revision; - and --rev "
		                              "exclude each other");
	if (o->stdin_filename && !mla_file_is_source(o->stdin_filename))
		return mla_error(MLA_ECONFIG,
		                 "--stdin-filename: '%s' is not the name of a Python or C source",
		                 o->stdin_filename);
	return 0;
}

/* Gives every output its format; two reports in one place would destroy each other. */
static int resolve_outputs(mla_options *o)
{
	bool text = false, counts = false;

	if (!o->output_count && o->verb != MLA_VERB_PATCH)
		add_output(o, "-");
	for (uint32_t i = 0; i < o->output_count; i++) {
		mla_target *t = &o->output[i];
		int error;

		/* A merged report has the format of its parts. */
		if (t->format == (mla_format)FORMAT_OF_OPTIONS && o->verb != MLA_VERB_MERGE)
			t->format = o->format;
		if (t->format != (mla_format)FORMAT_OF_OPTIONS) {
			if ((error = mla_format_check(o->verb, t->format)) < 0)
				return error;
			text |= t->format == MLA_FORMAT_TEXT;
			counts |= mla_formats[t->format].statistics;
		}
		for (uint32_t k = 0; k < i; k++)
			if (strcmp(o->output[k].path, t->path) == 0 ||
			    (mla_output_is_stdout(o->output[k].path) &&
			     mla_output_is_stdout(t->path)))
				return mla_error(MLA_ECONFIG, "-o: two reports to %s",
				                 mla_output_is_stdout(t->path) ? "standard output"
				                                               : t->path);
	}
	if (o->statistics && (o->diff || !counts))
		return mla_error(MLA_ECONFIG,
		                 "--statistics: only the reports text, concise and json have them");
	/* The diff takes the place of the text. */
	if (o->diff && !text)
		return mla_error(MLA_ECONFIG,
		                 "--diff prints a diff; it has no other output format");
	return 0;
}

static int check_patch(const mla_options *o)
{
	if (!o->branch && !o->mbox && !o->output_count)
		return mla_error(MLA_ECONFIG, "patch needs --branch NAME, --mbox DIR or -o FILE");
	if (o->mbox && !*o->mbox)
		return mla_error(MLA_ECONFIG, "--mbox: a folder is needed");
	for (uint32_t i = 0; i < o->output_count; i++)
		if (mla_str_ends(mla_str_c(o->output[i].path), ".py"))
			return mla_error(MLA_ECONFIG, "-o %s: a diff would replace a Python source",
			                 o->output[i].path);
	return 0;
}

static int check_together(mla_options *o)
{
	int error = o->verb == MLA_VERB_CHECK ? check_stdin(o) : 0;

	if (error == 0 && o->verb == MLA_VERB_PATCH)
		error = check_patch(o);
	if (error == 0)
		error = resolve_outputs(o);
	if (error < 0)
		return error;
	if (o->shards && (o->fix || o->diff || o->add_ignore || o->write_baseline || o->statistics))
		return mla_error(MLA_ECONFIG,
		                 "--shard goes with neither --fix, --diff, --add-ignore, "
		                 "--write-baseline nor --statistics");
	for (uint32_t i = 0; i < o->output_count && o->shards; i++)
		if (o->output[i].format != MLA_FORMAT_JSON &&
		    o->output[i].format != MLA_FORMAT_SARIF)
			return mla_error(MLA_ECONFIG, "--shard: merge joins json and sarif; use "
			                              "one of them as --output-format");
	if (o->add_ignore && (o->fix || o->diff || o->write_baseline || o->rev))
		return mla_error(MLA_ECONFIG, "--add-ignore goes with neither --fix, --diff, "
		                              "--write-baseline nor --rev");
	if (o->diff && o->fix)
		return mla_error(MLA_ECONFIG, "--diff and --fix exclude each other");
	if (o->write_baseline && (o->fix || o->diff || o->diff_base))
		return mla_error(MLA_ECONFIG, "--write-baseline accepts what is there; it excludes "
		                              "--fix, --diff and --diff-base");
	if (o->write_baseline && strcmp(o->write_baseline, "-") == 0)
		return mla_error(MLA_ECONFIG, "--write-baseline: a file is needed; standard output "
		                              "is for the report");
	if (o->rev && o->fix)
		return mla_error(MLA_ECONFIG, "a revision cannot be fixed in place; --diff prints "
		                              "the change");
	if (o->quiet && o->verbose)
		return mla_error(MLA_ECONFIG, "--quiet and --verbose exclude each other");
	if (o->verify && o->no_verify)
		return mla_error(MLA_ECONFIG, "--verify and --no-verify exclude each other");
	if (o->config && o->isolated)
		return mla_error(MLA_ECONFIG, "--config and --isolated exclude each other");
	if (o->has_geometry && o->model_config)
		return mla_error(MLA_ECONFIG, "--geometry and --model-config exclude each other");
	return 0;
}

static bool find_verb(mla_verb *out, const char *name)
{
	for (int i = 0; i < VERB_COUNT; i++)
		if (strcmp(name, verbs[i].name) == 0) {
			*out = (mla_verb)i;
			return true;
		}
	return false;
}

static const char *closest_verb(char *out, size_t size, const char *word)
{
	mla_suggestion s = {.word = word};

	for (int i = 0; i < VERB_COUNT; i++)
		mla_suggest(&s, verbs[i].name);
	return mla_suggestion_text(out, size, &s);
}

/* The first argument when it is a verb. A word that is neither that nor a path is a verb with a
 * slip in it when it is close to one; a revision may have what the disk has not. */
static int take_verb(mla_options *o, int *argc, char ***argv)
{
	const char *word = *argc > 1 ? (*argv)[1] : "-";
	char close[64];
	bool revision = false;
	struct stat st;

	o->verb = MLA_VERB_CHECK;
	o->verb_given = find_verb(&o->verb, word);
	if (o->verb_given) {
		(*argv)[1] = (*argv)[0];
		(*argv)++;
		(*argc)--;
		return 0;
	}
	for (int i = 1; i < *argc; i++)
		revision |= strncmp((*argv)[i], "--rev", 5) == 0;
	if (word[0] == '-' || revision || lstat(word, &st) == 0 ||
	    !*closest_verb(close, sizeof(close), word))
		return 0;
	return mla_error(MLA_ECONFIG, "'%s' is neither a verb nor a path%s", word, close);
}

/* As for git, a verb goes before its options; behind them it would be a path. */
static int check_verb_is_first(const mla_options *o)
{
	struct stat st;
	mla_verb verb;

	for (uint32_t i = 0; i < o->arg_count && !o->verb_given && !o->rev; i++)
		if (find_verb(&verb, o->args[i]) && lstat(o->args[i], &st) < 0)
			return mla_error(MLA_ECONFIG,
			                 "'%s' is a verb and no path; it goes before the options",
			                 o->args[i]);
	return 0;
}

static int unknown_option(const mla_options *o, const char *given)
{
	size_t len = strcspn(given, "=");
	char word[64], close[64];
	mla_suggestion s = {.word = word};

	snprintf(word, sizeof(word), "%.*s", (int)len, given);
	for (int i = 0; i < TABLE_SIZE && strncmp(given, "--", 2) == 0; i++)
		if (strchr(table[i].verbs, verbs[o->verb].letter))
			mla_suggest(&s, table[i].dashed);
	if (*mla_suggestion_text(close, sizeof(close), &s))
		return mla_error(MLA_ECONFIG, "unknown option '%.*s'%s", (int)len, given, close);
	return mla_error(MLA_ECONFIG, "unknown option '%.*s'; mlalint %s --help lists them",
	                 (int)len, given, verbs[o->verb].name);
}

static int not_of_verb(const mla_options *o, int at)
{
	char list[128] = "";
	size_t n = 0;

	for (int i = 0; i < VERB_COUNT && n < sizeof(list); i++)
		if (strchr(table[at].verbs, verbs[i].letter))
			n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%s", n ? ", " : "",
			                      verbs[i].name);
	return mla_error(MLA_ECONFIG, "%s takes no option --%s; it goes with %s",
	                 verbs[o->verb].name, table[at].name, list);
}

static void fill_getopt(struct option *longs, char *shorts)
{
	*shorts++ = ':';
	for (int i = 0; i < TABLE_SIZE; i++) {
		longs[i] = (struct option){table[i].name, table[i].argument ? 1 : 0, NULL,
		                           (int)table[i].id};
		if (!table[i].letter)
			continue;
		*shorts++ = (char)table[i].letter;
		if (table[i].argument)
			*shorts++ = ':';
	}
	*shorts = '\0';
}

/* 1: an option that ends the reading, for it says what to do instead. */
static int take_option(mla_options *o, int id, const char *given)
{
	int at = -1;

	for (int i = 0; i < TABLE_SIZE; i++)
		if ((int)table[i].id == id || (table[i].letter && table[i].letter == id))
			at = i;
	if (id == ':')
		return mla_error(MLA_ECONFIG, "option '%s' needs an argument", given);
	if (at < 0)
		return unknown_option(o, given);
	if (!strchr(table[at].verbs, verbs[o->verb].letter))
		return not_of_verb(o, at);
	if (table[at].id != OPTION_help && table[at].id != OPTION_version)
		return set(o, (int)table[at].id, table[at].name, optarg);
	o->has_help_of = table[at].id == OPTION_help && o->verb_given;
	o->help_of = o->verb;
	o->verb = table[at].id == OPTION_help ? MLA_VERB_HELP : MLA_VERB_VERSION;
	return 1;
}

static int check_help(mla_options *o)
{
	char close[64];

	if (o->arg_count > 1)
		return mla_error(MLA_ECONFIG, "help takes one verb");
	if (!o->arg_count)
		return 0;
	o->has_help_of = true;
	if (find_verb(&o->help_of, o->args[0]))
		return 0;
	return mla_error(MLA_ECONFIG, "there is no verb '%s'%s", o->args[0],
	                 closest_verb(close, sizeof(close), o->args[0]));
}

int mla_options_parse(mla_options *out, int argc, char **argv)
{
	struct option longs[TABLE_SIZE + 1] = {{0}};
	char shorts[3 * TABLE_SIZE + 2];
	int id, error;

	*out = (mla_options){.rank = -1,
	                     .nope = -1,
	                     .value = -1,
	                     .cache_length = -1,
	                     .draft_ms = -1,
	                     .decode_ms = -1};
	if ((error = take_verb(out, &argc, &argv)) < 0)
		return error;
	fill_getopt(longs, shorts);
	opterr = 0;
	while (error == 0 && (id = getopt_long(argc, argv, shorts, longs, NULL)) != -1)
		error = take_option(out, id, argv[optind - 1]);
	if (error)
		return error < 0 ? error : 0;
	out->args = (const char *const *)argv + optind;
	out->arg_count = (uint32_t)(argc - optind);
	if ((error = check_verb_is_first(out)) < 0)
		return error;
	return out->verb == MLA_VERB_HELP ? check_help(out) : check_together(out);
}

bool mla_options_at(mla_option_text *out, uint32_t i)
{
	if (i < TABLE_SIZE)
		*out = (mla_option_text){table[i].name, table[i].letter, table[i].argument,
		                         table[i].verbs, table[i].help};
	return i < TABLE_SIZE;
}

bool mla_options_verb(mla_verb_text *out, uint32_t i)
{
	if (i < VERB_COUNT)
		*out = verbs[i];
	return i < VERB_COUNT;
}
