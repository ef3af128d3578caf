/*
 * The state of one replay and what every part of it uses: faults, limits, memory, names, and the
 * entry points of the parts. One machine serves one thread, one project and one engine.
 *
 * Every function returns 0 or a negative code with the fault set: the program raised (MLA_ERAISE,
 * an exception of the program at a line of it), something in it is not understood (MLA_EPARSE), or
 * a limit was hit (MLA_ELIMIT). The latter two end the replay whatever the program says.
 */
#ifndef MLA_ENGINE_REPLAY_MACHINE_H
#define MLA_ENGINE_REPLAY_MACHINE_H

#include "analyzer/vec.h"
#include "engine/random.h"
#include "engine/replay/limits.h"
#include "engine/replay/replay.h"
#include "engine/replay/value.h"

typedef struct {
	mla_module *module;
	mla_str name;
	mla_value value;
	bool ready; /* false while it is being evaluated */
} mla_global;

/* Names a function binds, found once. */
typedef struct {
	const mla_node *node;
	mla_str *name;
	uint8_t *outer;
	uint32_t n;
} mla_locals;

typedef struct {
	const mla_node *node;
	const mla_environment *closure;
	mla_replay_class *class;
} mla_class_entry;

/* What an attribute held before the call under way: tensors of a call die with it. */
typedef struct {
	mla_dictionary *of;
	mla_str name;
	mla_value old; /* UNBOUND: there was none */
} mla_change_note;

/* Rows that a cache held before a call: drawn once, and the same ones in every run. */
typedef struct {
	uint64_t place;
	uint32_t ndim;
	int64_t shape[MLA_DIMS];
	mla_dtype dtype;
} mla_drawn_rows;

struct mla_machine {
	mla_replay_options options;
	mla_arena *arena;
	mla_engine *engine;
	uint64_t steps;
	size_t used;
	uint32_t depth, calls;
	mla_module *module; /* where it is */
	const mla_node *at;
	mla_fault fault;
	bool torch;        /* the program speaks PyTorch: split by sizes, transpose of two axes */
	bool constructing; /* weights are drawn */
	uint64_t drawn;
	mla_value config;      /* the one the constructor was given; UNBOUND: none */
	mla_value input, mask; /* of the last call */
	uint32_t runs;         /* calls made so far */
	mla_run *run;          /* of the call under way; NULL while constructing */
	MLA_VEC(mla_global) globals;
	MLA_VEC(mla_locals) locals;
	MLA_VEC(mla_class_entry) classes;
	MLA_VEC(mla_choice) choices;
	MLA_VEC(mla_str) assumed;
	MLA_VEC(mla_drawn_rows) rows; /* of kept[i] */
	MLA_VEC(mla_tensor *) kept;
	MLA_VEC(mla_change_note) journal;
	MLA_VEC(const mla_tensor *) stale; /* changed in place under another name */
	mla_value returned;                /* by the statement that returned */
	mla_value caught;                  /* for a bare raise */
};

/* Faults. Each returns its code. */
int mla_raise(mla_machine *m, const char *type, const char *fmt, ...) MLA_PRINTF(3, 4);
int mla_unsupported(mla_machine *m, const char *fmt, ...) MLA_PRINTF(2, 3);
int mla_limit(mla_machine *m, const char *fmt, ...) MLA_PRINTF(2, 3);
/* Of an engine operation; 0 stays 0. */
int mla_engine_fault(mla_machine *m, int error);

/* One step at `n`, one level deeper; every success is followed by mla_leave(). */
int mla_enter(mla_machine *m, const mla_node *n);
void mla_leave(mla_machine *m);

void *mla_machine_alloc(mla_machine *m, size_t count, size_t size);
mla_str mla_machine_format(mla_machine *m, const char *fmt, ...) MLA_PRINTF(2, 3);

/* sequences and dictionaries: container.c */
mla_value mla_sequence_new(mla_machine *m, mla_value_kind kind, uint32_t room);
int mla_sequence_push(mla_machine *m, mla_sequence *s, mla_value v);
mla_value mla_dictionary_new(mla_machine *m);
int mla_dictionary_set(mla_machine *m, mla_dictionary *d, mla_value key, mla_value value);
bool mla_dictionary_get(mla_value *out, const mla_dictionary *d, mla_value key);
/* A container of the constructor may not be changed by a call. */
int mla_check_own(mla_machine *m, uint32_t born);
/* Sets an attribute, and notes what it was. */
int mla_keep(mla_machine *m, mla_dictionary *d, mla_str name, mla_value v);
bool mla_dictionary_name(mla_value *out, const mla_dictionary *d, mla_str name);
/* All elements of an iterable, in order, as a new list. */
int mla_iterate(mla_value *list, mla_machine *m, mla_value v);
int mla_truth(bool *out, mla_machine *m, mla_value v);
int mla_contains(bool *out, mla_machine *m, mla_value item, mla_value in);
/* Leaves each element of a new SET once, in the order of their first places. */
int mla_set_unique(mla_machine *m, mla_value set);
/* a - b, a & b, a | b, a ^ b of sets */
int mla_operate_sets(mla_value *out, mla_machine *m, mla_op op, mla_value a, mla_value b);
int mla_container_method(bool *known, mla_value *out, mla_machine *m, mla_value object,
                         mla_str name);

/* names.c */
mla_environment *mla_environment_new(mla_machine *m, mla_environment *parent, mla_module *module,
                                     const mla_function *f);
void mla_environment_bind(mla_machine *m, mla_environment *e, mla_str name, mla_value v);
const mla_locals *mla_locals_of(mla_machine *m, const mla_node *function);
int mla_name_get(mla_value *out, mla_machine *m, mla_environment *e, mla_str name);
int mla_name_set(mla_machine *m, mla_environment *e, mla_str name, mla_value v);
/* Arrays are changed in place by making another one; whoever still has the old one may not use it.
 */
void mla_outdate(mla_machine *m, mla_value old);
int mla_check_fresh(mla_machine *m, mla_value v);
int mla_global_get(bool *found, mla_value *out, mla_machine *m, mla_module *module, mla_str name);
int mla_import(mla_machine *m, mla_environment *e, const mla_node *statement);

/* expression.c, compare.c */
int mla_eval(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n);
int mla_eval_test(bool *out, mla_machine *m, mla_environment *e, const mla_node *n);
int mla_eval_string(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n);
int mla_eval_comprehension(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n);
int mla_eval_compare(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n);
int mla_eval_chain(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n);
/* What the site's decisions say about `outcome` at `n`: recorded, and overridden when forced. */
bool mla_decide(mla_machine *m, const mla_node *n, bool outcome);

/* operators.c */
int mla_operate(mla_value *out, mla_machine *m, mla_op op, mla_value a, mla_value b);
int mla_operate_unary(mla_value *out, mla_machine *m, mla_op op, mla_value a);
int mla_compare_values(mla_value *out, mla_machine *m, mla_op op, mla_value a, mla_value b);
/* A number as a tensor without dimensions, a tensor as it is. */
int mla_as_tensor(mla_value *out, mla_machine *m, mla_value v);

/* subscript.c */
int mla_subscript(mla_value *out, mla_machine *m, mla_value object, mla_value index);
int mla_subscript_set(mla_value *changed, mla_machine *m, mla_value object, mla_value index,
                      mla_value v);
int mla_tensor_subscript(mla_value *out, mla_machine *m, mla_value t, mla_value index);
int mla_tensor_subscript_set(mla_value *out, mla_machine *m, mla_value t, mla_value index,
                             mla_value v);
int mla_eval_index(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *subscript);

/* statement.c */
typedef enum { MLA_FLOW_ON, MLA_FLOW_RETURN, MLA_FLOW_BREAK, MLA_FLOW_CONTINUE } mla_flow;
int mla_execute(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n);
int mla_execute_block(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n);
int mla_execute_try(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n);
int mla_execute_match(mla_flow *flow, mla_machine *m, mla_environment *e, const mla_node *n);
int mla_assign(mla_machine *m, mla_environment *e, const mla_node *target, mla_value v);

/* replay.c: what an export looks at */
mla_value mla_layer_object_self(const mla_layer_object *o);

/* call.c */
typedef struct {
	mla_value *args;
	mla_str *keyword;
	mla_value *value;
	uint32_t n, keywords;
	uint64_t used, keyword_used; /* what a builtin has looked at */
	const char *name;            /* for messages */
} mla_call;

int mla_call_value(mla_value *out, mla_machine *m, mla_value callee, mla_call *c);
int mla_call_plain(mla_value *out, mla_machine *m, mla_value callee, const mla_value *args,
                   uint32_t n);
int mla_eval_call(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *n);
int mla_function_make(mla_value *out, mla_machine *m, mla_environment *e, mla_module *module,
                      const mla_node *n, mla_replay_class *owner);

/* parameter.c: the last axis of what parameter `name` takes, when the method hands it to one of its
 * own linear layers. */
bool mla_parameter_width(int64_t *width, mla_machine *m, mla_value self, const mla_node *function,
                         mla_str name);

/* argument.c: arguments of builtins. `names` are alternatives, "axis|dim". */
bool mla_arg(mla_value *out, mla_call *c, uint32_t at, const char *names);
int mla_arg_required(mla_value *out, mla_machine *m, mla_call *c, uint32_t at, const char *names);
int mla_arg_int(int64_t *out, mla_machine *m, mla_call *c, uint32_t at, const char *names,
                int64_t otherwise);
int mla_arg_bool(bool *out, mla_machine *m, mla_call *c, uint32_t at, const char *names,
                 bool otherwise);
int mla_arg_float(double *out, mla_machine *m, mla_call *c, uint32_t at, const char *names,
                  double otherwise);
int mla_arg_tensor(mla_value *out, mla_machine *m, mla_call *c, uint32_t at, const char *names);
int mla_as_ints(uint32_t *n, int64_t v[MLA_DIMS], mla_machine *m, mla_value from);
/* Everything looked at? An argument that is not understood ends the replay. */
int mla_call_done(mla_machine *m, const mla_call *c);

/* object.c */
int mla_class_of(mla_value *out, mla_machine *m, mla_module *module, const mla_node *node,
                 mla_environment *closure);
int mla_attribute_get(mla_value *out, mla_machine *m, mla_value object, mla_str name);
/* *found false instead of an AttributeError. */
int mla_attribute_find(bool *found, mla_value *out, mla_machine *m, mla_value object, mla_str name);
int mla_attribute_set(mla_machine *m, mla_value object, mla_str name, mla_value v);
int mla_class_attribute_find(bool *found, mla_value *out, mla_machine *m, mla_replay_class *c,
                             uint32_t from, mla_str name, mla_replay_class **owner);
int mla_instantiate(mla_value *out, mla_machine *m, mla_replay_class *c, mla_call *call);
int mla_is_instance(bool *out, mla_machine *m, mla_value v, mla_value of);
int mla_dataclass_init(mla_machine *m, mla_instance *self, mla_call *call);
int mla_decorate(mla_value *out, mla_machine *m, mla_environment *e, const mla_node *decorators,
                 mla_value v);

/* foreign.c: names that are not in the project */
struct mla_builtin {
	const char *name;
	int (*call)(mla_value *out, mla_machine *m, mla_call *c, int variant);
	int variant;
};
int mla_foreign(mla_value *out, mla_machine *m, mla_str path);
bool mla_python_builtin(mla_value *out, mla_str name);
bool mla_is_module_class(mla_str path); /* nn.Module */

/* tables of builtins; each ends with a NULL name */
extern const mla_builtin mla_array_functions[];
extern const mla_builtin mla_array_functions_torch[];
extern const mla_builtin mla_array_methods[];
extern const mla_builtin mla_fast_functions[];
extern const mla_builtin mla_layer_functions[];
extern const mla_builtin mla_known_functions[];
extern const mla_builtin mla_python_functions[];
extern const mla_builtin mla_math_functions[];
extern const mla_builtin mla_support_functions[];

/* tensor.c: operations that keep track of where a tensor comes from */
int mla_tensor_product(mla_value *out, mla_machine *m, mla_value a, mla_value b);
int mla_note_product(unsigned *from, mla_machine *m, mla_value a, mla_value b);
int mla_tensor_attribute(bool *found, mla_value *out, mla_machine *m, mla_value t, mla_str name);
mla_value mla_shape_value(mla_machine *m, const mla_tensor *t);
mla_dtype mla_replay_dtype(const mla_machine *m); /* of weights and inputs */
int mla_draw(mla_value *out, mla_machine *m, uint32_t ndim, const int64_t *shape, double deviation,
             double middle);

/* layer.c */
int mla_layer_call(mla_value *out, mla_machine *m, mla_layer *l, mla_call *c);
int mla_layer_attribute(bool *found, mla_value *out, mla_machine *m, mla_value l, mla_str name);
mla_dictionary *mla_layer_attributes(mla_layer *l);
int mla_layer_set(mla_machine *m, mla_layer *l, mla_str name, mla_value v);

/* cache.c */
mla_value mla_cache_new(mla_machine *m);
int mla_cache_attribute(bool *found, mla_value *out, mla_machine *m, mla_cache *c, mla_str name,
                        bool must);
int mla_cache_set(mla_machine *m, mla_cache *c, mla_str name, mla_value v);
int mla_cache_item(mla_value *out, mla_machine *m, mla_cache *c, int64_t index);
int mla_cache_iterate(mla_value *list, mla_machine *m, mla_cache *c);
/* A method of a cache that is not known, given new rows: all rows come back. Of a session only. */
int mla_cache_call(mla_value *out, mla_machine *m, mla_cache *c, mla_call *call);
mla_dictionary *mla_cache_attributes(mla_cache *c);
/* session.c */
mla_value mla_session_cache(const mla_session *s);
/* The rows of a place with new ones behind them, kept for the next call. */
int mla_session_append(mla_tensor **out, mla_session *s, mla_machine *m, uint64_t place,
                       const mla_tensor *rows, int64_t axis);
void mla_session_close(mla_session *s, const mla_run *run); /* after a call that went well */
/* The cached rows that are joined with `like` along an axis. */
int mla_cache_rows(mla_value *out, mla_machine *m, mla_cache *c, const mla_tensor *like,
                   int64_t axis);

/* config.c */
int mla_config_make(mla_value *out, mla_machine *m, mla_value class);
int mla_config_field(mla_value *out, mla_machine *m, mla_str name, const mla_node *annotation,
                     mla_value otherwise);

#endif
