/*
 * The command: mslgen check|cpu|strict|cuda|spaces UNIT <expanded.metal  prints the code of one
 * target mslgen flat [--text] FILE...                        one source for Metal's compiler mslgen
 * registry [--isa NAME]... UNIT...             the list of all tables mslgen cuda-registry UNIT...
 */
#include "engine/tools/mslgen.h"

#include <stdlib.h>
#include <string.h>

static mla_str slurp(mla_arena *a, FILE *f)
{
	size_t cap = 1 << 16, n = 0, got;
	char *buf = mla_alloc(cap), *copy;

	while ((got = fread(buf + n, 1, cap - n, f)) > 0)
		if ((n += got) == cap)
			buf = mla_realloc(buf, cap *= 2, 1);
	copy = mla_arena_alloc(a, n + 1);
	memcpy(copy, buf, n);
	free(buf);
	return (mla_str){copy, (uint32_t)n};
}

/* Metal compiles from a string and has no include path: quoted includes are put in place, once. */
typedef struct {
	mla_arena *arena;
	char *out;
	size_t n, cap;
	char seen[32][256];
	unsigned n_seen;
} flat_text;

static void flat_put(flat_text *t, const char *p, size_t n)
{
	while (t->n + n > t->cap)
		t->out = mla_realloc(t->out, t->cap = t->cap ? 2 * t->cap : 1 << 16, 1);
	memcpy(t->out + t->n, p, n);
	t->n += n;
}

static int flat_file(flat_text *t, const char *path, unsigned depth)
{
	const char *slash = strrchr(path, '/'), *p, *end;
	FILE *f = fopen(path, "rb");
	mla_str text;

	if (!f || depth > 8) {
		fprintf(stderr, "mslgen: cannot read %s\n", path);
		return 1;
	}
	text = slurp(t->arena, f);
	fclose(f);
	for (p = text.ptr, end = p + text.len; p < end;) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		size_t n = eol ? (size_t)(eol - p) + 1 : (size_t)(end - p);
		char name[128], full[256];

		if (sscanf(p, "#include \"%127[^\"]\"", name) == 1 && !strncmp(p, "#include", 8)) {
			bool known = false;

			snprintf(full, sizeof full, "%.*s%s", slash ? (int)(slash - path) + 1 : 0,
			         path, name);
			for (unsigned i = 0; i < t->n_seen; i++)
				known = known || !strcmp(t->seen[i], full);
			if (!known && t->n_seen < 32) {
				strcpy(t->seen[t->n_seen++], full);
				if (flat_file(t, full, depth + 1))
					return 1;
			}
		} else {
			flat_put(t, p, n);
		}
		p += n;
	}
	return 0;
}

static int flat(int argc, char **argv)
{
	flat_text t = {.arena = mla_arena_new()};
	bool text = argc > 0 && !strcmp(argv[0], "--text");
	int rc = 0;

	for (int i = text; i < argc && !rc; i++)
		rc = flat_file(&t, argv[i], 0);
	if (!rc && text) {
		fwrite(t.out, 1, t.n, stdout);
	} else if (!rc) {
		fputs("extern const char mla_metal_source[];\nconst char mla_metal_source[] = {",
		      stdout);
		for (size_t i = 0; i < t.n; i++)
			printf("%s%d,", i % 24 ? "" : "\n\t", t.out[i]);
		puts("0};");
	}
	free(t.out);
	mla_arena_free(t.arena);
	return rc;
}

static int registry(int argc, char **argv)
{
	const char *isa[8];
	int n_isa = 0;

	while (argc >= 2 && !strcmp(argv[0], "--isa") && n_isa < 8)
		isa[n_isa++] = argv[1], argc -= 2, argv += 2;
	puts("#include \"engine/shim/abi.h\"\n\n#include <stddef.h>\n");
	for (int k = 0; k < n_isa; k++) {
		for (int i = 0; i < argc; i++)
			printf("extern const mla_kernel_table msl_%s_%s;\n", argv[i], isa[k]);
		printf("static const mla_kernel_table *const %s[] = {\n", isa[k]);
		for (int i = 0; i < argc; i++)
			printf("\t&msl_%s_%s,\n", argv[i], isa[k]);
		puts("\tNULL};\n");
	}
	puts("const mla_kernel_isa mla_kernel_isas[] = {");
	for (int k = 0; k < n_isa; k++)
		printf("\t{\"%s\", %s},\n", isa[k], isa[k]);
	puts("\t{NULL, NULL}};");
	return 0;
}

static int cuda_registry(int argc, char **argv)
{
	puts("#include \"engine/shim/abi_cuda.h\"\n\n#include <stddef.h>\n");
	for (int i = 0; i < argc; i++)
		printf("extern const mla_cuda_kernel msl_%s_cuda[];\n", argv[i]);
	puts("const mla_cuda_kernel *const mla_cuda_kernels[] = {");
	for (int i = 0; i < argc; i++)
		printf("\tmsl_%s_cuda,\n", argv[i]);
	puts("\tNULL};");
	return 0;
}

static int generate(const char *mode, const char *unit)
{
	msl_unit u = {.arena = mla_arena_new()};
	int rc;

	u.text = slurp(u.arena, stdin);
	msl_lex(&u);
	msl_parse(&u);
	msl_lint(&u);
	rc = u.errors != 0;
	if (!rc && strcmp(mode, "check"))
		msl_emit(stdout, &u,
		         !strcmp(mode, "cpu")      ? MSL_CPU
		         : !strcmp(mode, "strict") ? MSL_STRICT
		         : !strcmp(mode, "spaces") ? MSL_SPACES
		                                   : MSL_CUDA,
		         unit);
	mla_arena_free(u.arena);
	return rc;
}

int main(int argc, char **argv)
{
	static const char *const modes[] = {"check", "cpu", "strict", "cuda", "spaces"};

	if (argc >= 3 && !strcmp(argv[1], "flat"))
		return flat(argc - 2, argv + 2);
	if (argc >= 3 && !strcmp(argv[1], "registry"))
		return registry(argc - 2, argv + 2);
	if (argc >= 3 && !strcmp(argv[1], "cuda-registry"))
		return cuda_registry(argc - 2, argv + 2);
	for (size_t i = 0; argc == 3 && i < 5; i++)
		if (!strcmp(argv[1], modes[i]))
			return generate(argv[1], argv[2]);
	fprintf(stderr,
	        "usage: mslgen check|cpu|strict|cuda|spaces UNIT <FILE, or flat|registry ...\n");
	return 2;
}
