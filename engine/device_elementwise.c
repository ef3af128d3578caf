/* Elementwise operations: any broadcast to the three dimensions of the kernels. */
#include "engine/backend_ops.h"
#include "engine/device_stage.h"

enum { NO_KERNEL = -1 };

static int kernel_of_binary(mla_binary op)
{
	switch (op) {
	case MLA_EW_ADD:
		return MLA_ADD;
	case MLA_EW_SUB:
		return MLA_SUB;
	case MLA_EW_MUL:
		return MLA_MUL;
	case MLA_EW_DIV:
		return MLA_DIV;
	case MLA_EW_MAX:
		return MLA_MAX;
	case MLA_EW_MIN:
		return MLA_MIN;
	case MLA_EW_EQ:
		return MLA_EQ;
	case MLA_EW_NE:
		return MLA_NE;
	case MLA_EW_LT:
		return MLA_LT;
	case MLA_EW_LE:
		return MLA_LE;
	case MLA_EW_GT:
		return MLA_GT;
	case MLA_EW_GE:
		return MLA_GE;
	case MLA_EW_AND:
		return MLA_AND;
	case MLA_EW_OR:
		return MLA_OR;
	case MLA_EW_FLOOR_DIV:
	case MLA_EW_MOD:
	case MLA_EW_POW:
		break;
	}
	return NO_KERNEL;
}

static int kernel_of_unary(mla_unary op)
{
	switch (op) {
	case MLA_EW_NEG:
		return MLA_NEG;
	case MLA_EW_ABS:
		return MLA_ABS;
	case MLA_EW_EXP:
		return MLA_EXP;
	case MLA_EW_SQRT:
		return MLA_SQRT;
	case MLA_EW_RSQRT:
		return MLA_RSQRT;
	case MLA_EW_TANH:
		return MLA_TANH;
	case MLA_EW_SIGMOID:
		return MLA_SIGMOID;
	case MLA_EW_FLOOR:
		return MLA_FLOOR;
	case MLA_EW_SQUARE:
		return MLA_SQUARE;
	case MLA_EW_NOT:
		return MLA_NOT;
	case MLA_EW_LOG:
	case MLA_EW_SIN:
	case MLA_EW_COS:
	case MLA_EW_CEIL:
	case MLA_EW_ISNAN:
	case MLA_EW_ISINF:
		break;
	}
	return NO_KERNEL;
}

/* What is launched once, or for each element of the axes that are too many. */
typedef struct {
	mla_backend *be;
	int op;
	uint32_t operands, store; /* operands: without the result */
	bool where;
	mla_buffer *to;
	mla_staged s[MLA_DEVICE_OPERANDS];
} job;

static int launch(const job *j, const mla_device_axes *x, uint32_t loops, uint64_t i)
{
	uint64_t at[MLA_DEVICE_OPERANDS];
	mla_view v[MLA_DEVICE_OPERANDS] = {{0}};
	uint32_t n[3] = {1, 1, 1};

	mla_device__at(at, x, loops, i);
	for (uint32_t axis = loops; axis < x->n; axis++)
		n[3 - x->n + axis] = x->size[axis];
	for (uint32_t o = 0; o <= j->operands; o++) {
		v[o].buf = o < j->operands ? j->s[o].buf : j->to;
		v[o].offset = at[o];
		for (uint32_t axis = loops; axis < x->n; axis++)
			v[o].step[3 - x->n + axis] = x->step[o][axis];
	}
	if (j->where)
		return mla_where_run(j->be, v[3], v[0], v[1], v[2], n, j->store);
	if (j->operands == 2)
		return mla_binary_run(j->be, v[2], v[0], v[1], (uint32_t)j->op, n, j->store);
	return mla_unary_run(j->be, v[1], v[0], (uint32_t)j->op, n, j->store);
}

static int run(job *j, mla_engine *e, mla_tensor *out, const mla_tensor *const *in,
               const mla_dtype *as, const char *name)
{
	const mla_staged *staged[MLA_DEVICE_OPERANDS] = {NULL};
	const mla_tensor *tensors[MLA_DEVICE_OPERANDS] = {NULL};
	uint64_t launches = 1;
	mla_device_axes axes;
	uint32_t loops;
	int error;

	if ((error = mla_device__room(&j->to, e, MLA_SLOT_OUT, (uint64_t)out->count)) < 0)
		return error;
	for (uint32_t i = 0; i < j->operands; i++) {
		if ((error = mla_device__stage(&j->s[i], e, MLA_SLOT_A + i, in[i], as[i])) < 0)
			return error;
		tensors[i] = in[i];
		staged[i] = &j->s[i];
	}
	mla_device__axes(&axes, out->ndim, out->ndim, out->shape, j->operands + 1, tensors, staged);
	loops = axes.n > 3 ? axes.n - 3 : 0;
	for (uint32_t i = 0; i < loops; i++)
		launches *= axes.size[i];
	j->store = mla_device__store(out->dtype);
	for (uint64_t i = 0; i < launches && error == 0; i++)
		error = launch(j, &axes, loops, i);
	if (error < 0 || (error = mla_device__fetch(e, out, j->to)) < 0)
		return error;
	mla_device__done(e, name);
	return 0;
}

/* Positions and masks stay whole numbers: they are not what a kernel is to show. */
static bool of_floats(const mla_tensor *out, mla_dtype meet)
{
	return mla_device__format(meet) &&
	       (mla_device__format(out->dtype) || out->dtype == MLA_BOOL);
}

int mla_device_binary(mla_engine *e, mla_tensor *out, mla_binary op, const mla_tensor *a,
                      const mla_tensor *b, mla_dtype meet, const char *name)
{
	const mla_tensor *in[] = {a, b};
	const mla_dtype as[] = {meet, meet};
	job j = {.op = kernel_of_binary(op), .operands = 2};

	if (out->count == 0 || !of_floats(out, meet))
		return 1;
	j.be = mla_device__begin(e, name, j.op != NO_KERNEL);
	return j.be ? run(&j, e, out, in, as, name) : 1;
}

int mla_device_unary(mla_engine *e, mla_tensor *out, mla_unary op, const mla_tensor *a,
                     const char *name)
{
	mla_dtype as = a->weak ? MLA_F32 : a->dtype;
	job j = {.op = kernel_of_unary(op), .operands = 1};

	if (out->count == 0 || !of_floats(out, as))
		return 1;
	j.be = mla_device__begin(e, name, j.op != NO_KERNEL);
	return j.be ? run(&j, e, out, &a, &as, name) : 1;
}

int mla_device_where(mla_engine *e, mla_tensor *out, const mla_tensor *condition,
                     const mla_tensor *a, const mla_tensor *b)
{
	const mla_tensor *in[] = {condition, a, b};
	const mla_dtype as[] = {MLA_F32, out->dtype, out->dtype};
	job j = {.operands = 3, .where = true};

	if (out->count == 0 || !mla_device__format(out->dtype))
		return 1;
	j.be = mla_device__begin(e, "where", true);
	return j.be ? run(&j, e, out, in, as, "where") : 1;
}
