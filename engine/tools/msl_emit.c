/*
 * Emits a checked unit for one target: the source text with attributes and address spaces blanked
 * (line numbers stay), then an entry point for each kernel and the table of them.
 */
#include "engine/tools/mslgen.h"

#include <string.h>

#include "engine/shim/abi.h"

static const char *replacement(const msl_token *t)
{
	static const char *const map[][2] = {
		{"device", ""},        {"thread", ""},          {"threadgroup", ""},
		{"constant", "const"}, {"kernel", "MSLKERNEL"},
	};

	for (size_t i = 0; i < sizeof map / sizeof *map; i++)
		if (msl_is(t, map[i][0]))
			return map[i][1];
	return NULL;
}

static bool is_barrier(const msl_unit *u, size_t i)
{
	return msl_is(&u->tok[i], "threadgroup_barrier") && msl_is(&u->tok[i + 1], "(");
}

static void emit_text(FILE *to, const msl_unit *u, msl_target target)
{
	const char *from = u->text.ptr;
	unsigned sites = 0;
	size_t attribute = 0; /* tokens below this one belong to an attribute */

	for (size_t i = 0; i < u->n; i++) {
		const msl_token *t = &u->tok[i];
		const char *with = t->kind == MSL_WORD ? replacement(t) : NULL;

		if (target == MSL_SPACES && !msl_is(t, "kernel"))
			with = NULL;
		if (msl_is(t, "[["))
			attribute = msl_close(u, i);
		if (i < attribute)
			with = "";
		if (target == MSL_CUDA && t->kind == MSL_WORD && msl_is(t, "inline"))
			with = "__device__ inline";
		if (!with && !(target == MSL_STRICT && is_barrier(u, i)))
			continue;
		fwrite(from, 1, (size_t)(t->text.ptr - from), to);
		from = t->text.ptr + t->text.len;
		if (with) {
			fputs(with, to);
			continue;
		}
		fprintf(to, "msl_barrier_at(&msl_sites[%u], ", sites++);
		from = u->tok[++i].text.ptr + 1;
	}
	fwrite(from, 1, (size_t)(u->text.ptr + u->text.len - from), to);
}

static void emit_sites(FILE *to, const msl_unit *u)
{
	fputs("static const mla_barrier_site msl_sites[] = {\n", to);
	for (size_t i = 0; i < u->n; i++)
		if (is_barrier(u, i))
			fprintf(to, "\t{\"%s\", %u},\n", u->tok[i].file, u->tok[i].line);
	fputs("\t{nullptr, 0}};\n", to);
}

/* How each target answers [[attribute]]. */
static const char *builtin_value(mla_str name, msl_target target)
{
	static const struct {
		const char *name, *fast, *strict, *cuda;
	} map[] = {
		{"thread_position_in_grid", "tg", "gid", "gid"},
		{"threadgroup_position_in_grid", "tg", "tg", "tg"},
		{"threads_per_threadgroup", "one", "ntg", "ntg"},
		{"thread_index_in_threadgroup", "0u", "tid", "tid"},
		{"thread_index_in_simdgroup", "0u", "tid % SIMD_WIDTH", "tid % SIMD_WIDTH"},
		{"simdgroup_index_in_threadgroup", "0u", "tid / SIMD_WIDTH", "tid / SIMD_WIDTH"},
		{"simdgroups_per_threadgroup", "1u", "(ntg.x + SIMD_WIDTH - 1) / SIMD_WIDTH",
	         "(ntg.x + SIMD_WIDTH - 1) / SIMD_WIDTH"},
	};

	for (size_t i = 0; i < sizeof map / sizeof *map; i++)
		if (strlen(map[i].name) == name.len && !memcmp(map[i].name, name.ptr, name.len))
			return target == MSL_CPU      ? map[i].fast
			       : target == MSL_STRICT ? map[i].strict
			                              : map[i].cuda;
	return "?";
}

/* `device const float *a [[...]]` -> `const float *`: what a void * is cast to. */
static void emit_cast(FILE *to, const msl_unit *u, const msl_arg *a)
{
	size_t end = a->first;

	while (end < a->last && !msl_is(&u->tok[end], "*"))
		end++;
	fputc('(', to);
	for (size_t i = a->first; i <= end; i++) {
		const msl_token *t = &u->tok[i];

		if (!replacement(t))
			fprintf(to, "%.*s ", (int)t->text.len, t->text.ptr);
	}
	fputc(')', to);
}

static void emit_call(FILE *to, const msl_unit *u, const msl_function *f, msl_target target)
{
	fprintf(to, "%.*s(", (int)f->name.len, f->name.ptr);
	for (unsigned i = 0; i < f->n_args; i++) {
		const msl_arg *a = &f->arg[i];

		fputs(i ? ", " : "", to);
		if (a->kind == MSL_BUILTIN) {
			fputs(builtin_value(a->type, target), to);
		} else if (a->kind == MSL_ARGS) {
			if (target == MSL_CUDA)
				fputs("args", to);
			else
				fprintf(to, "*(const %.*s *)c->buf[%u]", (int)a->type.len,
				        a->type.ptr, a->index);
		} else {
			emit_cast(to, u, a);
			if (a->kind == MSL_GROUP)
				fputs(target == MSL_CUDA ? "msl_group" : "c->group", to);
			else if (target == MSL_CUDA)
				fprintf(to, "c.buf[%u]", a->index);
			else
				fprintf(to, "c->buf[%u]", a->index);
		}
	}
	fputs(");\n", to);
}

static mla_str args_type(const msl_function *f, unsigned *buffers)
{
	mla_str type = {"", 0};

	*buffers = 0;
	for (unsigned i = 0; i < f->n_args; i++) {
		*buffers += f->arg[i].kind == MSL_BUFFER || f->arg[i].kind == MSL_ARGS;
		if (f->arg[i].kind == MSL_ARGS)
			type = f->arg[i].type;
	}
	return type;
}

static void emit_entry(FILE *to, const msl_unit *u, const msl_function *f, msl_target target)
{
	unsigned buffers;
	mla_str args = args_type(f, &buffers);
	int n = (int)f->name.len;

	if (target == MSL_CPU)
		fprintf(to,
		        "static void fast_%.*s(const mla_kernel_call *c, uint x0, uint x1, uint "
		        "y0, "
		        "uint y1, uint z)\n{\n\tconst uint3 one = {1, 1, 1};\n\t(void)one;\n"
		        "\tfor (uint y = y0; y < y1; y++)\n\t\tfor (uint x = x0; x < x1; x++) {\n"
		        "\t\t\tconst uint3 tg = {x, y, z};\n\t\t\t",
		        n, f->name.ptr);
	else if (target == MSL_STRICT)
		fprintf(to,
		        "static void strict_%.*s(const mla_kernel_call *c, uint x, uint y, uint z, "
		        "uint tid)\n{\n\tconst uint3 tg = {x, y, z}, ntg = {c->ntg, 1, 1};\n"
		        "\tconst uint3 gid = {x * c->ntg + tid, y, z};\n\t(void)tg, (void)ntg, "
		        "(void)gid;\n\t",
		        n, f->name.ptr);
	else
		fprintf(to,
		        "extern \"C\" __global__ void cuda_%.*s(mla_cuda_call c, %.*s args)\n{\n"
		        "\textern __shared__ char msl_group[];\n\tconst uint3 tg = blockIdx;\n"
		        "\tconst uint3 ntg = make_uint3(blockDim.x, 1, 1);\n"
		        "\tconst uint tid = threadIdx.x;\n"
		        "\tconst uint3 gid = make_uint3(tg.x * ntg.x + tid, tg.y, tg.z);\n"
		        "\t(void)msl_group, (void)ntg, (void)gid;\n\t",
		        n, f->name.ptr, (int)args.len, args.ptr);
	emit_call(to, u, f, target);
	fputs(target == MSL_CPU ? "\t\t}\n}\n" : "}\n", to);
}

static void emit_table(FILE *to, const msl_unit *u, msl_target target, const char *unit)
{
	unsigned n = 0;

	fputs("static const mla_kernel_entry msl_kernels[] = {\n", to);
	for (size_t i = 0; i < u->n_fn; i++) {
		const msl_function *f = &u->fn[i];
		unsigned buffers;
		mla_str args = args_type(f, &buffers);
		int len = (int)f->name.len;

		if (!f->kernel)
			continue;
		n++;
		fprintf(to, "\t{\"%.*s\", %u, sizeof(%.*s), ", len, f->name.ptr, buffers,
		        (int)args.len, args.ptr);
		if (target == MSL_CPU)
			fprintf(to, "fast_%.*s, nullptr},\n", len, f->name.ptr);
		else
			fprintf(to, "nullptr, strict_%.*s},\n", len, f->name.ptr);
	}
	fprintf(to,
	        "};\n#define MSL_NAME_(u, i) msl_##u##_##i\n#define MSL_NAME(u, i) MSL_NAME_(u, "
	        "i)\n"
	        "extern \"C\" const mla_kernel_table MSL_NAME(%s, MSL_ISA);\n"
	        "extern \"C\" const mla_kernel_table MSL_NAME(%s, MSL_ISA) = {FVW, TILE_M, %u, "
	        "msl_kernels, %s};\n",
	        unit, unit, n,
	        target == MSL_STRICT ? "sizeof msl_sites / sizeof *msl_sites - 1, msl_sites"
	                             : "0, nullptr");
}

static void emit_cuda_table(FILE *to, const msl_unit *u, const char *unit)
{
	fprintf(to, "extern \"C\" const mla_cuda_kernel msl_%s_cuda[] = {\n", unit);
	for (size_t i = 0; i < u->n_fn; i++) {
		const msl_function *f = &u->fn[i];
		unsigned buffers;
		mla_str args = args_type(f, &buffers);

		if (f->kernel)
			fprintf(to, "\t{\"%.*s\", %u, sizeof(%.*s), (const void *)cuda_%.*s},\n",
			        (int)f->name.len, f->name.ptr, buffers, (int)args.len, args.ptr,
			        (int)f->name.len, f->name.ptr);
	}
	fputs("\t{nullptr, 0, 0, nullptr}};\n", to);
}

void msl_emit(FILE *to, const msl_unit *u, msl_target target, const char *unit)
{
	if (target == MSL_SPACES) {
		fputs("#include \"engine/shim/spaces.h\"\n", to);
		emit_text(to, u, target);
		return;
	}
	fprintf(to, "#include \"engine/shim/%s\"\n#include \"engine/shim/metal_stdlib\"\n",
	        target == MSL_CUDA ? "abi_cuda.h" : "abi.h");
	if (target == MSL_STRICT)
		emit_sites(to, u);
	emit_text(to, u, target);
	fputs("\n# 1 \"entry points\"\n", to);
	for (size_t i = 0; i < u->n_fn; i++)
		if (u->fn[i].kernel)
			emit_entry(to, u, &u->fn[i], target);
	if (target == MSL_CUDA)
		emit_cuda_table(to, u, unit);
	else
		emit_table(to, u, target, unit);
}
