/*
 * The values of a replayed program. Numbers and tensors are held in place, everything else is an
 * object in the machine's arena. Owns their shape, truth, equality and names for messages; what can
 * be done with them is elsewhere.
 */
#ifndef MLA_ENGINE_REPLAY_VALUE_H
#define MLA_ENGINE_REPLAY_VALUE_H

#include "analyzer/project.h"
#include "analyzer/str.h"
#include "engine/tensor.h"

typedef enum {
	MLA_V_UNBOUND = 0, /* no value yet: a local before its assignment */
	MLA_V_NONE,
	MLA_V_BOOL,
	MLA_V_INT,
	MLA_V_FLOAT,
	MLA_V_STR,
	MLA_V_TUPLE,
	MLA_V_LIST,
	MLA_V_SET,
	MLA_V_DICT,
	MLA_V_SLICE,
	MLA_V_ELLIPSIS,
	MLA_V_RANGE,
	MLA_V_TENSOR,
	MLA_V_DTYPE,
	MLA_V_FUNCTION, /* of the program: def or lambda, with what it closes over */
	MLA_V_METHOD,   /* any callable with its first argument */
	MLA_V_PARTIAL,  /* functools.partial */
	MLA_V_BUILTIN,  /* of a table in builtin.h */
	MLA_V_CLASS,
	MLA_V_INSTANCE,
	MLA_V_SUPER,
	MLA_V_PROPERTY,
	MLA_V_MODULE,  /* in the project */
	MLA_V_FOREIGN, /* something imported that is not in the project, known by its name only */
	MLA_V_LAYER,   /* a layer of the framework: Linear, RMSNorm, RoPE ... */
	MLA_V_CACHE,   /* a cache known by its use */
	MLA_V_OPEN,    /* a config value that nobody gives: using it ends the replay */
} mla_value_kind;

/* Where a tensor comes from. */
enum {
	MLA_FROM_INPUT = 1, /* depends on this call's input */
	MLA_FROM_CACHE = 2, /* holds cached rows, one for each position */
	MLA_FROM_UP = 4,    /* an up-projection's weight */
	MLA_QUANTISED = 8,  /* stands for codes that are expanded while it is multiplied with */
	MLA_PARAMETER = 16, /* a weight */
};

typedef struct mla_value mla_value;
typedef struct mla_sequence mla_sequence;
typedef struct mla_dictionary mla_dictionary;
typedef struct mla_function mla_function;
typedef struct mla_bound mla_bound;
typedef struct mla_replay_class mla_replay_class;
typedef struct mla_instance mla_instance;
typedef struct mla_layer mla_layer;
typedef struct mla_cache mla_cache;
typedef struct mla_builtin mla_builtin;
typedef struct mla_environment mla_environment;

struct mla_value {
	uint8_t kind; /* mla_value_kind */
	uint8_t from; /* of a tensor: MLA_FROM_INPUT and so on */
	bool weak;    /* of a dtype: Python's int or float, not an array's format */
	union {
		bool b;
		int64_t i;
		double f;
		mla_str s; /* STR, FOREIGN (dotted), OPEN (name of the field) */
		mla_dtype dtype;
		mla_tensor *t;
		mla_sequence *seq; /* TUPLE, LIST, SET, SLICE (3), RANGE (3 ints) */
		mla_dictionary *dict;
		mla_function *function;
		mla_bound *bound; /* METHOD, PARTIAL, SUPER, PROPERTY */
		const mla_builtin *builtin;
		mla_replay_class *class;
		mla_instance *instance;
		mla_module *module;
		mla_layer *layer;
		mla_cache *cache;
	};
};

struct mla_sequence {
	mla_value *v;
	uint32_t n, cap;
	uint32_t born; /* in which run; 0: the constructor */
};

typedef struct {
	mla_value key, value;
} mla_item;

struct mla_dictionary {
	mla_item *v; /* in order of insertion */
	uint32_t n, cap;
	uint32_t born;
	bool open; /* entries nobody gives are made up by their name (config dictionaries) */
};

/* Names and values of one call, class body or comprehension. */
struct mla_environment {
	mla_environment *parent; /* the enclosing function's, NULL at module level */
	mla_module *module;
	const mla_function *function; /* NULL for a comprehension's own */
	mla_str *name;
	mla_value *value;
	uint8_t *outer; /* 1: declared nonlocal, 2: global */
	uint32_t n, cap;
};

struct mla_function {
	mla_module *module;
	const mla_node *node; /* FUNCTION or LAMBDA */
	mla_environment *closure;
	mla_value *defaults; /* by parameter; UNBOUND: none */
	uint32_t parameters;
	mla_replay_class *owner; /* for super(); NULL outside a class body */
	mla_dictionary *attributes;
};

struct mla_bound {
	mla_value callee, self;
	mla_sequence args; /* PARTIAL */
	mla_dictionary keywords;
};

enum { MLA_REPLAY_BASES = 16 };

struct mla_replay_class {
	mla_module *module;
	const mla_node *node;
	mla_replay_class *mro[MLA_REPLAY_BASES]; /* itself first */
	uint32_t mro_count;
	mla_str foreign;  /* the first base that is not in the project; empty: none */
	bool module_base; /* that base is a framework's Module, which holds nothing of its own */
	bool is_dataclass;
	mla_environment *closure; /* of a class defined in a function */
	mla_dictionary attributes;
};

struct mla_instance {
	mla_replay_class *class;
	mla_dictionary attributes;
	bool config; /* fields that nobody gives are made up by their name */
};

mla_value mla_value_bool(bool b);
mla_value mla_value_int(int64_t i);
mla_value mla_value_float(double f);
mla_value mla_value_str(mla_str s);
mla_value mla_value_c(const char *z);
mla_value mla_value_tensor(mla_tensor *t, unsigned from);
extern const mla_value mla_value_none;

static inline bool mla_value_is_number(mla_value v)
{
	return v.kind == MLA_V_BOOL || v.kind == MLA_V_INT || v.kind == MLA_V_FLOAT;
}

static inline bool mla_value_is_sequence(mla_value v)
{
	return v.kind == MLA_V_TUPLE || v.kind == MLA_V_LIST;
}

/* An int or a bool as an int. */
bool mla_value_as_int(int64_t *out, mla_value v);
/* A number as a float. */
bool mla_value_as_float(double *out, mla_value v);

/* Python's ==, of numbers, strings, None, dtypes and sequences of them; identity of the rest.
 * False when it cannot be said (*known), such as for tensors. */
bool mla_value_equal(bool *known, mla_value a, mla_value b);
bool mla_value_same(mla_value a, mla_value b); /* `is` */

const char *mla_value_type(mla_value v); /* "tuple", "array" ... */

#endif
