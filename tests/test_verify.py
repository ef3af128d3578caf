#!/usr/bin/env python3
"""Verdicts: the fixtures, the bundled sample, sources that want too much, and check with them.

Every fixture with a fix has to be verified, no fixture without one may be. MLALINT_CASES names a
folder of further cases (see tests/test_cases.py), whose `verify` column is compared.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import ROOT, TOOL, Cases, Failure, need, run, same, text, tree, write_tree

RULES = os.path.join(ROOT, "testdata", "rules")
SAMPLE = os.path.join(ROOT, "testdata", "sample")
DENSE = "latentlm/models/dense.py"
# A sanitizer takes address space and time of its own.
SANITIZED = "sanitize" in TOOL
SECONDS = 40 if SANITIZED else 2
FIXED = re.compile(r"# expect:.*MLA00[1-4] (?:select|followup)(?!.*nofix)")
# Its projections are not there and go by no known name.
NOT_RUNNABLE = (
    "two_projections_not_found.py: HyssopOther.__call__",
    # Its parameter says how many rows its own buffers hold.
    "torch_buffer_cache.py: LarkAttention.forward",
)
SIZES = {  # file of the sample -> r, n, v
    "dense.py": (512, 128, 128),
    "dense_wide.py": (512, 192, 256),
    "gated.py": (512, 128, 128),
    "nope.py": (512, 256, 256),
    "sparse.py": (512, 128, 128),
}


def verify(folder, *args):
    p = run(("verify", "--output-format", "json", "-q") + args, folder)
    try:
        return json.loads(p.stdout)["sites"], p
    except ValueError as e:
        raise Failure("exit status %d, no JSON (%s): %s" % (p.returncode, e, text(p.stderr)))


def said(site):
    return "%s: %s (%s)" % (site["path"], site["verdict"], site["reason"])


def has_fix(site):
    with open(os.path.join(ROOT, site["path"])) as f:
        lines = f.read().split("\n")
    return any(FIXED.search(lines[n - 1]) for n in site["lines"])


def fixtures(rule, at_least):
    (folder,) = [d for d in os.listdir(RULES) if d.startswith(rule)]
    select = ("--select", "ALL") if rule == "mla003" else ()
    # Small sizes, so that there is time for all of them; the sample has the true ones.
    small = ("--geometry", "64/16/8/16")
    sites, _ = verify(ROOT, *small, *select, os.path.join("testdata", "rules", folder))
    need(len(sites) >= at_least, "only %d sites" % len(sites))
    wrong = []
    for site in sites:
        if site["path"].endswith("/threshold_is_one.py"):
            continue  # not so at these sizes
        if any(n in site["path"] + ": " + site["symbol"] for n in NOT_RUNNABLE):
            good = site["verdict"] == "unverified"
        else:
            good = has_fix(site) == (site["verdict"] == "verified")
        if not good:
            wrong.append(said(site))
    need(not wrong, "; ".join(wrong))


def pool_of_sample(site):
    need(site["verdict"] == "verified", said(site))
    for width in (2, 3, 4, 8):
        cases = [c for c in site["cases"] if c["width"] == width]
        lengths = {c["cached"] for c in cases if not c["trimmed"] and c["batch"] == 2}
        need({64, 65, 66, 67, 515} <= lengths, "lengths of width %d: %r" % (width, lengths))
        same("trims", {c["trimmed"] for c in cases} >= set(range(1, width + 1)), True)
        for c in cases:
            need(c["ulp"] <= 8, "ULP: %r" % c)
            if not c["trimmed"] and not c["padding"] and c["batch"] == 2:
                need(c["windows"] <= -(-width // c["window"]) + 1, "windows: %r" % c)
    need(any(c["padding"] for c in site["cases"]), "no padding")
    need(any(c["batch"] == 1 for c in site["cases"]), "no change of the batch")


POOL_RULES = ("mla101_single_step_pool", "mla102_stale_pool")
# What is kept on objects that a replay does not know, or called in a way that it does not.
NOT_REPLAYED = (
    "attributes_of_cache.py",  # joins the cache's rows itself
    "cache_class.py",  # no method of a layer
    "length_not_kept.py",  # no fix
)
POOL_FIXED = re.compile(r"# expect:.*MLA10[12] gate(?! nofix)")


def pools():
    """Every pool fixture with a fix is verified, but those named; none without one is."""
    folders = [os.path.relpath(os.path.join(ROOT, "testdata", "rules", r), ROOT) for r in POOL_RULES]
    sites, _ = verify(ROOT, *folders)
    sites = [s for s in sites if s["code"] in ("MLA101", "MLA102")]
    need(len(sites) > 24, "only %d sites" % len(sites))
    wrong = []
    for site in sites:
        with open(os.path.join(ROOT, site["path"])) as f:
            lines = f.read().split("\n")
        fixed = any(POOL_FIXED.search(lines[n - 1]) for n in site["lines"])
        want = fixed and os.path.basename(site["path"]) not in NOT_REPLAYED
        if want != (site["verdict"] == "verified"):
            wrong.append(said(site))
    need(not wrong, "; ".join(wrong))


def sample(form, T):
    sites, p = verify(SAMPLE, "--threshold", form, ".")
    same("exit status", p.returncode, 0)
    (pool,) = [s for s in sites if s["code"] == "MLA101"]
    pool_of_sample(pool)
    sites.remove(pool)
    same("sites", len(sites), len(SIZES))
    for site in sites:
        r, n, v = SIZES[os.path.basename(site["path"])]
        d = n + v
        # In integers, so that nothing is rounded: the bound on the number of queries.
        t = r * d * T // (r * d + (2 * r - d) * T) if T else r * d // (2 * r - d)
        need(site["verdict"] == "verified", said(site))
        same(site["path"] + ": threshold", site["threshold"], t)
        same(site["path"] + ": crossover of the counts", site["counts"]["crossover"], t)
        widths = {(c["width"], c["cached"]) for c in site["cases"] if c["batch"] == 1}
        same("cases", {(w, k) for w in (2, 3, 4, 8) for k in (0, 64, 513)} - widths, set())
        same("long cases", {(1, 2048), (2, 2048)} - widths, set())
        need(any(c["padded"] for c in site["cases"]), "no left-padded batch")
        # Several queries of the sparse one attend to all rows under a mask, whatever the arm.
        need(not any("top-k budget" in n for n in site["notes"]), repr(site["notes"]))
        for c in site["cases"]:
            need(c["rel_f64"] <= 1e-10, "%s: f64: %r" % (site["path"], c))


# What is put in front of the guard, and a word of the reason.
HOSTILE = {
    "endless loop": ("        while True: pass\n", "steps"),
    "huge array": ("        x = x + mx.zeros((1000, 1000, 1000))[0, 0, 0]\n", "bytes"),
    "deep recursion": ("        def f(n): return f(n + 1)\n        f(0)\n", "calls nested"),
    "long list": ("        y = [i for i in range(1000000)]\n", "elements"),
    "longer and longer": ("        s = [1]\n        while True: s = s + s\n", "bytes of objects"),
    "deep expression": ("        y = " + "+".join(["1"] * 20000) + "\n", "nested"),
    "endless products": (
        "        y = mx.ones((500, 500))\n        while True: y = y @ y\n",
        "steps",
    ),
}


def hostile(files, path, word):
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, files)

        def limit():
            if not SANITIZED:
                resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (2 * SECONDS, 2 * SECONDS))

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        p = subprocess.run(
            [TOOL, "verify", "--output-format", "json", "-q", path],
            cwd=folder,
            stdout=-1,
            stderr=-1,
            preexec_fn=limit,
        )
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
        # 2: the scan itself may find it too deep to follow.
        need(p.returncode in (0, 2), "exit status %d: %s" % (p.returncode, text(p.stderr)))
        (site,) = json.loads(p.stdout)["sites"]
        same("verdict (%s)" % site["reason"], site["verdict"], "unverified")
        need(word in site["reason"], "the reason is %r" % site["reason"])
        need(seconds < SECONDS, "%.1f s" % seconds)


def hostile_statement(statement, word):
    files = tree(SAMPLE)
    guard = b"        if L == 1:\n            q_nope"
    need(guard in files[DENSE], "no guard in " + DENSE)
    files[DENSE] = files[DENSE].replace(guard, statement.encode() + guard)
    hostile(files, DENSE, word)


def import_cycle():
    files = tree(SAMPLE)
    folder = os.path.dirname(DENSE)
    files[DENSE] = files[DENSE].replace(b"from .mla import Multi", b"from .a import Multi")
    files[folder + "/a.py"] = b"from .b import MultiLinear\n"
    files[folder + "/b.py"] = b"from .a import MultiLinear\n"
    hostile(files, DENSE, "import cycle")


def fix_without_asking():
    """A verified fix is safe: --fix writes it. An unverified one is hidden, with its line."""
    files = {p: d for p, d in tree(SAMPLE).items()}
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, files)
        p = run(("check", "--verify", "--output-format", "json", DENSE), folder, 1)
        for f in json.loads(p.stdout)["findings"]:
            same("applicability", f["fix"]["applicability"], "safe")
            same("verdict", f["verification"]["verdict"], "verified")
        run(("check", "--fix", DENSE), folder, 0)
        need(tree(folder)[DENSE] != files[DENSE], "--fix did not write a verified fix")
    line = b"        B, L, _ = x.shape\n"
    files[DENSE] = files[DENSE].replace(line, line + b"        import os; os.getcwd()\n")
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, files)
        p = run(("check", "--fix", DENSE), folder, 1)
        same("the file", tree(folder)[DENSE], files[DENSE])
        number = files[DENSE][: files[DENSE].index(b"os.getcwd")].count(b"\n") + 1
        want = "call of `os.getcwd` at line %d" % number
        need(want in text(p.stderr), "stderr: " + text(p.stderr))
        need("1 fix hidden" in text(p.stderr), "stderr: " + text(p.stderr))


def who_computed():
    """The report says what ran the numbers, and a backend that is not there is no verdict."""
    p = run(("verify", "--output-format", "json", "-q", DENSE), SAMPLE, 0)
    report = json.loads(p.stdout)
    same("backend", report["backend"], "cpu")
    need(report["device"].startswith("cpu ("), "device %r" % report["device"])
    (site,) = report["sites"]
    same("operations without a kernel", site["operations"]["host"], {})
    for op in ("matmul", "softmax", "rms_norm", "rope", "multiply", "where"):
        need(site["operations"]["kernels"].get(op, 0) > 10, "%s: %r" % (op, site["operations"]))
    p = run(("verify", "-q", DENSE), SAMPLE, 0)
    need("bf16 computed by " + report["device"] in text(p.stdout), "the text does not say who")
    p = run(("verify", "--backend", "abacus", DENSE), SAMPLE, 2)
    need("unknown backend 'abacus'" in text(p.stderr), "stderr: " + text(p.stderr))
    if sys.platform != "darwin":
        p = run(("verify", "--backend", "metal", DENSE), SAMPLE, 2)
        need("no metal backend" in text(p.stderr), "stderr: " + text(p.stderr))
        p = run(("verify", "--backend", "auto", "--output-format", "json", DENSE), SAMPLE, 0)
        report = json.loads(p.stdout)
        same("backend of auto", report["backend"], "cpu")
        need("no metal backend" in report["backend_note"], "note %r" % report["backend_note"])


def generic_tails():
    """An unverified fix has the two forms at its geometry beside it; a verified one its own code."""
    files = tree(SAMPLE)
    line = b"        B, L, _ = x.shape\n"
    files[DENSE] = files[DENSE].replace(line, line + b"        import os; os.getcwd()\n")
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, files)
        (site,), _ = verify(folder, DENSE)
        same("verdict", site["verdict"], "unverified")
        tails = site["generic_tails"]
        need(tails["agree"] and tails["cases"] == 14, "tails %r" % tails)
        same("where they cross", (tails["threshold"], tails["crossover"]), (170, 170))
        need(0 < tails["rel_f64"] < 1e-10 and tails["max_abs"] > 0, "tails %r" % tails)
        p = run(("verify", "-q", DENSE), folder, 0)
        need("the generic tails at this geometry: agree over 14" in text(p.stdout), "no tails")
    (site,), _ = verify(SAMPLE, DENSE)
    same("tails of a verified site", site["generic_tails"], None)


def case(path, rows, sites):
    """Rows of one case that take a position on its site, against the verdict."""
    wanted = {r[5] for r in rows if r[2] == "MLA001" and r[5] != "-"}
    for site in sites:
        lines = {int(r[1]) for r in rows if r[2] == "MLA001" and r[5] != "-"}
        if site["path"].endswith(path) and lines & set(site["lines"]):
            same(said(site), {site["verdict"]}, wanted)
            return
    raise Failure("no site")


def external(cases, folder):
    with open(os.path.join(folder, "expected.tsv"), encoding="utf-8") as f:
        rows = [line.split("\t") for line in f.read().splitlines()[1:]]
    sites, _ = verify(folder, ".")
    for path in sorted({r[0] for r in rows if r[2] == "MLA001" and r[5] != "-"}):
        cases.run("verdict of " + path, case, path, [r for r in rows if r[0] == path], sites)


def statuses():
    """A rejected fix is a finding of verify's; one that is verified, or could not be, is none."""
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, tree(SAMPLE))
        path = os.path.join(folder, DENSE)
        with open(path) as f:
            source = f.read()
        tail = "out = self.unembed_out(out)\n"
        for now, verdict, status in (
            (tail, "verified", 0),
            (tail.replace("\n", " * 2\n"), "rejected", 1),
            (tail + "        out = unheard_of(out)\n", "unverified", 0),
        ):
            with open(path, "w") as f:
                f.write(source.replace(tail, now))
            (site,), p = verify(folder, DENSE)
            same(said(site), (site["verdict"], p.returncode), (verdict, status))
            run(("verify", "-q", "--exit-zero", DENSE), folder, 0)


def main():
    cases = Cases("verify")
    for rule, at_least in (("mla001", 60), ("mla002", 8), ("mla003", 4), ("mla004", 5)):
        cases.run("fixtures of " + rule, fixtures, rule, at_least)
    cases.run("pool fixtures", pools)
    cases.run("sample", sample, "geometry", 0)
    cases.run("sample, cache length", sample, "cache-length", 8192)
    for name, (statement, word) in HOSTILE.items():
        cases.run("hostile: " + name, hostile_statement, statement, word)
    cases.run("hostile: import cycle", import_cycle)
    cases.run("who computed", who_computed)
    cases.run("generic tails", generic_tails)
    cases.run("check --fix", fix_without_asking)
    cases.run("statuses", statuses)
    folder = os.environ.get("MLALINT_CASES")
    if folder:
        external(cases, folder)
    else:
        cases.skip("external verdicts", "MLALINT_CASES is not set")
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
