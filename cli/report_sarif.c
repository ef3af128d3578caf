/*
 * SARIF 2.1.0, as the standard has it and as GitHub's code scanning takes it: the run, its rules
 * and what became of the files. sarif_results.c has the results.
 */
#include "analyzer/str.h"
#include "cli/part.h"
#include "cli/sarif.h"

/* GitHub refuses longer ones. */
enum { DESCRIPTION_MAX = 1024 };

json_t *mla_sarif_text(mla_str s)
{
	json_t *o = json_object();

	mla_json_put(o, "text", mla_json_text(s));
	return o;
}

static const char *const levels[] = {
	[MLA_NOTE] = "note",
	[MLA_WARNING] = "warning",
	[MLA_ERROR] = "error",
};

const char *mla_sarif_level(mla_severity s)
{
	return levels[s];
}

int mla_sarif_severity(const char *level)
{
	for (int i = MLA_NOTE; i <= MLA_ERROR; i++)
		if (strcmp(levels[i], level) == 0)
			return i;
	return -1;
}

const char *mla_sarif_root(char buffer[MLA_SARIF_ROOT_SIZE], uint32_t tree)
{
	if (tree == 0)
		return "%SRCROOT%"; /* the one that GitHub knows */
	snprintf(buffer, MLA_SARIF_ROOT_SIZE, "%%SRCROOT%u%%", tree + 1);
	return buffer;
}

/* Every byte but those that are the same in any part of a URI. */
static json_t *uri(const char *path)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
	char *text = mla_alloc(3 * strlen(path) + 1), *out = text;
	json_t *v;

	for (const char *p = path; *p; p++)
		if (strchr(plain, *p))
			*out++ = *p;
		else
			out += sprintf(out, "%%%02X", (unsigned char)*p);
	v = json_string(text);
	free(text);
	return v;
}

json_t *mla_sarif_place(const char *path, uint32_t tree, json_t *region)
{
	json_t *o = json_object(), *artifact = json_object();
	char root[MLA_SARIF_ROOT_SIZE];

	mla_json_put(artifact, "uri", uri(path));
	mla_json_put(artifact, "uriBaseId", mla_json_z(mla_sarif_root(root, tree)));
	mla_json_put(o, "artifactLocation", artifact);
	if (region)
		mla_json_put(o, "region", region);
	return o;
}

/* The first section of a rule's text on one line: what comes after its heading. */
static mla_str first_section(mla_arena *arena, const mla_rule *rule)
{
	const char *start = strchr(rule->doc, '\n'), *end = start ? strstr(start, "\n\n#") : NULL;
	mla_str s;

	if (!start)
		return mla_str_c(rule->summary);
	s = (mla_str){start + 1, (uint32_t)(end ? (size_t)(end - start - 1) : strlen(start + 1))};
	s = mla_joined(arena, s);
	if (s.len <= DESCRIPTION_MAX)
		return s;
	/* The text is ours and is ASCII; tests/sarif_rules.py would see it cut. */
	return mla_arena_format(arena, "%.*s...", DESCRIPTION_MAX - 3, s.ptr);
}

static json_t *rule_properties(const mla_rule *rule)
{
	json_t *o = json_object(), *tags = json_array();

	json_array_append_new(tags, mla_json_z(rule->about_suppressions      ? "maintainability"
	                                       : rule->severity == MLA_ERROR ? "correctness"
	                                                                     : "performance"));
	mla_json_put(o, "tags", tags);
	mla_json_put(o, "precision", mla_json_z("high"));
	mla_json_put(o, "problem.severity",
	             mla_json_z(rule->severity == MLA_NOTE ? "recommendation"
	                                                   : mla_sarif_level(rule->severity)));
	return o;
}

static json_t *rule_of(mla_arena *arena, const mla_rule *rule)
{
	json_t *o = json_object(), *help, *defaults = json_object();
	mla_str doc = mla_arena_format(arena, "# %s (%s)\n\n%s.\n\n%s", rule->code, rule->name,
	                               rule->summary, rule->doc);

	help = mla_sarif_text(doc);
	mla_json_put(help, "markdown", mla_json_text(doc));
	mla_json_put(defaults, "enabled", json_boolean(!rule->opt_in));
	mla_json_put(defaults, "level", mla_json_z(mla_sarif_level(rule->severity)));
	mla_json_put(o, "id", mla_json_z(rule->code));
	mla_json_put(o, "name", mla_json_z(rule->name));
	mla_json_put(o, "shortDescription", mla_sarif_text(mla_str_c(rule->summary)));
	mla_json_put(o, "fullDescription", mla_sarif_text(first_section(arena, rule)));
	mla_json_put(o, "help", help);
	mla_json_put(o, "defaultConfiguration", defaults);
	mla_json_put(o, "properties", rule_properties(rule));
	return o;
}

/* What may be said besides results; in the order of mla_file_state after "checked". */
static const struct {
	const char *id, *what;
} notices[] = {
	{"file-partial", "Some of a file could not be analysed."},
	{"file-skipped", "A file was not looked at."},
	{"file-failed", "A file could not be analysed."},
	{"result-limit", "There are more results than GitHub takes."},
	{"unanalysed", "A test of a number of queries was not understood."},
};
enum { LIMIT_NOTICE = 3, UNANALYSED_NOTICE, NOTICES = sizeof(notices) / sizeof(*notices) };

static json_t *notification(int which, mla_severity severity, mla_str message, json_t *place)
{
	json_t *o = json_object(), *descriptor = json_object();

	mla_json_put(descriptor, "id", mla_json_z(notices[which].id));
	mla_json_put(descriptor, "index", json_integer(which));
	mla_json_put(o, "descriptor", descriptor);
	mla_json_put(o, "level", mla_json_z(mla_sarif_level(severity)));
	mla_json_put(o, "message", mla_sarif_text(message));
	if (place) {
		json_t *location = json_object(), *locations = json_array();

		mla_json_put(location, "physicalLocation", place);
		json_array_append_new(locations, location);
		mla_json_put(o, "locations", locations);
	}
	return o;
}

/* In its bag of properties, as SARIF takes no other. */
void mla_sarif_mark(json_t *o, const mla_scan *s, const char *path)
{
	if (!s->options->shards)
		return;
	if (!json_object_get(o, "properties"))
		mla_json_put(o, "properties", json_object());
	mla_part_mark(json_object_get(o, "properties"), s, path);
}

json_t *mla_sarif_left_out(mla_arena *arena, json_int_t left_out)
{
	return notification(LIMIT_NOTICE, MLA_WARNING,
	                    mla_arena_format(arena,
	                                     "%lld results are left out: GitHub takes %d of a run",
	                                     (long long)left_out, MLA_SARIF_LIMIT),
	                    NULL);
}

void mla_sarif_say_left_out(json_int_t left_out)
{
	if (left_out)
		fprintf(stderr,
		        "mlalint: sarif: %lld results are left out: GitHub takes %d of a run\n",
		        (long long)left_out, MLA_SARIF_LIMIT);
}

static bool is_notice(const json_t *o, int which)
{
	const char *id = json_string_value(json_object_get(json_object_get(o, "descriptor"), "id"));

	return id && strcmp(id, notices[which].id) == 0;
}

bool mla_sarif_is_limit(const json_t *o)
{
	return is_notice(o, LIMIT_NOTICE);
}

bool mla_sarif_is_unanalysed(const json_t *o)
{
	return is_notice(o, UNANALYSED_NOTICE);
}

static json_t *about_file(const mla_scan *s, const mla_file *f, uint32_t tree)
{
	json_t *o = notification(
		(int)f->state - MLA_FILE_PARTIAL, mla_file_severity(f),
		mla_arena_format(s->arena, "file %s: %s", mla_file_state_name(f->state), f->reason),
		mla_sarif_place(f->path, tree, NULL));

	mla_sarif_mark(o, s, f->path);
	return o;
}

static json_t *about_code(const mla_scan *s, const mla_unanalysed *u, uint32_t tree)
{
	mla_str text = mla_joined(s->arena, mla_text_slice(u->module->text, u->span));
	json_t *o = notification(
		UNANALYSED_NOTICE, MLA_WARNING,
		mla_arena_format(s->arena, "unanalysed: %.*s", MLA_ARG(text)),
		mla_sarif_place(u->module->path, tree, mla_sarif_region(u->module, u->span)));

	mla_sarif_mark(o, s, u->module->path);
	return o;
}

static json_t *notifications(const mla_scan *s, uint32_t left_out)
{
	json_t *list = json_array();
	const mla_unanalysed *u;
	const mla_file *f;
	mla_cursor at = {0}, at_code = {0};

	if (left_out)
		json_array_append_new(list, mla_sarif_left_out(s->arena, left_out));
	while ((f = mla_next_file(&at, s)))
		if (f->state != MLA_FILE_CHECKED)
			json_array_append_new(list, about_file(s, f, at.tree));
	while ((u = mla_next_unanalysed(&at_code, s)))
		json_array_append_new(list, about_code(s, u, at_code.tree));
	return list;
}

const char *const mla_sarif_counts[] = {"checked", "partial", "skipped", "failed"};

json_t *mla_sarif_invocation(bool successful, int status, json_t *said,
                             const json_int_t counts[MLA_SARIF_COUNTS])
{
	json_t *o = json_object(), *files = json_object();

	mla_json_put(o, "executionSuccessful", json_boolean(successful));
	mla_json_put(o, "exitCode", json_integer(status));
	mla_json_put(o, "toolExecutionNotifications", said);
	for (int i = 0; i < MLA_SARIF_COUNTS; i++)
		mla_json_put(files, mla_sarif_counts[i], json_integer(counts[i]));
	mla_json_put(o, "properties", json_pack("{s:o}", "files", files));
	return o;
}

static json_t *driver(mla_arena *arena)
{
	json_t *o = json_object(), *rules = json_array(), *said = json_array();

	for (uint32_t i = 0; mla_rules[i]; i++)
		json_array_append_new(rules, rule_of(arena, mla_rules[i]));
	for (int i = 0; i < NOTICES; i++)
		json_array_append_new(said, json_pack("{s:s, s:{s:s}}", "id", notices[i].id,
		                                      "shortDescription", "text", notices[i].what));
	mla_json_put(o, "name", mla_json_z("mlalint"));
	mla_json_put(o, "version", mla_json_z(MLA_VERSION));
	mla_json_put(o, "semanticVersion", mla_json_z(MLA_VERSION));
	mla_json_put(o, "rules", rules);
	mla_json_put(o, "notifications", said);
	return o;
}

/* No path of this machine: GitHub ignores one, and another reader could not follow it. */
static json_t *root_ids(uint32_t roots)
{
	json_t *o = json_object();
	char name[MLA_SARIF_ROOT_SIZE];

	for (uint32_t i = 0; i < roots || i == 0; i++)
		mla_json_put(o, mla_sarif_root(name, i),
		             json_pack("{s:{s:s}}", "description", "text",
		                       "The root of the repository, or the folder that paths are "
		                       "relative to."));
	return o;
}

json_t *mla_sarif_log(mla_arena *arena, uint32_t roots, json_t *results, json_t *invocation)
{
	json_t *log = json_object(), *run = json_object();

	mla_json_put(run, "tool", json_pack("{s:o}", "driver", driver(arena)));
	mla_json_put(run, "automationDetails", json_pack("{s:s}", "id", "mlalint/"));
	mla_json_put(run, "columnKind", mla_json_z("utf16CodeUnits"));
	mla_json_put(run, "originalUriBaseIds", root_ids(roots));
	if (invocation)
		mla_json_put(run, "invocations", json_pack("[o]", invocation));
	if (results)
		mla_json_put(run, "results", results);
	mla_json_put(log, "$schema", mla_json_z("https://json.schemastore.org/sarif-2.1.0.json"));
	mla_json_put(log, "version", mla_json_z("2.1.0"));
	mla_json_put(log, "runs", json_pack("[o]", run));
	return log;
}

static void put_shard(json_t *log, const mla_report *r, uint32_t left_out)
{
	json_t *shard = mla_part_shard(r);

	mla_json_put(shard, "leftOut", json_integer(left_out));
	mla_json_put(json_array_get(json_object_get(log, "runs"), 0), "properties",
	             json_pack("{s:o}", "shard", shard));
}

void mla_report_sarif(const mla_report *r)
{
	const mla_scan *s = r->scan;
	const json_int_t counts[] = {s->checked + s->partial, s->partial, s->skipped, s->failed};
	uint32_t left_out;
	json_t *results = mla_sarif_results(s, &left_out), *log;

	if (!s->options->quiet)
		mla_sarif_say_left_out(left_out);
	log = mla_sarif_log(s->arena, s->files.trees.n, results,
	                    mla_sarif_invocation(!mla_scan_incomplete(s), r->status,
	                                         notifications(s, left_out), counts));
	if (s->options->shards)
		put_shard(log, r, left_out);
	json_dumpf(log, r->to, JSON_INDENT(1));
	fputc('\n', r->to);
	json_decref(log);
}
