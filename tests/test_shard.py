#!/usr/bin/env python3
"""Parts of a sharded run, and their merge, against the run of the whole."""

import json
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import folder as made
from test_cli import model
from test_reports import BROKEN, KEPT, NAMES
from tool import ROOT, Cases, need, run, same

FORMATS = ("json", "sarif")
FLAGS = ("check", "--show-kept", "--show-suppressed", "--isolated")


def parts(folder, count, form, *flags):
    """The parts' names; their statuses are left to merge."""
    names = []
    for i in range(1, count + 1):
        name = os.path.join(folder, "part%d.%s" % (i, form))
        args = FLAGS + flags + ("--shard", "%d/%d" % (i, count), "-o", "%s:%s" % (form, name))
        run(args, folder + "/tree")
        names.append(name)
    return names


def joined(folder, counts, *flags):
    for form in FORMATS:
        whole = run(FLAGS + ("--output-format", form) + flags, folder + "/tree")
        for count in counts:
            p = run(["merge"] + parts(folder, count, form, *flags)[::-1], folder)
            what = "%s, N = %d" % (form, count)
            same(what + ": status", (p.returncode, p.stderr[-200:]), (whole.returncode, b""))
            need(p.stdout == whole.stdout, what + ": other bytes than the whole")
    return whole


def tree_of(folder, files):
    shutil.rmtree(folder + "/tree")
    shutil.copytree(files, folder + "/tree")


def whole_is_merged(folder):
    joined(folder, (1, 2, 3, 7), "-j1")
    joined(folder, (3,), "-j8")
    joined(folder, (3,), "--no-verify")
    joined(folder, (3,), "--verify", "sample")


def more_shards_than_files(folder):
    tree_of(folder, os.path.join(ROOT, "testdata", "sample"))
    report = json.loads(run(FLAGS + ("--output-format", "json"), folder + "/tree").stdout)
    need(report["findings"], "nothing is found: the case says nothing")
    files = report["files"]["checked"] + len(report["files"]["skipped"])
    joined(folder, (files + 5,))
    empty = 0
    for name in parts(folder, files + 5, "json"):
        with open(name) as f:
            empty += json.load(f)["files"]["checked"] == 0
    need(empty >= 5, "only %d shards are empty" % empty)


def nothing_to_check(folder):
    shutil.rmtree(folder + "/tree")
    os.mkdir(folder + "/tree")
    same("status", joined(folder, (1, 3)).returncode, 0)


def awkward_names(folder):
    """Order and shard are those of the bytes of a name, also of one that JSON cannot hold."""
    names = [os.fsencode(n) for n in NAMES]
    names += [b"a\xff.py", b"a\xfe.py", b"a\xd0\xb0.py", b"a\xef\xbf\xbd.py", b"a/\xff\xfe/m.py"]
    names += [b"-.py", b"a.py", b"a/b.py", b"a-b.py", b"%41.py", b"A.py"]
    files = {name: model() for name in names}
    files.update({b"broken\xff.py": BROKEN, b"kept\xfe.py": KEPT, b"none.py": b"\0"})
    with made({}) as d:
        for name, data in files.items():
            path = os.path.join(os.fsencode(d), name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(data)
        tree_of(folder, d)
    same("status", joined(folder, (1, 2, 3, 5, 40)).returncode, 2)


def suppressions_and_notes(folder):
    source = model().replace(
        b"        if L == 1:\n            out",
        b"        # mlalint: ignore[MLA001] no\n        if L == 1:\n            out",
    )
    unused = 3 * b"# mlalint: ignore[MLA001]\n"
    with made({"%s.py" % c: source + unused for c in "abcdefg"}) as d:
        tree_of(folder, d)
    whole = json.loads(joined(folder, (2, 4)).stdout)["runs"][0]["results"]
    same("suppressed", sum(bool(r["suppressions"]) for r in whole if "suppressions" in r), 7)


def more_than_github_takes(folder):
    lines = 5002 * b"x = 1\n# mlalint: ignore[MLA001]\n"
    files = {"m%d.py" % n: lines for n in range(7)}
    files.update({"z.py": model(), "zz.py": KEPT})
    files["z/mlalint.toml"] = files["m1/mlalint.toml"] = b'severity = {MLA900 = "error"}\n'
    files.update({"z/m.py": lines, "m1/n.py": lines})
    with made(files) as d:
        tree_of(folder, d)
    whole = run(("check", "--output-format", "sarif"), folder + "/tree", 1)
    for count in (1, 3):
        names = []
        for i in range(count):
            names.append("p%d" % i)
            run(
                ("check", "--shard", "%d/%d" % (i + 1, count), "-o", "sarif:../p%d" % i),
                folder + "/tree",
            )
        p = run(["merge"] + names, folder, 1)
        need(p.stdout == whole.stdout, "%d parts: other bytes than the whole" % count)
        need(b"results are left out: GitHub takes" in p.stderr, p.stderr)


def output(folder):
    """Into files as in the other verbs: whole or not at all, in the format of the parts."""
    tree_of(folder, os.path.join(ROOT, "testdata", "sample"))
    for form, other in zip(FORMATS, FORMATS[::-1]):
        names = parts(folder, 2, form)
        want = run(["merge"] + names, folder).stdout
        need(want, "no report")
        p = run(["merge", "-o", "out", "-o", "%s:-" % form, "-o", "%s:two" % form] + names, folder)
        need(p.stdout == want, "-o %s:-" % form)
        for name in ("out", "two"):
            with open(os.path.join(folder, name), "rb") as f:
                need(f.read() == want, "-o %s" % name)
        for args, words in (
            (["-o", other + ":out"], "the parts are " + form),
            (["-o", "text:out"], "only in json, sarif"),
            (["-o", names[0]], "this is a part"),
            (["-o", "out", "-o", "./out"], "two reports"),
            (["-o", "no/out"], "No such file"),
            (["-o", "/dev/full"], "No space left"),
        ):
            p = run(["merge"] + args + names, folder, 2)
            need(words.encode() in p.stderr, "%r is not in %r" % (words, p.stderr))
            same("output", p.stdout, b"")
        before = sorted(os.listdir(folder))
        run(["merge", "-o", "out", names[0]], folder, 2)
        with open(os.path.join(folder, "out"), "rb") as f:
            need(f.read() == want, "a merge that failed replaced the report")
        same("files", sorted(os.listdir(folder)), before)


def changed(path, part, change):
    copy = json.loads(json.dumps(part))
    change(copy)
    with open(path, "w") as f:
        json.dump(copy, f)


def refusals(folder):
    a, b, c = parts(folder, 3, "json")
    a_sarif, b_sarif, _ = parts(folder, 3, "sarif")
    other = os.path.join(folder, "other.json")
    shutil.copy(b, other)
    names = parts(folder, 3, "json", "--select", "MLA001")[1:2]
    shutil.move(names[0], os.path.join(folder, "select.json"))
    parts(folder, 3, "json")

    def refused(args, words):
        p = run(["merge"] + args, folder, 2)
        need(words in p.stderr, "%r is not in %r" % (words, p.stderr))
        same("output", p.stdout, b"")

    refused([a, c], b"shard 2/3 is missing")
    refused([a, b, c, other], b"are both shard 2/3")
    refused([a, os.path.join(folder, "select.json"), c], b"different runs")
    refused([a, b_sarif, c], b"different formats")
    refused([], b"needs the parts")
    with open(b) as f:
        part = json.load(f)
    for change, words in (
        (lambda p: p.update(version="9.9.9"), b"made by version 9.9.9"),
        (lambda p: p.update(findings=1), b"a list is missing"),
        (lambda p: p.update(more=1), b"unknown keys"),
        (lambda p: p.update(shard=None), b"not a part"),
        (lambda p: p["shard"].update(status=7), b"status"),
        (lambda p: p["shard"].update(files=3), b"different runs"),
        (lambda p: p["findings"][0].update(order=10**6), b"the order"),
        (lambda p: p["findings"][0].update(order=-1), b"the order"),
        (lambda p: p["findings"].append(1), b"the order"),
        (lambda p: p["files"].update(checked=-1), b"files"),
    ):
        changed(other, part, change)
        refused([a, other, c], words)
    with open(b_sarif) as f:
        part = json.load(f)
    with open(a_sarif) as f:
        order = json.load(f)["runs"][0]["results"][0]["properties"]["order"]
    c = c.replace("json", "sarif")
    for change, words in (
        (lambda r: r["tool"]["driver"].update(version="9.9.9"), b"made by version 9.9.9"),
        (lambda r: r["tool"]["driver"]["rules"].pop(), b"not one that this version"),
        (lambda r: r.update(more=1), b"not one that this version"),
        (lambda r: r.update(results=None), b"a list is missing"),
        (lambda r: r["results"][0].update(level="fatal"), b"results"),
        (lambda r: r["results"][0]["properties"].update(order=order), b"both report one file"),
        (lambda r: r["results"].append({}), b"the order"),
        (lambda r: r.update(invocations=[]), b"invocations"),
        (lambda r: r["properties"].pop("shard"), b"not a part"),
        (lambda r: r["properties"]["shard"].pop("leftOut"), b"leftOut"),
    ):
        changed(other, part, lambda log: change(log["runs"][0]))
        refused([a_sarif, other, c], words)
    for bad in ("[" * 100000, '{"tool":1,"tool":1}', "", "[]", "null", '{"runs":[1]}'):
        with open(other, "w") as f:
            f.write(bad)
        refused([a_sarif, other, c], b"other.json")


def options(folder):
    for bad in ("0/2", "3/2", "1", "1/", "/2", "1/0", "a/b", "-1/2", "1/99999"):
        p = run(FLAGS + ("--output-format", "json", "--shard", bad), folder + "/tree", 2)
        need(b"--shard" in p.stderr, "%s: %r" % (bad, p.stderr))
    p = run(FLAGS + ("--shard", "1/2", "--output-format", "junit"), folder + "/tree", 2)
    need(b"merge joins json and sarif" in p.stderr, p.stderr)


def main():
    cases = Cases("shard")
    for case in (
        whole_is_merged,
        more_shards_than_files,
        nothing_to_check,
        awkward_names,
        suppressions_and_notes,
        more_than_github_takes,
        output,
        refusals,
        options,
    ):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.join(ROOT, "testdata"), folder + "/tree")
            cases.run(case.__name__.replace("_", " "), case, folder)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
