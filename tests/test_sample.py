#!/usr/bin/env python3
"""The bundled sample runtime: what the scan says, the fix, and the demo that shows both."""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import (
    ROOT,
    TOOL,
    Cases,
    check,
    edits_by_path,
    git_apply,
    need,
    run,
    same,
    same_tree,
    text,
    tree,
    write_tree,
)

SAMPLE = os.path.join(ROOT, "testdata", "sample")
MODELS = "latentlm/models/"
# file -> (select line, follow-up line, floor(r d / (2 r - d)) of its geometry)
PAIRS = {
    "dense.py": (94, 104, 512 * 256 // 768),
    "dense_wide.py": (68, 78, 512 * 448 // 576),
    "gated.py": (79, 89, 512 * 256 // 768),
    "nope.py": (65, 75, 512 * 512 // 512),
    "sparse.py": (157, 167, 512 * 256 // 768),
}
POOLS = {"pooled.py": 52}
KEPT = {
    ("base.py", 12, "unrelated"),
    ("sparse.py", 131, "sparse-gather"),
    ("token_shift.py", 28, "unrelated"),
}


def findings():
    report = check(SAMPLE, ".")
    got, want = set(), set()
    for f in report["findings"]:
        path = f["path"][f["path"].index(MODELS) + len(MODELS) :]
        t = f["threshold"]["queries"] if f["threshold"] else None
        got.add((path, f["line"], f["code"], f["role"], t))
    for path, (select, followup, t) in PAIRS.items():
        want |= {(path, select, "MLA001", "select", t), (path, followup, "MLA001", "followup", t)}
    want |= {(path, line, "MLA101", "gate", None) for path, line in POOLS.items()}
    same("findings", sorted(got, key=str), sorted(want, key=str))
    kept = {
        (k["path"][k["path"].index(MODELS) + len(MODELS) :], k["line"], k["reason"])
        for k in report["kept"]
    }
    same("kept lines", sorted(kept), sorted(KEPT))


def fix():
    before = tree(SAMPLE)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        write_tree(folder, before)
        write_tree(other, before)
        want = {MODELS + p for p in (*PAIRS, *POOLS)} | {MODELS + "mla.py"}
        same("files of the fix", set(edits_by_path(check(folder))), want)
        diff = run(("check", "--diff", "--unsafe-fixes", "--no-verify"), folder, 1).stdout
        run(("check", "--fix", "--unsafe-fixes", "--no-verify"), folder, 0)
        after = tree(folder)
        same("changed files", {p for p in after if after[p] != before.get(p)}, want)
        same("helpers", sum(d.count(b"def max_absorbed_queries(") for d in after.values()), 1)
        same("findings left", check(folder)["findings"], [])
        git_apply(other, diff)
        same_tree("git apply of the diff", tree(other), after)
        p = subprocess.run([sys.executable, "-m", "compileall", "-q", folder], stdout=-1, stderr=-2)
        need(p.returncode == 0, "compileall: " + text(p.stdout))


def demo():
    before = tree(os.path.join(ROOT, "testdata"))
    p = subprocess.run(["sh", "scripts/demo.sh", TOOL], cwd=ROOT, stdout=-1, stderr=-2)
    same("exit status, after " + text(p.stdout)[-300:], p.returncode, 0)
    same_tree("the demo wrote", tree(os.path.join(ROOT, "testdata")), before)
    said = text(p.stdout)
    need(said.count("\n") < 80, "more than two screens")
    for word in ("MLA001", "sparse-gather", "if L <= self._max_absorbed", " 0 findings"):
        need(word in said, "the demo does not show " + word)
    same("verdicts", said.count("  verified\n"), 6)
    with open(os.path.join(os.path.dirname(TOOL), "demo.txt")) as f:
        details = f.read()
    for word in ("MLA101", "+def max_absorbed_queries(", "170", "379"):
        need(word in details, "the details do not hold " + word)


def main():
    cases = Cases("sample")
    cases.run("findings and kept lines", findings)
    cases.run("fix", fix)
    cases.run("demo", demo)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
