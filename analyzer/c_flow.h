/*
 * Abstract execution of C functions: values are what a pointer or graph node derives from (see
 * c_names.h), both arms of every test are walked, calls are followed into every source of the
 * scan, and what is done in an arm is recorded. Private to c_flow*.c and c_facts.c.
 */
#ifndef MLA_ANALYZER_C_FLOW_H
#define MLA_ANALYZER_C_FLOW_H

#include "analyzer/c_names.h"
#include "analyzer/c_source.h"
#include "analyzer/facts.h"
#include "analyzer/vec.h"

typedef struct {
	mla_test *test;
	bool small_when_true; /* of the whole expression */
	bool sure_if_true,
		sure_if_false; /* the expression's outcome leaves no doubt of the test's */
} mla_c_truth;

/* A list that only grows by copying: values share it. */
typedef struct {
	const mla_c_truth *v;
	uint32_t n;
} mla_c_truths;

typedef struct mla_cell mla_cell;
typedef struct mla_c_guard mla_c_guard;
typedef struct mla_c_entry mla_c_entry;

/* A constant or a function that a value may be, and the guards that were in force when it became
 * that. */
typedef struct {
	int64_t value;
	mla_c_entry *entry; /* of the function; NULL: a constant */
	const mla_c_guard *guard;
	uint32_t n;
} mla_c_choice;

typedef struct {
	const mla_c_choice *v;
	uint32_t n;
} mla_c_choices;

typedef struct {
	uint32_t tags;
	mla_cell *cell; /* the storage it is or points into; NULL: none that is known */
	mla_c_truths truth;
	mla_c_choices choice;
	bool known; /* a constant for certain: a parameter that is never written to */
	int64_t constant;
	const mla_node *lambda;
	const mla_node *length_test; /* of a condition: the cached length against a constant */
} mla_c_value;

/* One variable, field or global, with all its elements. */
struct mla_cell {
	uint64_t id;
	mla_str name;
	mla_c_value value;
	uint32_t scope; /* where it was written last */
	bool stack;     /* an array of two constant dimensions on the stack */
	bool weight; /* a field or global with the name of a weight: it stays what it is called */
};

/* The guards of a goto, on its way to the target. Of several, nothing is known. */
typedef struct {
	mla_str target;
	const mla_c_guard *guard;
	uint32_t n, count;
} mla_c_jump;

typedef struct mla_c_frame {
	struct mla_c_frame *caller;
	const mla_node *function; /* FUNCTION or LAMBDA */
	mla_module *module;
	MLA_VEC(mla_cell *) cells;
	mla_c_value result;
	mla_c_jump jump; /* the last one forward whose target was not met yet */
	bool pruned;     /* an arm was left out, as a constant rules it out in this call */
	bool may_hold;   /* a return so far may have given something true */
	uint32_t guards; /* how many were in force when it was entered */
} mla_c_frame;

struct mla_c_guard {
	mla_test *test;
	bool small;
	bool sure;      /* no other outcome leads here */
	uint32_t group; /* the index of the first guard of its condition */
};

/* A condition on the cached length, asked together with a test. */
typedef struct {
	const mla_test *test;
	mla_length_test length;
} mla_c_length_of;

typedef enum { MLA_C_UNKNOWN, MLA_C_NO, MLA_C_YES } mla_c_answer;

struct mla_c_entry {
	uint64_t id;
	const mla_node *node; /* FUNCTION with a body */
	mla_module *module;
	bool inactive; /* only in code that the preprocessor leaves out */
	bool entered, called;
	bool busy; /* it is being run: a recursion ends there */
	mla_c_answer makes_node;
};

typedef struct {
	mla_arena *arena;
	MLA_VEC(mla_c_entry) functions;
	MLA_VEC(mla_cell *) globals; /* and fields: one for all objects */
	MLA_VEC(mla_test *) tests;
	MLA_VEC(mla_c_guard) guards;
	bool pruned;      /* of the function that was left last */
	uint64_t records; /* events of attention so far: all but those of layout */
	MLA_VEC(mla_c_length_of) lengths;
	MLA_VEC(uint32_t) scopes; /* of each, the one around it */
	mla_module *module;       /* of the function that is run */
	uint32_t scope;
	uint32_t depth, nesting;
	uint32_t steps, all_steps; /* of the function entered, and of all */
	const mla_node *limited;
	mla_module *limited_module;
} mla_c_flow;

/* c_flow_function.c */
void mla_c_flow_root(mla_c_flow *f, mla_c_entry *entry);
mla_c_value mla_c_call_function(mla_c_flow *f, mla_c_frame *caller, const mla_node *function,
                                mla_module *module, const mla_c_value *arguments, uint32_t n);
mla_c_entry *mla_c_find(const mla_c_flow *f, uint64_t id, mla_str name);

/* c_flow.c */
mla_cell *mla_c_new_cell(mla_c_flow *f, uint64_t id, mla_str name);
uint32_t mla_c_tags_by_name(const mla_node *n);
uint32_t mla_c_enter_scope(mla_c_flow *f); /* the one outside */
mla_cell *mla_c_cell(mla_c_flow *f, mla_c_frame *fr, const mla_node *n);
void mla_c_declare(mla_c_flow *f, mla_c_frame *fr, const mla_node *n);
void mla_c_store(mla_c_flow *f, mla_c_frame *fr, const mla_node *target, mla_c_value v,
                 bool literal);
void mla_c_add_tags(mla_cell *c, uint32_t tags);
bool mla_c_exec(mla_c_flow *f, mla_c_frame *fr, const mla_node *n); /* control leaves it */
bool mla_c_is_statement(const mla_node *n); /* one that mla_c_exec() runs by parts */
bool mla_c_step(mla_c_flow *f, const mla_c_frame *fr, const mla_node *n);
bool mla_c_has_room(const mla_c_flow *f); /* for a call: else it is cut short */

/* c_flow_guard.c */
void mla_c_record(mla_c_flow *f, mla_event event, const mla_node *at);
uint32_t mla_c_push(mla_c_flow *f, mla_c_truths truth, bool holds);
void mla_c_pop(mla_c_flow *f, uint32_t mark);
mla_c_truths mla_c_join(mla_c_flow *f, mla_c_truths a, mla_c_truths b);
mla_c_truths mla_c_negate(mla_c_flow *f, mla_c_truths truth);

/* The same with less known of the tests where the whole holds, or where it does not. */
mla_c_truths mla_c_doubt(mla_c_flow *f, mla_c_truths truth, bool if_true, bool if_false);

/* Guards of this frame as truths: what a constant says that is stored or returned under them. */
mla_c_truths mla_c_guard_truth(mla_c_flow *f, const mla_c_frame *fr, bool value, bool sure);

/* What the frame returned before with what it returns now, which may be something true. */
mla_c_truths mla_c_join_returned(mla_c_flow *f, mla_c_frame *fr, mla_c_truths truth, bool may_hold);

/* c_flow_choice.c */
bool mla_c_literal(int64_t *value, const mla_node *n);

/* Those of a value; of a constant or a function that `n` names, itself. */
mla_c_choices mla_c_choices_of(mla_c_flow *f, mla_c_value v, const mla_node *n);
mla_c_choices mla_c_under(mla_c_flow *f, mla_c_choices choices, uint32_t mark); /* guards since */
mla_c_choices mla_c_either(mla_c_flow *f, mla_c_choices a, mla_c_choices b);

/* What is known of tests where the choice is `value`, or has bits of it; or is none of several. */
mla_c_truths mla_c_chosen(mla_c_flow *f, mla_c_choices choices, int64_t value, bool bits);
mla_c_truths mla_c_chosen_none(mla_c_flow *f, mla_c_choices choices, const int64_t *value,
                               uint32_t n);
mla_c_truths mla_c_chosen_at(mla_c_flow *f, mla_c_choices choices, uint32_t i); /* the i-th */
bool mla_c_is_written(const mla_node *function, uint64_t id);

/* c_flow_test.c */
mla_test *mla_c_test(mla_c_flow *f, const mla_c_frame *fr, const mla_node *node);
mla_c_value mla_c_compare(mla_c_flow *f, mla_c_frame *fr, const mla_node *n);
void mla_c_switch(mla_c_flow *f, mla_c_frame *fr, const mla_node *n);

/* c_flow_count.c: does `id` bound a loop over queries, here or `levels` calls down? */
bool mla_c_bounds_queries(mla_c_flow *f, const mla_node *function, uint64_t id, uint32_t levels);

/* c_flow_node.c */
bool mla_c_is_link(const mla_node *n); /* x->src: it leads to another object of the same kind */

/* Does the called function make a node of a graph out of others, so that its name says it all? */
bool mla_c_makes_node(const mla_c_flow *f, const mla_node *call, mla_c_entry *entry);

/* c_flow_expr.c */
mla_c_value mla_c_eval(mla_c_flow *f, mla_c_frame *fr, const mla_node *n);

/* c_flow_call.c */
mla_c_value mla_c_call(mla_c_flow *f, mla_c_frame *fr, const mla_node *n);
uint32_t mla_c_product(mla_c_flow *f, const mla_node *at, uint32_t a, uint32_t b);

#endif
