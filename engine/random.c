/* The generator and the filling of tensors with it. */
#include "engine/random.h"

#include "engine/walk.h"

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

mla_random mla_random_stream(uint64_t seed, uint64_t stream)
{
	/* Two rounds, so that neighbouring streams do not run over the same counter values. */
	return (mla_random){mix(mix(seed + 0x9e3779b97f4a7c15) + stream)};
}

uint64_t mla_random_u64(mla_random *r)
{
	return mix(r->state += 0x9e3779b97f4a7c15);
}

double mla_random_uniform(mla_random *r)
{
	return (double)(mla_random_u64(r) >> 11) * 0x1p-53;
}

double mla_random_normal(mla_random *r)
{
	uint64_t sum = 0;

	for (int i = 0; i < 6; i++) {
		uint64_t two = mla_random_u64(r);

		sum += (two >> 32) + (two & 0xffffffff);
	}
	return (double)sum * 0x1p-32 - 6;
}

/* Both distributions: low + span * draw. */
static int fill(mla_tensor **out, mla_engine *e, mla_dtype d, mla_dtype grid, uint32_t ndim,
                const int64_t *shape, mla_random *r, double (*draw)(mla_random *), double low,
                double span)
{
	double row[MLA_ROW];
	int error;

	if ((error = mla_tensor_new(out, e, d, ndim, shape)) < 0 || !mla_tensor_has_data(*out))
		return error;
	for (int64_t i = 0; i < (*out)->count; i += MLA_ROW) {
		int64_t n = (*out)->count - i < MLA_ROW ? (*out)->count - i : MLA_ROW;

		for (int64_t k = 0; k < n; k++)
			row[k] = mla_dtype_round(grid, low + span * draw(r));
		mla_row_store(*out, i, 1, row, n);
	}
	return 0;
}

int mla_random_normals(mla_tensor **out, mla_engine *e, mla_dtype d, mla_dtype grid, uint32_t ndim,
                       const int64_t *shape, mla_random *r, double deviation)
{
	return fill(out, e, d, grid, ndim, shape, r, mla_random_normal, 0, deviation);
}

int mla_random_uniforms(mla_tensor **out, mla_engine *e, mla_dtype d, mla_dtype grid, uint32_t ndim,
                        const int64_t *shape, mla_random *r, double low, double high)
{
	return fill(out, e, d, grid, ndim, shape, r, mla_random_uniform, low, high - low);
}
