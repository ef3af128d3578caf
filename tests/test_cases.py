#!/usr/bin/env python3
"""Runs the cases of an external folder: Python files with an expected.tsv beside them.

The folder is no part of this project. MLALINT_CASES names it; without it this is one skipped case.
The arguments are the codes to compare, default all but those of pools; kept lines are compared where every code of
the file is among them. Columns of expected.tsv: file, line, code or `kept`, role or reason, fixable
(yes, no, -), verify, note; a note that begins with `optional:` marks a line that may be left out.
"""

import json
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import (
    Cases,
    Failure,
    edits_by_path,
    git_apply,
    need,
    run,
    same,
    same_tree,
    spliced,
    text,
    tree,
    write_tree,
)
from twins import TWINS, equivalent, tabs

ONLY_SELECTED = ("MLA003", "MLA201")


def load(folder):
    """case (a file or a package folder) -> its rows, without the header."""
    cases = {}
    with open(os.path.join(folder, "expected.tsv"), encoding="utf-8") as f:
        for line in f.read().splitlines()[1:]:
            row = line.split("\t")
            cases.setdefault(row[0].split("/")[0], []).append(row)
    return cases


def findings(folder, *args):
    p = run(("check", "--output-format", "json", "--show-kept") + args, folder)
    try:
        return p.returncode, json.loads(p.stdout)
    except ValueError:
        raise Failure("exit status %d, not JSON: %s" % (p.returncode, text(p.stderr)[:300]))


def compare_findings(report, rows, codes):
    got = {
        (f["path"], f["line"], f["code"], f["role"])
        for f in report["findings"]
        if f["code"] in codes
    }
    want = {(r[0], int(r[1]), r[2], r[3]) for r in rows if r[2] in codes}
    complaints = ["missing %s:%d %s %s" % w for w in sorted(want - got)]
    complaints += ["extra %s:%d %s %s" % g for g in sorted(got - want)]
    fixes = {(f["path"], f["line"], f["code"]): f["fix"] is not None for f in report["findings"]}
    for r in rows:
        key = (r[0], int(r[1]), r[2]) if r[2] in codes else None
        if key in fixes and r[4] != "-" and fixes[key] != (r[4] == "yes"):
            complaints.append("%s:%s %s: fixable is %s here" % (r[0], r[1], r[2], r[4]))
    return complaints


def compare_kept(report, rows):
    # A line with a finding that has to be selected first may be a kept one until then.
    silent = {(r[0], int(r[1])) for r in rows if r[2] in ONLY_SELECTED}
    got = {(k["path"], k["line"], k["reason"]) for k in report["kept"]}
    got = {k for k in got if k[:2] not in silent}
    kept = [(r[0], int(r[1]), r[3], r[6]) for r in rows if r[2] == "kept"]
    optional = {k[:3] for k in kept if k[3].startswith("optional:")}
    want = {k[:3] for k in kept} - optional
    complaints = ["missing kept %s:%d %s" % w for w in sorted(want - got)]
    return complaints + ["extra kept %s:%d %s" % g for g in sorted(got - want - optional)]


def compiles(source):
    try:
        compile(source, "case", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def fixes(folder, report):
    """What has to hold for any fix, on a folder that may be changed."""
    before = tree(folder)
    diff = run(("check", "--diff", "--unsafe-fixes", "--no-verify"), folder).stdout
    same_tree("--diff wrote", tree(folder), before)
    run(("check", "--fix", "--unsafe-fixes", "--no-verify"), folder)
    fixed = tree(folder)
    edits = edits_by_path(report)
    same_tree("fixed", fixed, {p: spliced(d, edits.get(p, ())) for p, d in before.items()})
    for path, data in fixed.items():
        if compiles(before[path]):
            need(compiles(data), path + ": does not compile after the fix")
    _, after = findings(folder)
    same(
        "findings with a fix, after fixing", [f["line"] for f in after["findings"] if f["fix"]], []
    )
    run(("check", "--fix", "--unsafe-fixes", "--no-verify"), folder)
    same_tree("fixing again", tree(folder), fixed)
    if diff:
        with tempfile.TemporaryDirectory() as other:
            write_tree(other, before)
            git_apply(other, diff)
            same_tree("git apply of the diff", tree(other), fixed)


def can_be(twin, before):
    """Is the copy the same program still? A mark before Latin-1 is an error, some lines are
    indented by what tabs cannot say, and what did not compile says nothing."""
    return all(
        compiles(TWINS[twin](d)) and not (twin == "tabs" and re.search(rb"(?m)^\t* +\S", tabs(d)))
        for d in before.values()
    )


def said(report):
    return sorted(
        (f["path"], f["line"], f["code"], f["role"], f["fix"] is not None)
        for f in report["findings"]
    ) + sorted((k["path"], k["line"], k["reason"]) for k in report["kept"])


def twins(before, report, fixed):
    for twin, transform in TWINS.items():
        if not twin or not can_be(twin, before):
            continue
        with tempfile.TemporaryDirectory() as folder:
            write_tree(folder, {p: transform(d) for p, d in before.items()})
            same(twin + ": findings", said(findings(folder)[1]), said(report))
            run(("check", "--fix", "--unsafe-fixes", "--no-verify"), folder)
            equivalent(twin, tree(folder), {p: transform(d) for p, d in fixed.items()})


def one(folder, case, rows, codes):
    source = os.path.join(folder, case)
    if os.path.isdir(source):
        files = {os.path.join(case, p): d for p, d in tree(source).items()}
    else:
        with open(source, "rb") as f:
            files = {case: f.read()}
    expected = {r[2] for r in rows} - {"kept", "none"}
    with tempfile.TemporaryDirectory() as work:
        write_tree(work, files)
        status, report = findings(work)
        usual = [r for r in rows if r[2] not in ONLY_SELECTED]
        complaints = compare_findings(report, usual, codes)
        for code in ONLY_SELECTED:
            if code in expected and code in codes:
                _, selected = findings(work, "--select", code)
                complaints += compare_findings(selected, rows, {code})
        if expected - set(ONLY_SELECTED) <= codes:
            complaints += compare_kept(report, rows)
        need(not complaints, "; ".join(complaints))
        if not report["files"]["failed"] and status != 2:
            fixes(work, report)
            twins(files, report, tree(work))


def main():
    cases = Cases("case")
    folder = os.environ.get("MLALINT_CASES")
    if not folder:
        cases.skip("external cases", "MLALINT_CASES is not set")
        return 0
    codes = set(sys.argv[1:] or ["MLA001", "MLA002", "MLA003", "MLA004", "MLA201"])
    for case, rows in sorted(load(folder).items()):
        cases.run(case, one, folder, case, rows, codes)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
