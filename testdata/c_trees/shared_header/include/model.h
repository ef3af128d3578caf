#ifndef MODEL_H
#define MODEL_H

/* What a checkpoint says of its layers. */
struct model_sizes {
    int n_head;
    int kv_rank, nope, vdim;
};

struct settings {
    int mla_mode;
};

#endif
