#!/usr/bin/env python3
"""What users of other linters complain about, tried here: the cases that no other script has, and
whether every test that docs/complaints.md names is there."""

import ast
import json
import os
import re
import shutil
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import CALL, HEAD, INIT, MAKER, fill, folder, model, report
from tool import ROOT, Cases, need, run, same, same_tree, text, tree

FIX = ("check", "--fix", "--no-verify", "--unsafe-fixes")
RULES = os.path.join(ROOT, "testdata", "rules")
C_MODEL = os.path.join(ROOT, "testdata", "c", "members.c")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def errors_elsewhere():
    """A fix leaves a syntax error of somebody else alone, and none is made where one is near."""
    elsewhere = model() + b"\n\ndef other(x):\n    return x = = x\n"
    near = model().replace(b"q = self.embed_q(q)", b"q = = self.embed_q(q)")
    with folder({"e.py": elsewhere, "n.py": near}) as d:
        p = run(FIX, d, 2)
        after = tree(d)
        need(after["n.py"] == near, "a method that does not parse was changed")
        need("n.py:28: the method does not parse" in text(p.stderr), text(p.stderr))
        need(after["e.py"].endswith(b"return x = = x\n"), "the error was changed")
        need(b"L <= self._max_absorbed" in after["e.py"], "not fixed")


def comments():
    """A comment in what a fix replaces is not deleted: there is no fix then, and it is said."""
    guards = (
        "(L ==  # one\n            1)",
        "(\n            L  # count\n            == 1\n        )",
    )
    for guard in guards:
        with folder({"m.py": model(guard)}) as d:
            found = report(d, status=1)["findings"]
            same("fixes", [f["fix"] for f in found], [None, None])
            need("the comment in line" in found[0]["no_fix_reason"], found[0]["no_fix_reason"])
            run(FIX, d, 1)
            need(tree(d)["m.py"] == model(guard), "changed")
    source = model().replace(b"if L == 1:", b"if L == 1:  # decode")
    source = source.replace(
        b"self.v_head_dim = 128", b"self.v_head_dim = 128  # value\n        # then"
    )
    with folder({"m.py": source}) as d:
        run(FIX, d, 0)
        after = tree(d)["m.py"]
        count = lambda data: sorted(re.findall(rb"#.*", data))
        lost = [c for c in count(source) if count(after).count(c) < count(source).count(c)]
        same("lost comments", lost, [])


def everything_at_once():
    """All rules over all fixtures: the fixes come to an end, and a second time nothing changes."""
    with tempfile.TemporaryDirectory() as d:
        for path, data in tree(RULES).items():
            if path.endswith(".py") and ".fixed" not in path:
                os.makedirs(os.path.dirname(os.path.join(d, path)), exist_ok=True)
                with open(os.path.join(d, path), "wb") as f:
                    f.write(data)
        before = tree(d)
        p = run(FIX + ("--select", "ALL"), d, 1)
        once = tree(d)
        changed = [path for path in once if once[path] != before[path]]
        need(
            len(changed) > 100, "only %d files changed: %s" % (len(changed), text(p.stderr)[-300:])
        )
        for path in changed:
            compile(once[path], path, "exec")
            need(once[path].count(b"def max_absorbed_queries(") < 2, path + ": two helpers")
        run(FIX + ("--select", "ALL"), d, 1)
        same_tree("a second time", tree(d), once)


def one_import_for_two_rules():
    """MLA001 and MLA002 in one file need the same import, attribute and helper: each once."""
    source = fill(HEAD + "from mla import MultiLinear\n" + INIT + CALL).decode()
    other = fill(INIT + CALL, "L <= 4").decode().replace("class Attention", "class Other")
    files = {"m.py": (source + other).encode(), "mla.py": fill(HEAD + MAKER)}
    files["n.py"] = files["m.py"]
    with folder(files) as d:
        codes = [f["code"] for f in report(d, status=1)["findings"]]
        same("findings", codes, 2 * ["MLA001", "MLA001", "MLA002", "MLA002"])
        run(FIX, d, 0)
        after = tree(d)
        same("helpers", after["mla.py"].count(b"def max_absorbed_queries("), 1)
        for name in ("m.py", "n.py"):
            names = [
                a.name
                for node in ast.walk(ast.parse(after[name]))
                if isinstance(node, ast.ImportFrom)
                for a in node.names
            ]
            same("imported", sorted(names), ["MultiLinear", "max_absorbed_queries"])
            same("attributes", after[name].count(b"self._max_absorbed = "), 2)


def one_header_of_two_sources():
    """A decision in a header is found once and fixed once, whoever includes it."""
    header = read(C_MODEL).replace(b"struct node *attention(", b"static struct node *attention(")
    call = b"struct node *%s(const struct model *m, const struct cells *c, struct node *q)\n"
    call += b"{\n\treturn attention(m, c, q, 1, 0);\n}\n"
    files = {"attn.h": header}
    for name in (b"one", b"two", b"three"):
        files[name.decode() + ".c"] = b'#include "attn.h"\n' + call % name
    with folder(files) as d:
        same("found", [f["path"] for f in report(d, status=1)["findings"]], ["attn.h"])
        run(FIX, d, 0)
        after = tree(d)
        same("changed", [n for n in files if after[n] != files[n]], ["attn.h"])
        same("calls", after["attn.h"].count(b"<= mla_max_absorbed_queries("), 1)
        same("helpers", after["attn.h"].count(b"long long mla_max_absorbed_queries("), 1)


def latin_1_source():
    """Bytes that are not UTF-8: looked at, fixed, and kept."""
    source = model().replace(
        b"        B, L, D = x.shape", b'        "\xe9"; B, L, D = x.shape  # \xff'
    )
    with folder({"m.py": source}) as d:
        found = report(d, status=1)
        same("files", found["files"], {"checked": 1, "partial": [], "skipped": [], "failed": []})
        same("findings", len(found["findings"]), 2)
        run(FIX, d, 0)
        after = tree(d)["m.py"]
        need(b'"\xe9"; B, L, D = x.shape  # \xff\n' in after, "other bytes")
        same("tests", after.count(b"L <= self._max_absorbed"), 2)


def wrapped_statement():
    """A suppression covers the whole of a statement that goes over several lines."""
    guard = "(\n            L\n            == 1\n        )"
    for comment in (
        b"        # mlalint: ignore[MLA001] why\n        if (\n",
        b"        if (  # mlalint: ignore[MLA001] why\n",
    ):
        source = model(guard).replace(b"        if (\n", comment)
        with folder({"m.py": source}) as d:
            p = run(("check",), d, 0)
            need("2 suppressed" in text(p.stderr), text(p.stderr))


MACRO = b"""#define FEW(n) ((n) <= 6)
struct tensor;
struct tensor *absorb_query(struct tensor *q);
struct tensor *attend_latent(struct tensor *q);
struct tensor *project_latent(struct tensor *context);
struct tensor *expand_latent(int layer);
struct tensor *attend_full(struct tensor *q, struct tensor *kv);
"""
LAYER = b"""struct tensor *%s(struct tensor *q, int n_tokens)
{
%s	if (FEW(n_tokens))
		return project_latent(attend_latent(absorb_query(q)));
	return attend_full(q, expand_latent(0));
}
"""


def suppression_at_a_macro():
    """It covers a test that a macro spells, where the macro is used."""
    said = b"\t// mlalint: ignore[MLA002] measured\n"
    source = MACRO + LAYER % (b"one", said) + LAYER % (b"two", b"")
    with folder({"m.c": source}) as d:
        found = report(d, status=1)["findings"]
        same("findings", [(f["code"], f["symbol"]) for f in found], [("MLA002", "two")])


def exit_statuses():
    """0, 1 and 2, whatever else is asked for: what is not there is never 0."""
    files = {"m.py": model(), "clean.py": b"x = 1\n", "c.toml": b"select = ['X']\n"}
    for args, status in (
        (("clean.py",), 0),
        (("m.py",), 1),
        (("--exit-zero", "m.py"), 0),
        (("--diff", "--no-verify", "--unsafe-fixes", "m.py"), 1),
        (("no/such.py",), 2),
        (("clean.py", "no/such.py"), 2),
        (("--exit-zero", "no/such.py"), 2),
        (("--config", "no.toml", "clean.py"), 2),
        (("--config", "c.toml", "clean.py"), 2),
        (("--baseline", "no.json", "clean.py"), 2),
        (("--select", "XYZ", "clean.py"), 2),
    ):
        for form in ("text", "json", "sarif", "github", "gitlab", "junit"):
            more = () if "--diff" in args else ("--output-format", form)
            with folder(files) as d:
                p = run(("check",) + more + args, d)
                same("%s %s: %s" % (form, " ".join(args), text(p.stderr)), p.returncode, status)


def folder_named_like_an_exclude():
    """Patterns start at the folder of the configuration: where that lies excludes nothing."""
    files = {"build/mlalint.toml": b"exclude = ['build']\n", "build/m.py": model()}
    files["build/x/build/n.py"] = model()
    with folder(files) as d:
        for args in (
            (),
            ("m.py", "--force-exclude"),
            (".", "--force-exclude"),
            ("--exclude", "build"),
        ):
            p = run(("check",) + args, os.path.join(d, "build"), 1)
            need("1 file checked; 2 findings" in text(p.stderr), text(p.stderr))
        p = run(("check", "--force-exclude", "x/build/n.py"), os.path.join(d, "build"), 0)
        need("1 file excluded by mlalint.toml" in text(p.stderr), text(p.stderr))


def compiler_without_a_path():
    """System headers, a header that is nowhere, and a compiler that is a name."""
    head = b'#include <stdio.h>\n#include <stdlib.h>\n#include "not_there.h"\n'
    command = {"command": "cc -DX -c m.c", "file": "m.c"}
    with folder({"m.c": head + read(C_MODEL)}) as d:
        with open(os.path.join(d, "compile_commands.json"), "w") as f:
            json.dump([dict(command, directory=d)], f)
        found = report(d, status=1)
        same("files", (found["files"]["checked"], found["files"]["partial"]), (1, []))
        same("findings", [f["code"] for f in found["findings"]], ["MLA001"])


def growth(what, make, *args):
    """Four times as much takes far less than sixteen times as long."""
    seconds = []
    for n in (400, 1600):
        with folder(make(n)) as d:
            start = time.monotonic()
            run(("check", "-j1", "--isolated", "-q") + args, d)
            seconds.append(time.monotonic() - start)
    limit = 9 * max(seconds[0], 0.2)
    need(seconds[1] < limit, "%s: %.2f s, then %.2f s" % (what, *seconds))


def models(n):
    body = (fill(INIT + CALL).replace(b"Attention", b"Attention%d" % i) for i in range(n))
    return {"m.py": fill(HEAD + MAKER) + b"".join(body)}


def functions(n):
    head, body = read(C_MODEL).split(b"/* Two ways")
    body = b"/* Two ways" + body
    return {"m.c": head + b"".join(body.replace(b"*attention(", b"*a%d(" % i) for i in range(n))}


def ignored(n):
    source = models(n)["m.py"]
    return {
        "m.py": source.replace(
            b"        if L", b"        # mlalint: ignore[MLA001] x\n        if L"
        )
    }


def time_is_linear():
    growth("models in a file", models)
    growth("fixes in a file", models, "--diff", "--no-verify", "--unsafe-fixes")
    growth("functions in a C source", functions)
    growth("suppressions", ignored)
    growth(
        "unused suppressions", lambda n: {"m.py": 20 * n * b"x = 1\n# mlalint: ignore[MLA001]\n"}
    )
    growth("comments to write", models, "--add-ignore", "why")


def grammar_versions():
    """What a report of a bug needs: which grammar the library takes, and which one it got."""
    with folder({}) as d:
        out = text(run(("version",), d, 0).stdout)
    m = re.search(r"tree-sitter grammar ABI (\d+) to (\d+), tree-sitter-python ABI (\d+)", out)
    need(m and int(m[1]) <= int(m[3]) <= int(m[2]), out)


# docs/complaints.md


def defined(path, name):
    """Is there such a test, and does the script run it?"""
    source = read(os.path.join(ROOT, path)).decode()
    if path.endswith(".c"):
        return "cmocka_unit_test(%s)" % name in source
    rest = source.replace("def %s(" % name, "", 1)
    return rest != source and re.search(r"\b%s\b" % name, rest) is not None


def the_table():
    rows = {}
    for line in read(os.path.join(ROOT, "docs", "complaints.md")).decode().splitlines():
        m = re.match(r"\| (\d+) \|", line)
        if not m:
            continue
        cells = [c.strip() for c in line.strip("|").split("|")]
        same("cells of row %s" % m[1], len(cells), 4)
        need(int(m[1]) not in rows, "row %s is there twice" % m[1])
        rows[int(m[1])] = re.findall(r"`(tests/[\w/.]+): (\w+)`", cells[3])
        for path in re.findall(r"`(testdata/[^`]+)`", cells[3]):
            need(os.path.exists(os.path.join(ROOT, path)), "row %s: no file %s" % (m[1], path))
    same("rows", sorted(rows), list(range(1, 46)))
    for number, tests in rows.items():
        need(tests, "row %d names no test" % number)
        for path, name in tests:
            need(os.path.exists(os.path.join(ROOT, path)), "row %d: no %s" % (number, path))
            need(defined(path, name), "row %d: no test %s in %s" % (number, name, path))
    need(not defined("tests/test_complaints.py", "no_" + "such"), "any name is taken")


CASES = (
    errors_elsewhere,
    comments,
    everything_at_once,
    one_import_for_two_rules,
    one_header_of_two_sources,
    latin_1_source,
    wrapped_statement,
    suppression_at_a_macro,
    exit_statuses,
    folder_named_like_an_exclude,
    compiler_without_a_path,
    time_is_linear,
    grammar_versions,
    the_table,
)


def main():
    cases = Cases("complaints")
    for case in CASES:
        cases.run(case.__name__.replace("_", " "), case)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
