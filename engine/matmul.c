/* Shapes, counting, packing and storing around the tiles of gemm.h. */
#include "engine/matmul.h"

#include "engine/device.h"
#include "engine/gemm.h"
#include "engine/view.h"
#include "engine/walk.h"

#include <stdio.h>
#include <string.h>

/*
 * Rows of a packed at a time. They stay in the second-level cache with one panel of b (64 rows of
 * k = 512 are 128 KiB in f32), and b is read once for all of them instead of once for each tile.
 */
enum { BLOCK_ROWS = 64 };

/* One matrix of a strided tensor. */
typedef struct {
	const mla_tensor *t;
	int64_t at, row, col; /* position of the first element, strides */
} matrix;

typedef struct {
	mla_engine *e;
	int64_t m, n, k;
	bool wide; /* sums in f64 */
	const mla_gemm *gemm;
	int64_t columns, panels;
	uint64_t a_size, b_size, c_size; /* elements of the scratch areas */
	void *a, *b, *c;
} job;

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static size_t element(const job *j)
{
	return j->wide ? sizeof(double) : sizeof(float);
}

static void *shifted(const job *j, void *base, int64_t elements)
{
	return (char *)base + elements * (int64_t)element(j);
}

/* Numbers that are stored in the format they are summed in are taken as they lie. */
static bool same_format(const job *j, const mla_tensor *t)
{
	return t->dtype == (j->wide ? MLA_F64 : MLA_F32);
}

static void spread_same(const job *j, void *dst, int64_t pitch, const mla_tensor *t, int64_t at,
                        int64_t step, int64_t n)
{
	if (j->wide) {
		const double *from = (const double *)mla_tensor__data(t) + at;

		for (int64_t i = 0; i < n; i++)
			((double *)dst)[i * pitch] = from[i * step];
	} else {
		const float *from = (const float *)mla_tensor__data(t) + at;

		for (int64_t i = 0; i < n; i++)
			((float *)dst)[i * pitch] = from[i * step];
	}
}

/* n elements of t, `step` apart, to every `pitch`-th place of dst. */
static void spread(const job *j, void *dst, int64_t pitch, const mla_tensor *t, int64_t at,
                   int64_t step, int64_t n)
{
	float narrow[MLA_ROW];
	double wide[MLA_ROW];

	if (same_format(j, t)) {
		spread_same(j, dst, pitch, t, at, step, n);
		return;
	}
	for (int64_t i = 0; i < n; i += MLA_ROW) {
		int64_t len = least(n - i, MLA_ROW);

		if (j->wide) {
			mla_row_load(wide, t, at + i * step, step, len);
			for (int64_t x = 0; x < len; x++)
				((double *)dst)[(i + x) * pitch] = wide[x];
		} else {
			mla_row_load_f32(narrow, t, at + i * step, step, len);
			for (int64_t x = 0; x < len; x++)
				((float *)dst)[(i + x) * pitch] = narrow[x];
		}
	}
}

static void pack_b(job *j, const matrix *b)
{
	int64_t c = j->columns;

	if (j->n % c) {
		int64_t panel = j->k * c;

		memset(shifted(j, j->b, (j->panels - 1) * panel), 0, (size_t)panel * element(j));
	}
	if (b->row == 1) { /* a transposed view: its columns lie one after the other */
		for (int64_t x = 0; x < j->n; x++)
			spread(j, shifted(j, j->b, x / c * j->k * c + x % c), c, b->t,
			       b->at + x * b->col, b->row, j->k);
		return;
	}
	for (int64_t y = 0; y < j->k; y++)
		for (int64_t x = 0; x < j->n; x += c)
			spread(j, shifted(j, j->b, x * j->k + y * c), 1, b->t,
			       b->at + y * b->row + x * b->col, b->col, least(j->n - x, c));
}

static void store_tile(job *j, mla_tensor *out, int64_t at, int64_t rows, int64_t columns)
{
	for (int64_t y = 0; y < rows; y++) {
		void *c = shifted(j, j->c, y * j->columns);

		if (j->wide)
			mla_row_store(out, at + y * j->n, 1, c, columns);
		else
			mla_row_store_f32(out, at + y * j->n, 1, c, columns);
	}
}

/* `rows` rows of the result, at most BLOCK_ROWS, from row `first` on. */
static void row_block(job *j, mla_tensor *out, int64_t out_at, const matrix *a, int64_t first,
                      int64_t rows)
{
	const int64_t tile = j->k * MLA_GEMM_ROWS;

	if (rows % MLA_GEMM_ROWS)
		memset(shifted(j, j->a, rows / MLA_GEMM_ROWS * tile), 0, (size_t)tile * element(j));
	for (int64_t y = 0; y < rows; y++)
		spread(j, shifted(j, j->a, y / MLA_GEMM_ROWS * tile + y % MLA_GEMM_ROWS),
		       MLA_GEMM_ROWS, a->t, a->at + (first + y) * a->row, a->col, j->k);
	for (int64_t p = 0; p < j->panels; p++) {
		void *b = shifted(j, j->b, p * j->k * j->columns);
		int64_t column = p * j->columns;

		for (int64_t y = 0; y < rows; y += MLA_GEMM_ROWS) {
			void *packed = shifted(j, j->a, y * j->k);

			if (j->wide)
				j->gemm->tile_f64(j->c, j->columns, packed, b, j->k);
			else
				j->gemm->tile_f32(j->c, j->columns, packed, b, j->k);
			store_tile(j, out, out_at + (first + y) * j->n + column,
			           least(rows - y, MLA_GEMM_ROWS),
			           least(j->n - column, j->columns));
		}
	}
}

static int job_open(job *j)
{
	int error;

	j->gemm = mla_gemm_variant(0);
	j->columns = j->wide ? j->gemm->columns_f64 : j->gemm->columns_f32;
	j->panels = (j->n + j->columns - 1) / j->columns;
	j->a_size = (uint64_t)j->k * (uint64_t)((least(j->m, BLOCK_ROWS) + MLA_GEMM_ROWS - 1) /
	                                        MLA_GEMM_ROWS * MLA_GEMM_ROWS);
	j->c_size = (uint64_t)j->columns * MLA_GEMM_ROWS;
	/* Of broadcast views n and k can each be 2^40. */
	if (__builtin_mul_overflow((uint64_t)(j->panels * j->columns), (uint64_t)j->k, &j->b_size))
		return mla_error(MLA_ELIMIT, "matmul: the matrix is too large");
	if ((error = mla_engine__scratch(&j->a, j->e, j->a_size, element(j))) < 0 ||
	    (error = mla_engine__scratch(&j->b, j->e, j->b_size, element(j))) < 0)
		return error;
	return mla_engine__scratch(&j->c, j->e, j->c_size, element(j));
}

static void job_close(job *j)
{
	mla_engine__scratch_free(j->e, j->a, j->a_size, element(j));
	mla_engine__scratch_free(j->e, j->b, j->b_size, element(j));
	mla_engine__scratch_free(j->e, j->c, j->c_size, element(j));
}

/* Where matrix number `batch` of the result finds its operand. */
static int64_t batch_at(const mla_tensor *t, const mla_tensor *out, int64_t batch)
{
	int64_t at = t->offset;
	uint32_t missing = out->ndim - t->ndim;

	for (uint32_t axis = out->ndim - 2; axis-- > 0;) {
		int64_t i = batch % out->shape[axis];

		batch /= out->shape[axis];
		if (axis >= missing && t->shape[axis - missing] != 1)
			at += i * t->stride[axis - missing];
	}
	return at;
}

static int multiply(mla_engine *e, mla_tensor *out, const mla_tensor *a, const mla_tensor *b,
                    bool wide)
{
	job j = {.e = e, .wide = wide};
	matrix ma = {a, 0, a->stride[a->ndim - 2], a->stride[a->ndim - 1]};
	matrix mb = {b, 0, b->stride[b->ndim - 2], b->stride[b->ndim - 1]};
	int error;

	j.m = a->shape[a->ndim - 2];
	j.k = a->shape[a->ndim - 1];
	j.n = b->shape[b->ndim - 1];
	if (out->count == 0 || j.k == 0) /* a new tensor is zero already */
		return 0;
	if ((error = job_open(&j)) < 0)
		goto done;
	for (int64_t i = 0; i < out->count / (j.m * j.n); i++) {
		int64_t b_at = batch_at(b, out, i);

		ma.at = batch_at(a, out, i);
		/* One latent serves all heads: it is packed once. */
		if (i == 0 || b_at != mb.at) {
			mb.at = b_at;
			pack_b(&j, &mb);
		}
		for (int64_t y = 0; y < j.m; y += BLOCK_ROWS)
			row_block(&j, out, i * j.m * j.n, &ma, y, least(j.m - y, BLOCK_ROWS));
	}
done:
	job_close(&j);
	return error;
}

/* The shape of a @ b, both with two axes or more, or MLA_ERAISE that names the shapes as given. */
static int result_shape(uint32_t *ndim, int64_t *shape, const mla_tensor *a, const mla_tensor *b,
                        const char *complaint)
{
	mla_tensor heads[2] = {*a, *b};
	const mla_tensor *in[] = {&heads[0], &heads[1]};

	heads[0].ndim -= 2;
	heads[1].ndim -= 2;
	if (a->shape[a->ndim - 1] != b->shape[b->ndim - 2] ||
	    mla_view_broadcast_shape(ndim, shape, in, 2, "matmul") < 0)
		return mla_error(MLA_ERAISE, "%s", complaint);
	shape[(*ndim)++] = a->shape[a->ndim - 2];
	shape[(*ndim)++] = b->shape[b->ndim - 1];
	return 0;
}

static uint64_t capped_product(int64_t a, int64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow((uint64_t)a, (uint64_t)b, &product) ? UINT64_MAX : product;
}

/* The result, not yet computed. */
static int make_result(mla_tensor **out, mla_engine *e, const mla_tensor *a, const mla_tensor *b,
                       mla_dtype store, const char *complaint)
{
	int64_t shape[MLA_DIMS], k = a->shape[a->ndim - 1];
	uint64_t bytes;
	uint32_t ndim;
	int error;

	if ((error = result_shape(&ndim, shape, a, b, complaint)) < 0 ||
	    (error = mla_tensor_new(out, e, store, ndim, shape)) < 0)
		return error;
	bytes = (uint64_t)a->count * mla_dtype_size(a->dtype) +
	        (uint64_t)b->count * mla_dtype_size(b->dtype) +
	        (uint64_t)(*out)->count * mla_dtype_size(store);
	return mla_engine__spend(e, MLA_WORK_MATMUL, "matmul", capped_product((*out)->count, k),
	                         bytes);
}

static int matrices(mla_tensor **out, mla_engine *e, const mla_tensor *a, const mla_tensor *b,
                    mla_dtype store, const char *complaint)
{
	int error;

	if ((error = make_result(out, e, a, b, store, complaint)) < 0 ||
	    !mla_tensor_has_data(*out) || !mla_tensor_has_data(a) || !mla_tensor_has_data(b) ||
	    (error = mla_device_matmul(e, *out, a, b)) <= 0)
		return error;
	return multiply(e, *out, a, b, a->dtype == MLA_F64 || b->dtype == MLA_F64);
}

static void complain(char complaint[2 * MLA_SHAPE_TEXT + 16], const mla_tensor *a,
                     const mla_tensor *b)
{
	char x[MLA_SHAPE_TEXT], y[MLA_SHAPE_TEXT];

	snprintf(complaint, 2 * MLA_SHAPE_TEXT + 16, "matmul: %s and %s",
	         mla_shape_text(x, a->ndim, a->shape), mla_shape_text(y, b->ndim, b->shape));
}

int mla_matmul__result(mla_tensor **out, mla_engine *e, const mla_tensor *a, const mla_tensor *b,
                       mla_dtype store)
{
	char complaint[2 * MLA_SHAPE_TEXT + 16];

	complain(complaint, a, b);
	return make_result(out, e, a, b, store, complaint);
}

int mla_matmul_as(mla_tensor **out, mla_engine *e, const mla_tensor *a, const mla_tensor *b,
                  mla_dtype store)
{
	char complaint[2 * MLA_SHAPE_TEXT + 16];
	bool row = a->ndim == 1, column = b->ndim == 1;
	mla_tensor *ta, *tb, *full;
	int error;

	complain(complaint, a, b);
	if (a->ndim == 0 || b->ndim == 0)
		return mla_error(MLA_ERAISE, "%s", complaint);
	if (!mla_dtype_is_float(a->dtype) || !mla_dtype_is_float(b->dtype))
		return mla_error(MLA_ERAISE, "matmul: %s and %s", mla_dtype_name(a->dtype),
		                 mla_dtype_name(b->dtype));
	if (!row && !column)
		return matrices(out, e, a, b, store, complaint);
	if ((error = mla_tensor__view(&ta, e, a)) < 0 ||
	    (error = mla_tensor__view(&tb, e, b)) < 0 ||
	    (row && (error = mla_view_expand(&ta, e, a, 0)) < 0) ||
	    (column && (error = mla_view_expand(&tb, e, b, 1)) < 0) ||
	    (error = matrices(&full, e, ta, tb, store, complaint)) < 0)
		return error;
	if (column && (error = mla_view_squeeze(&full, e, full, -1)) < 0)
		return error;
	if (row && (error = mla_view_squeeze(&full, e, full, full->ndim - 1 - !column)) < 0)
		return error;
	*out = full;
	return 0;
}

int mla_matmul(mla_tensor **out, mla_engine *e, const mla_tensor *a, const mla_tensor *b)
{
	return mla_matmul_as(out, e, a, b, mla_dtype_promote(a->dtype, b->dtype));
}
