#!/usr/bin/env python3
"""Times `check` against ripgrep and ast-grep over the pinned upstream releases (`make bench-scan`).

The three run in turn, round after round, in one process, so that a slow moment hits all of them;
the medians are compared. ripgrep lists the files that hold the words the scan looks for; ast-grep
looks for the plain `if L == 1` around an up-projection call. Fails where `check` misses its limits.
usage: bench_scan.py [TOOL [ROUNDS]]
"""

import os
import shutil
import statistics
import subprocess
import sys
import time

if len(sys.argv) > 1:
    os.environ["MLALINT"] = sys.argv[1]
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import upstream
from tool import ROOT, TOOL

ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 21
WORDS = r"MultiLinear|embed_q|unembed_out|kv_b_proj|wkv_b|w_kc|w_vc|w_uk|w_uv|wk_b|wv_b|qabs|_pool"
RULE = """
id: single-query-absorb
language: python
rule:
  kind: if_statement
  all:
    - has: {field: condition, pattern: L == 1}
    - has:
        stopBy: end
        any: [{pattern: self.embed_q($$$)}, {pattern: self.unembed_out($$$)}]
"""
SLOWER_THAN_RIPGREP = 6.0
FASTER_THAN_AST_GREP = 10.0
PEAK_MIB = 64.0


def find_ast_grep():
    """ast-grep on PATH, else from the package index in an environment of its own below build/."""
    found = shutil.which("ast-grep")
    venv = os.path.join(ROOT, "build", "bench-venv")
    inside = os.path.join(venv, "bin", "ast-grep")
    if found or os.path.exists(inside):
        return found or inside
    for command in (
        [sys.executable, "-m", "venv", venv],
        [os.path.join(venv, "bin", "python"), "-m", "pip", "install", "--quiet", "ast-grep-cli"],
    ):
        p = subprocess.run(command, stdout=-1, stderr=-2)
        if p.returncode:
            shutil.rmtree(venv, ignore_errors=True)
            print(p.stdout.decode("utf-8", "replace").strip())
            return None
    return inside if os.path.exists(inside) else None


def timed(command):
    """(seconds, peak resident MiB, exit status) of one run."""
    start = time.perf_counter()
    pid = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(pid.pid, 0)
    seconds = time.perf_counter() - start
    pid.returncode = (
        os.waitstatus_to_exitcode(status) if hasattr(os, "waitstatus_to_exitcode") else status >> 8
    )
    unit = 1024.0 * 1024.0 if sys.platform == "darwin" else 1024.0
    return seconds, usage.ru_maxrss / unit, pid.returncode


def main():
    packages = upstream.pinned()
    os.makedirs(upstream.WORK, exist_ok=True)
    trouble = upstream.fetch(packages)
    if trouble:
        print("bench-scan: %s: %s" % trouble)
        return 0 if trouble[0] == "skip" else 1
    trees = [upstream.unpack(name, version) for name, version, _ in packages]

    commands = {"check": [TOOL, "check"] + trees}
    rg, ast_grep = shutil.which("rg"), find_ast_grep()
    if rg:
        commands["ripgrep"] = [rg, "-l", "--type", "py", WORDS] + trees
    else:
        print("bench-scan: ripgrep is missing; to install: apt-get install -y ripgrep")
    if ast_grep:
        commands["ast-grep"] = [ast_grep, "scan", "--inline-rules", RULE] + trees
    else:
        print(
            "bench-scan: ast-grep is missing; to install: apt-get install -y python3-venv"
        )

    # A forked child starts with this process's own size, so that is the least that can be seen.
    floor = timed(["true"])[1]
    seconds, peak = {name: [] for name in commands}, 0.0
    for n in range(ROUNDS + 1):
        for name, command in commands.items():
            took, size, status = timed(command)
            if status not in (0, 1) or (name == "check" and status != 1):
                print("bench-scan: %s ended with status %d" % (name, status))
                return 1
            if n:  # the first round warms the file cache
                seconds[name].append(took)
            if name == "check":
                peak = max(peak, size)

    files = sum(n.endswith(".py") for t in trees for _, _, names in os.walk(t) for n in names)
    print(
        "%d Python files of %s; %d rounds, medians"
        % (files, " and ".join("%s %s" % p[:2] for p in packages), ROUNDS)
    )
    median = {name: statistics.median(s) for name, s in seconds.items()}
    for name, m in median.items():
        s = seconds[name]
        print("  %-9s %8.1f ms  (%.1f to %.1f)" % (name, 1e3 * m, 1e3 * min(s), 1e3 * max(s)))
    bad = 0
    if rg:
        ratio = median["check"] / median["ripgrep"]
        bad += ratio > SLOWER_THAN_RIPGREP
        print("  check takes %.2f times ripgrep's time (limit %.0f)" % (ratio, SLOWER_THAN_RIPGREP))
    if ast_grep:
        ratio = median["ast-grep"] / median["check"]
        bad += ratio < FASTER_THAN_AST_GREP
        print(
            "  check is %.1f times faster than ast-grep (limit %.0f)"
            % (ratio, FASTER_THAN_AST_GREP)
        )
    bad += peak > PEAK_MIB
    at_most = "at most " if peak <= floor + 0.5 else ""
    print("  peak memory of check: %s%.1f MiB (limit %.0f)" % (at_most, peak, PEAK_MIB))
    print("bench-scan: " + ("%d limits missed" % bad if bad else "within the limits"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
