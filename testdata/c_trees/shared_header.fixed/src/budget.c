#include "context.h"

int graph_nodes(const struct context *c, int n_tokens)
{
    int nodes = 64;

    if (c->settings.mla_mode > 1 && n_tokens > mla_max_absorbed_queries(c->sizes.kv_rank, c->sizes.nope, c->sizes.vdim)) /* expect: MLA002 mirror */
        nodes += 10 * c->sizes.n_head;
    return nodes;
}
