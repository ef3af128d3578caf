/*
 * What the rules look at: tests of a query count, what happens in either arm of each, and the
 * attention sites they make up. Language-neutral: nothing here says whether the source is Python.
 */
#ifndef MLA_ANALYZER_FACTS_H
#define MLA_ANALYZER_FACTS_H

#include "analyzer/latent.h"
#include "analyzer/pool.h"
#include "analyzer/weights.h"

/* Things done under a test. The operand decides the role, not the spelling. */
typedef enum {
	MLA_EV_FOLD,           /* the query goes through the n -> r up-projection */
	MLA_EV_EXPAND,         /* the cached latent goes through an up-projection */
	MLA_EV_EXPAND_NEW,     /* an up-projection of the step's new latent rows only */
	MLA_EV_FOLLOWUP,       /* the attention output goes through r -> v */
	MLA_EV_ATTEND,         /* an attention call, or probabilities times values */
	MLA_EV_KERNEL,         /* attention by a function that is not a known general one */
	MLA_EV_GATHER,         /* cached rows are gathered by indices */
	MLA_EV_ONE_ROW,        /* one constant row is taken on the query axis */
	MLA_EV_MASK,           /* a mask is applied to scores or handed to an attention call */
	MLA_EV_MASK_ARRAY,     /* the caller's mask is used as only an array can be */
	MLA_EV_CACHE_EXPANDED, /* expanded keys or values are put into a cache */
	MLA_EV_GATHER_INSIDE,  /* a gather under another test of the query count in the arm */
	MLA_EV_LAYOUT,         /* axes are put in another order, or a copy made contiguous */
	MLA_EV_COUNT,
} mla_event;

typedef struct {
	uint32_t count[MLA_EV_COUNT];
	const mla_node *first[MLA_EV_COUNT];
	mla_module *in[MLA_EV_COUNT]; /* where that is; NULL: in the file of the test */
} mla_arm;

typedef enum {
	MLA_ROLE_NONE,
	MLA_ROLE_SELECT,   /* chooses absorbed or materialised */
	MLA_ROLE_FOLLOWUP, /* applies r -> v after the absorbed arm */
	MLA_ROLE_MIRROR,   /* a copy of the decision for another purpose: a node budget */
	MLA_ROLE_DROP,     /* drops weights: of findings, not of tests */
	MLA_ROLE_GATE,     /* lets a pool be extended: of findings, not of tests */
} mla_role;

/* Why a test of a query count stays as it is. */
typedef enum {
	MLA_KEPT_UNRELATED,
	MLA_KEPT_SPARSE_GATHER,     /* gathers one query's selection: widening is wrong */
	MLA_KEPT_KERNEL_CAPABILITY, /* a kernel or a shape that takes one query only */
	MLA_KEPT_EXPANDED_CACHE, /* expanded keys and values are cached: nothing is re-expanded */
	MLA_KEPT_ALREADY_WIDENED,
	MLA_KEPT_LAYOUT,
	MLA_KEPT_COUNT,
} mla_kept;

const char *mla_kept_name(mla_kept k); /* "sparse-gather" */
const char *mla_role_name(mla_role r); /* "select" */

/* What a query count is compared with. */
typedef enum {
	MLA_BOUND_CONSTANT, /* a number: a literal, a constant, an attribute that is set to one */
	MLA_BOUND_QUANTITY, /* another number of the model, such as the head count */
	MLA_BOUND_GEOMETRY, /* made of the latent sizes */
	MLA_BOUND_CACHED,   /* made of the latent sizes and the cached length */
	MLA_BOUND_UNKNOWN,
} mla_bound_kind;

typedef struct mla_site mla_site;
typedef struct mla_test mla_test;

/* A comparison of a query count with a bound. */
struct mla_test {
	mla_module *module;
	const mla_node *node;    /* COMPARE, or the pattern of a CASE */
	const mla_node *count;   /* the operand that is the query count; NULL for a pattern */
	const mla_node *against; /* the other operand */
	const mla_node *function;
	mla_op op; /* with the count on the left */
	mla_bound_kind bound;
	int64_t limit;         /* the largest count on the small side of a constant */
	bool small_when_true;  /* the arm for few queries is the one taken when the test holds */
	const mla_test *half;  /* C: the test that has the other arm, in an `if` of its own */
	const mla_test *wider; /* a test with a larger bound in the same condition, or NULL */
	mla_str self;          /* the variable that is the layer where the test is made; or empty */
	/* A comparison beside it that lets many queries take their arm only while the cache is
	 * short. */
	const mla_node *short_cache;
	const mla_node *other_use; /* where its outcome serves something besides the decision */
	mla_arm small, large;
	mla_role role;
	mla_kept kept;  /* when role is MLA_ROLE_NONE, or no rule has anything to say of it */
	mla_site *site; /* when role is not MLA_ROLE_NONE */
};

/* Reasons why a site can be reported but not patched. */
typedef enum {
	MLA_REFUSE_NOTHING,
	MLA_REFUSE_GATHER_AND_ABSORB, /* one test gathers by top-k and absorbs */
	MLA_REFUSE_ONE_ROW,           /* the absorbed arm reads one query's row */
	MLA_REFUSE_MASK,              /* the arms treat the mask differently */
	MLA_REFUSE_MASK_TEXT,         /* only the absorbed arm needs the mask to be an array */
	MLA_REFUSE_NO_FOLLOWUP,       /* the output of the absorbed arm is never projected back */
	MLA_REFUSE_NO_SIZES,          /* r, n or v not found */
	MLA_REFUSE_BOUND_AGAIN,       /* the count's variable is assigned between the tests */
	MLA_REFUSE_PATTERN,           /* a case pattern cannot hold a threshold */
	MLA_REFUSE_OTHER_USE,         /* the flag or predicate decides something else as well */
	MLA_REFUSE_NO_LAYER,          /* the layer is not at hand where the test is made */
	MLA_REFUSE_SHARED,            /* the test is in a function that others may call */
	MLA_REFUSE_LATENTS,           /* the class has several latents of different sizes */
	MLA_REFUSE_LIMIT,             /* the method was too long or too deep to follow */
	MLA_REFUSE_SYNTAX,            /* the source around it does not parse */
	MLA_REFUSE_MACRO,             /* the comparison is in the body of a macro */
	MLA_REFUSE_INACTIVE,          /* the preprocessor leaves the test out */
	MLA_REFUSE_SCOPE,             /* r, n or v cannot be written where a test is made */
} mla_refusal;

/* A condition on the cached length that is asked together with a decision. */
typedef struct {
	mla_module *module;
	const mla_node *node; /* COMPARE */
} mla_length_test;

/* More classes than run one method in any file; a site with more is refused. */
enum { MLA_HEIRS_MAX = 16 };

/* One decision: the tests that select the path and those that follow it up. */
struct mla_site {
	mla_module *module;       /* of the method that was entered */
	const mla_node *function; /* that method */
	mla_class owner;          /* the class it was entered for; node NULL for a free function */
	mla_class heir[MLA_HEIRS_MAX]; /* other classes of these files that run the same method */
	uint32_t heir_count;
	mla_str symbol; /* "Attention.__call__" */
	mla_latent latent;
	const mla_test **test; /* in source order; may lie in several modules */
	uint32_t test_count;
	const mla_length_test *length; /* it stays as it is: a limit of its own */
	uint32_t length_count;
	const mla_node
		*cached; /* the operand of the first expansion: the latent of all positions */
	const mla_node *cached_in; /* the function it stands in */
	bool sparse;               /* rows are chosen by a top-k before attention */
	bool top_k;                /* the absorbed arm may attend to chosen rows only */
	bool gathers;              /* and gathered for several queries too, not only for one */
	mla_refusal refusal;
	const mla_node *refusal_at;
	mla_module *refusal_module;
};

/* A class of this module that runs a decision of another one: an inherited method. */
typedef struct {
	const mla_node *function;
	mla_class owner;
} mla_heir;

typedef struct {
	mla_module *module;
	const mla_heir *heir;
	uint32_t heir_count;
	mla_test *const *test; /* of this module, in source order */
	uint32_t test_count;
	mla_site *const *site; /* those with a test in this module */
	uint32_t site_count;
	mla_dropped_list dropped;
	mla_pools pools;
	const mla_node
		*limited; /* where an analysis limit was hit, or NULL: some tests may be missed */
} mla_facts;

/* Sets role and kept from what is done in either arm. */
void mla_test_classify(mla_test *t);

/* Is the bound as it should be, or beyond judgement: latent sizes, or not known? */
bool mla_test_is_widened(const mla_test *t);

/* Notes that instances of `c` run the site's method too. Its own class and repetitions are ignored.
 */
void mla_site_add_heir(mla_site *s, mla_class c);

/*
 * Facts and everything they point to live in `arena` and in the project's modules. Without
 * `all_tests`, methods that cannot hold a decision are not entered, and their tests are missing.
 */
int mla_facts_build(mla_facts *out, mla_arena *arena, mla_project *project,
                    const mla_settings *settings, mla_module *module, bool all_tests);

#endif
