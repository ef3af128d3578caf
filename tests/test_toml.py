#!/usr/bin/env python3
"""The TOML reader against Python's: the same documents accepted, with the same content."""

import datetime
import json
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import TOOL, Cases, need, same, text

EXPORT = os.path.join(os.path.dirname(TOOL), "toml_export")

# One construct each; what TOML 1.0 says of them is decided by tomllib, not here.
DOCUMENTS = r'''
a = 1
a = +1_000
a = 0xDEAD_beef
a = 0o17
a = 0b1_0
a = 01
a = 1__0
a = _1
a = 0x_1
a = 9223372036854775807
a = -9223372036854775808
a = 1.5e3
a = .5
a = 1.
a = inf
a = -nan
a = tru
a = true
a = 1979-05-27
a = 1979-05-27T07:32:00Z
a = 1979-05-27 07:32:00.5
a = 07:32:00
a = "\u00e9\U0001F600\t\\\""
a = "\ud800"
a = "\U00110000"
a = "\x41"
a = "\e"
a = "\u12"
a = "open
a = 'C:\temp'
a = 'it''s'
a = "tab	inside"
a = """one\
   two"""
a = """\
a = """two "quotes"" here"""""
a = """x""""""
a = \'\'\'two ' '' here\'\'\'\'\'
a = """a \
a = ["b", 'c',]
a = [1, [2, "x"], {b = 1}]
a = [,]
a = [1,,2]
a = {}
a = {b = 1, c.d = 2}
a = {b = 1,}
a = {b = 1, b = 2}
a = {b.c = 1, b = 2}
"a.b".c = 1
'' = 1
"" = 1
a b = 1
a =
= 1
a = 1 b = 2
a = 1 # comment
# comment only
a."b".'c d' = 1
a . b = 1
é = 1
"\u0061" = 1
3.14 = "pi"
-a_1 = 2
[a]
[a.b]
[ a . "b" ]
[]
[a
[a]]
[[a]]
[[a]
[a] x = 1
'''.strip("\n").replace("\\'\\'\\'", "'''").split("\n") + [
    "",
    "a = 1\r\nb = 2\r\n",
    "a = 1\rb = 2\n",
    "a = 1\na = 2\n",
    "a = 1\na.b = 2\n",
    "a.b = 1\na.c = 2\n",
    "a.b = 1\na.b.c = 2\n",
    "[a]\n[a]\n",
    "[a.b]\n[a]\nc = 1\n",
    "[a]\nb = 1\n[a.b]\n",
    "[a.b.c]\n[a]\nb.d = 1\n",
    "[a.b]\n[a]\nb.d = 1\n",
    "[a]\nb.c = 1\n[a.b]\n",
    "[a]\nb.c = 1\n[a.b.d]\n",
    "[a]\nb.c = 1\n[x]\n[a]\n",
    "a.b = 1\n[a]\n",
    "a.b = 1\n[a.c]\n",
    "a = {}\n[a]\n",
    "a = {}\n[a.b]\n",
    "a = {b = {}}\na.b.c = 1\n",
    "a = []\n[[a]]\n",
    "a = [{}]\n[a.b]\n",
    "[[a]]\n[[a]]\nb = 1\n[a.c]\nd = 1\n",
    "[[a]]\n[a]\n",
    "[a]\n[[a]]\n",
    "[a.b]\n[[a]]\n",
    "[[a.b]]\n[a]\nc = 1\n",
    "[[a]]\n[[a.b]]\nc = 1\n[[a.b]]\n[[a]]\n[[a.b]]\n",
    "[[a]]\nb.c = 1\n[a.b]\n",
    "a = [\n 1, # one\n\n 2\n]\n",
    "a = {\nb = 1}\n",
    'a = """\nfirst\r\nsecond"""\n',
    'a = """\n\\\n\n   joined \\  \n  x"""\n',
    "a = '''\n# no comment [\n'''\n",
    "a = 'x' # ] \" '\n",
    "a = \"#\"\nb = '\"'\n",
    "a = 1\x00\n",
    "# \x01\n",
    "# \x7f\n",
    'a = "\x7f"\n',
    "a = [[[[1]]]]\n",
    "tool.mlalint = {select = ['MLA001']}\n[project]\nname = 'x'\n",
    "a = 1\n[b]\n[b.c]\n[[b.d]]\n[b.d.e]\nf = {g.h = [{i = 1}]}\n",
]

PIECES = ["a", "b", '"c d"', "'e'", ".", "=", " = ", "\n", "\n", "\r\n", "[", "]", "[[", "]]", "{", "}", ",",
          "1", "-2", "true", '"s"', "'l'", '"""m"""', "'''n'''", "1.5", "2020-01-01", "#c", " ", "\\", '"', "'"]  # fmt: skip


def plain(v):
    """As toml_export prints it."""
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, float):
        return {"kind": "a float"}
    if isinstance(v, (datetime.date, datetime.time)):
        return {"kind": "a date or time"}
    return v


def expected(document):
    try:
        return plain(tomllib.loads(document))
    except ValueError:
        return None


def read(document):
    p = subprocess.run([EXPORT], input=document.encode(), stdout=-1, stderr=-1, timeout=60)
    need(p.returncode in (0, 1), "exit status %d for %a" % (p.returncode, document))
    if p.returncode:
        need(p.stderr.startswith(b"stdin:"), "no line in %r" % text(p.stderr))
        return None
    return json.loads(p.stdout)


def compare(document):
    same(ascii(document), read(document), expected(document))


def documents():
    for d in DOCUMENTS:
        compare(d)


def random_pieces():
    """Mostly broken: what must not be accepted. The seed makes a failure repeat."""
    r = random.Random(7)
    for _ in range(400):
        compare("".join(r.choice(PIECES) for _ in range(r.randrange(1, 12))))


def random_tables():
    """Well formed lines whose tables may contradict each other."""
    r = random.Random(8)
    keys = ("a", "b", "c")
    values = ("1", "'x'", "[]", "[{a = 1}]", "{}", "{b.c = 1}")

    def key():
        return ".".join(r.choice(keys) for _ in range(r.randrange(1, 4)))

    for _ in range(600):
        lines = []
        for _ in range(r.randrange(1, 6)):
            form = r.choice(("%s = " + r.choice(values), "[%s]", "[[%s]]"))
            lines.append(form % key())
        compare("\n".join(lines) + "\n")


def bytes_that_are_no_text():
    for data in (b"a = '\xff'", b"a = '\xc0\x80'", b"# \xed\xa0\x80", b"a = '\xf4\x90\x80\x80'", b"\xff\xfea"):
        p = subprocess.run([EXPORT], input=data, stdout=-1, stderr=-1, timeout=60)
        same(repr(data), (p.returncode, p.stderr), (1, b"stdin:1: not UTF-8\n"))


def hostile():
    for name, data in (
        ("arrays", b"a = " + b"[" * 50000),
        ("inline tables", b"a = " + b"{a=" * 50000),
        ("keys", b"a" + b".a" * 50000 + b" = 1"),
        ("headers", b"[a" + b".a" * 50000 + b"]"),
        ("keys in tables", b"a = " + b"{a.a.a.a.a.a.a.a = " * 100 + b"1" + b"}" * 100),
    ):
        p = subprocess.run([EXPORT], input=data, stdout=-1, stderr=-1, timeout=60)
        same(name, (p.returncode, p.stderr), (1, b"stdin:1: nested more than 128 deep\n"))
    p = subprocess.run([EXPORT], input=b"#\n" * 200000 + b"a = 1", stdout=-1, stderr=-1, timeout=60)
    same("comments", (p.returncode, p.stdout), (0, b'{"a":1}'))


cases = Cases("toml")
try:
    import tomllib
except ImportError:
    cases.skip("against tomllib", "this Python has none; 3.11 does")
else:
    cases.run("documents", documents)
    cases.run("random pieces", random_pieces)
    cases.run("random tables", random_tables)
cases.run("bytes that are no text", bytes_that_are_no_text)
cases.run("hostile", hostile)
sys.exit(cases.status())
