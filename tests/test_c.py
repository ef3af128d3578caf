#!/usr/bin/env python3
"""C, C++ and Objective-C: fixtures of testdata/c, and the cases of an external folder.

A fixture says what is found in comments: `expect: CODE role`, `expect: kept reason`, `expect:
unanalysed -`. MLALINT_C_CASES names a folder with an expected.tsv (columns: file, line, code or
`kept`, `unanalysed`, `none`, role or reason, fixable, verify, note); codes of rules that look at no
decision of attention are left out, and notes say which rows are tolerated or may be missing.
"""

import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import ROOT, Cases, Failure, run, same, text

FIXTURES = os.path.join(ROOT, "testdata", "c")
CODES = ("MLA001", "MLA002", "MLA004")


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
    for f in found["findings"]:
        same("fix of line %d" % f["line"], bool(f["fix"] and f["fix"].get("files")), False)


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


def main():
    cases = Cases("c")
    for name in sorted(os.listdir(FIXTURES)):
        cases.run(name, fixture, name)
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
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
