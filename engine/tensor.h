/*
 * The engine's values: strided tensors of up to eight dimensions, and the engine that owns them.
 *
 * Ownership: every tensor belongs to the engine it was made in. An operation's `**out` is therefore
 * a loan from the engine, not the caller's: there is nothing to free on an error path. Tensors die
 * when the scope they were made in closes, except those handed on to the scope around it, and all
 * of them die with the engine. Views (transpose, slice, broadcast) share one counted buffer, which
 * goes with the last of them; a tensor that something else refers to may be dropped at any time.
 *
 * Tensors do not change after they were made; only the code that makes one writes into it.
 *
 * Limits: sizes come from sources nobody vouches for. The number of elements, the bytes of live
 * buffers and the work done are checked before anything is allocated or computed, and going
 * beyond is MLA_ELIMIT with the numbers in the message. What a framework would refuse (shapes that
 * do not broadcast, an axis that does not exist) is MLA_ERAISE, worded "matmul: (2, 3) and (4, 5)".
 *
 * One engine serves one thread.
 */
#ifndef MLA_ENGINE_TENSOR_H
#define MLA_ENGINE_TENSOR_H

#include "engine/dtype.h"

enum { MLA_DIMS = 8 };

/* Refused above, in shape-only mode too: a count times the size of an element stays far below 2^63.
 */
#define MLA_ELEMENTS_MAX ((int64_t)1 << 40)

/* Live data of one engine unless the options say otherwise: half of what a verification may use. */
#define MLA_ENGINE_BYTES ((size_t)512 << 20)

typedef struct mla_engine mla_engine;
typedef struct mla_storage mla_storage;

/* Of engine/backend.h. */
typedef struct mla_backend mla_backend;

typedef struct {
	/* Every float is f64: a cast to a narrower float, such as the one before a softmax, keeps
	 * it. */
	bool oracle;
	/* No data: shapes are checked and work is counted, at any size. */
	bool shapes_only;
	size_t max_bytes; /* live buffers, scratch included; 0: MLA_ENGINE_BYTES */
	/*
	 * Of all kinds together, in multiply-adds of a matrix product, some 0.2 ns each; 0: no
	 * limit. An element of another operation counts as several (mla_work_kind).
	 */
	uint64_t max_work;
	/*
	 * Runs the operations of f32, bf16 and f16 by the kernels; NULL: this code does. An oracle
	 * or shapes-only engine has no use for it. Borrowed; engines of one thread may share it.
	 */
	mla_backend *backend;
} mla_engine_options;

typedef struct mla_tensor mla_tensor;
struct mla_tensor {
	mla_dtype dtype;
	uint32_t ndim;
	/* A Python number: it takes the format of the array it meets instead of widening it. */
	bool weak;
	int64_t shape[MLA_DIMS];
	int64_t stride[MLA_DIMS]; /* in elements; 0 repeats, negative runs backwards */
	int64_t offset;           /* of element 0, in elements from the start of the buffer */
	int64_t count;            /* product of the shape */
	mla_storage *storage;
	mla_tensor *prev, *next; /* the engine's list, in order of birth */
	uint64_t born;
};

mla_engine *mla_engine_new(const mla_engine_options *options); /* NULL: all defaults */
void mla_engine_free(mla_engine *e);                           /* NULL is fine */

/* The format a float of format `d` has in this engine: f64 in oracle mode, else `d`. */
mla_dtype mla_engine_dtype(const mla_engine *e, mla_dtype d);

/* Scopes nest. Closing one drops what was made since it was opened, but for keep[0..n). */
typedef uint64_t mla_tensor_scope;
mla_tensor_scope mla_tensor_scope_open(const mla_engine *e);
void mla_tensor_scope_close(mla_engine *e, mla_tensor_scope scope, mla_tensor *const *keep,
                            uint32_t n);

/* Before its scope ends; NULL is fine. */
void mla_tensor_drop(mla_engine *e, mla_tensor *t);

/* Contiguous and zeroed. Takes the format as it stands, in oracle mode too. */
int mla_tensor_new(mla_tensor **out, mla_engine *e, mla_dtype d, uint32_t ndim,
                   const int64_t *shape);
/* From values in row-major order, rounded to `d`. */
int mla_tensor_from(mla_tensor **out, mla_engine *e, mla_dtype d, uint32_t ndim,
                    const int64_t *shape, const double *values);
/* A Python number, without dimensions: MLA_I32, MLA_BOOL, or a float for any other format. */
int mla_tensor_number(mla_tensor **out, mla_engine *e, mla_dtype d, double value);

/* False of what an operation made in shape-only mode. */
bool mla_tensor_has_data(const mla_tensor *t);
/* By row-major position in [0, count), whatever the strides. NaN without data. */
double mla_tensor_at(const mla_tensor *t, int64_t position);

/* An axis counted from either end; negative: MLA_ERAISE, with `op` in the message. */
int mla_tensor_axis(uint32_t *out, const mla_tensor *t, int64_t axis, const char *op);

/* "(2, 3)", "(3,)" and "()" as Python writes them; returns `text`. */
enum { MLA_SHAPE_TEXT = 192 };
const char *mla_shape_text(char text[MLA_SHAPE_TEXT], uint32_t ndim, const int64_t *shape);

/*
 * What was done, by kind. `operations` are multiply-adds for matmul, else elements read or
 * produced. Against max_work an element weighs 32 where it is computed or moved and 64 where it is
 * reduced or sorted: measured at 3 to 30 and 2 to 60 ns.
 */
typedef enum {
	MLA_WORK_MATMUL,
	MLA_WORK_ELEMENTWISE,
	MLA_WORK_REDUCE,
	MLA_WORK_MOVE,
	MLA_WORK_KINDS
} mla_work_kind;

typedef struct {
	uint64_t calls, operations;
	uint64_t bytes; /* read and written, in the formats of the operands */
} mla_work;

mla_work mla_engine_work(const mla_engine *e, mla_work_kind kind);

/*
 * Who computed, with a backend: how often each operation on floats ran as a kernel and how often
 * here. Copies, casts, and the integers and booleans of positions and masks are not counted.
 */
enum { MLA_USE_OPS = 48 };

typedef struct {
	const char *op;
	uint64_t kernel, host;
} mla_use;

typedef struct {
	mla_use v[MLA_USE_OPS];
	uint32_t n;
} mla_uses;

const mla_uses *mla_engine_uses(const mla_engine *e);  /* NULL: no backend */
void mla_uses_add(mla_uses *to, const mla_uses *more); /* NULL is fine; kept in order of name */

/*
 * For the operations (two underscores: shared inside the engine, not for callers).
 *   _spend    counts one operation and checks the limit; sums stay at UINT64_MAX, never wrap
 *   _charge   counts bytes that live as long as the engine against max_bytes; `what` holds them
 *   _scratch  takes `count` elements of `size` bytes, not cleared, against max_bytes
 *   _view     makes another tensor on the buffer of `base`, a copy of its fields but never weak
 *   _recount  brings `count` up to date after the shape of a new view was set; MLA_ELIMIT
 */
int mla_engine__spend(mla_engine *e, mla_work_kind kind, const char *op, uint64_t operations,
                      uint64_t bytes);
int mla_engine__charge(mla_engine *e, uint64_t bytes, const char *what);
int mla_engine__scratch(void **out, mla_engine *e, uint64_t count, size_t size);
void mla_engine__scratch_free(mla_engine *e, void *scratch, uint64_t count, size_t size);
int mla_tensor__view(mla_tensor **out, mla_engine *e, const mla_tensor *base);
int mla_tensor__recount(mla_tensor *t);
void *mla_tensor__data(const mla_tensor *t); /* start of the buffer; NULL without data */
struct mla_device *mla_engine__device(const mla_engine *e); /* NULL: no backend */

#endif
