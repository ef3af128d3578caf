/* Building the two sides of a verdict and calling them. Judges nothing. */
#include "engine/site_subject.h"

#include "analyzer/str.h"

#include <stdarg.h>
#include <stdio.h>

/* Work of one machine: some seconds, far above what a layer of a real model needs. */
#define SUBJECT_WORK ((uint64_t)1 << 36)

static const mla_node *find_function(const mla_node *body, mla_str name)
{
	const mla_node *found = NULL;
	bool skip = false;

	for (const mla_node *n = body; n; n = mla_node_next(n, body, skip)) {
		skip = n->kind == MLA_N_FUNCTION || n->kind == MLA_N_CLASS;
		if (n->kind == MLA_N_FUNCTION && mla_str_eq(n->name, name))
			found = n;
		skip &= n != body;
	}
	return found;
}

static const mla_node *find_class(const mla_module *m, mla_str name)
{
	const mla_binding *b = mla_module_binding(m, name);

	return b && b->node->kind == MLA_N_CLASS ? b->node : NULL;
}

bool mla_trial_find_after(mla_trial *t)
{
	const mla_site *s = t->site;
	const mla_node *up = s->function->parent ? s->function->parent->parent : NULL;
	const mla_node *outer = s->function->parent ? mla_node_function(s->function->parent) : NULL;
	mla_replay_target *to = &t->target_after;
	const mla_node *home;

	*to = t->target_before;
	to->module = mla_project_module(t->after, s->module->path);
	to->owner.module = mla_project_module(t->after, s->owner.module->path);
	if (!to->module || !to->owner.module)
		return false;
	to->owner.node = find_class(to->owner.module, s->owner.node->name);
	home = to->module->syntax.root;
	if (up && up->kind == MLA_N_CLASS && (home = find_class(to->module, up->name)))
		home = mla_kid(home, 1);
	else if (outer && (home = find_function(home, outer->name))) /* def in an install() */
		home = mla_kid(home, 1);
	to->function = home ? find_function(home, s->function->name) : NULL;
	return to->owner.node && to->function;
}

int mla_subject_open(mla_subject *s, const mla_trial *t, bool after, const mla_subject_mode *mode)
{
	mla_replay_options o = {
		.project = after ? t->after : t->before,
		.settings = t->options->settings,
		.mode = mode->mode,
		.bits = t->out->bits,
		.heads = mode->heads,
		.topk = mode->topk,
		.choices = mode->choices,
		.assume_none = t->assume_none,
		.seed = t->options->seed,
		.backend = t->options->backend,
		.max_work = mode->mode == MLA_REPLAY_SHAPES ? 0 : SUBJECT_WORK,
	};

	*s = (mla_subject){.m = mla_machine_new(&o)};
	for (uint32_t i = 0; !after && i < t->site->test_count; i++) {
		const mla_test *test = t->site->test[i];

		if (s->watches == MLA_SUBJECT_WATCHES)
			break;
		s->small_when_true[s->watches] = test->small_when_true;
		s->narrower[s->watches] = test->wider != NULL;
		s->watch[s->watches++].node = test->node;
	}
	return mla_replay_construct(&s->layer, s->m, after ? &t->target_after : &t->target_before);
}

void mla_subject_close(mla_subject *s, mla_site_verdict *into)
{
	if (s->m)
		mla_uses_add(&into->uses, mla_engine_uses(mla_machine_engine(s->m)));
	mla_machine_free(s->m);
	s->m = NULL;
}

int mla_subject_run(mla_tensor **out, mla_subject *s, mla_run *run, mla_forcing forcing)
{
	for (uint32_t i = 0; i < s->watches; i++) {
		bool small = forcing == MLA_FORCE_ABSORBED;

		s->watch[i].forced = forcing == MLA_FREE ? -1 : small == s->small_when_true[i];
	}
	run->watch = s->watch;
	run->watches = s->watches;
	return mla_replay_run(out, s->m, s->layer, run);
}

bool mla_subject_split(const mla_subject *s)
{
	bool small = false, large = false;

	for (uint32_t i = 0; i < s->watches; i++) {
		const mla_watch *w = &s->watch[i];

		if (s->narrower[i])
			continue;
		small |= s->small_when_true[i] ? w->was_true : w->was_false;
		large |= s->small_when_true[i] ? w->was_false : w->was_true;
	}
	return small && large;
}

mla_arm_taken mla_run_arm(const mla_run *run)
{
	if (run->expansions)
		return run->folds ? MLA_ARM_BOTH : MLA_ARM_MATERIALISED;
	return run->folds ? MLA_ARM_ABSORBED : MLA_ARM_NONE;
}

const char *mla_arm_taken_name(mla_arm_taken a)
{
	static const char *const names[] = {"neither arm", "absorbed", "materialised",
	                                    "a mixture of both arms"};

	return names[a];
}

bool mla_site_takes_gather(const mla_site *s)
{
	const mla_node *list = s->function->kid[0];

	for (uint32_t i = 2; list && i < list->n; i++)
		if (list->kid[i]->op == MLA_OP_NONE && mla_kid(list->kid[i], 1) &&
		    !mla_str_mentions(list->kid[i]->name, "mask") &&
		    !mla_str_mentions(list->kid[i]->name, "cache") &&
		    mla_replay_gathers(s->function, list->kid[i]->name))
			return true;
	return false;
}

void mla_trial_say(mla_trial *t, mla_outcome o, const char *fmt, ...)
{
	va_list ap;

	if (t->out->reason[0] && !(o == MLA_REJECTED && t->out->outcome != MLA_REJECTED))
		return;
	t->out->outcome = o;
	va_start(ap, fmt);
	vsnprintf(t->out->reason, sizeof(t->out->reason), fmt, ap);
	va_end(ap);
}

void mla_trial_note(mla_trial *t, const char *fmt, ...)
{
	char text[MLA_SITE_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (uint32_t i = 0; i < t->out->notes; i++)
		if (strcmp(t->out->note[i], text) == 0)
			return;
	if (t->out->notes < MLA_SITE_NOTES)
		memcpy(t->out->note[t->out->notes++], text, sizeof(text));
}

void mla_trial_fault(mla_trial *t, mla_outcome o, const mla_subject *s, const char *what)
{
	const mla_fault *f = mla_machine_fault(s->m);
	const char *path = f->module ? f->module->path : "";
	bool elsewhere = f->module && strcmp(path, t->site->module->path) != 0;

	t->out->limited |= f->kind == MLA_FAULT_LIMIT;
	mla_trial_say(t, o, "%s%s%.*s%s%.*s at line %u%s%s", what, what[0] ? ": " : "",
	              MLA_ARG(f->type), f->type.len ? ": " : "", MLA_ARG(f->message), f->line,
	              elsewhere ? " of " : "", elsewhere ? path : "");
}

const char *mla_run_text(char text[96], const mla_run *run)
{
	snprintf(text, 96, "width %u, %lld cached, batch %u%s", run->width, (long long)run->cached,
	         run->batch, run->padded ? " left-padded" : "");
	return text;
}
