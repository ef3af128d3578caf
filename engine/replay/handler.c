/* try: exceptions of the program are caught by name; what is not understood is never caught. */
#include "engine/replay/machine.h"

/* Does `name` catch an exception of type `type`? The few built-in ones a model file names. */
static bool catches(mla_str name, mla_str type)
{
	static const struct {
		const char *base, *derived;
	} table[] = {{"LookupError", "KeyError"},
	             {"LookupError", "IndexError"},
	             {"ArithmeticError", "ZeroDivisionError"},
	             {"RuntimeError", "NotImplementedError"},
	             {"NameError", "UnboundLocalError"},
	             {"ImportError", "ModuleNotFoundError"}};

	if (mla_str_eq(name, type) || mla_str_is(name, "Exception") ||
	    mla_str_is(name, "BaseException"))
		return true;
	for (uint32_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (mla_str_is(name, table[i].base) && mla_str_is(type, table[i].derived))
			return true;
	return false;
}

static int handler_catches(bool *out, mla_machine *m, const mla_node *type)
{
	*out = !type;
	if (!type)
		return 0;
	if (type->kind == MLA_N_TUPLE) {
		for (uint32_t i = 0; i < type->n && !*out; i++) {
			if (type->kid[i]->kind != MLA_N_NAME)
				return mla_unsupported(m, "except of an expression");
			*out = catches(type->kid[i]->name, m->fault.type);
		}
		return 0;
	}
	if (type->kind != MLA_N_NAME)
		return mla_unsupported(m, "except of an expression");
	*out = catches(type->name, m->fault.type);
	return 0;
}

static int handle(bool *handled, mla_flow *flow, mla_machine *m, mla_environment *e,
                  const mla_node *n)
{
	int error = 0;

	*handled = false;
	for (uint32_t i = 1; i < n->n && error == 0 && !*handled; i++) {
		const mla_node *h = n->kid[i];

		if (h->kind != MLA_N_HANDLER)
			continue;
		if ((error = handler_catches(handled, m, mla_kid(h, 0))) < 0 || !*handled)
			continue;
		m->fault = (mla_fault){0};
		m->module = e->module;
		if (h->name.len)
			error = mla_name_set(m, e, h->name, mla_value_none);
		if (error == 0)
			error = mla_execute_block(flow, m, e, h->kid[1]);
	}
	return error;
}

int mla_execute_try(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n)
{
	uint32_t depth = m->depth, calls = m->calls;
	int error = mla_execute_block(flow, m, e, n->kid[0]);
	bool handled = false;

	if (error == MLA_ERAISE) {
		int other;

		m->depth = depth;
		m->calls = calls;
		other = handle(&handled, flow, m, e, n);
		if (handled || other < 0)
			error = other;
	}
	for (uint32_t i = 1; i < n->n; i++) {
		mla_flow last = *flow;
		mla_value returned = m->returned;
		const mla_node *part = n->kid[i];
		int other;

		if (part->kind == MLA_N_ELSE && error == 0 && !handled && *flow == MLA_FLOW_ON)
			error = mla_execute_block(flow, m, e, part->kid[0]);
		if (part->kind != MLA_N_FINALLY)
			continue;
		if (error < 0 && error != MLA_ERAISE)
			return error;
		if (error < 0)
			return mla_unsupported(m, "finally after an exception");
		last = *flow;
		returned = m->returned;
		if ((other = mla_execute_block(flow, m, e, part->kid[0])) < 0)
			return other;
		if (*flow == MLA_FLOW_ON) {
			*flow = last;
			m->returned = returned;
		}
	}
	return error;
}
