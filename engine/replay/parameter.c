/* What a parameter that no convention names must be: told from the linear layer it goes into. */
#include "engine/replay/machine.h"

#include "analyzer/str.h"

bool mla_parameter_width(int64_t *width, mla_machine *m, mla_value self, const mla_node *function,
                         mla_str name)
{
	mla_str own = mla_method_self(function);

	for (const mla_node *n = function; n; n = mla_node_next(n, function, false)) {
		const mla_node *callee = n->kind == MLA_N_CALL && n->n == 2 ? n->kid[0] : NULL;
		mla_value layer, weight;
		bool found;

		if (!callee || callee->kind != MLA_N_ATTRIBUTE ||
		    !mla_str_eq(callee->kid[0]->name, own) || n->kid[1]->kind != MLA_N_NAME ||
		    !mla_str_eq(n->kid[1]->name, name))
			continue;
		if (mla_attribute_find(&found, &layer, m, self, callee->name) < 0 || !found ||
		    layer.kind != MLA_V_LAYER ||
		    mla_attribute_find(&found, &weight, m, layer, mla_str_c("weight")) < 0 ||
		    !found || weight.kind != MLA_V_TENSOR || weight.t->ndim != 2)
			continue;
		*width = weight.t->shape[1];
		return true;
	}
	return false;
}
