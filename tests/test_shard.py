#!/usr/bin/env python3
"""Parts of a sharded run, and their merge, against the run of the whole."""

import json
import os
import shutil
import sys
import tempfile

from tool import ROOT, Failure, need, run, same

FLAGS = ("check", "--output-format", "json", "--show-kept", "--isolated")


def parts(folder, count, *flags):
    """The parts' names; their statuses are left to merge."""
    names = []
    for i in range(1, count + 1):
        name = os.path.join(folder, "part%d.json" % i)
        run(FLAGS + flags + ("--shard", "%d/%d" % (i, count), "-o", name), folder + "/tree")
        names.append(name)
    return names


def joined(folder, counts, *flags):
    whole = run(FLAGS + flags, folder + "/tree")
    need(json.loads(whole.stdout)["findings"], "nothing is found: the case says nothing")
    for count in counts:
        p = run(["merge"] + parts(folder, count, *flags)[::-1], folder)
        same("N = %d: status" % count, p.returncode, whole.returncode)
        need(p.stdout == whole.stdout, "N = %d: other bytes than the whole" % count)


def whole_is_merged(folder):
    joined(folder, (1, 2, 3, 7), "-j1")
    joined(folder, (3,), "-j8")
    joined(folder, (3,), "--no-verify")


def more_shards_than_files(folder):
    shutil.rmtree(folder + "/tree")
    shutil.copytree(os.path.join(ROOT, "testdata", "sample"), folder + "/tree")
    report = json.loads(run(FLAGS, folder + "/tree").stdout)
    files = report["files"]["checked"] + len(report["files"]["skipped"])
    joined(folder, (files + 5,))
    parts(folder, files + 5)
    empty = 0
    for i in range(1, files + 6):
        with open(os.path.join(folder, "part%d.json" % i)) as f:
            empty += json.load(f)["files"]["checked"] == 0
    need(empty >= 5, "only %d shards are empty" % empty)


def refusals(folder):
    a, b, c = parts(folder, 3)
    other = os.path.join(folder, "other.json")
    shutil.copy(b, other)
    names = parts(folder, 3, "--select", "MLA001")[1:2]
    shutil.move(names[0], os.path.join(folder, "select.json"))
    parts(folder, 3)

    def refused(args, words):
        p = run(["merge"] + args, folder, 2)
        need(words in p.stderr, "%r is not in %r" % (words, p.stderr))
        same("output", p.stdout, b"")

    refused([a, c], b"shard 2/3 is missing")
    refused([a, b, c, other], b"are both shard 2/3")
    refused([a, os.path.join(folder, "select.json"), c], b"different runs")
    refused([], b"needs the parts")
    with open(b) as f:
        part = json.load(f)
    for change, words in (
        ({"version": "9.9.9"}, b"made by version 9.9.9"),
        ({"findings": 1}, b"findings"),
        ({"more": 1}, b"unknown keys"),
        ({"shard": None}, b"not a part"),
    ):
        with open(other, "w") as f:
            json.dump(dict(part, **change), f)
        refused([a, other, c], words)
    for bad in ("[" * 100000, '{"tool":1,"tool":1}', "", "[]", "null"):
        with open(other, "w") as f:
            f.write(bad)
        refused([a, other, c], b"other.json")


def options(folder):
    for bad in ("0/2", "3/2", "1", "1/", "/2", "1/0", "a/b", "-1/2", "1/99999"):
        p = run(FLAGS + ("--shard", bad), folder + "/tree", 2)
        need(b"--shard" in p.stderr, "%s: %r" % (bad, p.stderr))


def main():
    failed = 0
    for case in (whole_is_merged, more_shards_than_files, refusals, options):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(os.path.join(ROOT, "testdata"), folder + "/tree")
            try:
                case(folder)
                print("ok shard %s" % case.__name__)
            except Failure as e:
                failed = 1
                print("not ok shard %s: %s" % (case.__name__, e))
    return failed


if __name__ == "__main__":
    sys.exit(main())
