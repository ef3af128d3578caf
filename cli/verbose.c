/* What -v tells of a scan: what was asked for, and what was done with every file. */
#include "analyzer/str.h"
#include "cli/report.h"
#include "cli/verbs.h"

#include <stdlib.h>

static void put(FILE *to, const char *what, const char *path)
{
	fprintf(to, "mlalint: %s: ", what);
	mla_put_clean(to, mla_str_c(path));
}

/* Those of a file at the root: the settings of a folder further down may differ. */
static void put_rules(FILE *to, const mla_scan *s, const mla_tree *tree)
{
	const mla_file_settings *settings;
	const mla_config *config;

	if (mla_configs_find(&config, s->configs, tree, "x.py") < 0 ||
	    mla_configs_file(&settings, s->configs, tree, "x.py") < 0)
		return;
	fputs("mlalint: rules:", to);
	for (uint32_t i = 0; mla_rules[i]; i++)
		if (settings->on[i])
			fprintf(to, " %s", mla_rules[i]->code);
	if (config->path) {
		fputs(", by ", to);
		mla_put_clean(to, mla_str_c(config->path));
	}
	fputc('\n', to);
}

static void put_settings(FILE *to, const mla_scan *s)
{
	const mla_options *o = s->options;
	const mla_geometry *g = &o->geometry;

	for (uint32_t i = 0; i < s->trees.n; i++)
		put_rules(to, s, s->trees.v[i].tree);
	if (o->has_geometry)
		fprintf(to, "mlalint: sizes: %u/%u/%u/%u, given\n", g->rank, g->nope, g->rope,
		        g->value);
	else if (o->model_config)
		fprintf(to, "mlalint: sizes: those of %s\n", o->model_config);
	else
		fputs("mlalint: sizes: those of each source\n", to);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* In the order of names: a folder gives them in any. */
static void put_ignored(FILE *to, const mla_scan *s, const mla_tree *t)
{
	char **list = mla_arena_array(s->arena, t->ignored.n, sizeof(*list));

	if (t->ignored.n) {
		memcpy(list, t->ignored.v, t->ignored.n * sizeof(*list));
		qsort(list, t->ignored.n, sizeof(*list), by_text);
	}
	for (uint32_t i = 0; i < t->ignored.n; i++) {
		put(to, "ignored by git", list[i]);
		fputc('\n', to);
	}
}

static void put_file(FILE *to, const mla_file *f, uint32_t findings)
{
	if (f->state != MLA_FILE_CHECKED && f->state != MLA_FILE_PARTIAL)
		return; /* the summary has these, with the reason */
	put(to, "checked", f->path);
	if (f->parsed)
		fprintf(to, " (parsed, %u finding%s)\n", findings, findings == 1 ? "" : "s");
	else
		fputs(" (not parsed: no test of a query count beside latent projections)\n", to);
}

void mla_report_verbose(FILE *to, const mla_scan *s)
{
	put_settings(to, s);
	for (uint32_t i = 0; i < s->files.trees.n; i++) {
		const mla_tree *t = &s->files.trees.v[i];
		uint32_t at = 0, n = i < s->trees.n ? s->trees.v[i].results.n : 0;

		put(to, "root", t->folder);
		fputs(t->git ? " (files of the revision)\n" : "\n", to);
		put_ignored(to, s, t);
		for (uint32_t k = 0; k < t->files.n; k++) {
			const mla_file *f = &t->files.v[k];
			uint32_t start = at;

			while (at < n && strcmp(s->trees.v[i].results.v[at].finding->module->path,
			                        f->path) == 0)
				at++;
			put_file(to, f, at - start);
		}
	}
}
