/*
 * SARIF 2.1.0, as the standard has it and as GitHub's code scanning takes it: the run, its rules
 * and what became of the files. sarif_results.c has the results.
 */
#include "analyzer/str.h"
#include "cli/sarif.h"

/* GitHub refuses longer ones. */
enum { DESCRIPTION_MAX = 1024 };

json_t *mla_sarif_text(mla_str s)
{
	json_t *o = json_object();

	mla_json_put(o, "text", mla_json_text(s));
	return o;
}

const char *mla_sarif_level(mla_severity s)
{
	static const char *const levels[] = {
		[MLA_NOTE] = "note",
		[MLA_WARNING] = "warning",
		[MLA_ERROR] = "error",
	};

	return levels[s];
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
};
enum { LIMIT_NOTICE = 3, NOTICES = sizeof(notices) / sizeof(*notices) };

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

static json_t *notifications(const mla_scan *s, uint32_t left_out)
{
	json_t *list = json_array();
	const mla_file *f;
	mla_cursor at = {0};

	if (left_out)
		json_array_append_new(
			list, notification(LIMIT_NOTICE, MLA_WARNING,
		                           mla_arena_format(s->arena,
		                                            "%u results are left out: GitHub takes "
		                                            "%d of a run",
		                                            left_out, MLA_SARIF_LIMIT),
		                           NULL));
	while ((f = mla_next_file(&at, s))) {
		const char *state = mla_file_state_name(f->state);

		if (f->state == MLA_FILE_CHECKED)
			continue;
		json_array_append_new(
			list,
			notification((int)f->state - MLA_FILE_PARTIAL, mla_file_severity(f),
		                     mla_arena_format(s->arena, "file %s: %s", state, f->reason),
		                     mla_sarif_place(f->path, at.tree, NULL)));
	}
	return list;
}

static json_t *invocation(const mla_report *r, uint32_t left_out)
{
	const mla_scan *s = r->scan;
	json_t *o = json_object(), *counts = json_object();

	mla_json_put(o, "executionSuccessful", json_boolean(!mla_scan_incomplete(s)));
	mla_json_put(o, "exitCode", json_integer(r->status));
	mla_json_put(o, "toolExecutionNotifications", notifications(s, left_out));
	mla_json_put(counts, "checked", json_integer(s->checked + s->partial));
	mla_json_put(counts, "partial", json_integer(s->partial));
	mla_json_put(counts, "skipped", json_integer(s->skipped));
	mla_json_put(counts, "failed", json_integer(s->failed));
	mla_json_put(o, "properties", json_pack("{s:o}", "files", counts));
	return o;
}

static json_t *driver(const mla_scan *s)
{
	json_t *o = json_object(), *rules = json_array(), *said = json_array();

	for (uint32_t i = 0; mla_rules[i]; i++)
		json_array_append_new(rules, rule_of(s->arena, mla_rules[i]));
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
static json_t *roots(const mla_scan *s)
{
	json_t *o = json_object();
	char name[MLA_SARIF_ROOT_SIZE];

	for (uint32_t i = 0; i < s->files.trees.n || i == 0; i++)
		mla_json_put(o, mla_sarif_root(name, i),
		             json_pack("{s:{s:s}}", "description", "text",
		                       "The root of the repository, or the folder that paths are "
		                       "relative to."));
	return o;
}

void mla_report_sarif(const mla_report *r)
{
	json_t *log = json_object(), *run = json_object(), *runs = json_array(), *results;
	json_t *invocations = json_array();
	uint32_t left_out;

	results = mla_sarif_results(r->scan, &left_out);
	if (left_out && !r->scan->options->quiet)
		fprintf(stderr,
		        "mlalint: sarif: %u results are left out: GitHub takes %d of a run\n",
		        left_out, MLA_SARIF_LIMIT);
	json_array_append_new(invocations, invocation(r, left_out));
	mla_json_put(run, "tool", json_pack("{s:o}", "driver", driver(r->scan)));
	mla_json_put(run, "automationDetails", json_pack("{s:s}", "id", "mlalint/"));
	mla_json_put(run, "columnKind", mla_json_z("utf16CodeUnits"));
	mla_json_put(run, "originalUriBaseIds", roots(r->scan));
	mla_json_put(run, "invocations", invocations);
	mla_json_put(run, "results", results);
	json_array_append_new(runs, run);
	mla_json_put(log, "$schema", mla_json_z("https://json.schemastore.org/sarif-2.1.0.json"));
	mla_json_put(log, "version", mla_json_z("2.1.0"));
	mla_json_put(log, "runs", runs);
	json_dumpf(log, r->to, JSON_INDENT(1));
	fputc('\n', r->to);
	json_decref(log);
}
