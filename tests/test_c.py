#!/usr/bin/env python3
"""C, C++ and Objective-C: fixtures of testdata/c, and the cases of an external folder.

A fixture says what is found in comments: `expect: CODE role`, `expect: kept reason`, `expect:
unanalysed -`. MLALINT_C_CASES names a folder with an expected.tsv (columns: file, line, code or
`kept`, `unanalysed`, `none`, role or reason, fixable, verify, note); codes of rules that look at no
decision of attention are left out, and notes say which rows are tolerated or may be missing.
`fixable` says whether there is a fix; a file that compiled before its fix compiles after it.

NAME.fixed beside a fixture is what its fix makes of it, NAME.fixed-cached what the cache-length form
does; a fixture without them has no fix.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import ROOT, Cases, Failure, edits_by_path, need, run, same, spliced, text

FIXTURES = os.path.join(ROOT, "testdata", "c")
CODES = ("MLA001", "MLA002", "MLA004", "MLA101", "MLA102")
FORMS = {".fixed": (), ".fixed-cached": ("--threshold", "cache-length")}
COMPILERS = {
    "c": ("gcc", "-std=gnu11"),
    "h": ("gcc", "-std=gnu11", "-x", "c"),
    "cpp": ("g++", "-std=c++17"),
    "m": ("clang", "-x", "objective-c"),
}


def report(folder, path):
    p = run(("check", "--show-kept", "--output-format", "json", path), folder)
    try:
        return p.returncode, json.loads(p.stdout)
    except ValueError:
        raise Failure("exit status %d, not JSON: %s" % (p.returncode, text(p.stderr)[:300]))


def rows(found):
    out = {(f["path"], f["line"], f["code"], f["role"]) for f in found["findings"]}
    out |= {(k["path"], k["line"], "kept", k["reason"]) for k in found["kept"]}
    out |= {(u["path"], u["line"], "unanalysed", "-") for u in found.get("unanalysed", [])}
    return {(os.path.basename(r[0]),) + r[1:] for r in out}


def fixture(name):
    want = set()
    with open(os.path.join(FIXTURES, name), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            for code, role in re.findall(r"expect: (\S+) (\S+)", line):
                want.add((name, number, code, role))
    status, found = report(FIXTURES, name)
    same("rows", sorted(rows(found)), sorted(want))
    codes = {r[2] for r in want}
    same(
        "exit status",
        status,
        2 if "unanalysed" in codes else 1 if codes - {"kept"} else 0,
    )
    same("failed files", found["files"]["failed"], [])
    partial = [os.path.basename(p["path"]) for p in found["files"]["partial"]]
    same("partial files", partial, [name] if "unanalysed" in codes else [])
    if not os.path.exists(os.path.join(FIXTURES, name + ".fixed")):
        for f in found["findings"]:
            same("fix of line %d" % f["line"], bool(f["fix"] and f["fix"].get("files")), False)


def content(path):
    with open(path, "rb") as f:
        return f.read()


def fixed(folder, name, *args):
    """The bytes of a file that was fixed in place, once and twice."""
    for _ in range(2):
        run(("check", "--fix", "--unsafe-fixes") + args + (name,), folder)
        yield content(os.path.join(folder, name))


def fixture_fix(name, ending):
    want = content(os.path.join(FIXTURES, name + ending))
    before = content(os.path.join(FIXTURES, name))
    for eol in (b"\n", b"\r\n"):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, name), "wb") as f:
                f.write(before.replace(b"\n", eol))
            once, twice = fixed(folder, name, *FORMS[ending])
        same("fixed", text(once), text(want.replace(b"\n", eol)))
        same("fixed twice", text(twice), text(once))


def compiler_for(path):
    command = COMPILERS.get(path.rsplit(".", 1)[-1])
    return command if command and shutil.which(command[0]) else None


def compiles(folder, path):
    """The status and messages of a compiler; None without one."""
    command = compiler_for(path)
    if not command:
        return None
    database = os.path.join(folder, "compile_commands.json")
    flags = ["-Iinclude"]
    if os.path.exists(database):
        flags += re.findall(r"-D[\w=]+", text(content(database)))
    p = subprocess.run(
        [*command, "-fsyntax-only", "-Wall", *flags, path], cwd=folder, stdout=-1, stderr=-1
    )
    return p.returncode, text(p.stderr)


def sources(folder):
    for at, _, names in os.walk(folder):
        for name in names:
            if name.rsplit(".", 1)[-1] in COMPILERS:
                yield os.path.relpath(os.path.join(at, name), folder)


def case_fix(folder, name, expected, *args):
    """Fixes a copy of a case: what changes, whether it still compiles, and that it is done then."""
    with tempfile.TemporaryDirectory() as top:
        source = os.path.join(folder, name)
        copy = os.path.join(top, name)
        if os.path.isdir(source):
            shutil.copytree(source, copy)
            root, path = copy, "."
        else:
            shutil.copy(source, copy)
            root, path = top, name
        _, found = report(top, name)
        for row in expected:
            if row[4] in ("yes", "no") and row[2] in CODES:
                has = [
                    bool(f["fix"] and f["fix"].get("files"))
                    for f in found["findings"]
                    if f["line"] == int(row[1]) and f["code"] == row[2]
                ]
                same("fix in line %s" % row[1], has, [row[4] == "yes"])
        for f in found["findings"]:
            if f["fix"] and f["fix"].get("files"):
                same("applicability", f["fix"]["applicability"], "unverified")
        p = run(("check", "--output-format", "json", *args, path), root)
        edits = edits_by_path(json.loads(p.stdout))
        before = {s: (content(os.path.join(root, s)), compiles(root, s)) for s in sources(root)}
        run(("check", "--fix", "--unsafe-fixes", *args, path), root)
        for s, (old, status) in before.items():
            new = content(os.path.join(root, s))
            same("bytes of " + s, text(new), text(spliced(old, edits.get(s, ()))))
            ends = new.count(b"\n") if b"\r\n" in old else 0
            same("line ends of " + s, new.count(b"\r\n"), ends)
            if status and status[0] == 0:
                same("compiler on " + s, compiles(root, s), status)
        p = run(("check", "--diff", "--unsafe-fixes", *args, path), root)
        same("second fix", text(p.stdout), "")


DRIVER = """
#include <stdio.h>
int main(void)
{
	long long r, n, v, t;
	while (scanf("%lld %lld %lld %lld", &r, &n, &v, &t) == 4)
		printf("%lld\\n", FUNCTION);
	return 0;
}
"""


def threshold(rank, nope, value, cached=None):
    """RULES: floor(r d / (2 r - d)), or with T floor(r d T / (r d + (2 r - d) T)); at least 1."""
    d = nope + value
    if 2 * rank <= d or rank == 0 or d == 0:
        return 1
    if cached is None:
        return max(1, rank * d // (2 * rank - d))
    return max(1, rank * d * cached // (rank * d + (2 * rank - d) * cached))


def emitted(ending):
    whole = text(content(os.path.join(FIXTURES, "members.c" + ending)))
    return re.search(r"^static inline long long mla_max.*?^}$", whole, re.S | re.M).group()


def helper_values(ending, compiler, language):
    if not shutil.which(compiler):
        return
    cached = ending == ".fixed-cached"
    largest = 2**31 - 1
    small = [0, 1, 2, 3, 64, 128, 192, 256, 512, 1024]
    grid = [(r, n, v) for r in small for n in small for v in small]
    edge = [1, 512, 2**30, largest - 1, largest]
    grid += [(r, n, v) for r in edge for n in edge for v in edge if not cached]
    grid = [g + (t,) for g in grid for t in ((1, 7, 512, 163840, largest) if cached else (0,))]
    want = [threshold(*g[: 4 if cached else 3]) for g in grid]
    # A difference of unsigned sizes that went below zero, in 32 and in 64 bits.
    for bad in ((512, 2**32 - 64, 128, 9), (512, -64, 128, 9), (2**32 - 1, 1, 1, 9)):
        grid.append(bad)
        want.append(1)
    name = "mla_max_absorbed_queries" + ("_at(r, n, v, t)" if cached else "(r, n, v)")
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "helper.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write(emitted(ending) + DRIVER.replace("FUNCTION", name))
        program = os.path.join(folder, "helper")
        p = subprocess.run(
            [compiler, "-x", language, "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined"]
            + ["-fno-sanitize-recover=all", source, "-o", program],
            stdout=-1,
            stderr=-1,
        )
        need(p.returncode == 0, "does not compile: " + text(p.stderr)[:300])
        p = subprocess.run(
            [program],
            input="\n".join("%d %d %d %d" % g for g in grid).encode(),
            stdout=-1,
            stderr=-1,
        )
        same("overflow", text(p.stderr), "")
        got = [int(x) for x in p.stdout.split()]
    same("values", len(got), len(want))
    wrong = [(g, a, b) for g, a, b in zip(grid, got, want) if a != b]
    same("wrong values", wrong[:3], [])


def case(folder, name, expected):
    _, found = report(folder, name)
    got = {r for r in rows(found) if r[2] in CODES + ("kept", "unanalysed")}
    must, may = set(), set()
    for r in expected:
        if r[2] == "none" or r[2] not in CODES + ("kept", "unanalysed"):
            continue
        row = (os.path.basename(r[0]), int(r[1]), r[2], r[3])
        if "unanalysed is acceptable" in r[6]:
            may |= {row, row[:2] + ("unanalysed", "-")}
        else:
            must.add(row)
        for code in re.findall(r"(MLA\d+) on the same line tolerated", r[6]):
            may.add(row[:2] + (code, r[3]))
    same("missing", sorted(must - got), [])
    same("too many", sorted(got - must - may), [])


COPY = """
struct tensor; struct settings { int mla_attn; };
tensor * absorb_query(tensor * q);
tensor * attend_latent(tensor * q);
tensor * project_latent(tensor * context);
tensor * expand_latent(int layer);
tensor * attend_full(tensor * q, tensor * kv);
#define FEW(n) ((n) <= 6)
tensor * %s(const settings & s, tensor * q, int n_tokens) {
    if (s.mla_attn > 1 && %s)
        return project_latent(attend_latent(absorb_query(q)));
    return attend_full(q, expand_latent(0));
}
"""


def reason_of_another_file():
    """Two copies of a decision; why neither is fixed is said with the file it is in."""
    with tempfile.TemporaryDirectory() as folder:
        for name, test in (("a", "FEW(n_tokens)"), ("b", "n_tokens <= 6")):
            with open(os.path.join(folder, name + ".cpp"), "w", encoding="utf-8") as f:
                f.write(COPY % (name, test))
        _, found = report(folder, ".")
        same("places", [(f["path"], f["line"]) for f in found["findings"]], [("a.cpp", 10), ("b.cpp", 10)])
        p = run(("check", "."), folder)
        why = "no fix: the comparison comes from a macro (a.cpp, line 10)"
        got = [line.strip().lstrip("= ") for line in text(p.stdout).splitlines() if "no fix:" in line]
        same("reasons", got, [why, why])


DECISION = """
struct tensor;
tensor * mul_mat(tensor * w, tensor * x);
tensor * attend(tensor * q, tensor * k, tensor * v);

tensor * step0(tensor * wk_b, tensor * wv_b, tensor * q_nope, tensor * kv_latent, int n_tokens) {
    if (n_tokens == 1) {
        return mul_mat(wv_b, attend(mul_mat(wk_b, q_nope), kv_latent, kv_latent));
    }
    return attend(q_nope, mul_mat(wk_b, kv_latent), mul_mat(wv_b, kv_latent));
}
"""
CALLER = """
tensor * step%d(tensor * a, tensor * b, tensor * c, tensor * d, int n) {
    return step%d(a, b, c, d, n);
}
"""


def deep_call():
    """What a long chain of calls ends in is looked at by itself where the chain is too long to follow."""
    for length in (4, *range(22, 28), 40):
        source = DECISION + "".join(CALLER % (i + 1, i) for i in range(length))
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "deep.cpp"), "w", encoding="utf-8") as f:
                f.write(source)
            _, found = report(folder, "deep.cpp")
            want = {("deep.cpp", 7, "MLA001", "select")}
            same("%d calls" % length, rows(found), want)


def main():
    cases = Cases("c")
    for name in sorted(os.listdir(FIXTURES)):
        base, ending = os.path.splitext(name)
        if ending in FORMS:
            cases.run(name, fixture_fix, base, ending)
        else:
            cases.run(name, fixture, name)
    for ending in FORMS:
        for compiler, language in (("gcc", "c"), ("g++", "c++"), ("clang", "objective-c")):
            title = "helper%s in %s" % (ending, language)
            cases.run(title, helper_values, ending, compiler, language)
    cases.run("reason of another file", reason_of_another_file)
    cases.run("deep call", deep_call)
    folder = os.environ.get("MLALINT_C_CASES")
    if not folder:
        cases.skip("cases", "MLALINT_C_CASES names no folder")
        return cases.status()
    grouped = {}
    with open(os.path.join(folder, "expected.tsv"), encoding="utf-8") as f:
        for line in f.read().splitlines()[1:]:
            row = line.split("\t")
            grouped.setdefault(row[0].split("/")[0], []).append(row)
    for name in sorted(grouped):
        cases.run("case " + name, case, folder, name, grouped[name])
        cases.run("fix of case " + name, case_fix, folder, name, grouped[name])
        cached = FORMS[".fixed-cached"]
        cases.run("cached fix of case " + name, case_fix, folder, name, [], *cached)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
