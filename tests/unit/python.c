/* The Python front end: the tree for each construct, written as an expression. */
#include "tests/unit/test.h"

#include "analyzer/python.h"
#include "analyzer/str.h"
#include "analyzer/tree_parse.h"
#include "analyzer/vec.h"

#include <stdio.h>

extern const TSLanguage *tree_sitter_python(void);

typedef struct {
	char *ptr;
	size_t len;
} buffer;

static void add(FILE *f, const mla_node *n)
{
	/* Recursion is fine here: the inputs are ours. */
	if (!n) {
		fputs(" -", f);
		return;
	}
	fprintf(f, " (%s", mla_kind_name(n->kind));
	if (n->op)
		fprintf(f, " #%d", n->op);
	if (n->name.len && n->kind != MLA_N_TRUE && n->kind != MLA_N_NONE)
		fprintf(f, " %.*s", MLA_ARG(n->name));
	for (uint32_t i = 0; i < n->n; i++)
		add(f, n->kid[i]);
	fputc(')', f);
}

typedef struct {
	mla_text *text;
	mla_arena *arena;
	mla_syntax syntax;
} parsed;

static parsed parse(const char *source, size_t len)
{
	parsed p = {.arena = mla_arena_new()};
	mla_python *python;

	assert_int_equal(mla_python_new(&python), 0);
	assert_int_equal(mla_text_new(&p.text, "t.py", (mla_str){source, (uint32_t)len}), 0);
	assert_int_equal(mla_python_parse(&p.syntax, python, p.text, p.arena), 0);
	mla_python_free(python);
	return p;
}

static void release(parsed *p)
{
	mla_text_free(p->text);
	mla_arena_free(p->arena);
}

static void expect(const char *source, const char *tree)
{
	parsed p = parse(source, strlen(source));
	buffer b = {0};
	FILE *f = open_memstream(&b.ptr, &b.len);

	for (uint32_t i = 0; i < p.syntax.root->n; i++)
		add(f, p.syntax.root->kid[i]);
	fclose(f);
	assert_string_equal(b.ptr + 1, tree);
	free(b.ptr);
	release(&p);
}

static void statements(void **state)
{
	(void)state;
	expect("x = y = 1\n", "(assign (name x) (name y) (int 1))");
	expect("x: int = 1\n", "(ann assign (name x) (name int) (int 1))");
	expect("x: int\n", "(ann assign (name x) (name int) -)");
	expect("x += 1\n", "(aug assign #1 (name x) (int 1))");
	expect("a, (b, *c) = t\n",
	       "(assign (tuple (name a) (tuple (name b) (star (name c)))) (name t))");
	expect("if a:\n  b\nelif c:\n  d\nelse:\n  e\n",
	       "(if (name a) (block (expression (name b))) (if (name c) (block (expression (name "
	       "d))) (block (expression (name e)))))");
	expect("if a: pass\n", "(if (name a) (block (pass)) -)");
	expect("for i in x:\n  break\nelse:\n  continue\n",
	       "(for (name i) (name x) (block (break)) (block (continue)))");
	expect("while x: pass\n", "(while (name x) (block (pass)) -)");
	expect("with a as b, c: pass\n",
	       "(with (with item (name a) (name b)) (with item (name c) -) (block (pass)))");
	expect("try: pass\nexcept A as e: pass\nelse: pass\nfinally: pass\n",
	       "(try (block (pass)) (handler e (name A) (block (pass))) (else (block (pass))) "
	       "(finally (block (pass))))");
	expect("return 1, 2\n", "(return (tuple (int 1) (int 2)))");
	expect("raise A from b\n", "(raise (name A) (name b))");
	expect("assert a, b\n", "(assert (name a) (name b))");
	expect("import a.b as c, d\n", "(import (alias a.b (name c)) (alias d -))");
	expect("from ..m import (x as y, z)\n", "(import from ..m (alias x (name y)) (alias z -))");
	expect("from . import *\n", "(import from . (alias * -))");
	expect("from __future__ import a\n", "(import from __future__ (alias a -))");
}

static void definitions(void **state)
{
	(void)state;
	expect("class A(B, m=C):\n  x = 1\n",
	       "(class A (arguments (name B) (keyword m (name C))) (block (assign (name x) (int "
	       "1))) -)");
	expect("@d\n@e(1)\ndef f(a, b: int = 2, *c, d=3, **k) -> int: pass\n",
	       "(function f (parameters (parameter a - -) (parameter b (name int) (int 2)) "
	       "(parameter #25 c - -) (parameter d - (int 3)) (parameter #7 k - -)) (block (pass)) "
	       "(name int) (decorators (name d) (call (name e) (int 1))))");
	expect("def f(a, /, *, b): pass\n",
	       "(function f (parameters (parameter a - -) (parameter #26 - -) (parameter #25 - -) "
	       "(parameter b - -)) (block (pass)) - -)");
	expect("def f(*a: int): pass\n",
	       "(function f (parameters (parameter #25 a (name int) -)) (block (pass)) - -)");
	expect("lambda u, v=1: u\n",
	       "(expression (lambda (parameters (parameter u - -) (parameter v - (int 1))) (name "
	       "u)))");
}

static void expressions(void **state)
{
	(void)state;
	expect("a == 1\n", "(expression (compare #15 (name a) (int 1)))");
	expect("1 < a <= 3\n", "(expression (chain (int 1) (operator #17) (name a) (operator #18) "
	                       "(int 3)))");
	expect("a is not None\n", "(expression (compare #22 (name a) (none)))");
	expect("a not in b\n", "(expression (compare #24 (name a) (name b)))");
	expect("not (a and b) or c\n", "(expression (or (not (and (name a) (name b))) (name c)))");
	expect("x if t else y\n", "(expression (condition (name t) (name x) (name y)))");
	expect("(n := a.b) == 1\n",
	       "(expression (compare #15 (walrus (name n) (attribute b (name a))) (int 1)))");
	expect("a[1:2, ..., None]\n", "(expression (subscript #27 (name a) (slice (int 1) (int 2) "
	                              "-) (ellipsis ...) (none)))");
	expect("a[:, ::2][b]\n", "(expression (subscript (subscript #27 (name a) (slice - - -) "
	                         "(slice - - (int 2))) (name b)))");
	expect("f(*a, k=1, **b)\n",
	       "(expression (call (name f) (star (name a)) (keyword k (int 1)) (star star (name "
	       "b))))");
	expect("f(x for x in y if z)\n",
	       "(expression (call (name f) (generator (name x) (for clause (name x) (name y)) (if "
	       "clause (name z)))))");
	expect("-x ** 2 @ y\n", "(expression (binary #8 (unary #2 (binary #7 (name x) (int 2))) "
	                        "(name y)))");
	expect("{1: 2, **o}\n", "(expression (dict (pair (int 1) (int 2)) (star star (name o))))");
	expect("x, = y\n", "(assign (tuple (name x)) (name y))");
	expect("(L == 1)\n", "(expression (compare #15 (name L) (int 1)))");
	expect("f\"{L == 1!r}\"\n", "(expression (string (compare #15 (name L) (int 1))))");
	expect("\"L == 1\"\n", "(expression (string))");
}

static void patterns(void **state)
{
	(void)state;
	expect("match n:\n  case 1: pass\n  case -2 | None: pass\n  case [a, _] if b: pass\n"
	       "  case c as d: pass\n  case _: pass\n",
	       "(match (name n) (case (int 1) - (block (pass))) (case (pattern or (unary #2 (int "
	       "2)) (none)) - (block (pass))) (case (tuple (name a) (wildcard _)) (name b) (block "
	       "(pass))) (case (pattern as (name c) (name d)) - (block (pass))) (case (wildcard "
	       "_) - (block (pass))))");
}

static void spans(void **state)
{
	const char *source = "\xEF\xBB\xBFif ((L) == 1):\r\n  x = 1  # one\r\n";
	parsed p = parse(source, strlen(source));
	const mla_node *test = p.syntax.root->kid[0]->kid[0];

	(void)state;
	assert_int_equal(test->kind, MLA_N_COMPARE);
	assert_int_equal(test->span.start, 7);
	assert_int_equal(test->span.end, 15);
	assert_int_equal(test->outer.start, 6);
	assert_int_equal(test->outer.end, 16);
	assert_int_equal(test->kid[0]->outer.start, 7);
	assert_int_equal(test->kid[0]->outer.end, 10);
	assert_int_equal(p.syntax.comment_count, 1);
	assert_true(mla_str_is(mla_text_slice(p.text, p.syntax.comments[0]), "# one"));
	release(&p);
}

static void broken_source(void **state)
{
	const char *source = "def f(:\n  if L == 1\n    x = (\n\ndef g():\n  return 1\n";
	parsed p = parse(source, strlen(source));

	(void)state;
	assert_true(p.syntax.error_count > 0);
	assert_true(p.syntax.root->has_error);
	release(&p);
}

/* Depth must cost heap, not stack; the second form is deep in the tree too. */
static void deep_source(void **state)
{
	enum { DEPTH = 20000 };
	char *source = malloc(3 * DEPTH + 8);
	parsed p;
	uint32_t count = 0;

	(void)state;
	memset(source, '(', DEPTH);
	source[DEPTH] = 'x';
	memset(source + DEPTH + 1, ')', DEPTH);
	p = parse(source, 2 * DEPTH + 1);
	assert_int_equal(p.syntax.error_count, 0);
	assert_int_equal(p.syntax.root->kid[0]->kid[0]->kind, MLA_N_NAME);
	release(&p);

	for (int i = 0; i < DEPTH; i++)
		memcpy(source + 2 * i, "1+", 2);
	source[2 * DEPTH] = '1';
	p = parse(source, 2 * DEPTH + 1);
	for (const mla_node *n = p.syntax.root; n; n = mla_node_next(n, p.syntax.root, false))
		count++;
	assert_int_equal(count, 2 * DEPTH + 3);
	release(&p);
	free(source);
}

/* Recovery makes one node of all that is left open: more children than 16 bits count. */
static void wide_error(void **state)
{
	static const char *const piece[] = {"(", "[x for x in ", "a if b else ", "f'{"};
	enum { TIMES = 100000 };

	(void)state;
	for (size_t k = 0; k < sizeof(piece) / sizeof(*piece); k++) {
		size_t n = strlen(piece[k]);
		char *source = malloc(n * TIMES);
		parsed p;

		for (size_t i = 0; i < TIMES; i++)
			memcpy(source + i * n, piece[k], n);
		p = parse(source, n * TIMES);
		assert_true(p.syntax.error_count > 0);
		release(&p);
		free(source);
	}
}

/* What would take minutes is given up, and the parser reads the next source from its start. */
static void endless_recovery(void **state)
{
	enum { TIMES = 40000 };
	static const char piece[] = "@@ ?? $$ !! \n";
	TSParser *parser = mla_tree_parser(tree_sitter_python());
	char *source = malloc(TIMES * strlen(piece));
	TSTree *tree;

	(void)state;
	for (size_t i = 0; i < TIMES; i++)
		memcpy(source + i * strlen(piece), piece, strlen(piece));
	assert_null(mla_tree_parse(parser, (mla_str){source, TIMES * strlen(piece)}, 1));
	tree = mla_tree_parse(parser, mla_str_c("x = 1\n"), 10);
	assert_non_null(tree);
	assert_false(ts_node_has_error(ts_tree_root_node(tree)));
	assert_int_equal(ts_node_end_byte(ts_tree_root_node(tree)), 6);
	ts_tree_delete(tree);
	ts_parser_delete(parser);
	free(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements),
		cmocka_unit_test(definitions),
		cmocka_unit_test(expressions),
		cmocka_unit_test(patterns),
		cmocka_unit_test(spans),
		cmocka_unit_test(broken_source),
		cmocka_unit_test(deep_source),
		cmocka_unit_test(wide_error),
		cmocka_unit_test(endless_recovery),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
