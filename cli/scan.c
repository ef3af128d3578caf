/* The pipeline of a scan. Prints nothing. */
#include "cli/scan.h"

#include "analyzer/str.h"
#include "cli/known.h"
#include "cli/load.h"
#include "cli/model_config.h"
#include "cli/partial.h"
#include "cli/shard.h"
#include "rules/decision.h"
#include "rules/suppression.h"

#include <limits.h>
#include <stdio.h>

/* An import that cannot be read counts as absent, and what derives from it as no decision. So it is
 * remembered: without it there is no verdict. The project asks once for a path, one at a time. */
static int read_module(mla_text **out, void *payload, const char *path)
{
	mla_tree *t = payload;
	struct stat st;
	int error = mla_file_read(out, &st, t, path);

	if (error < 0) {
		mla_file f = {.state = error == MLA_ELIMIT ? MLA_FILE_SKIPPED : MLA_FILE_FAILED};

		f.path = mla_copy(path);
		snprintf(f.reason, sizeof(f.reason), "%s", mla_error_last());
		mla_vec_push(&t->unread, f);
	}
	return error;
}

/* Puts them among the files of the scan. */
static void add_unread(mla_tree *t)
{
	for (uint32_t i = 0; i < t->unread.n; i++)
		mla_vec_push(&t->files, t->unread.v[i]);
	t->unread.n = 0;
	mla_tree_settle(t);
}

/* Is it the test of a pool, which is no decision about attention? */
static bool is_of_pool(const mla_facts *facts, const mla_test *t)
{
	for (uint32_t i = 0; i < facts->pools.n; i++)
		if (facts->pools.v[i]->single == t->node)
			return true;
	return false;
}

/*
 * Tests that --show-kept lists: those for one query, and those that decide something known; not
 * those of a decision that is reported, or would be by a rule that is not selected.
 */
static bool is_listed(const mla_test *t, const mla_findings *found)
{
	for (uint32_t i = 0; i < found->n; i++)
		if (found->v[i].test == t)
			return false;
	if (t->role != MLA_ROLE_NONE)
		return mla_test_is_widened(t) && !mla_decision_split(t);
	return (t->bound == MLA_BOUND_CONSTANT && (t->limit == 1 || t->module->c)) ||
	       t->kept != MLA_KEPT_UNRELATED;
}

static int by_span(const void *pa, const void *pb)
{
	const mla_finding *a = *(const mla_finding *const *)pa;
	const mla_finding *b = *(const mla_finding *const *)pb;

	if (a->span.start != b->span.start)
		return a->span.start < b->span.start ? -1 : 1;
	return strcmp(a->rule->code, b->rule->code);
}

/* In the order of the file, with the severities that the settings give them. */
static const mla_finding **sorted(mla_arena *arena, const mla_file_settings *settings,
                                  mla_finding *v, uint32_t n)
{
	const mla_finding **order = mla_arena_array(arena, n, sizeof(*order));

	for (uint32_t i = 0; i < n; i++) {
		v[i].severity = mla_settings_severity(settings, v[i].rule);
		order[i] = &v[i];
	}
	if (n)
		qsort(order, n, sizeof(*order), by_span);
	return order;
}

/*
 * The finding that the fix is made for: the one itself, or the one for one new token at the same
 * gate, whose fix asks for the lengths too.
 */
static const mla_finding *to_fix(const mla_scan_tree *t, const mla_finding *f)
{
	for (uint32_t i = 0; i < t->results.n && f->pool; i++) {
		const mla_finding *other = t->results.v[i].finding;

		if (other->pool == f->pool && strcmp(other->rule->code, f->rule->code) < 0)
			return other;
	}
	return f;
}

static mla_fix *fix_of(mla_scan_tree *t, const mla_finding *f)
{
	if (!f->site && !f->pool)
		return NULL;
	for (uint32_t i = 0; i < t->fixes.n; i++)
		if (t->fixes.v[i]->site == f->site && t->fixes.v[i]->pool == f->pool)
			return t->fixes.v[i];
	return NULL;
}

/* Every file has been looked at: now it is known which classes run a decision. */
static void add_heirs(mla_scan_tree *t)
{
	for (uint32_t i = 0; i < t->sites.n; i++)
		for (uint32_t k = 0; k < t->heirs.n; k++)
			if (t->heirs.v[k].function == t->sites.v[i]->function)
				mla_site_add_heir(t->sites.v[i], t->heirs.v[k].owner);
}

/* Is a rule about loading on in any file of the tree? It decides which files are worth a parse. */
static int looks_at_loaders(bool *out, mla_scan *s, const mla_tree *t)
{
	*out = false;
	for (uint32_t i = 0; i < t->files.n && !*out; i++) {
		const mla_file_settings *settings;
		int error = mla_configs_file(&settings, s->configs, t, t->files.v[i].path);

		if (error < 0)
			return error;
		for (uint32_t k = 0; mla_rules[k]; k++)
			*out |= settings->on[k] && mla_rules[k]->about_loading;
	}
	return 0;
}

static int make_fixes(mla_scan *s, mla_scan_tree *t)
{
	for (uint32_t i = 0; i < t->results.n; i++) {
		mla_result *r = &t->results.v[i];
		int error;

		r->fix = fix_of(t, r->finding);
		if (!r->fix) {
			r->fix = mla_arena_alloc(s->arena, sizeof(*r->fix));
			error = mla_fix_make(r->fix, s->arena, t->project, to_fix(t, r->finding),
			                     r->settings->form);
			if (error < 0)
				return error;
			mla_vec_push(&t->fixes, r->fix);
		}
		s->findings++;
		s->fixable += r->fix->edits.n != 0;
	}
	return 0;
}

static void set_partial(mla_scan *s, mla_scan_tree *t, mla_load *l, const mla_node *limited)
{
	const mla_node *doubt = mla_partial_doubt(t->project, l->module, s->prefilter, limited);
	const mla_node *at = doubt ? doubt : limited;
	char *out = l->file->reason;
	size_t size = sizeof(l->file->reason);
	uint32_t line = at ? mla_text_line(l->module->text, at->span.start) : 0;

	l->file->state = MLA_FILE_PARTIAL;
	l->file->doubtful = doubt != NULL;
	if (at && at == limited)
		snprintf(out, size, "too deep or too long to follow at line %u%s", line,
		         doubt ? ", where a decision may be" : "");
	else if (doubt)
		snprintf(out, size, "syntax error at line %u, where a decision may be", line);
	else
		snprintf(out, size, "syntax errors");
}

/* What a C source may have lost is what it compares in code that was not understood. */
static void set_c_partial(const mla_scan_tree *t, mla_load *l, const mla_node *limited)
{
	char *out = l->file->reason;
	size_t size = sizeof(l->file->reason);

	l->file->state = MLA_FILE_PARTIAL;
	snprintf(out, size, "syntax errors");
	if (limited)
		snprintf(out, size, "too deep or too long to follow at line %u",
		         mla_text_line(l->module->text, limited->span.start));
	for (uint32_t i = t->unanalysed_count; i-- > 0;)
		if (t->unanalysed[i].module == l->module) {
			l->file->doubtful = true;
			snprintf(out, size, "a test that could not be analysed at line %u",
			         mla_text_line(l->module->text, t->unanalysed[i].span.start));
		}
}

static bool has_unanalysed(const mla_scan_tree *t, const mla_module *m)
{
	for (uint32_t i = 0; i < t->unanalysed_count; i++)
		if (t->unanalysed[i].module == m)
			return true;
	return false;
}

static int check_module(mla_scan *s, mla_scan_tree *t, mla_load *l)
{
	mla_findings found = {.arena = s->arena};
	const mla_finding **order;
	const mla_file_settings *settings;
	mla_settings sizes = s->sizes;
	mla_facts facts;
	int error = mla_configs_file(&settings, s->configs, t->tree, l->file->path);

	if (error < 0)
		return error;
	sizes.geometry = settings->geometry;
	if (l->module->c)
		mla_c_facts_of(&facts, t->c_facts, &sizes, l->module);
	else
		error = mla_facts_build(&facts, s->arena, t->project, &sizes, l->module,
		                        s->options->show_kept);
	if (error == 0)
		error = mla_rules_run(&found, &facts, settings->on);
	if (error < 0)
		return error;
	if (l->module->c &&
	    (l->module->syntax.error_count || facts.limited || has_unanalysed(t, l->module)))
		set_c_partial(t, l, facts.limited);
	else if (!l->module->c && (l->module->syntax.error_count || facts.limited))
		set_partial(s, t, l, facts.limited);
	order = sorted(s->arena, settings, found.v, found.n);
	for (uint32_t i = 0; i < found.n; i++)
		mla_vec_push(&t->results, ((mla_result){order[i], NULL, settings}));
	order = sorted(s->arena, settings, found.suppressed, found.suppressed_n);
	for (uint32_t i = 0; i < found.suppressed_n; i++)
		mla_vec_push(&t->suppressed, order[i]);
	s->suppressed += found.suppressed_n;
	for (uint32_t i = 0; i < facts.site_count; i++)
		mla_vec_push(&t->sites, facts.site[i]);
	for (uint32_t i = 0; i < facts.heir_count; i++)
		mla_vec_push(&t->heirs, facts.heir[i]);
	for (uint32_t i = 0; i < facts.test_count && s->options->show_kept; i++)
		if (is_listed(facts.test[i], &found) && !is_of_pool(&facts, facts.test[i])) {
			mla_vec_push(&t->kept, ((mla_kept_test){l->module, facts.test[i]}));
			s->kept++;
		}
	return error;
}

typedef MLA_VEC(mla_load) load_list;
typedef MLA_VEC(const char *) name_list;

/* Hands over what was parsed since the last time. */
static void add_modules(mla_scan_tree *t, load_list *loads, bool *added)
{
	for (uint32_t i = 0; i < loads->n; i++)
		if (loads->v[i].module && !added[i]) {
			mla_project_add(t->project, loads->v[i].module);
			loads->v[i].module = mla_project_module(t->project, loads->v[i].file->path);
		}
}

/* The classes of a module that have up-projections, their own or inherited ones. */
static void name_classes(name_list *out, mla_scan *s, const mla_scan_tree *t, mla_module *m)
{
	for (const mla_node *n = m->syntax.root; n; n = mla_node_next(n, m->syntax.root, false)) {
		mla_constructors constructors;
		mla_lineage lineage;
		mla_latent latent;
		bool known = false;

		if (n->kind != MLA_N_CLASS || !n->name.len)
			continue;
		mla_class_lineage(&lineage, t->project, (mla_class){m, n});
		mla_class_constructors(&constructors, t->project, &lineage);
		mla_latent_find(&latent, &constructors);
		for (uint32_t i = 0; i < out->n && !known; i++)
			known = mla_str_is(n->name, out->v[i]);
		if (latent.n && !known)
			mla_vec_push(out, mla_arena_format(s->arena, "%.*s", MLA_ARG(n->name)).ptr);
	}
}

/*
 * A class that inherits its projections may hold a decision in a file without a word of its own. So
 * the files that derive from a class with projections are loaded too, and those that derive from
 * these, until there are no more.
 */
static int load_derived(mla_scan *s, mla_scan_tree *t, load_list *loads, int error)
{
	bool *added = mla_arena_array(s->arena, loads->n, sizeof(*added));
	name_list names = {0};
	uint32_t asked;

	do {
		asked = names.n;
		add_modules(t, loads, added);
		for (uint32_t i = 0; i < loads->n; i++) {
			if (loads->v[i].module && !added[i] && !loads->v[i].module->c)
				name_classes(&names, s, t, loads->v[i].module);
			added[i] |= loads->v[i].module != NULL;
		}
		if (error < 0 || names.n == asked)
			break;
		mla_vec_push(&names, NULL);
		error = mla_load_derived(loads->v, loads->n, s->options->jobs, names.v + asked);
		names.n--;
	} while (true);
	mla_vec_free(&names);
	return error;
}

static int build_c_facts(mla_scan *s, mla_scan_tree *t)
{
	uint32_t index = 0;
	mla_module *m;
	int error = 0;

	while ((m = mla_project_next(t->project, &index)) && !m->c)
		;
	if (m && (error = mla_c_facts_build(&t->c_facts, s->arena, t->project)) == 0)
		t->unanalysed = mla_c_facts_unanalysed(t->c_facts, &t->unanalysed_count);
	return error;
}

static int scan_tree(mla_scan *s, mla_tree *tree)
{
	mla_scan_tree t = {.tree = tree};
	load_list loads = {0};
	bool loaders = false;
	int error = mla_project_new(&t.project, (mla_reader){read_module, tree});

	t.c_arguments = mla_c_arguments_new(tree->folder);
	if (error == 0)
		error = looks_at_loaders(&loaders, s, tree);
	for (uint32_t i = 0; i < tree->files.n && error == 0; i++)
		if (tree->files.v[i].state == MLA_FILE_CHECKED)
			mla_vec_push(&loads, ((mla_load){.tree = tree,
			                                 .file = &tree->files.v[i],
			                                 .c = t.c_arguments}));
	if (error == 0)
		error = mla_load_all(loads.v, loads.n, s->options->jobs, s->options->show_kept,
		                     loaders);
	error = load_derived(s, &t, &loads, error);
	if (error == 0)
		error = build_c_facts(s, &t);
	for (uint32_t i = 0; i < loads.n && error == 0; i++)
		if (loads.v[i].module) {
			loads.v[i].file->parsed = true;
			error = check_module(s, &t, &loads.v[i]);
		}
	add_heirs(&t);
	if (error == 0)
		error = mla_known_take_out(s, &t);
	if (error == 0)
		error = make_fixes(s, &t);
	mla_vec_push(&s->trees, t);
	mla_load_free(loads.v, loads.n);
	add_unread(tree);
	if (error == 0 && s->options->shards)
		mla_shard_take(s, &s->trees.v[s->trees.n - 1]);
	mla_vec_free(&loads);
	return error;
}

static void count_files(mla_scan *s)
{
	for (uint32_t i = 0; i < s->files.trees.n; i++)
		for (uint32_t k = 0; k < s->files.trees.v[i].files.n; k++)
			switch (s->files.trees.v[i].files.v[k].state) {
			case MLA_FILE_CHECKED:
				s->checked++;
				break;
			case MLA_FILE_PARTIAL:
				s->partial++;
				s->doubtful += s->files.trees.v[i].files.v[k].doubtful;
				break;
			case MLA_FILE_SKIPPED:
				s->skipped++;
				s->named_skipped += s->files.trees.v[i].files.v[k].named;
				break;
			case MLA_FILE_FAILED:
				s->failed++;
				break;
			}
}

/* A report in the place of a source that is scanned would destroy it. */
static int check_output(const mla_fileset *s, const char *option, const char *output)
{
	char real[PATH_MAX];

	if (!output || !realpath(output, real))
		return 0;
	for (uint32_t i = 0; i < s->trees.n; i++) {
		const mla_tree *t = &s->trees.v[i];
		size_t n = strlen(t->folder);

		if (t->git)
			continue;
		if (strncmp(real, t->folder, n) != 0 || (real[n] != '/' && n != 1))
			continue;
		for (uint32_t k = 0; k < t->files.n; k++)
			if (strcmp(t->files.v[k].path, real + n + (n != 1)) == 0)
				return mla_error(MLA_ECONFIG,
				                 "%s %s: this file is scanned; a report would "
				                 "replace it",
				                 option, output);
	}
	return 0;
}

static int start(mla_scan *out, const mla_options *o)
{
	int error = 0;

	*out = (mla_scan){.options = o, .arena = mla_arena_new(), .prefilter = mla_prefilter_new()};
	error = mla_configs_new(&out->configs, o);
	if (error == 0 && o->model_config)
		error = mla_model_config_read(&out->sizes, o->model_config);
	return error;
}

/* A file without sizes changes nothing, which the user would not see. */
static int check_sizes(mla_scan *s, const char *path)
{
	const char *missing;
	int error = mla_model_config_check(&missing, &s->sizes, path);

	if (error == 0 && missing)
		mla_fileset_note(
			&s->files,
			"--model-config %s: no integer \"%s\"; the sizes of the source hold "
			"where the file names none",
			path, missing);
	return error;
}

static int scan_trees(mla_scan *s)
{
	int error = 0;

	for (uint32_t i = 0; i < s->files.trees.n && error == 0; i++)
		error = scan_tree(s, &s->files.trees.v[i]);
	count_files(s);
	return error;
}

int mla_scan_run(mla_scan *out, const mla_options *o)
{
	int error = start(out, o);

	if (error == 0)
		error = mla_fileset_collect(&out->files, o, out->configs);
	if (error == 0)
		error = mla_configs_exclude(out->configs, &out->files);
	if (error == 0 && o->model_config)
		error = check_sizes(out, o->model_config);
	for (uint32_t i = 0; i < o->output_count && error == 0; i++)
		error = check_output(&out->files, "-o", o->output[i].path);
	if (error == 0)
		error = check_output(&out->files, "--write-baseline", o->write_baseline);
	/* Paths in a baseline are those of one repository. */
	if (error == 0 && (o->baseline || o->write_baseline) && out->files.trees.n > 1)
		error = mla_error(MLA_ECONFIG,
		                  "a baseline is for one repository; the paths are in %u",
		                  out->files.trees.n);
	if (error == 0 && o->shards && out->files.trees.n > 1)
		error = mla_error(MLA_ECONFIG,
		                  "--shard divides one repository; the paths are in %u",
		                  out->files.trees.n);
	return error < 0 ? error : scan_trees(out);
}

int mla_scan_files(mla_scan *out, const mla_options *o, mla_fileset *files)
{
	int error = start(out, o);

	out->files = *files;
	*files = (mla_fileset){0};
	return error < 0 ? error : scan_trees(out);
}

void mla_scan_free(mla_scan *s)
{
	for (uint32_t i = 0; i < s->trees.n; i++) {
		mla_scan_tree *t = &s->trees.v[i];

		mla_project_free(t->project);
		mla_c_arguments_free(t->c_arguments);
		mla_vec_free(&t->results);
		mla_vec_free(&t->sites);
		mla_vec_free(&t->heirs);
		mla_vec_free(&t->suppressed);
		mla_vec_free(&t->kept);
		mla_vec_free(&t->fixes);
	}
	mla_vec_free(&s->trees);
	mla_fileset_free(&s->files);
	mla_model_config_free(&s->sizes);
	mla_configs_free(s->configs);
	mla_prefilter_free(s->prefilter);
	mla_arena_free(s->arena);
}

const mla_file_settings *mla_scan_settings(const mla_scan_tree *t, const mla_fix *fix)
{
	uint32_t i = 0;

	while (t->results.v[i].fix != fix) /* it was made for one of them */
		i++;
	return t->results.v[i].settings;
}

bool mla_scan_incomplete(const mla_scan *s)
{
	return s->failed || s->base_failed || s->named_skipped || s->doubtful || s->fixes_left_out;
}
