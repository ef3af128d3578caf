/*
 * Abstract execution of one method: values are tags that say what a tensor derives from, both arms
 * of every test are walked, and what is done in them is recorded. Private to flow*.c and facts.c.
 */
#ifndef MLA_ANALYZER_FLOW_H
#define MLA_ANALYZER_FLOW_H

#include "analyzer/facts.h"
#include "analyzer/vec.h"

enum {
	MLA_TAG_INPUT = 1 << 0,    /* derives from this step's hidden states */
	MLA_TAG_CACHED = 1 << 1,   /* holds all cached positions */
	MLA_TAG_FOLDED = 1 << 2,   /* query in latent space */
	MLA_TAG_EXPANDED = 1 << 3, /* keys or values out of an up-projection */
	MLA_TAG_SCORES = 1 << 4,   /* query times key */
	MLA_TAG_PROBS = 1 << 5,    /* softmax of scores */
	MLA_TAG_ATTENDED = 1 << 6, /* attention output */
	MLA_TAG_CHOSEN = 1 << 7,   /* indices of a top-k */
	MLA_TAG_MASK = 1 << 8,
	MLA_TAG_CACHE = 1 << 9,  /* a cache object or past state */
	MLA_TAG_COUNT = 1 << 10, /* the number of new queries, an integer */
	/* Of numbers: what they are made of. */
	MLA_TAG_SIZE = 1 << 11,     /* the latent sizes r, n, v */
	MLA_TAG_LENGTH = 1 << 12,   /* a length of what is cached */
	MLA_TAG_QUANTITY = 1 << 13, /* something else that the model's configuration says */
	MLA_TAG_MADE_OF = MLA_TAG_SIZE | MLA_TAG_LENGTH | MLA_TAG_QUANTITY,
};

typedef enum {
	MLA_V_ANY,      /* a tensor, or anything else */
	MLA_V_NONE,     /* the constant None */
	MLA_V_CONSTANT, /* True, False or a string */
	MLA_V_INT,      /* an integer, known or not */
	MLA_V_TRUTH,    /* made of tests */
	MLA_V_CHOICE,   /* one constant, or function, where a test holds, else another one */
	MLA_V_TUPLE,
	MLA_V_SHAPE,    /* the shape of a tensor with these tags and this rank */
	MLA_V_SELF,     /* the layer */
	MLA_V_UP,       /* an up-projection, its weight or a slice of it */
	MLA_V_FUNCTION, /* a function or lambda, bound to self or not */
} mla_value_kind;

typedef struct mla_value mla_value;
typedef struct mla_env mla_env;

typedef struct {
	mla_test *test;
	bool small_when_true; /* of the whole expression */
	/* Other operands may be what made the whole true, or false. */
	bool open_if_true, open_if_false;
} mla_truth;

struct mla_value {
	uint8_t kind;      /* mla_value_kind */
	uint8_t rank;      /* dimensions of a tensor or shape; 0 unknown */
	bool heads_last;   /* rank 4: [B, L, H, D] instead of [B, H, L, D] */
	bool number_known; /* INT */
	bool bound;        /* FUNCTION: self is supplied */
	bool given;        /* a mask as the caller handed it in: an array, None or a string */
	uint32_t tags;
	int64_t number;
	mla_up_role role;
	const mla_value *const
		*element;       /* TUPLE; of a CHOICE what it is when the test holds, and else */
	const mla_value *test;  /* CHOICE: a TRUTH */
	mla_str text;           /* CONSTANT: as written, a string without its quotes */
	const mla_truth *truth; /* TRUTH */
	const mla_node *length_test; /* ANY: a comparison of a cached length */
	uint32_t n;
	const mla_node *function;
	mla_module *module;
	mla_env *closure;
};

typedef struct {
	mla_str name;
	const mla_value *value;
} mla_variable;

struct mla_env {
	mla_env *outer; /* of an enclosing function; NULL: module level */
	mla_variable *v;
	uint32_t n, cap;
};

typedef struct {
	mla_test *test;
	bool small;
	bool open; /* the other arm's counts may come here too */
} mla_guard;

enum { MLA_EARLY_MAX = 4 };

/* One function under execution. */
typedef struct mla_frame {
	const struct mla_frame *caller;
	const mla_node *function;
	mla_module *module;
	mla_env *env;
	const mla_value *result; /* joined over the returns so far; NULL before the first */
	/* What was returned under a test that the returns after it do not stand under. */
	struct {
		const mla_value *test, *result;
		bool holds;
	} early[MLA_EARLY_MAX];
	uint32_t earlier;
} mla_frame;

typedef struct {
	mla_arena *arena;
	mla_project *project;
	MLA_VEC(mla_test *) tests;
	MLA_VEC(const mla_node *) entered; /* functions run so far */
	/* of the current root */
	mla_lineage lineage;
	mla_constructors constructors;
	const mla_latent *latent; /* NULL: the class of self is not known */
	mla_env *settings; /* what the constructors left on self, as far as it was asked for */
	MLA_VEC(mla_guard) guards;
	MLA_VEC(mla_test *) touched; /* tests met under this root */
	mla_env *attributes;         /* what methods stored on self */
	const mla_node *cached, *cached_in;
	bool cache_updated, sparse, gathers;
	bool array_mask;     /* the mask is used as an array whatever the tests say */
	uint32_t mask_typed; /* conditions in force that ask what kind of thing the mask is */
	uint32_t depth, steps, total_steps; /* of this root; of all */
	const mla_node *limited;
} mla_flow;

/* Runs `function` as the entry point. `self` says whether its first parameter is the layer. */
void mla_flow_root(mla_flow *f, mla_module *module, const mla_node *function, bool self);

/* Runs a function with these arguments; its joined result. */
const mla_value *mla_flow_run(mla_flow *f, const mla_frame *caller, const mla_value *function,
                              mla_env *arguments);

/* flow.c */
void mla_flow_gather(mla_flow *f, const mla_node *at); /* cached rows by indices */
void mla_flow_record(mla_flow *f, mla_event event, const mla_node *at);
uint32_t mla_flow_push(mla_flow *f, const mla_value *test, bool holds); /* the mark to pop to */
void mla_flow_pop(mla_flow *f, uint32_t mark);
uint32_t mla_flow_progress(const mla_value *test); /* things of a decision seen under it so far */
mla_env *mla_env_new(mla_flow *f, mla_env *outer);
mla_env *mla_env_copy(mla_flow *f, const mla_env *e);
const mla_value *mla_env_get(const mla_env *e, mla_str name);
void mla_env_set(mla_flow *f, mla_env *e, mla_str name, const mla_value *v);
void mla_flow_assign(mla_flow *f, mla_frame *fr, const mla_node *target, const mla_value *v);
bool mla_flow_limit(mla_flow *f, const mla_node *at);

/* flow_mask.c */
/* Changing what holds a mask or scores is a treatment of the mask, whichever arm does it. */
void mla_flow_mask_assigned(mla_flow *f, const mla_frame *fr, const mla_node *target,
                            const mla_value *v);
/* `v` is used at `at` as only an array can be. */
void mla_flow_array_use(mla_flow *f, const mla_value *v, const mla_node *at);
/* The name that the condition asks to be a string, or NULL: what is left of it is an array. */
const mla_node *mla_flow_string_test(const mla_frame *fr, const mla_node *condition);
/* Does the condition ask in another way what kind of thing a mask is? */
bool mla_flow_asks_kind(const mla_frame *fr, const mla_node *condition);
/* The same value, and no string. */
const mla_value *mla_value_not_string(mla_flow *f, const mla_value *v);
/* Where the arm for one query needs an array and the other one would take a string; or NULL. */
const mla_node *mla_flow_needs_array(const mla_test *t);
/* Is every mask that this module makes made as an array? */
bool mla_flow_makes_array_masks(mla_project *project, mla_module *m);

/* flow_value.c */
mla_value *mla_value_new(mla_flow *f, mla_value_kind kind, uint32_t tags);
const mla_value *mla_value_any(mla_flow *f, uint32_t tags);
/* A function or lambda that sees the names of the frame it is written in. */
const mla_value *mla_value_function(mla_flow *f, mla_frame *fr, const mla_node *n);
const mla_value *mla_value_join(mla_flow *f, const mla_value *a, const mla_value *b);
const mla_value *mla_value_tuple(mla_flow *f, const mla_value *const *v, uint32_t n);
bool mla_value_latent(const mla_value *v);   /* query, keys, values or output of attention */
uint32_t mla_value_tags(const mla_value *v); /* a tuple's elements included */
const mla_value *mla_value_axis(mla_flow *f, const mla_value *shape, int axis, uint32_t rank);

/* flow_test.c */
const mla_value *mla_flow_compare(mla_flow *f, mla_frame *fr, const mla_node *n,
                                  const mla_value *left, const mla_value *right);
/* `1 <= L <= 8`, a chain of the three values. */
const mla_value *mla_flow_between(mla_flow *f, mla_frame *fr, const mla_node *n,
                                  const mla_value *const v[3]);
const mla_value *mla_flow_pattern(mla_flow *f, mla_frame *fr, const mla_node *pattern,
                                  const mla_value *subject);
/* A case that every value comes to: no test, and no condition behind it. */
bool mla_pattern_takes_all(const mla_node *c);
const mla_value *mla_flow_not(mla_flow *f, const mla_value *v);
/* The outcome of these tests is used at `at` for something that is no arm of a decision. */
void mla_flow_other_use(const mla_value *v, const mla_node *at);
const mla_value *mla_flow_both(mla_flow *f, const mla_value *a, const mla_value *b);
/* `a and b`, `a or b` of anything; at least one of them is made of tests. */
const mla_value *mla_flow_logic(mla_flow *f, const mla_node *n, const mla_value *a,
                                const mla_value *b);

/* flow_choice.c */
const mla_value *mla_value_constant(mla_flow *f, mla_str text);
bool mla_value_same_constant(const mla_value *a, const mla_value *b);
/* What is `a` when the test holds and else `b`; NULL: no two constants or functions. */
const mla_value *mla_flow_choose(mla_flow *f, const mla_value *test, const mla_value *a,
                                 const mla_value *b);
/* A choice as a condition is the test, where that follows. */
const mla_value *mla_flow_condition(mla_flow *f, const mla_value *v);
/* ==, is, in and their opposites between a choice and constants, as a test; NULL: they are none. */
const mla_value *mla_flow_equal(mla_flow *f, mla_op op, const mla_value *a, const mla_value *b);

/* flow_expr.c: never NULL */
const mla_value *mla_flow_eval(mla_flow *f, mla_frame *fr, const mla_node *n);

/* flow_setting.c */
/* self.NAME as the constructors or the class body leave it, as a number and what it is made of. */
const mla_value *mla_flow_setting(mla_flow *f, mla_str name);
/* CLASS.NAME where that is a number in a class body; else NULL. */
const mla_value *mla_flow_class_constant(mla_flow *f, mla_frame *fr, const mla_node *n);
/* Is it what this class, or everybody, calls one of the latent sizes r, n and v? */
bool mla_flow_is_size(const mla_flow *f, mla_str name);

/* flow_call.c */
const mla_value *mla_flow_call(mla_flow *f, mla_frame *fr, const mla_node *n);
const mla_value *mla_flow_attribute(mla_flow *f, mla_frame *fr, const mla_node *n);

/* The evaluated arguments of a call; `object` of a method call comes first. */
enum { MLA_ARGUMENTS_MAX = 16 };
typedef struct {
	const mla_value *v[MLA_ARGUMENTS_MAX];
	const mla_node *node[MLA_ARGUMENTS_MAX]; /* NULL for parts of a starred argument */
	mla_str keyword[MLA_ARGUMENTS_MAX];      /* empty: positional */
	uint32_t n;
	bool open; /* a starred argument of unknown length, or more than fit */
} mla_arguments;

const mla_value *mla_arguments_get(const mla_arguments *a, uint32_t position, const char *keyword);
uint32_t mla_arguments_tags(const mla_arguments *a);

/* flow_ops.c: what an operation does to roles */
const mla_value *mla_flow_apply(mla_flow *f, mla_frame *fr, const mla_node *at, const mla_value *up,
                                const mla_value *operand, const mla_node *operand_node,
                                bool module_call, bool transposed);
const mla_value *mla_flow_product(mla_flow *f, mla_frame *fr, const mla_node *at,
                                  const mla_value *a, const mla_value *b, const mla_node *an,
                                  const mla_node *bn);
const mla_value *mla_flow_attend(mla_flow *f, const mla_node *at, const mla_arguments *a,
                                 bool kernel);
const mla_value *mla_flow_cache_update(mla_flow *f, const mla_node *at, const mla_arguments *a);
const mla_value *mla_flow_subscript(mla_flow *f, mla_frame *fr, const mla_node *n);

/* flow_known.c: operations known by name. NULL: not one of them. */
const mla_value *mla_flow_known(mla_flow *f, mla_frame *fr, const mla_node *call, mla_str name,
                                const mla_arguments *a);

#endif
