/* Places for inserted lines, header positions of imports, and the overlap policy. */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "fixers/apply.h"

typedef struct {
	mla_module *module;
	mla_arena *arena;
} source;

static source parse(const char *bytes)
{
	source s = {.arena = mla_arena_new()};
	mla_python *python;
	mla_text *text;

	assert_int_equal(mla_python_new(&python), 0);
	assert_int_equal(mla_text_new(&text, "t.py", mla_str_c(bytes)), 0);
	assert_int_equal(mla_module_parse(&s.module, python, text), 0);
	mla_python_free(python);
	return s;
}

static void release(source *s)
{
	mla_module_free(s->module);
	mla_arena_free(s->arena);
}

/* The statement of the source that starts with `word`. */
static const mla_node *statement(const source *s, const char *word)
{
	const mla_node *root = s->module->syntax.root;

	for (const mla_node *n = root; n; n = mla_node_next(n, root, false))
		if (mla_node_is_statement(n) && n->kind != MLA_N_BLOCK &&
		    mla_str_starts(mla_node_text(s->module->text, n), word))
			return n;
	fail_msg("no statement starts with %s", word);
	return NULL;
}

/* What follows the place after the statement `x...`; NULL: there must be none. */
static void check_after(const char *bytes, const char *rest, const char *indent)
{
	source s = parse(bytes);
	const mla_node *n = statement(&s, "x");
	uint32_t at;
	mla_str lead;
	bool placed = mla_insert_after(&at, &lead, s.module, n);

	assert_int_equal(placed, rest != NULL);
	if (placed) {
		mla_writer w = mla_writer_for(s.arena, s.module, n);

		assert_string_equal(bytes + at, rest);
		assert_int_equal(lead.len, at && bytes[at - 1] != '\n' && bytes[at - 1] != '\r');
		assert_true(mla_str_is(w.indent, indent));
	}
	release(&s);
}

static void after(void **state)
{
	(void)state;
	check_after("x = 1\ny\n", "y\n", "");
	check_after("x = 1  # c\r\ny\r\n", "y\r\n", "");
	check_after("x = 1", "", "");
	check_after("x = 1  # '''", "", "");
	check_after("x = 1; y = '''\n x\n'''\nz\n", "z\n", "");
	check_after("x = 1; y = f(\n1,\n)  # c\nz\n", "z\n", "");
	check_after("x = 1; y = 2; z = [\n]; \nw\n", "w\n", "");
	check_after("x = 1; \\\n  y = 2\nz\n", "z\n", "");
	check_after("x = \\\n  1\nz\n", "z\n", "");
	check_after("x = (1)  # '''\nz\n", "z\n", "");
	check_after("x;\nz\n", "z\n", "");
}

static void after_in_block(void **state)
{
	(void)state;
	check_after("def f():\n  a\n  x = 1\n  b\n", "  b\n", "  ");
	check_after("def f():\n  a = '''\n'''; x = 1\n  b\n", "  b\n", "  ");
	check_after("def f():\n\ta; \\\n    x = 1\n\tb\n", "\tb\n", "\t");
	check_after("if a:\n  x = 1\nelse:\n  b\n", "else:\n  b\n", "  ");
	check_after("def f():\n  x = 1; return\n", NULL, "");
	check_after("def f(): x = 1\nb\n", NULL, "");
	check_after("def f(\n    a): x = 1; y = 2\nb\n", NULL, "");
	check_after("def f(): \\\n  x = 1\nb\n", NULL, "");
}

static void check_before(const char *bytes, int64_t want)
{
	source s = parse(bytes);
	uint32_t at;
	bool placed = mla_insert_before(&at, s.module, statement(&s, "x"));

	assert_int_equal(placed, want >= 0);
	if (placed)
		assert_int_equal(at, want);
	release(&s);
}

static void before(void **state)
{
	(void)state;
	check_before("x = 1\n", 0);
	check_before("\xEF\xBB\xBFx = 1\n", 3);
	check_before("def f():\n  x = 1\n", 9);
	check_before("# \\\nx = 1\n", 4);
	check_before("a; x = 1\n", -1);
	check_before("a; \\\nx = 1\n", -1);
	check_before("a = '''\n'''; x = 1\n", -1);
}

/* Comments are what the parser says, not lines with a '#'. */
static void comments(void **state)
{
	source s = parse("a = '''\n# no\n'''\n# yes\n");
	uint32_t end;

	(void)state;
	assert_false(mla_comment_at(&end, s.module, 8));
	assert_true(mla_comment_at(&end, s.module, 17));
	assert_int_equal(end, 22);
	assert_false(mla_comment_at(&end, s.module, 18));
	release(&s);
}

static mla_fix insertion(source *s, uint32_t at, const char *text, const char *binds)
{
	mla_fix f = {.edits = {.arena = s->arena}};

	mla_edits_bind(&f.edits, s->module, (mla_span){at, at}, mla_str_c(text), mla_str_c(binds));
	return f;
}

/* One run defines a name once: the same edit counts once, another one is left out. */
static void one_definition(void **state)
{
	source s = parse("a\nb\n");
	mla_fix first = insertion(&s, 0, "h\n", "h"), same = insertion(&s, 0, "h\n", "h"),
		elsewhere = insertion(&s, 2, "h\n", "h"), other = insertion(&s, 2, "i\n", "i"),
		plain = insertion(&s, 2, "j\n", "");
	const mla_fix *all[] = {&first, &same, &elsewhere, &other, &plain};
	bool applied[5];
	mla_changes changes;

	(void)state;
	mla_apply(&changes, applied, s.arena, all, 5);
	assert_true(applied[0] && applied[1] && !applied[2] && applied[3] && applied[4]);
	assert_int_equal(changes.n, 1);
	assert_true(mla_str_is(changes.v[0].after, "h\na\ni\nj\nb\n"));
	release(&s);
}

/* A result with more syntax errors than the source is a bug of ours, and is refused. */
static void broken_result(void **state)
{
	static const char *const after[] = {"x = (1\n", "def f(:\n", "x = 'a\n"};
	source good = parse("x = 1\n"), bad = parse("x = = 1\n");
	mla_change c = {.module = good.module};
	mla_python *python;

	(void)state;
	assert_int_equal(mla_python_new(&python), 0);
	for (size_t i = 0; i < sizeof(after) / sizeof(*after); i++) {
		c.after = mla_str_c(after[i]);
		assert_int_equal(mla_change_check(&c, python), MLA_EBUG);
	}
	c.after = mla_str_c("x = 2\n");
	assert_int_equal(mla_change_check(&c, python), 0);
	c = (mla_change){bad.module, mla_str_c("y = = 1\n")}; /* no worse than before */
	assert_int_equal(mla_change_check(&c, python), 0);
	mla_python_free(python);
	release(&good);
	release(&bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(after),          cmocka_unit_test(after_in_block),
		cmocka_unit_test(before),         cmocka_unit_test(comments),
		cmocka_unit_test(one_definition), cmocka_unit_test(broken_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
