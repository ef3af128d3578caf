/*
 * The interpreter on small programs. What Python programs give was computed by CPython; array
 * results follow from the definitions of the operations.
 */
#include "tests/unit/test.h"

#include "analyzer/str.h"
#include "engine/replay/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	const char *source, *result; /* of f() */
} program;

static int no_file(mla_text **out, void *payload, const char *path)
{
	(void)out;
	(void)payload;
	(void)path;
	return 1;
}

typedef struct {
	mla_project *project;
	mla_machine *machine;
	mla_module *module;
} session;

static session begin(const char *source)
{
	session s;
	mla_replay_options o = {.mode = MLA_REPLAY_F64, .seed = 1, .max_work = 1 << 24};
	mla_python *python;
	mla_text *text;

	assert_int_equal(mla_project_new(&s.project, (mla_reader){no_file, NULL}), 0);
	assert_int_equal(mla_python_new(&python), 0);
	assert_int_equal(mla_text_new(&text, "t.py", mla_str_c(source)), 0);
	assert_int_equal(mla_module_parse(&s.module, python, text), 0);
	mla_python_free(python);
	mla_project_add(s.project, s.module);
	o.project = s.project;
	s.machine = mla_machine_new(&o);
	return s;
}

static void end(session *s)
{
	mla_machine_free(s->machine);
	mla_project_free(s->project);
}

static void check(const program *p)
{
	session s = begin(p->source);
	mla_str got = {"", 0};
	char text[512];

	if (mla_replay_text(&got, s.machine, s.module, mla_str_c("f")) == 0) {
		snprintf(text, sizeof(text), "%.*s", MLA_ARG(got));
	} else {
		const mla_fault *f = mla_machine_fault(s.machine);

		snprintf(text, sizeof(text), "%s%.*s: %.*s at line %u",
		         f->kind == MLA_FAULT_RAISED  ? "raised "
		         : f->kind == MLA_FAULT_LIMIT ? "limit"
		                                      : "unsupported",
		         MLA_ARG(f->type), MLA_ARG(f->message), f->line);
	}
	if (strcmp(text, p->result) != 0)
		fail_msg("%s\ngives %s\nnot   %s", p->source, text, p->result);
	end(&s);
}

#define ALL(list)                                                     \
	for (uint32_t i = 0; i < sizeof(list) / sizeof(*(list)); i++) \
	check(&(list)[i])

/* CPython's results. */
static const program plain[] = {
	{"def f(): return 7 // 2, -7 // 2, 7 % -3, -7 % 3, 2**10, 2**-1, 7 / 2, 1 << 5, 6 & 3",
         "(3, -4, -2, 2, 1024, 0.5, 3.5, 32, 2)"},
	{"def f(): return -7.5 // 2, 7.5 % -2, 1e3, 0x1F, 1_000, True + 1, not 0, ~5",
         "(-4.0, -0.5, 1000.0, 31, 1000, 2, True, -6)"},
	{"def f():\n    a, b = set(['x', 'y', 'x']), {'y', 'z', 'z'}\n    return len(a), len({i % "
         "2 for i "
         "in range(5)}), list(a - b), list(a & b), list(a | b), list(a ^ b), bool(a - a)",
         "(2, 2, ['x'], ['y'], ['y', 'x', 'z'], ['x', 'z'], False)"},
	{"def f():\n    a, (b, *c), d = 1, [2, 3, 4], 'x'\n    return a, b, c, d",
         "(1, 2, [3, 4], 'x')"},
	{"def f():\n    x = [1, 2, 3, 4, 5]\n    return x[1:], x[::-1], x[-2:], x[:-1], x[::2], "
         "x[5:]",
         "([2, 3, 4, 5], [5, 4, 3, 2, 1], [4, 5], [1, 2, 3, 4], [1, 3, 5], [])"},
	{"def g(a, b=2, *args, c=3, **kw): return a, b, args, c, kw\n"
         "def f(): return g(1), g(1, 5, 6, 7, c=8, d=9), g(b=1, a=0), g(*[1, 2], **{'c': 4})",
         "((1, 2, (), 3, {}), (1, 5, (6, 7), 8, {'d': 9}), (0, 1, (), 3, {}), (1, 2, (), 4, {}))"},
	{"def f():\n    n = 0\n    def inc():\n        nonlocal n\n        n += 1\n        return "
         "n\n"
         "    inc()\n    return inc(), n",
         "(2, 2)"},
	{"def f():\n    out = []\n    for i in range(10):\n        if i == 2: continue\n"
         "        if i == 5: break\n        out.append(i)\n    else:\n        out.append(99)\n"
         "    return out",
         "[0, 1, 3, 4]"},
	{"def f():\n    i = 0\n    while i < 3: i += 1\n    else: i += 10\n    return i", "13"},
	{"def f(): return [x * y for x in range(3) if x for y in (10, 20)], "
         "{k: v for k, v in zip('ab', [1, 2])}, sum(i for i in range(5))",
         "([10, 20, 20, 40], {'a': 1, 'b': 2}, 10)"},
	{"def f():\n    if (n := 3) > 2 and 1 < n <= 3 < 9: return n\n    return 0", "3"},
	{"def f(): return None or 5, 0 or None, 1 and 2, [] or 'x', (1 if 0 else 2)",
         "(5, None, 2, 'x', 2)"},
	{"def f():\n    try:\n        return {}['a']\n    except (ValueError, KeyError):\n"
         "        return 'caught'",
         "'caught'"},
	{"def f():\n    try:\n        x = 1\n    except Exception:\n        x = 2\n    else:\n     "
         "   x = 3\n"
         "    finally:\n        y = 4\n    return x, y",
         "(3, 4)"},
	{"def f():\n    match (1, 5):\n        case (0, _): return 'a'\n"
         "        case (1, x) if x > 9: return 'b'\n        case (1, 4 | 5 as y): return y\n"
         "    return 'c'",
         "5"},
	{"class A:\n    k = 3\n    def __init__(self, x): self.x = x\n    def get(self): return "
         "self.x\n"
         "    @property\n    def twice(self): return 2 * self.x\n"
         "    @staticmethod\n    def s(a): return a + 1\n"
         "class B(A):\n    def __init__(self, x):\n        super().__init__(x + 1)\n"
         "    def get(self): return super().get() * 10\n"
         "def f():\n    b = B(1)\n    return b.get(), b.twice, b.k, b.s(4), isinstance(b, A)",
         "(20, 4, 3, 5, True)"},
	{"from dataclasses import dataclass, field\n@dataclass\nclass C:\n    a: int\n    b: int = "
         "2\n"
         "    c: list = field(default_factory=list)\n    def __post_init__(self): self.b += 1\n"
         "def f():\n    c = C(5)\n    return c.a, c.b, c.c",
         "(5, 3, [])"},
	{"from functools import partial, wraps\ndef deco(fn):\n    @wraps(fn)\n"
         "    def inner(*a, **k): return fn(*a, **k) + 1\n    return inner\n"
         "@deco\ndef g(x, y=0): return x + y\ndef f(): return g(1), partial(g, 2, y=5)()",
         "(2, 8)"},
	{"def f():\n    shape = list((2, 3, 4))\n    shape[-1] = 7\n    return tuple(shape) + "
         "(1,), [None] * 2",
         "((2, 3, 7, 1), [None, None])"},
	{"async def g(x): return x + 1\nasync def f(): return await g(1)", "2"},
	{"import math\ndef f(): return math.sqrt(16), math.floor(-1.5), math.ceil(1.2), "
         "math.log(1)",
         "(4.0, -2, 2, 0.0)"},
	{"def f(): return f'a{1 + 1}b{{', 'x' 'y', 'it' in 'bits', 'Ab'.lower()",
         "('a2b{', 'xy', True, 'ab')"},
	{"def f(): return getattr(1, 'no', 'd'), hasattr([], 'append'), max(3, 1), min([4, 2]), "
         "abs(-3)",
         "('d', True, 3, 2, 3)"},
	{"def f(): return list(map(lambda x: x + 1, (1, 2))), all([1, 0]), any([0, 1]), int(2.9), "
         "len('abc')",
         "([2, 3], False, True, 2, 3)"},
};

static const program raising[] = {
	{"def f():\n    return x\n    x = 1",
         "raised UnboundLocalError: 'x' has no value here at line 2"},
	{"def f(): return nope", "raised NameError: name 'nope' is not defined at line 1"},
	{"def f(): return None[0]",
         "raised TypeError: 'NoneType' object is not subscriptable at line 1"},
	{"class A: pass\ndef f():\n    a = A()\n    return a.b",
         "raised AttributeError: 'A' object has no attribute 'b' at line 4"},
	{"def f(): return (1).b",
         "raised AttributeError: 'int' object has no attribute 'b' at line 1"},
	{"def f():\n    raise ValueError('bad')", "raised ValueError: bad at line 2"},
	{"def f():\n    a, b = 1, 2, 3",
         "raised ValueError: 3 values to unpack into 2 names at line 2"},
	{"def g(a): pass\ndef f(): g()", "raised TypeError: g() misses argument 'a' at line 2"},
	{"def f(): return 1 + 'a'",
         "raised TypeError: unsupported operand types: 'int' and 'str' at line 1"},
	{"def f(): return 1 // 0", "raised ZeroDivisionError: division by zero at line 1"},
	{"def f():\n    assert 1 > 2, 'no'", "raised AssertionError: no at line 2"},
	{"import mlx.core as mx\ndef f():\n    a = mx.zeros((2, 3))\n    return a @ a",
         "raised ValueError: matmul: (2, 3) and (2, 3) at line 4"},
};

/* What is not understood is said, never passed over. */
static const program unknown[] = {
	{"def f():\n    yield 1", "unsupported: generator function f() at line 1"},
	{"import os\ndef f(): return os.getcwd()", "unsupported: call of `os.getcwd` at line 2"},
	{"def f():\n    global x\n    x = 1", "unsupported: assignment to global `x` at line 3"},
	{"import mlx.core as mx\ndef f(): return mx.fft.fft(1)",
         "unsupported: call of `mlx.core.fft.fft` at line 2"},
	{"import mlx.core as mx\ndef f(): return mx.softmax(mx.ones((2,)), axis=0, wild=1)",
         "unsupported: argument `wild` of softmax at line 2"},
	{"if 1:\n    x = 1\nelse:\n    x = 2\ndef f(): return x",
         "unsupported: `x` is bound several times at module level at line 5"},
	{"x = y\ny = x\ndef f(): return x",
         "unsupported: `x` is defined by itself (an import cycle) at line 2"},
	{"def f(): return b'x'", "unsupported: bytes at line 1"},
	{"import mlx.core as mx\ndef f():\n    a = mx.zeros((2,))\n    b = a\n    a += 1\n    "
         "return b",
         "unsupported: an array that was changed in place elsewhere at line 6"},
	{"import torch\ndef f():\n    a = torch.zeros(2)\n    a += 1\n    return a",
         "unsupported: an array changed in place at line 4"},
};

static const program arrays[] = {
	{"import mlx.core as mx\ndef f(): return mx.arange(6).reshape(2, 3).T",
         "array(3, 2): 0.0 3.0 1.0 4.0 2.0 5.0"},
	{"import mlx.core as mx\ndef f():\n    a = mx.arange(6).reshape(2, 3)\n    return a[:, "
         "None, 1:], a[..., -1]",
         "(array(2, 1, 2): 1.0 2.0 4.0 5.0, array(2,): 2.0 5.0)"},
	{"import mlx.core as mx\ndef f(): return [p.shape for p in mx.split(mx.zeros((2, 6)), [2], "
         "axis=-1)]",
         "[(2, 2), (2, 4)]"},
	{"import torch\ndef f():\n    a, b = torch.zeros(2, 6).split([2, 4], dim=-1)\n"
         "    return a.shape, b.shape, b.transpose(0, 1).shape, b.unsqueeze(1).expand(-1, 3, "
         "-1).shape",
         "((2, 2), (2, 4), (4, 2), (2, 3, 4))"},
	{"import mlx.core as mx\ndef f(): return mx.where(mx.array([True, False]), mx.array([1, "
         "2]), 0) * 2",
         "array(2,): 2.0 0.0"},
	{"import torch\ndef f(): return torch.ones(2).masked_fill(~torch.tensor([True, False]), "
         "float('-inf'))",
         "array(2,): 1.0 -inf"},
	{"import mlx.core as mx\ndef f():\n    a = mx.zeros((2, 2))\n    a[..., :1] = 3\n    "
         "return a",
         "array(2, 2): 3.0 0.0 3.0 0.0"},
	{"import mlx.core as mx\ndef f(): return mx.put_along_axis(mx.zeros((1, 3)), "
         "mx.array([[2]]), mx.array(1.0), axis=-1)",
         "array(1, 3): 0.0 0.0 1.0"},
	{"import torch\ndef f(): return torch.einsum('ij,kj->ik', torch.tensor([[1, 2.0]]), "
         "torch.tensor([[3, 4.0], [5, 6]]))",
         "array(1, 2): 11.0 17.0"},
	{"import mlx.core as mx\ndef f():\n    a = mx.arange(3)[:, None] >= mx.arange(3)[None]\n   "
         " return (a & ~a).any().item(), a.sum().item(), a.dtype == mx.bool_",
         "(False, 6, True)"},
	{"import mlx.core as mx\ndef f(): return mx.softmax(mx.zeros((2,)), axis=-1, "
         "precise=True), mx.sigmoid(mx.zeros((1,)))",
         "(array(2,): 0.5 0.5, array(1,): 0.5)"},
};

/* Programs that want more than there is. */
static const program hostile[] = {
	{"def f():\n    while True: pass", "limit: more than 400000 steps at line 2"},
	{"def f(): return f()", "limit: calls nested deeper than 48 at line 1"},
	{"def f():\n    x = []\n    for i in range(1000000): x.append(i)\n    return x",
         "limit: a list of more than 65536 elements at line 3"},
	{"def f(): return [0] * 1000000", "limit: a list of more than 65536 elements at line 1"},
	{"import mlx.core as mx\ndef f(): return mx.zeros((1000, 1000, 1000))", NULL},
	{"def f(): return 10 ** 10 ** 10", "limit: an integer beyond 64 bits at line 1"},
	{"def f():\n    s = 'ab'\n    for i in range(60): s = s + s\n    return s",
         "limit: a string of more than 65536 bytes at line 3"},
	{"import mlx.core as mx\ndef f():\n    a = mx.zeros((512, 512))\n    while True: a = a @ a",
         NULL},
};

static void test_plain(void **state)
{
	(void)state;
	ALL(plain);
}

static void test_raising(void **state)
{
	(void)state;
	ALL(raising);
}

static void test_unknown(void **state)
{
	(void)state;
	ALL(unknown);
}

static void test_arrays(void **state)
{
	(void)state;
	ALL(arrays);
}

static void test_hostile(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		session s;
		mla_str got;

		if (hostile[i].result) {
			check(&hostile[i]);
			continue;
		}
		s = begin(hostile[i].source);
		assert_int_equal(mla_replay_text(&got, s.machine, s.module, mla_str_c("f")),
		                 MLA_ELIMIT);
		assert_int_equal(mla_machine_fault(s.machine)->kind, MLA_FAULT_LIMIT);
		end(&s);
	}
}

/* `a + a + ... + a`, 20,000 deep, and as many parentheses. */
static void test_deep(void **state)
{
	enum { DEPTH = 20000 };
	char *source = mla_alloc(8 * DEPTH + 64);
	size_t n = (size_t)sprintf(source, "def f(): return 1");
	mla_str got;
	session s;

	(void)state;
	for (int i = 0; i < DEPTH; i++)
		n += (size_t)sprintf(source + n, " + 1");
	s = begin(source);
	assert_int_equal(mla_replay_text(&got, s.machine, s.module, mla_str_c("f")), MLA_ELIMIT);
	end(&s);
	n = (size_t)sprintf(source, "def f(): return ");
	memset(source + n, '(', DEPTH);
	source[n + DEPTH] = '1';
	memset(source + n + DEPTH + 1, ')', DEPTH);
	source[n + 2 * DEPTH + 1] = 0;
	s = begin(source);
	assert_int_equal(mla_replay_text(&got, s.machine, s.module, mla_str_c("f")), 0);
	assert_int_equal(got.len, 1);
	end(&s);
	free(source);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),   cmocka_unit_test(test_raising),
		cmocka_unit_test(test_unknown), cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_deep),
	};

	return cmocka_run_group_tests_name("replay_python", tests, NULL, NULL);
}
