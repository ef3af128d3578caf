#!/usr/bin/env python3
"""Whole reports, compared byte for byte with testdata/golden/.

A golden file holds the command, what it printed on standard output, then on standard error, and
its exit status. ACCEPT=1 rewrites them: look at `git diff` afterwards, line by line, before you
believe it.
"""

import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import (
    ROOT,
    Cases,
    first_difference,
    git_apply,
    need,
    run,
    same,
    same_tree,
    tree,
    write_tree,
)

GOLDEN = os.path.join(ROOT, "testdata", "golden")
FIXTURES = os.path.join(ROOT, "testdata", "rules", "mla001_single_query_absorb")

# Names that a shell, a terminal or a report format could trip over.
AWKWARD = (
    "with space.py",
    "-dash.py",
    "quote'\".py",
    "pfad-\u00e4\u00f6.py",
    "tab\tand\nline.py",
    "100%s<&>.py",
    "comma,colon:.py",
)


def fixture(*names):
    files = {}
    for name in names:
        with open(os.path.join(FIXTURES, name), "rb") as f:
            files[name] = re.sub(rb"  # expect: .*", b"", f.read())
    return files


def awkward():
    model, mla = fixture("equal.py")["equal.py"], fixture("mla.py")["mla.py"]
    return dict({name: model for name in AWKWARD}, **{"mla.py": mla})


def long_line():
    """A line of 50,000 characters, some of them of two UTF-16 units."""
    files = fixture("equal.py", "mla.py")
    comment = "  # " + "\U0001f600 \u00e9 " * 12500
    long = ("if (" + "(" * 500 + "L == 1" + ")" * 500 + "):" + comment).encode()
    files["equal.py"] = files["equal.py"].replace(b"if L == 1:", long, 1)
    return files


EQUAL = ("equal.py", "mla.py", "base.py")
SPARSE = ("sparse_three_tests.py", "mla.py", "base.py")
NO_FIX = ("threshold_is_one.py", "mask_in_one_arm.py", "mla.py", "base.py")
JSON = ("--output-format", "json")
FORMATS = ("concise", "sarif", "github", "gitlab", "junit")
# name -> (files, arguments)
RUNS = {
    "text": (lambda: fixture(*EQUAL), ("check",)),
    "text-show-kept": (lambda: fixture(*SPARSE), ("check", "--show-kept")),
    "text-no-fix": (lambda: fixture(*NO_FIX), ("check",)),
    "text-awkward-names": (awkward, ("check",)),
    "text-long-line": (long_line, ("check",)),
    "text-empty": (dict, ("check",)),
    "text-nothing-found": (lambda: fixture("text_only.py", "mla.py"), ("check",)),
    "diff": (lambda: fixture(*EQUAL), ("check", "--diff", "--unsafe-fixes", "--no-verify")),
    "diff-awkward-names": (awkward, ("check", "--diff", "--unsafe-fixes", "--no-verify")),
    "json": (lambda: fixture(*EQUAL), ("check",) + JSON),
    "json-show-kept": (lambda: fixture(*SPARSE), ("check", "--show-kept") + JSON),
    "json-no-fix": (lambda: fixture(*NO_FIX), ("check",) + JSON),
    "json-awkward-names": (awkward, ("check",) + JSON),
    "json-empty": (dict, ("check",) + JSON),
    "missing-path": (dict, ("check", "no/such/file.py")),
    "unknown-flag": (dict, ("check", "--no-such-flag")),
}
RUNS.update(
    (format + name, (files, ("check",) + flags + ("--output-format", format)))
    for format in FORMATS
    for name, files, flags in (
        ("-awkward-names", awkward, ()),
        ("-empty", dict, ()),
        ("-long-line", long_line, ()),
        ("-show-kept", lambda: fixture(*SPARSE), ("--show-kept",)),
    )
)


def printed(files, args):
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, files)
        p = run(args, folder)
    out = re.sub(rb'("(?:v|semanticV)ersion":\s*")[^"]*"', rb'\1X"', p.stdout)
    # The rules of a SARIF log are the documentation of rules/, which tests/test_sarif.py looks at.
    out = re.sub(rb'("rules": )\[\n.*?\n     \](,?\n)', rb"\1X\2", out, flags=re.S)
    parts = [b"$ mlalint " + " ".join(args).encode() + b"\n", out]
    if out and not out.endswith(b"\n"):
        parts.append(b"\n(no newline at the end)\n")
    if p.stderr:
        parts += [b"-- standard error\n", p.stderr]
    return b"".join(parts + [b"-- exit status %d\n" % p.returncode])


def one(name):
    make, args = RUNS[name]
    got = printed(make(), args)
    path = os.path.join(GOLDEN, name + ".txt")
    if os.environ.get("ACCEPT"):
        with open(path, "wb") as f:
            f.write(got)
    need(os.path.exists(path), "no golden file; ACCEPT=1 writes it")
    with open(path, "rb") as f:
        want = f.read()
    need(got == want, first_difference(got, want))


def awkward_names_apply():
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        write_tree(folder, awkward())
        write_tree(other, awkward())
        diff = run(("check", "--diff", "--unsafe-fixes", "--no-verify"), folder, 1).stdout
        git_apply(other, diff)
        run(("check", "--fix", "--unsafe-fixes", "--no-verify"), folder, 0)
        same_tree("git apply of the diff", tree(other), tree(folder))
        same(
            "files that changed",
            sum(tree(folder)[p] != d for p, d in awkward().items()),
            len(AWKWARD) + 1,
        )


def same_for_any_number_of_threads():
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, awkward())
        for args in (
            ("check",),
            ("check", "--show-kept") + JSON,
            ("check", "--diff", "--unsafe-fixes", "--no-verify"),
        ):
            one_thread = run(args + ("-j", "1"), folder).stdout
            need(one_thread, "nothing was printed")
            for _ in range(3):
                same(" ".join(args) + " -j 8", run(args + ("-j", "8"), folder).stdout, one_thread)


def main():
    cases = Cases("golden")
    cases.run("git applies the diff of awkward names", awkward_names_apply)
    cases.run("the same bytes from one thread and from eight", same_for_any_number_of_threads)
    for name in sorted(set(RUNS) | {n[:-4] for n in os.listdir(GOLDEN)}):
        cases.run(name, one, name)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
