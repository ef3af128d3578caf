#!/usr/bin/env python3
"""Runs the fixtures in testdata/rules/ (testdata/README.md says how they are written).

For each fixture and its byte twins: findings and kept lines as its comments say, the fixed text
as the file beside it says, and what has to hold for any fix: it compiles, fixing again changes
nothing, nothing is left to find, only the edits of the report differ, and git applies the diff.
"""

import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import (
    ROOT,
    Cases,
    check,
    edits_by_path,
    git_apply,
    need,
    run,
    same,
    same_tree,
    spliced,
    tree,
    write_tree,
)
from twins import TWINS, equivalent

RULES = os.path.join(ROOT, "testdata", "rules")
SUPPORT = ("base.py", "mla.py")  # the sibling modules of single files, in the first rule's folder
OPT_IN = ("mla003", "mla201")  # rules that run only when they are selected
CACHED = "mla003"  # while it runs, the cache-length form is inserted
FIRST = os.path.join(RULES, "mla001_single_query_absorb")
FORMS = {"geometry": ".fixed", "cache-length": ".fixed-cache-length"}
FIX = ("check", "--fix", "--unsafe-fixes", "--no-verify")  # tests/test_verify.py verifies
COMMENT = re.compile(r"# expect: (.*?)\s*$")


class Fixture:
    """The input of one fixture, and per form of the threshold the tree after the fix."""

    def __init__(self, folder, name):
        self.name, self.folder = name, folder
        path = os.path.join(folder, name)
        self.package = os.path.isdir(path)
        self.opt_in = os.path.basename(folder).startswith(OPT_IN)
        if self.package:
            self.before = {os.path.join(name, p): d for p, d in tree(path).items()}
            self.own = sorted(self.before)
        else:
            self.before = {name: read(path)}
            self.own = [name]
            for s in SUPPORT:
                self.before[s] = read(os.path.join(FIRST, s))

    def after(self, form):
        """The expected tree, or None where this form has no expectation of its own."""
        ending = FORMS[form]
        path = os.path.join(self.folder, self.name + ending)
        if not os.path.exists(path):
            refused = any(b" geometry-only" in self.before[p] for p in self.own)
            return self.before if form == "geometry" or refused else None
        if self.package:
            return {os.path.join(self.name, p): d for p, d in tree(path).items()}
        after = dict(self.before)
        after[self.name] = read(path)
        # The helper goes into mla.py unless the model's own file has it.
        text = after[self.name]
        if b"max_absorbed_queries" in text and b"def max_absorbed_queries" not in text:
            if os.path.basename(self.folder).startswith(CACHED):
                ending = FORMS["cache-length"]
            after["mla.py"] = read(os.path.join(FIRST, "mla.py" + ending))
        return after


def read(path):
    with open(path, "rb") as f:
        return f.read()


def expectations(files, own, form="geometry"):
    """(path, line, code or "kept", role or reason, fixable, threshold) of every comment."""
    want, said = set(), False
    for path in own:
        for number, line in enumerate(files[path].decode("utf-8").splitlines(), 1):
            m = COMMENT.search(line)
            for item in m.group(1).split(";") if m else ():
                said = True
                words = item.split()
                if words == ["none"]:
                    continue
                need(len(words) >= 2, "%s:%d: bad expectation %r" % (path, number, item))
                extra = words[2:]
                threshold = [int(w[2:]) for w in extra if w.startswith("t=")]
                unknown = [
                    w
                    for w in extra
                    if w not in ("nofix", "geometry-only") and not w.startswith("t=")
                ]
                need(not unknown, "%s:%d: unknown word %r" % (path, number, unknown))
                fixable = words[0] != "kept" and "nofix" not in extra
                fixable = fixable and (form == "geometry" or "geometry-only" not in extra)
                want.add((path, number, words[0], words[1], fixable, *(threshold or [None])))
    need(said, "no `# expect:` comment: such a fixture cannot fail")
    return want


def reported(report):
    got = set()
    for f in report["findings"]:
        threshold = f["threshold"]["queries"] if f["threshold"] else None
        got.add((f["path"], f["line"], f["code"], f["role"] or "comment", f["fix"] is not None, threshold))
    for k in report["kept"]:
        got.add((k["path"], k["line"], "kept", k["reason"], False, None))
    return got


def compare(got, want):
    thresholds = {w[:5] for w in want if w[5] is not None}
    got = {g if g[:5] in thresholds else g[:5] + (None,) for g in got}
    complaints = ["missing " + show(w) for w in sorted(want - got, key=str)]
    complaints += ["extra " + show(g) for g in sorted(got - want, key=str)]
    need(not complaints, "; ".join(complaints))


def show(e):
    path, line, code, role, fixable, threshold = e
    words = "%s:%d %s %s" % (path, line, code, role)
    if code != "kept" and not fixable:
        words += " nofix"
    return words if threshold is None else words + " t=%d" % threshold


def guards_are_there(report, files):
    """The span of a finding holds the text that it names as its guard."""
    for f in report["findings"] + report["kept"]:
        lines = files[f["path"]].decode("utf-8-sig").splitlines()
        if f.get("end_line", f["line"]) != f["line"]:
            continue
        line = lines[f["line"] - 1]
        at = line[f["column"] - 1 :]
        need(
            at.startswith(f["guard"]),
            "%s:%d: %r is not at column %d" % (f["path"], f["line"], f["guard"], f["column"]),
        )
        if "end_column" in f:
            same(
                "end column of %s:%d" % (f["path"], f["line"]),
                f["end_column"],
                f["column"] + len(f["guard"]),
            )


def one(fixture, twin, form, collected):
    transform = TWINS[twin]
    after = fixture.after(form)
    if after is None:
        return
    want = expectations(fixture.before, fixture.own, form)
    before = {p: transform(d) for p, d in fixture.before.items()}
    after = {p: transform(d) for p, d in after.items()}
    threshold = () if form == "geometry" else ("--threshold", form)
    if fixture.opt_in:
        threshold += ("--select", "ALL")
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, before)
        report = check(folder, *threshold)
        compare(reported(report), want)
        guards_are_there(report, before)
        diff = run(("check", "--diff", "--unsafe-fixes", "--no-verify") + threshold, folder)
        same("--diff wrote into the tree", tree(folder) == before, True)

        left = any(not w[4] for w in want if w[2] != "kept")
        run(FIX + threshold, folder, 1 if left else 0)
        fixed = tree(folder)
        equivalent(twin, fixed, after)
        edits = edits_by_path(report)
        same_tree(
            "bytes outside the edits",
            fixed,
            {p: spliced(d, edits.get(p, ())) for p, d in before.items()},
        )
        for path, data in fixed.items():
            compile(data, path, "exec")
            collected["%s/%s/%s/%s" % (form, twin or "as-is", fixture.name + ".d", path)] = data
        same("findings left", bool(check(folder, *threshold)["findings"]), left)
        run(FIX + threshold, folder, 1 if left else 0)
        same_tree("fixing again", tree(folder), fixed)

    same("--diff is empty", not diff.stdout, before == after)
    if diff.stdout:
        same("exit status of --diff", diff.returncode, 1)
        with tempfile.TemporaryDirectory() as folder:
            write_tree(folder, before)
            git_apply(folder, diff.stdout, "--check")
            git_apply(folder, diff.stdout)
            same_tree("git apply of the diff", tree(folder), fixed)


def named_alone(package, only, untouched):
    """A subclass named alone: the parent's file gets what the subclass needs, its guards stay."""
    fixture = Fixture(FIRST, package)
    after = fixture.after("geometry")
    path = os.path.join(package, untouched)
    need(b"L <= self._max_absorbed" in after[path], "the parent has no guards")
    after[path] = after[path].replace(b"L <= self._max_absorbed", b"L == 1")
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, fixture.before)
        run(FIX + (os.path.join(package, only),), folder, 0)
        same_tree("fixed text", tree(folder), after)


def compiles(collected):
    """What was fixed, once through the command that people use."""
    need(collected, "nothing was fixed")
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, collected)
        p = subprocess.run([sys.executable, "-m", "compileall", "-q", folder], stdout=-1, stderr=-2)
        need(p.returncode == 0, p.stdout.decode("utf-8", "replace")[:300])


def main():
    cases, collected = Cases("fixture"), {}
    only = sys.argv[1:]
    for rule in sorted(os.listdir(RULES)):
        folder = os.path.join(RULES, rule)
        for name in sorted(os.listdir(folder)):
            full = os.path.join(folder, name)
            if name in SUPPORT or not (
                name.endswith(".py") or (os.path.isdir(full) and "." not in name)
            ):
                continue
            if only and name not in only:
                continue
            fixture = Fixture(folder, name)
            for form in FORMS:
                for twin in TWINS:
                    if fixture.after(form) is not None:
                        label = " ".join(
                            x for x in (name, form if form != "geometry" else "", twin) if x
                        )
                        cases.run(label, one, fixture, twin, form, collected)
    cases.run(
        "a subclass named alone", named_alone, "inherited_geometry", "variant.py", "parent.py"
    )
    cases.run("compileall of every fixed file", compiles, collected)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
