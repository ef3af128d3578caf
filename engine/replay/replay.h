/*
 * Replay: executes a class's constructor and a method of it straight from the parsed source, on the
 * engine's tensors. No Python is involved and nothing outside the project is read.
 *
 * Nothing is guessed: the first construct that is not understood ends the replay as a fault with
 * its line. What the source leaves open is filled in and reported: sizes without a default
 * (assumed), booleans without a default (choices). Sizes that do not matter for a decision (heads,
 * hidden width, the query's own rank, widths of an indexer) are small.
 */
#ifndef MLA_ENGINE_REPLAY_REPLAY_H
#define MLA_ENGINE_REPLAY_REPLAY_H

#include "analyzer/evaluate.h"
#include "engine/tensor.h"

typedef enum {
	MLA_FAULT_NONE,
	MLA_FAULT_RAISED,      /* the program fails there, as it would in Python */
	MLA_FAULT_UNSUPPORTED, /* a construct that is not understood */
	MLA_FAULT_LIMIT,
} mla_fault_kind;

typedef struct {
	mla_fault_kind kind;
	mla_str type;    /* RAISED: "ValueError" */
	mla_str message; /* lives as long as the machine */
	mla_module *module;
	uint32_t line; /* from 1; 0: outside any source */
} mla_fault;

typedef enum {
	MLA_REPLAY_F64,    /* the oracle */
	MLA_REPLAY_F32,    /* all floats f32, dense weights */
	MLA_REPLAY_BF16,   /* bf16, up-projections quantised */
	MLA_REPLAY_SHAPES, /* no data, operations counted */
} mla_replay_mode;

/* A boolean that the source does not give. */
typedef struct {
	mla_str name;
	bool value;
} mla_choice;

typedef struct {
	mla_project *project;
	const mla_settings *settings; /* may be NULL */
	mla_replay_mode mode;
	uint32_t bits;  /* of quantised up-projections */
	uint32_t heads; /* attention heads; 0: 2 */
	int64_t topk;   /* of a sparse selection; 0: larger than any cache */
	/* A latent size whose default is None is assumed, as one without a default is. */
	bool assume_none;
	uint32_t choices; /* bit i: the value of the i-th open boolean */
	uint64_t seed;
	uint64_t max_work;    /* of the engine, see mla_engine_options; 0: no limit */
	mla_backend *backend; /* of f32 and bf16, see mla_engine_options */
} mla_replay_options;

/* A test of the program whose outcome is watched, and set when it is forced. */
typedef struct {
	const mla_node *node;
	int8_t forced;            /* -1: not, else the outcome */
	bool was_true, was_false; /* set by the run */
} mla_watch;

/*
 * A cache that lives on from call to call: the rows that were appended, and whatever the program
 * leaves on it. It begins empty. Its tensors are those of the calls, so that one tensor scope has
 * to span them all.
 */
typedef struct mla_session mla_session;

/* One call of the method. */
typedef struct {
	uint32_t width, batch;
	int64_t cached;    /* positions in the cache before the call */
	bool padded;       /* row b has its own number of padding positions on the left */
	bool array_offset; /* the cache gives an offset for each row, as padded batches have it */
	bool no_mask;      /* a control: the mask is left out */
	bool quantised;    /* the cache hands out codes, scales and biases, as quantised ones do */
	bool gather;       /* an optional parameter of gather indices is fed */
	mla_session *session; /* in place of `cached` rows that are drawn; NULL: none */
	uint64_t tokens;      /* which ones, of the calls of a session */
	uint32_t invalid;     /* of a session: as many of the last tokens are padding */
	mla_watch *watch;
	uint32_t watches;
	/* Results. */
	uint32_t windows, window; /* the most windows that were reduced, and their size; 0: none */
	uint64_t expansions;      /* an up-projection was multiplied with cached rows */
	uint64_t folds;           /* an up-projection was multiplied with something else */
	uint64_t multiply_adds;
} mla_run;

typedef struct mla_machine mla_machine;
typedef struct mla_value mla_value;

mla_session *mla_session_new(mla_machine *m);
int64_t mla_session_length(const mla_session *s);
/* The last `n` rows are taken off, as after drafts that were rejected; the rest stays. */
int mla_session_trim(mla_session *s, mla_machine *m, int64_t n);
/* One sequence of the batch stays. */
int mla_session_select(mla_session *s, mla_machine *m, int64_t row);
/* What the program left there is lost; the rows stay. */
void mla_session_forget(mla_session *s);

/*
 * Is what the program left in `a` the same as in `reference`: numbers, flags and shapes exactly,
 * floats within `ulps` of f32 at the largest magnitude of their row? False: `text` says what
 * differs. *worst gets the largest difference in ULP.
 */
bool mla_session_agrees(char text[160], double *worst, const mla_session *a,
                        const mla_session *reference, double ulps);
/* Is anything left there at all? */
bool mla_session_remembers(const mla_session *s);

/* NULL never; faults come later. */
mla_machine *mla_machine_new(const mla_replay_options *options);
void mla_machine_free(mla_machine *m); /* NULL is fine */

const mla_fault *mla_machine_fault(const mla_machine *m);
mla_engine *mla_machine_engine(const mla_machine *m);
/* Closes a scope around runs; the rows of caches that were drawn in it stay. */
void mla_machine_scope_close(mla_machine *m, mla_tensor_scope scope);
uint32_t mla_machine_choices(const mla_choice **out, const mla_machine *m);
/* Names of config sizes that nobody gives. */
uint32_t mla_machine_assumed(const mla_str **out, const mla_machine *m);

/* An attention layer and the method to call on it. */
typedef struct {
	mla_class owner;
	mla_module *module; /* of the method */
	const mla_node *function;
	mla_str up[8]; /* attributes of the owner that are up-projections */
	uint32_t ups;
} mla_replay_target;

typedef struct mla_layer_object mla_layer_object;

/* Runs the constructor with a config made up from its class. */
int mla_replay_construct(mla_layer_object **out, mla_machine *m, const mla_replay_target *target);

/* Runs the method; *out is a loan from the engine, the caller keeps a tensor scope around it. */
int mla_replay_run(mla_tensor **out, mla_machine *m, mla_layer_object *layer, mla_run *run);

/* Does the method use its parameter `name`, or what is made from it, as positions of a gather? */
bool mla_replay_gathers(const mla_node *function, mla_str name);

/* For tests: evaluates the module-level function `name` without arguments; its value as text. */
int mla_replay_text(mla_str *out, mla_machine *m, mla_module *module, mla_str name);

#endif
