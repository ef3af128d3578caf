/* What the disciplined subset refuses inside functions, and the attributes of kernel arguments. */
#include "engine/tools/mslgen.h"

#include <stdlib.h>
#include <string.h>

#include "engine/shim/abi.h"

static bool one_of(const msl_token *t, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (msl_is(t, words[i]))
			return true;
	return false;
}
#define ONE_OF(t, words) one_of(t, words, sizeof(words) / sizeof *(words))

static const char *const spaces[] = {"device", "constant", "threadgroup", "thread"};

static bool has_space(const msl_unit *u, size_t first, size_t last)
{
	for (; first < last; first++)
		if (ONE_OF(&u->tok[first], spaces))
			return true;
	return false;
}

static unsigned scalar_size(const msl_token *t)
{
	static const char *const four[] = {"float", "uint", "int", "unsigned"};
	static const char *const two[] = {"half", "ushort", "short"};
	static const char *const one[] = {"uchar", "char", "bool"};

	return ONE_OF(t, four) ? 4 : ONE_OF(t, two) ? 2 : ONE_OF(t, one) ? 1 : 0;
}

/* Argument structs are read by other compilers: only 32-bit scalars have one layout everywhere. */
static void check_struct(msl_unit *u, mla_str name, const msl_token *at)
{
	const msl_struct *s = NULL;

	for (size_t i = 0; i < u->n_rec; i++)
		if (msl_same(u->rec[i].name, name))
			s = &u->rec[i];
	if (!s) {
		msl_refuse(u, at, "parameter struct %.*s is not defined here", (int)name.len,
		           name.ptr);
		return;
	}
	for (size_t i = s->body; i < s->body_end;) {
		size_t end = i;
		bool plain = scalar_size(&u->tok[i]) == 4;

		for (; end < s->body_end && !msl_is(&u->tok[end], ";"); end++)
			if (msl_is(&u->tok[end], "[") || msl_is(&u->tok[end], "*"))
				plain = false;
		if (!plain)
			msl_refuse(u, &u->tok[i],
			           "parameter struct %.*s: members must be 32-bit scalars",
			           (int)name.len, name.ptr);
		i = end + 1;
	}
}

static const struct builtin {
	const char *name;
	bool vector;
} builtins[] = {
	{"thread_position_in_grid", true},     {"threadgroup_position_in_grid", true},
	{"threads_per_threadgroup", true},     {"thread_index_in_threadgroup", false},
	{"thread_index_in_simdgroup", false},  {"simdgroup_index_in_threadgroup", false},
	{"simdgroups_per_threadgroup", false},
};

static void check_builtin(msl_unit *u, const msl_function *f, msl_arg *a, const msl_token *attr)
{
	const struct builtin *b = NULL;
	const msl_token *type = &u->tok[a->first];

	for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
		if (msl_is(attr, builtins[i].name))
			b = &builtins[i];
	if (!b)
		msl_refuse(u, attr, "%.*s: unknown attribute [[%.*s]]", (int)f->name.len,
		           f->name.ptr, (int)attr->text.len, attr->text.ptr);
	else if (!msl_is(type, b->vector ? "uint3" : "uint"))
		msl_refuse(u, type, "%.*s: [[%s]] must be %s", (int)f->name.len, f->name.ptr,
		           b->name, b->vector ? "uint3" : "uint");
	a->kind = MSL_BUILTIN;
	a->type = attr->text;
}

/* `device const float *a [[buffer(0)]]` in [a->first, a->last). */
static void check_arg(msl_unit *u, const msl_function *f, msl_arg *a)
{
	size_t at = a->first, star = 0, amp = 0;
	const msl_token *attr, *first = &u->tok[a->first];
	int len = (int)f->name.len;

	for (; at < a->last && !msl_is(&u->tok[at], "[["); at++) {
		star = msl_is(&u->tok[at], "*") ? at : star;
		amp = msl_is(&u->tok[at], "&") ? at : amp;
	}
	if (at >= a->last) {
		msl_refuse(u, first, "%.*s: argument without an attribute", len, f->name.ptr);
		return;
	}
	attr = &u->tok[at + 1];
	if (!msl_is(attr, "buffer") && !msl_is(attr, "threadgroup")) {
		check_builtin(u, f, a, attr);
		return;
	}
	a->index = (unsigned)strtoul(u->tok[at + 3].text.ptr, NULL, 10);
	if (msl_is(attr, "threadgroup")) {
		a->kind = MSL_GROUP;
		if (!msl_is(first, "threadgroup") || !star || a->index != 0)
			msl_refuse(u, first,
			           "%.*s: [[threadgroup(0)]] must be a threadgroup pointer, the "
			           "only one",
			           len, f->name.ptr);
		return;
	}
	if (a->index >= MLA_KERNEL_BUFFERS)
		msl_refuse(u, attr, "%.*s: buffer index %u is over %d", len, f->name.ptr, a->index,
		           MLA_KERNEL_BUFFERS - 1);
	if (star) {
		a->kind = MSL_BUFFER;
		if (!msl_is(first, "device"))
			msl_refuse(u, first, "%.*s: a buffer pointer must be device", len,
			           f->name.ptr);
	} else if (amp && msl_is(first, "constant")) {
		a->kind = MSL_ARGS;
		a->type = u->tok[amp - 1].text;
		check_struct(u, a->type, first);
	} else {
		msl_refuse(u, first,
		           "%.*s: a buffer must be a device pointer or a constant reference", len,
		           f->name.ptr);
	}
}

/* Buffers must be 0, 1, 2, ... with the argument struct last: the hosts bind them in that order. */
static void check_buffers(msl_unit *u, const msl_function *f)
{
	unsigned seen = 0, n = 0;

	for (unsigned i = 0; i < f->n_args; i++) {
		const msl_arg *a = &f->arg[i];

		if (a->kind != MSL_BUFFER && a->kind != MSL_ARGS)
			continue;
		if (seen >> a->index & 1u)
			msl_refuse(u, &u->tok[a->first], "%.*s: buffer index %u is used twice",
			           (int)f->name.len, f->name.ptr, a->index);
		seen |= 1u << a->index;
		n++;
	}
	for (unsigned i = 0; i < f->n_args; i++)
		if (f->arg[i].kind == MSL_ARGS && f->arg[i].index + 1 != n)
			msl_refuse(u, &u->tok[f->arg[i].first],
			           "%.*s: the argument struct must have the last buffer index",
			           (int)f->name.len, f->name.ptr);
	if (seen + 1 != 1u << n)
		msl_refuse(u, &u->tok[f->at], "%.*s: buffer indices must be 0, 1, 2, ...",
		           (int)f->name.len, f->name.ptr);
}

/* Splits the parameters; calls back through the unit's own array for kernels. */
static void check_params(msl_unit *u, msl_function *f)
{
	size_t first = f->params;
	unsigned angle = 0;

	for (size_t i = f->params; i <= f->params_end; i++) {
		const msl_token *t = &u->tok[i];
		bool pointer = false;

		if (i < f->params_end && (msl_is(t, "(") || msl_is(t, "[") || msl_is(t, "[["))) {
			i = msl_close(u, i) - 1;
			continue;
		}
		angle += msl_is(t, "<");
		angle -= msl_is(t, ">");
		if (i < f->params_end && !(msl_is(t, ",") && angle == 0))
			continue;
		for (size_t k = first; k < i; k++)
			pointer = pointer || msl_is(&u->tok[k], "*") || msl_is(&u->tok[k], "&");
		if (pointer && !has_space(u, first, i))
			msl_refuse(u, &u->tok[first],
			           "%.*s: pointer or reference without an address "
			           "space",
			           (int)f->name.len, f->name.ptr);
		if (f->kernel && first < i && f->n_args < MSL_ARGS_MAX) {
			msl_arg *a = &f->arg[f->n_args++];

			a->first = first;
			a->last = i;
			check_arg(u, f, a);
		}
		first = i + 1;
	}
	if (f->kernel && u->errors == 0)
		check_buffers(u, f);
}

/* A product of integer literals, or 0. */
static unsigned long array_size(const msl_unit *u, size_t open, size_t shut)
{
	unsigned long n = 1;

	for (size_t i = open + 1; i + 1 < shut; i++) {
		const msl_token *t = &u->tok[i];

		if (t->kind == MSL_NUMBER)
			n *= strtoul(t->text.ptr, NULL, 0);
		else if (!msl_is(t, "*"))
			return 0;
		if (n > 1u << 20)
			return n;
	}
	return n;
}

/* `threadgroup float x[64];` at token i of a body; adds its bytes. */
static void group_variable(msl_unit *u, size_t i, unsigned long *bytes)
{
	unsigned long size = scalar_size(&u->tok[i + 1]);
	size_t k = i + 2;

	if (u->tok[k].kind != MSL_WORD)
		return; /* a pointer into it */
	for (k++; msl_is(&u->tok[k], "["); k = msl_close(u, k))
		size *= array_size(u, k, msl_close(u, k));
	if (size == 0)
		msl_refuse(u, &u->tok[i], "the size of threadgroup memory must be plain numbers");
	*bytes += size;
}

static bool starts_statement(const msl_token *before)
{
	static const char *const marks[] = {";", "{", "}", "("};

	return ONE_OF(before, marks);
}

/* `float *p` or `const args &r`, declared without saying where it points. */
static bool bare_pointer(const msl_unit *u, size_t i)
{
	static const char *const not_types[] = {"return", "else", "case"};

	if (!starts_statement(&u->tok[i - 1]))
		return false;
	if (msl_is(&u->tok[i], "const"))
		i++;
	if (u->tok[i].kind != MSL_WORD || ONE_OF(&u->tok[i], not_types) ||
	    ONE_OF(&u->tok[i], spaces))
		return false;
	if (!msl_is(&u->tok[i + 1], "*") && !msl_is(&u->tok[i + 1], "&"))
		return false;
	return u->tok[i + 2].kind == MSL_WORD &&
	       (msl_is(&u->tok[i + 3], "=") || msl_is(&u->tok[i + 3], ";"));
}

static void check_body(msl_unit *u, const msl_function *f)
{
	static const struct {
		const char *word, *why;
	} no[] = {
		{"new", "new: there is no heap in a kernel"},
		{"delete", "delete: there is no heap in a kernel"},
		{"static", "static local: there is no state between calls"},
		{"goto", "goto"},
		{"double", "double: Metal has none"},
		{"asm", "inline assembly"},
		{"throw", "exceptions"},
	};
	unsigned long bytes = 0;

	for (size_t i = f->body; i < f->body_end; i++) {
		const msl_token *t = &u->tok[i];

		for (size_t k = 0; k < sizeof no / sizeof *no; k++)
			if (t->kind == MSL_WORD && msl_is(t, no[k].word))
				msl_refuse(u, t, "%.*s: not allowed: %s", (int)f->name.len,
				           f->name.ptr, no[k].why);
		if (bare_pointer(u, i))
			msl_refuse(u, t, "%.*s: pointer or reference without an address space",
			           (int)f->name.len, f->name.ptr);
		if (msl_is(t, "threadgroup") && starts_statement(&u->tok[i - 1]))
			group_variable(u, i, &bytes);
	}
	if (bytes > MLA_KERNEL_GROUP_BYTES)
		msl_refuse(u, &u->tok[f->at],
		           "%.*s: %lu bytes of threadgroup memory, %d is the limit",
		           (int)f->name.len, f->name.ptr, bytes, MLA_KERNEL_GROUP_BYTES);
}

/* Does the body of f call something of g's name? Overloads count together. */
static bool calls(const msl_unit *u, const msl_function *f, const msl_function *g)
{
	for (size_t i = f->body; i < f->body_end; i++)
		if (msl_same(u->tok[i].text, g->name) &&
		    (msl_is(&u->tok[i + 1], "(") || msl_is(&u->tok[i + 1], "<")))
			return true;
	return false;
}

/* Transitive closure; a function that reaches its own name is recursive. */
static void check_recursion(msl_unit *u)
{
	size_t n = u->n_fn;
	bool *reach = mla_arena_array(u->arena, n * n + 1, sizeof *reach);

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			reach[i * n + j] = calls(u, &u->fn[i], &u->fn[j]);
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; reach[i * n + k] && j < n; j++)
				if (reach[k * n + j])
					reach[i * n + j] = true;
	for (size_t i = 0; i < n; i++)
		if (reach[i * n + i])
			msl_refuse(u, &u->tok[u->fn[i].at], "%.*s: recursion",
			           (int)u->fn[i].name.len, u->fn[i].name.ptr);
}

void msl_lint(msl_unit *u)
{
	for (size_t i = 0; i < u->n_fn; i++) {
		check_params(u, &u->fn[i]);
		check_body(u, &u->fn[i]);
	}
	check_recursion(u);
}
