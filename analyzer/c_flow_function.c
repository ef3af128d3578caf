/* Functions of the abstract execution: which one is called, and what it gets. */
#include "analyzer/c_flow.h"

#include "analyzer/str.h"

mla_c_entry *mla_c_find(const mla_c_flow *f, uint64_t id, mla_str name)
{
	mla_c_entry *found = NULL;

	uint32_t low = 0, high = id ? f->functions.n : 0;

	while (low < high) { /* sorted by id, active ones first */
		uint32_t mid = low + (high - low) / 2;

		if (f->functions.v[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	if (id && low < f->functions.n && f->functions.v[low].id == id)
		found = &f->functions.v[low];
	/* Where a header is missing, the name is all there is; two of a name are too many. */
	for (uint32_t i = 0; !id && !found && i < f->functions.n; i++)
		if (mla_str_eq(f->functions.v[i].node->name, name)) {
			for (uint32_t k = i + 1; k < f->functions.n; k++)
				if (mla_str_eq(f->functions.v[k].node->name, name))
					return NULL;
			found = &f->functions.v[i];
		}
	return found;
}

/* A call under a test hands over what the test comes to: `attend(x, true)`. What the function does
 * in the other case is then not done for this test. */
static void know_constant(const mla_c_flow *f, const mla_c_frame *fr, mla_cell *c)
{
	const mla_c_choice *only = c->value.choice.n == 1 ? c->value.choice.v : NULL;

	c->value.known = false;
	if (!only || only->n || only->entry || !f->guards.n || !c->id ||
	    mla_c_is_written(fr->function, c->id))
		return;
	c->value.known = true;
	c->value.constant = only->value;
}

static void bind_parameter(mla_c_flow *f, mla_c_frame *fr, const mla_node *parameter,
                           const mla_c_value *argument)
{
	mla_cell *c = mla_c_new_cell(f, parameter->c ? parameter->c->id : 0, parameter->name);
	uint32_t named = mla_c_tags_by_name(parameter);

	if (argument) {
		c->value = *argument;
		if (!c->value.cell)
			c->value.cell = c;
		if (!argument->tags && parameter->name.len > 1)
			c->value.tags = named;
		know_constant(f, fr, c);
	} else {
		c->value.tags = named;
		/* A short name of a row that is read, among latents. */
		if (!mla_c_is_integer(parameter) && !parameter->c->record &&
		    mla_str_is(parameter->name, "c") &&
		    mla_str_contains(mla_node_text(fr->module->text, parameter), "const"))
			c->value.tags |= MLA_C_LATENT;
	}
	mla_vec_push(&fr->cells, c);
}

mla_c_value mla_c_call_function(mla_c_flow *f, mla_c_frame *caller, const mla_node *function,
                                mla_module *module, const mla_c_value *arguments, uint32_t n)
{
	mla_c_frame fr = {.caller = function->kind == MLA_N_LAMBDA ? caller : NULL,
	                  .function = function,
	                  .module = module,
	                  .guards = f->guards.n};
	const mla_node *list = mla_kid(function, 0);
	uint32_t outer = f->scope;
	mla_module *caller_module = f->module;

	if (!mla_c_step(f, &fr, function) || !mla_c_has_room(f))
		return (mla_c_value){0};
	f->depth++;
	f->module = module;
	mla_c_enter_scope(f);
	for (uint32_t i = 0; list && i < list->n; i++)
		if (list->kid[i])
			bind_parameter(f, &fr, list->kid[i],
			               arguments && i < n ? &arguments[i] : NULL);
	mla_c_exec(f, &fr, mla_kid(function, 1));
	f->guards.n = fr.guards;
	f->module = caller_module;
	f->scope = outer;
	f->depth--;
	f->pruned = fr.pruned;
	mla_vec_free(&fr.cells);
	return fr.result;
}

void mla_c_flow_root(mla_c_flow *f, mla_c_entry *entry)
{
	entry->entered = true;
	f->steps = 0;
	mla_c_call_function(f, NULL, entry->node, entry->module, NULL, 0);
}
