#!/usr/bin/env python3
"""bench and plan from the command line: reports, charts, the interrupt key, mistakes.

Sizes are tiny and no time is looked at: --keep-invalid lets a busy machine be busy.
"""

import json
import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import ROOT, TOOL, Cases, need, run, same, text

SMALL = ("--geometry", "32/16/8/16x2", "-j", "1", "--keep-invalid", "--patience", "1")
FIXTURES = os.path.join(ROOT, "testdata", "rules", "mla001_single_query_absorb")
SVG = "{http://www.w3.org/2000/svg}"


def bench(cwd, *args, status=0):
    return run(("bench",) + args, cwd, status)


def boxes(group):
    """Where the texts of a chart are: the widest usual face, DejaVu Sans, is 0.64 em on average."""
    for t in group.iter(SVG + "text"):
        words = "".join(t.itertext())
        size = 15 if t.get("class") == "title" else 12
        wide = 0.64 * size * len(words)
        x, y = float(t.get("x")), float(t.get("y"))
        x -= {"end": wide, "middle": wide / 2}.get(t.get("text-anchor"), 0)
        yield words, x, y - 0.8 * size, x + wide, y + 0.25 * size


def check_layout(path, charts):
    """Valid XML; no text leaves the frame or lies on another one."""
    root = ET.parse(path).getroot()
    width, height = float(root.get("width")), float(root.get("height"))
    groups = root.findall(SVG + "g")
    same("charts", len(groups), charts)
    for g in groups:
        found = list(boxes(g))
        need(len(found) >= 2, "a chart without texts")
        for i, (a, ax0, ay0, ax1, ay1) in enumerate(found):
            need(
                ax0 >= 0 and ax1 <= width and ay0 >= 0 and ay1 <= height / len(groups),
                "%r leaves the frame" % a,
            )
            for b, bx0, by0, bx1, by1 in found[:i]:
                need(
                    ax1 <= bx0 or bx1 <= ax0 or ay1 <= by0 or by1 <= ay0,
                    "%r lies on %r" % (a, b),
                )
    return root


def plotted(root, number):
    """The y of every mark of line `number`, from left to right."""
    tag, attribute = ("rect", "y") if number == 0 else ("circle", "cy")
    found = []
    for e in root.iter(SVG + tag):
        if e.get("class") == "f%d" % number:
            found.append(float(e.get(attribute)))
    return found


def attention(cwd):
    svg, out = os.path.join(cwd, "a.svg"), os.path.join(cwd, "a.json")
    args = SMALL + ("--cached", "48", "--widths", "2,5,3", "--output-format", "json")
    bench(cwd, *args, "--plot", svg, "-o", out)
    with open(out) as f:
        b = json.load(f)["bench"]
    same("kind", b["kind"], "attention")
    same("geometry", b["geometry"]["kv_lora_rank"], 32)
    same("threads", b["threads"], 1)
    same("samples", b["samples"], 9)
    points = [(p["width"], p["stock"]["arm"], p["patched"]["arm"]) for p in b["points"]]
    same(
        "points",
        points,
        [(1, "absorbed", "absorbed")]
        + [(2, "one query", arm) for arm in ("materialised", "absorbed")]
        + [(w, "materialised", "absorbed") for w in (1, 2, 3, 5)],
    )
    for p in b["points"]:
        n = p["stock"]["samples"]
        least = 27 if p["same_arm"] else 9
        need(n >= least and n % 9 == 0, "%d samples" % n)
        same("pairs", p["patched"]["samples"], n)
        for side in ("stock", "patched"):
            s = p[side]
            order = [s[k + "_ms"] for k in ("min", "q1", "median", "q3", "max")]
            need(0 < order[0] and order == sorted(order), "%r are not in order" % order)
            # Arms this small are repeated, for 20 ms or so; a busy machine may stretch a sample.
            lasts = s["repeats"] * s["median_ms"]
            need(s["repeats"] > 20 and 4 < lasts < 1000, "a sample takes %g ms" % lasts)
        order = [p["ratio" + k] for k in ("_min", "_low", "", "_high", "_max")]
        need(0 < order[0] and order == sorted(order), "%r are not in order" % order)
        most = p["stock"]["max_ms"] / p["patched"]["min_ms"]
        need(p["ratio_max"] <= most * (1 + 1e-6), "a ratio of pairs above that of all")
    length = b["lengths"][0]
    same("threshold", length["threshold"], 19)
    one = b["points"][0]
    for side, p in zip(("stock", "patched"), b["points"][1:]):
        for key in ("min", "low", "", "high", "max"):
            name = "_" + key if key else ""
            same(
                "second query",
                length["second_query"][side + name + "_ms"],
                p["difference" + name + "_ms"],
            )
        most = p["patched"]["max_ms"] - p["stock"]["min_ms"]
        need(p["difference_max_ms"] <= most + 1e-6, "a difference above that of all")
        same("nobody is ahead of one query", p["ahead"], None)
    apart = max(one["ratio"], 1 / one["ratio"]) - 1
    spread = (one["ratio_high"] - one["ratio_low"]) / one["ratio"]
    need(abs(length["apart"] - apart) < 1e-6, "apart")
    need(abs(length["spread"] - spread) < 1e-6, "spread")
    same("valid", b["valid"], apart <= 0.02 and spread <= 0.04)
    root = check_layout(svg, 2)
    # A mark of the legend first, then those of the points.
    same("marks", len(plotted(root.findall(SVG + "g")[0], 0)), 1 + 4)


def pooling(cwd):
    svg = os.path.join(cwd, "p.svg")
    args = ("--pool", "--cached", "64,128", "--widths", "4", "-j", "1") + SMALL[-3:]
    p = bench(cwd, *args, "--output-format", "json", "--plot", svg)
    b = json.loads(p.stdout)["bench"]
    same("kind", b["kind"], "pool")
    arms = {(p["width"], p["stock"]["arm"], p["patched"]["arm"]) for p in b["points"]}
    same(
        "arms",
        arms,
        {(1, "suffix", "suffix"), (2, "all windows", "suffix"), (4, "all windows", "suffix")},
    )
    check_layout(svg, 3)


def sparse(cwd):
    svg = os.path.join(cwd, "s.svg")
    args = SMALL + ("--sparse-topk", "16", "--cached", "16,64", "--widths", "2", "--plot", svg)
    p = bench(cwd, *args)
    out = text(p.stdout)
    need("top-k 16" in out, "no top-k in %r" % out)
    rows = [line.split() for line in out.splitlines() if line.strip().startswith("2 ")]
    same("rows of two queries", len(rows), 2)
    need(rows[1][-1] == "gathered", "above the budget both gather: %r" % rows[1])
    check_layout(svg, 2)


def sources(cwd):
    """Sizes from a model's source and from a checkpoint's config are the same sizes."""
    config = os.path.join(cwd, "config.json")
    with open(config, "w") as f:
        json.dump(
            {
                "text_config": {
                    "kv_lora_rank": 32,
                    "qk_nope_head_dim": 16,
                    "qk_rope_head_dim": 8,
                    "v_head_dim": 16,
                }
            },
            f,
        )
    few = ("--cached", "8", "--widths", "1", "-q") + SMALL[2:]
    out = text(bench(cwd, "--model-config", config, *few).stdout)
    need("32/16/8/16, 16 heads" in out, out.splitlines()[0])
    p = bench(cwd, os.path.join(FIXTURES, "equal.py"), *few)
    need("512/128/64/128, 16 heads" in text(p.stdout), text(p.stdout).splitlines()[0])


def interrupted(cwd):
    """Ctrl-C in the middle of a long run: what is complete is printed, the status is 2."""
    master, slave = pty.openpty()
    args = ("--geometry", "512/128/64/128", "--cached", "8192", "-j", "1")
    p = subprocess.Popen(
        [TOOL, "bench", "--output-format", "json"] + list(args), cwd=cwd, stdout=-1, stderr=slave
    )
    os.close(slave)
    bar = b""
    # The second point: by then the first one is complete. The rest takes minutes.
    while b"T=512 L=2" not in bar:
        ready = select.select([master], [], [], 120)[0]
        need(ready, "no progress: %r" % bar[-200:])
        bar += os.read(master, 65536)
    p.send_signal(signal.SIGINT)
    out = p.communicate()[0]
    os.close(master)
    same("exit status", p.returncode, 2)
    b = json.loads(out)["bench"]
    same("interrupted", b["interrupted"], True)
    same("points", [p["same_arm"] for p in b["points"]][:1], [True])
    need(len(b["points"]) < 9, "%d points" % len(b["points"]))
    need(b"left: " in bar and b" %" in bar, "no time left in %r" % bar[-200:])


def drawn_again(cwd):
    """A JSON report is enough for every chart, for the table, and for itself."""
    kinds = {
        "attention": SMALL + ("--cached", "48", "--widths", "2,5,3"),
        "sparse": SMALL + ("--sparse-topk", "16", "--cached", "16,64", "--widths", "2"),
        "pool": ("--pool", "--cached", "64,128", "--widths", "4", "-j", "1") + SMALL[-3:],
    }
    for kind, args in kinds.items():
        first = [os.path.join(cwd, kind + end) for end in (".json", ".txt", ".svg")]
        again = [os.path.join(cwd, "again." + kind + end) for end in (".json", ".txt", ".svg")]
        for files, what in (first, args), (again, ("--from", first[0], "--keep-invalid")):
            bench(cwd, *what, "-o", "json:" + files[0], "-o", "text:" + files[1], "--plot", files[2])
        for a, b in zip(first, again):
            with open(a, "rb") as x, open(b, "rb") as y:
                need(x.read() == y.read(), "%s and %s differ" % (a, b))
    # The verdict is that of the run.
    path = os.path.join(cwd, "made_up.json")
    for apart, status in (1.01, 0), (1.03, 2):
        with open(path, "w") as f:
            json.dump(made_up(apart), f)
        bench(cwd, "--from", path, status=status)
    # Text of the file cannot steer a terminal.
    report = made_up()
    report["bench"]["backend"] = "\x1b[2Jcp\u00fc"
    with open(path, "w") as f:
        json.dump(report, f)
    need(b"; ?[2Jcp??\n" in bench(cwd, "--from", path).stdout, "the name of a backend")


MISTAKES = {
    "nothing to measure": (("bench",), "bench needs one of"),
    "two geometries": (("bench", "x.py", "--geometry", "8/8/8/8"), "bench needs one of"),
    "heads": (("bench", "--geometry", "8/8/8/8x0"), "'0' is not an integer from 1"),
    "check has no heads": (("check", "--geometry", "8/8/8/8x2"), "is not R/N/P/V,"),
    "width list": (("bench", "--geometry", "8/8/8/8", "--widths", "1,,2"), "--widths: '1,,2'"),
    "width 0": (("bench", "--geometry", "8/8/8/8", "--widths", "0"), "--widths: '0'"),
    "wide step": (
        ("bench", "--geometry", "8/8/8/8", "--widths", "9", "--cached", "8"),
        "a step of 9 queries needs as many cached positions; 8 are too few",
    ),
    "samples": (("bench", "--pool", "--samples", "8"), "'8' is not an integer from 9"),
    "backend": (("bench", "--pool", "--backend", "gpu"), "'gpu' is not one of cpu, metal, cuda"),
    "pool and geometry": (("bench", "--pool", "--geometry", "8/8/8/8"), "--pool does not depend"),
    "pool and top-k": (("bench", "--pool", "--sparse-topk", "64"), "exclude each other"),
    "old report and sizes": (("bench", "--from", "x.json", "--pool"), "--from measures nothing"),
    "no old report": (("bench", "--from", "none.json"), "none.json: No such file"),
    "hurt old report": (("bench", "--from", "hurt.json"), "point 1 of \"points\""),
    "what it measured": (("bench", "--from", "kind.json"), "kind.json: not a report of bench"),
    "pool has no depth": (("plan", "--accept", "1", "--bench", "pool.json"), "on dense attention"),
    "memory": (
        ("bench", "--geometry", "4096/128/64/128x128", "--cached", "1048576", "--widths", "1"),
        "GiB of memory, the limit is",
    ),
    "no sizes": (("bench", "empty"), "give --geometry or --model-config"),
    "no acceptance": (("plan",), "plan needs --accept"),
    "acceptance above 1": (("plan", "--accept", "0.9,1.1"), "numbers from 0 to 1"),
    "not a number": (("plan", "--accept", "0.9,nan"), "numbers from 0 to 1"),
    "draft": (("plan", "--accept", "1", "--draft-ms", "-3"), "not a number of milliseconds"),
    "verify alone": (("plan", "--accept", "1", "--verify-ms", "3"), "needs --decode-ms"),
    "layers alone": (("plan", "--accept", "1", "--layers", "3"), "belong to --bench"),
    "no report": (("plan", "--accept", "1", "--bench", "none.json"), "none.json: No such file"),
    "other report": (("plan", "--accept", "1", "--bench", "other.json"), "not a report of bench"),
    "hurt report": (("plan", "--accept", "1", "--bench", "hurt.json"), "point 1 of \"points\""),
}


def mistakes(cwd):
    os.makedirs(os.path.join(cwd, "empty"), exist_ok=True)
    for name, content in {"other.json": '{"bench": 1}', "kind.json": '{"bench": {"kind": "x"}}'}.items():
        with open(os.path.join(cwd, name), "w") as f:
            f.write(content)
    hurt = made_up()
    del hurt["bench"]["points"][0]["patched"]["q3_ms"]
    with open(os.path.join(cwd, "hurt.json"), "w") as f:
        json.dump(hurt, f)
    hurt = made_up()
    hurt["bench"]["kind"] = "pool"
    with open(os.path.join(cwd, "pool.json"), "w") as f:
        json.dump(hurt, f)
    for name, (args, want) in MISTAKES.items():
        p = run(args, cwd, 2)
        need(want in text(p.stderr), "%s: %r" % (name, text(p.stderr)))
        same("%s: standard output" % name, p.stdout, b"")


def made_up(apart=1.0):
    """A report with round numbers: 1 ms a query absorbed, 50 ms for the expansion."""
    points = []
    for cached in (8192, 16384):
        for width in (0, 1, 2, 3, 4, 5):
            stock, patched = 50 + width, 4 + width
            if width == 0:
                stock, patched = 5, 5 * apart
            arms = ("absorbed" if width == 0 else "materialised", "absorbed")
            sides = [
                dict(
                    {k + "_ms": v for k in ("min", "q1", "median", "q3", "max")},
                    arm=arm,
                    samples=9,
                    repeats=1,
                )
                for arm, v in zip(arms, (stock, patched))
            ]
            p = {"cached": cached, "width": max(width, 1), "stock": sides[0], "patched": sides[1]}
            for k in ("", "_low", "_high", "_min", "_q1", "_q3", "_max"):
                p["ratio" + k] = stock / patched
            points.append(p)
    sizes = {
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 192,
        "qk_rope_head_dim": 64,
        "v_head_dim": 256,
    }
    return {
        "bench": {
            "kind": "attention",
            "backend": "made up",
            "geometry": sizes,
            "heads": 16,
            "samples": 9,
            "patience_s": 30,
            "points": points,
        }
    }


ACCEPT = ("plan", "--accept", "0.84,0.73,0.63,0.62", "--output-format", "json")


def planned(cwd, *args):
    return json.loads(run(ACCEPT + args, cwd, 0).stdout)["plan"]["plans"]


def speedups(plan):
    return [round(d["speedup"], 2) for d in plan["depths"]]


def plan_example(cwd):
    (p,) = planned(cwd, "--draft-ms", "0.26")
    same("speed-ups", speedups(p), [1.46, 1.61, 1.6, 1.51])
    same("depth", p["best_depth"], 2)
    (p,) = planned(cwd)
    same("free drafts", speedups(p), [1.84, 2.45, 2.84, 3.08])
    (p,) = planned(cwd, "--decode-ms", "20.92", "--verify-ms", "413.9")
    same("stock at 16K", p["best_depth"], None)
    out = text(run(ACCEPT[:3] + ("--decode-ms", "20.92", "--verify-ms", "413.9"), cwd, 0).stdout)
    need("do not speculate" in out, out)


def plan_of_report(cwd):
    path = os.path.join(cwd, "made_up.json")
    with open(path, "w") as f:
        json.dump(made_up(), f)
    plans = planned(cwd, "--bench", path, "--draft-ms", "1")
    same(
        "runtimes",
        [(p["runtime"], p["cached"]) for p in plans],
        [("stock", 8192), ("patched", 8192), ("stock", 16384), ("patched", 16384)],
    )
    # Depth 1, stock: 1.84 tokens in 52 + 1 ms against 5 ms a token; patched: in 6 + 1 ms.
    same("stock", speedups(plans[0])[0], round(1.84 * 5 / 53, 2))
    same("patched", speedups(plans[1])[0], round(1.84 * 5 / 7, 2))
    same("no speculation", plans[0]["best_depth"], None)
    alone = b"attention of one layer alone"
    args = ACCEPT[:3] + ("--bench", path)
    need(alone in run(args, cwd, 0).stdout, "attention is said to be alone")
    need(alone not in run(args + ("--decode-ms", "30"), cwd, 0).stdout, "it is not")
    # Two layers of attention in a step of 30 ms: 20 ms are the rest, which a verify step has too.
    args = ("--layers", "2", "--decode-ms", "30", "--cache-length", "16384")
    stock, patched = planned(cwd, "--bench", path, *args)
    same("rest", patched["depths"][0]["verify_ms"], 20 + 2 * 6)
    same("rest, stock", stock["depths"][0]["verify_ms"], 20 + 2 * 52)
    for args, want in {
        ("--decode-ms", "4"): "less than attention alone",
        ("--cache-length", "7"): "nothing is measured at 7",
    }.items():
        p = run(ACCEPT + ("--bench", path) + args, cwd, 2)
        need(want in text(p.stderr), text(p.stderr))
    p = run(("plan", "--accept", "1,1,1,1,1", "--bench", path), cwd, 2)
    need("depth 5 verifies 6 queries at once" in text(p.stderr), text(p.stderr))
    with open(path, "w") as f:
        json.dump(made_up(1.03), f)
    p = run(ACCEPT + ("--bench", path), cwd, 2)
    need("the run is invalid" in text(p.stderr), text(p.stderr))
    run(ACCEPT + ("--bench", path, "--keep-invalid"), cwd, 0)


def main():
    cases = Cases("bench")
    for case in (
        attention,
        pooling,
        sparse,
        sources,
        interrupted,
        drawn_again,
        mistakes,
        plan_example,
        plan_of_report,
    ):
        with tempfile.TemporaryDirectory() as cwd:
            cases.run(case.__name__, case, cwd)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
