/* The machine's state: faults, limits and memory. Knows no Python. */
#include "engine/replay/machine.h"

#include <stdarg.h>
#include <stdio.h>

mla_machine *mla_machine_new(const mla_replay_options *options)
{
	mla_machine *m = mla_alloc(sizeof(*m));
	mla_engine_options mode = {
		.oracle = options->mode == MLA_REPLAY_F64,
		.shapes_only = options->mode == MLA_REPLAY_SHAPES,
		.max_bytes = MLA_REPLAY_TENSOR_BYTES,
		.max_work = options->max_work,
		.backend = options->backend,
	};

	m->options = *options;
	if (!m->options.heads)
		m->options.heads = 2;
	if (!m->options.bits)
		m->options.bits = 4;
	m->arena = mla_arena_new();
	m->engine = mla_engine_new(&mode);
	return m;
}

void mla_machine_free(mla_machine *m)
{
	if (!m)
		return;
	mla_vec_free(&m->globals);
	mla_vec_free(&m->locals);
	mla_vec_free(&m->classes);
	mla_vec_free(&m->choices);
	mla_vec_free(&m->assumed);
	mla_vec_free(&m->stale);
	mla_vec_free(&m->journal);
	mla_vec_free(&m->rows);
	mla_vec_free(&m->kept);
	mla_engine_free(m->engine);
	mla_arena_free(m->arena);
	free(m);
}

const mla_fault *mla_machine_fault(const mla_machine *m)
{
	return &m->fault;
}

mla_engine *mla_machine_engine(const mla_machine *m)
{
	return m->engine;
}

void mla_machine_scope_close(mla_machine *m, mla_tensor_scope scope)
{
	mla_tensor_scope_close(m->engine, scope, m->kept.v, m->kept.n);
}

uint32_t mla_machine_choices(const mla_choice **out, const mla_machine *m)
{
	*out = m->choices.v;
	return m->choices.n;
}

uint32_t mla_machine_assumed(const mla_str **out, const mla_machine *m)
{
	*out = m->assumed.v;
	return m->assumed.n;
}

static mla_str formatted(mla_machine *m, const char *fmt, va_list ap)
{
	char text[512];
	int n = vsnprintf(text, sizeof(text), fmt, ap);

	if (n < 0)
		n = 0;
	return mla_arena_dup(
		m->arena,
		(mla_str){text, (uint32_t)(n < (int)sizeof(text) ? n : (int)sizeof(text) - 1)});
}

static int fault(mla_machine *m, mla_fault_kind kind, const char *type, int code, const char *fmt,
                 va_list ap)
{
	m->fault.kind = kind;
	m->fault.type = mla_str_c(type);
	m->fault.message = formatted(m, fmt, ap);
	m->fault.module = m->module;
	m->fault.line = m->module && m->at ? mla_text_line(m->module->text, m->at->span.start) : 0;
	return code;
}

int mla_raise(mla_machine *m, const char *type, const char *fmt, ...)
{
	va_list ap;
	int code;

	va_start(ap, fmt);
	code = fault(m, MLA_FAULT_RAISED, type, MLA_ERAISE, fmt, ap);
	va_end(ap);
	m->caught = mla_value_none;
	return code;
}

int mla_unsupported(mla_machine *m, const char *fmt, ...)
{
	va_list ap;
	int code;

	va_start(ap, fmt);
	code = fault(m, MLA_FAULT_UNSUPPORTED, "", MLA_EPARSE, fmt, ap);
	va_end(ap);
	return code;
}

int mla_limit(mla_machine *m, const char *fmt, ...)
{
	va_list ap;
	int code;

	va_start(ap, fmt);
	code = fault(m, MLA_FAULT_LIMIT, "", MLA_ELIMIT, fmt, ap);
	va_end(ap);
	return code;
}

int mla_engine_fault(mla_machine *m, int error)
{
	if (error == MLA_ERAISE)
		return mla_raise(m, "ValueError", "%s", mla_error_last());
	if (error == MLA_ELIMIT)
		return mla_limit(m, "%s", mla_error_last());
	return error < 0 ? mla_unsupported(m, "%s", mla_error_last()) : 0;
}

int mla_enter(mla_machine *m, const mla_node *n)
{
	m->at = n;
	if (++m->steps > MLA_REPLAY_STEPS)
		return mla_limit(m, "more than %llu steps", (unsigned long long)MLA_REPLAY_STEPS);
	if (m->used > MLA_REPLAY_BYTES)
		return mla_limit(m, "more than %zu bytes of objects", (size_t)MLA_REPLAY_BYTES);
	if (m->depth >= MLA_REPLAY_DEPTH)
		return mla_limit(m, "nested deeper than %d", MLA_REPLAY_DEPTH);
	m->depth++;
	return 0;
}

void mla_leave(mla_machine *m)
{
	m->depth--;
}

void *mla_machine_alloc(mla_machine *m, size_t count, size_t size)
{
	m->used += count * size;
	return mla_arena_array(m->arena, count ? count : 1, size);
}

mla_str mla_machine_format(mla_machine *m, const char *fmt, ...)
{
	va_list ap;
	mla_str s;

	va_start(ap, fmt);
	s = formatted(m, fmt, ap);
	va_end(ap);
	m->used += s.len + 1;
	return s;
}
