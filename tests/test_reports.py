#!/usr/bin/env python3
"""What every output format promises: the same findings as JSON, escaped as its readers expect."""

import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import folder, model
from tool import ROOT, TOOL, Cases, Failure, need, run, same, text

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")

# Names that are markup or a separator somewhere; each has a model with two findings.
NAMES = (
    "plain.py",
    "with space.py",
    "&<>\"'.py",
    "100%,a:b.py",
    "::error::x.py",
    "line\nbreak\r.py",
    "pfad-\u00e4\u00f6-\U0001f600.py",
)
GUARD = "(L\n            == 1)"  # two lines
LATIN = model().replace(b"        B, L, D = x.shape", b'        "\xe9"; B, L, D = x.shape')
BROKEN = model().replace(b"if L == 1:", b"if L == 1 (:", 1)


def awkward():
    files = {name: model() for name in NAMES}
    files.update({"two_lines.py": model(GUARD), "latin.py": LATIN, "broken.py": BROKEN})
    files.update({"empty.py": b"", "utf16.py": "x = 1\n".encode("utf-16"), "kept.py": KEPT})
    return folder(files)


KEPT = b"import mlx.core as mx\n\n\ndef f(x):\n    B, L, D = x.shape\n    return L == 1\n"


def form(name, *args):
    return ("check", "--output-format", name) + args


def as_json(cwd, *args):
    return json.loads(run(form("json") + args, cwd).stdout)


def unescaped(s, colon=False):
    s = s.replace("%0D", "\r").replace("%0A", "\n")
    if colon:
        s = s.replace("%3A", ":").replace("%2C", ",")
    return s.replace("%25", "%")


def commands(out):
    """Workflow commands as the runner reads them: (level, properties, message)."""
    found = []
    for line in out.decode().split("\n")[:-1]:
        m = re.match(r"::([a-z]+)(?: ([^\r\n]*?))?::([^\r\n]*)$", line)
        need(m, "not a workflow command: %r" % line)
        properties = {}
        for part in (m.group(2) or "").split(","):
            key, value = part.split("=", 1)
            need(key not in properties, "two properties %r in %r" % (key, line))
            properties[key] = unescaped(value, True)
        found.append((m.group(1), properties, unescaped(m.group(3))))
    return found


def joined(s):
    return re.sub(r"[ \t]*[\r\n]\s*", " ", s)


def github():
    with awkward() as d:
        want = as_json(d, ".", "--show-kept")
        got = commands(run(form("github", "--show-kept"), d, 2).stdout)
        found = []
        for level, p, message in got:
            if not p["title"].startswith("MLA"):
                continue
            same("level", level, "warning")
            need(("col" in p) == (p["line"] == p["endLine"]), "columns of a range of lines: %r" % p)
            found.append((p["file"], int(p["line"]), p.get("col")))
            need("%s:%s:" % (p["file"], p["line"]) in message, message)
        findings = want["findings"]
        same(
            "findings",
            found,
            [
                (f["path"], f["line"], str(f["column"]) if f["line"] == f["end_line"] else None)
                for f in findings
            ],
        )
        same("findings", len(findings), 2 * (len(NAMES) + 3))
        first = next(m for _, p, m in got if p.get("file") == "two_lines.py")
        message = next(f["message"] for f in findings if f["path"] == "two_lines.py")
        need(joined(message) in first and "\nfix: " in first, first)
        same("kept", [p["file"] for _, p, m in got if "kept (unrelated)" in m], ["kept.py"])


def github_files():
    """Files without a verdict are errors and come first; what is merely skipped is a notice."""
    with awkward() as d:
        got = commands(run(form("github"), d, 2).stdout)
        files = [
            (lev, p["file"], m)
            for lev, p, m in got
            if p["title"] in ("mlalint (partial)", "mlalint (skipped)")
        ]
        same("files", [f[:2] for f in files], [("error", "broken.py"), ("notice", "utf16.py")])
        need("syntax error at line" in files[0][2], files[0][2])
        got = commands(run(form("github", "utf16.py"), d, 2).stdout)
        same("named", [(lev, p["file"]) for lev, p, _ in got], [("error", "utf16.py")])


def github_limit():
    """GitHub drops all but ten annotations of a level."""

    def notice(d):
        return [m for lev, p, m in commands(run(form("github"), d, 1).stdout) if lev == "notice"]

    files = {"m%d.py" % i: model() for i in range(5)}
    with folder(files) as d:
        same("ten warnings", notice(d), [])
    files["m5.py"] = model()
    with folder(files) as d:
        got = notice(d)
        same("notices", len(got), 1)
        need("at most 10" in got[0] and got[0].endswith("2 warnings"), got[0])
        lines = run(form("github"), d, 1).stdout.splitlines()
        need(lines[0].startswith(b"::notice "), "the notice is not the first line")
        same("commands", len(lines), 13)


def suites(out):
    root = ElementTree.fromstring(out)
    same("root", root.tag, "testsuites")
    total = [0, 0, 0, 0]
    for suite in [root] + list(root):
        cases = suite.findall(".//testcase")
        counts = [len(cases)] + [
            len(suite.findall(".//" + k)) for k in ("failure", "error", "skipped")
        ]
        named = [int(suite.get(k)) for k in ("tests", "failures", "errors", "skipped")]
        same("counts of %r" % suite.get("name"), named, counts)
    for suite in root:
        need(len(suite), "an empty suite: %r" % suite.get("name"))
        names = [c.get("name") for c in suite]
        same("names", len(set(names)), len(names))
    return {s.get("name"): list(s) for s in root}


def replaced(path):
    """What XML cannot hold."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", path)


def junit():
    with awkward() as d:
        want = as_json(d, ".", "--show-kept")
        got = suites(run(form("junit", "--show-kept"), d, 2).stdout)
        found = [
            (path, int(c.get("line")), int(c.get("column")), c.find("failure").get("message"))
            for path, cases in got.items()
            for c in cases
            if c.find("failure") is not None
        ]
        same(
            "findings",
            found,
            [(f["path"], f["line"], f["column"], joined(f["message"])) for f in want["findings"]],
        )
        same("suites", len(got), len(os.listdir(d)))
        need("fix: " in got["plain.py"][0].find("failure").text, "no word of the fix")
        need("syntax error at line" in got["broken.py"][-1].find("error").get("message"), "partial")
        same("skipped", got["utf16.py"][0].find("skipped").get("message")[:9], "skipped: ")
        same("clean", [c.get("name") for c in got["empty.py"]], ["file checked"])
        need(got["kept.py"][0].get("name").startswith("kept (unrelated) line 6"), "kept")


def junit_characters():
    """Control characters and bytes that are not UTF-8, in names and in what a message quotes."""
    names = [b"esc\x1b\x01.py", b"bad\xff\xc3.py", b"non\xef\xbf\xbf.py", b"tab\t\r\n.py"]
    with tempfile.TemporaryDirectory() as d:
        for name in names:
            with open(os.path.join(os.fsencode(d), name), "wb") as f:
                f.write(model())
        got = suites(run(form("junit"), d, 1).stdout)
        want = ["esc\ufffd\ufffd.py", "bad\ufffd\ufffd.py", "non\ufffd.py", "tab\t\r\n.py"]
        same("suites", sorted(got), sorted(want))


def gitlab():
    with awkward() as d:
        want = as_json(d, ".")
        got = json.loads(run(form("gitlab"), d, 2).stdout)
        issues = [i for i in got if i["check_name"] == "MLA001"]
        places = [(i["location"]["path"], i["location"]["positions"]["begin"]) for i in issues]
        expected = [
            (f["path"], {"line": f["line"], "column": f["column"]}) for f in want["findings"]
        ]
        same("findings", places, expected)
        for i, f in zip(issues, want["findings"]):
            need(i["description"].startswith("MLA001: " + joined(f["message"])), i["description"])
        same("severities", {i["severity"] for i in issues}, {"minor"})
        same("fingerprints", len({i["fingerprint"] for i in got}), len(got))
        others = [
            (i["check_name"], i["severity"], i["location"]["path"]) for i in got if i not in issues
        ]
        files = [("file-partial", "major", "broken.py"), ("file-skipped", "info", "utf16.py")]
        same("files", others, files)


def gitlab_fingerprints():
    """They stay when lines move, differ for equal tests, and for equal files under two roots."""

    def prints(files, *args):
        with folder(files) as d:
            for name in args:
                subprocess.run(["git", "init", "-q", os.path.join(d, name)], check=True)
            issues = json.loads(run(form("gitlab", *args), d, 1).stdout)
            return [i["fingerprint"] for i in issues]

    one = prints({"m.py": model()})
    same("moved", prints({"m.py": b"# a line\n\n" + model()}), one)
    need(not set(prints({"n.py": model()})) & set(one), "equal in another file")
    two = prints({"a/m.py": model(), "b/m.py": model()}, "a", "b")
    same("two roots", len(set(two)), 4)


def suppressed():
    """Shown with --show-suppressed only; the summary counts them in any case."""
    source = model().replace(
        b"        if L == 1:\n            out",
        b"        if L == 1:  # mlalint: ignore[MLA001] it is <small>\n            out",
    )
    line = "suppressed MLA001 (it is <small>): L == 1"
    with folder({"m.py": source}) as d:
        for name in FORMATS:
            p = run(form(name), d, 1)
            need("; 1 suppressed" in text(p.stderr), text(p.stderr))
            need(b"<small>" not in p.stdout, "%s shows what is suppressed" % name)
        for name in ("text", "concise"):
            out = text(run(form(name, "--show-suppressed"), d, 1).stdout)
            need(re.search(r"^m\.py:35:12: %s$" % re.escape(line), out, re.M), out)
        got = suites(run(form("junit", "--show-suppressed"), d, 1).stdout)["m.py"]
        same("junit", [c.find("skipped").get("message") for c in got[1:]], [line])


def statistics():
    """Counts by rule and by reason instead of the findings; in JSON besides."""
    unused = b"# mlalint: ignore[MLA001]\nx = 1\n"
    files = {"m.py": model(), "n.py": model(), "u.py": unused, "k.py": KEPT}
    with folder(files) as d:
        want = [
            "4 MLA001 single-query-absorb (4 with a fix)",
            "1 MLA900 unused-suppression (1 with a fix)",
        ]
        for name in ("text", "concise"):
            for kept in ((), ("--show-kept",)):
                out = run(form(name, "--statistics", *kept), d, 1).stdout.decode()
                got = [" ".join(line.split()) for line in out.splitlines()]
                same(name, got, want + (["1 kept unrelated"] if kept else []))
        got = as_json(d, "--statistics", "--show-kept")
        same("findings", len(got["findings"]), 5)
        same(
            "statistics",
            [(s["code"], s["count"], s["fixable"]) for s in got["statistics"]["findings"]],
            [("MLA001", 4, 4), ("MLA900", 1, 1)],
        )
        same("kept", got["statistics"]["kept"], [{"reason": "unrelated", "count": 1}])
        need("statistics" not in as_json(d), "statistics that nobody asked for")
        for args in (("--output-format", "sarif"), ("--diff",), ("-o", "junit:x")):
            p = run(("check", "--statistics") + args, d, 2)
            need("only the reports text, concise and json" in text(p.stderr), text(p.stderr))
    with folder({}) as d:
        same("nothing", run(form("text", "--statistics"), d, 0).stdout, b"")


def verbose():
    """-v says on standard error what was done with every file, in an order of its own."""
    files = {"m.py": model(), "x.py": b"x = 1\n", "out/b.py": model(), "old.py": model()}
    files.update({"u.py": "x".encode("utf-16"), ".gitignore": b"out/\nold.py\n", "a/b/c.py": b""})
    with folder(files) as d:
        subprocess.run(["git", "init", "-q", d], check=True)
        plain = run(("check",), d, 1)
        p = run(("check", "-v", "-j", "8"), d, 1)
        same("standard output", p.stdout, plain.stdout)
        said = text(p.stderr).splitlines()
        need(text(plain.stderr) == "\n".join(said[-3:] + [""]), "not the summary at the end")
        not_parsed = " (not parsed: no test of a query count beside latent projections)"
        need(said[0].startswith("mlalint: rules: MLA001 "), said[0])
        same(
            "said",
            said[1:-3],
            [
                "mlalint: sizes: those of each source",
                "mlalint: root: " + os.path.realpath(d),
                "mlalint: ignored by git: old.py",
                "mlalint: ignored by git: out",
                "mlalint: checked: a/b/c.py" + not_parsed,
                "mlalint: checked: m.py (parsed, 2 findings)",
                "mlalint: checked: x.py" + not_parsed,
            ],
        )
        p = run(("check", "-v", "--select", "MLA001", "--geometry", "512/128/64/128"), d, 1)
        need("rules: MLA001\nmlalint: sizes: 512/128/64/128, given\n" in text(p.stderr), "settings")
        need("exclude" in text(run(("check", "-v", "-q"), d, 2).stderr), "-v with -q")


def severities():
    """What a configuration says of a file holds in every report that has a word for it."""
    sub = b'severity = {MLA001 = "error"}\n'
    files = {"m.py": model(), "sub/m.py": model(), "low/m.py": model(), "sub/mlalint.toml": sub}
    files["low/mlalint.toml"] = sub.replace(b"error", b"note")
    want = ["note", "note", "warning", "warning", "error", "error"]
    with folder(files) as d:
        args = ("low/m.py", "m.py", "sub/m.py")
        same("json", [f["severity"] for f in as_json(d, *args)["findings"]], want)
        log = json.loads(run(form("sarif", *args), d, 1).stdout)
        same("sarif", [r["level"] for r in log["runs"][0]["results"]], want)
        found = json.loads(run(form("gitlab", *args), d, 1).stdout)
        names = {"note": "info", "warning": "minor", "error": "major"}
        same("gitlab", [i["severity"] for i in found], [names[w] for w in want])
        got = [
            (level, p["file"]) for level, p, _ in commands(run(form("github", *args), d, 1).stdout)
        ]
        levels = [("error", "sub/m.py"), ("warning", "m.py"), ("notice", "low/m.py")]
        same("github", got, [level for level in levels for _ in range(2)])


def unanalysed():
    """A test in C that was not understood is told by every report, at its place."""
    with open(os.path.join(ROOT, "testdata", "c", "broken.c"), "rb") as f:
        source = f.read()
    with folder({"b.c": source, "m.py": model()}) as d:
        (want,) = as_json(d)["unanalysed"]
        place = (want["path"], want["line"], want["column"])
        said = "unanalysed: " + want["guard"]
        p = run(form("concise"), d, 2)
        need(
            "mlalint: unanalysed: %s:%d:%d: %s\n" % (*place, want["guard"]) in text(p.stderr),
            p.stderr,
        )
        same("findings alone", p.stdout.count(b"\n"), 2)
        got = [
            (p["file"], int(p["line"]), int(p["col"]))
            for _, p, m in commands(run(form("github"), d, 2).stdout)
            if said in m
        ]
        same("github", got, [place])
        cases = suites(run(form("junit"), d, 2).stdout)["b.c"]
        got = [
            c
            for c in cases
            if c.find("error") is not None and c.find("error").get("message") == said
        ]
        same("junit", [(int(c.get("line")), int(c.get("column"))) for c in got], [place[1:]])
        found = [
            i for i in json.loads(run(form("gitlab"), d, 2).stdout) if i["description"] == said
        ]
        begin = {"line": place[1], "column": place[2]}
        same("gitlab", [i["location"]["positions"]["begin"] for i in found], [begin])
        log = json.loads(run(form("sarif"), d, 2).stdout)
        notes = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
        got = [
            n["locations"][0]["physicalLocation"]["region"]
            for n in notes
            if n["message"]["text"] == said
        ]
        same("sarif", [(r["startLine"], r["startColumn"]) for r in got], [place[1:]])


def concise():
    with awkward() as d:
        want = as_json(d, ".")
        lines = run(form("concise"), d, 2).stdout.decode().splitlines()
        same("lines", len(lines), len(want["findings"]))
        for line, f in zip(lines, want["findings"]):
            path = f["path"].replace("\n", "\\x0a").replace("\r", "\\x0d")
            start = "%s:%d:%d: MLA001 " % (path, f["line"], f["column"])
            same("line", line, start + joined(f["message"]))
        run(form("concise", "--show-kept", "kept.py"), d, 0)
        out = run(form("concise", "--show-kept", "kept.py"), d, 0).stdout
        same("kept", out, b"kept.py:6:12: kept (unrelated): L == 1\n")
        out = run(form("concise", "--no-verify", "--unsafe-fixes", "plain.py"), d, 1).stdout
        same("a fix that is offered is marked", out.count(b" MLA001 [*] "), 2)


def empty_run():
    with folder({}) as d:
        for name in FORMATS:
            out = run(form(name), d, 0).stdout
            if name == "junit":
                same("junit", [len(c) for c in suites(out).values()], [1])
            elif name == "json":
                same("json", json.loads(out)["findings"], [])
            elif name == "sarif":
                same("sarif", json.loads(out)["runs"][0]["results"], [])
            elif name == "gitlab":
                same("gitlab", out, b"[]\n")
            else:
                same(name, out, b"")


def several_outputs():
    with awkward() as d, tempfile.TemporaryDirectory() as other:
        args, want = [], {}
        for name in FORMATS:
            want[name] = run(form(name, "--show-kept"), d, 2).stdout
            args += ["-o", "%s:%s" % (name, "-" if name == "github" else os.path.join(other, name))]
        p = run(["check", "--show-kept"] + args, d, 2)
        same("github", p.stdout, want["github"])
        for name in FORMATS:
            if name != "github":
                with open(os.path.join(other, name), "rb") as f:
                    need(
                        f.read() == want[name],
                        "-o %s:FILE is not --output-format %s" % (name, name),
                    )
        same("files", sorted(os.listdir(other)), sorted(set(FORMATS) - {"github"}))
        plain = os.path.join(other, "plain")
        run(form("junit", "--show-kept", "-o", plain, "-o", "concise:-"), d, 2)
        run(("check", "--show-kept", "-o", plain + "2", "--output-format", "junit"), d, 2)
        for path in (plain, plain + "2"):
            with open(path, "rb") as f:
                need(f.read() == want["junit"], "-o FILE does not take --output-format")


def diff_and_report():
    """The diff takes the place of the text, and another report may go with it."""
    with folder({"m.py": model()}) as d:
        args = ("check", "--diff", "--no-verify", "--unsafe-fixes", "m.py")
        want = run(args, d, 1).stdout
        p = run(args + ("-o", "text:-", "-o", "json:r.json"), d, 1)
        same("diff", p.stdout, want)
        with open(os.path.join(d, "r.json"), "rb") as f:
            same("findings", len(json.load(f)["findings"]), 2)


def mistakes():
    wrong = (
        (("-o", "sraif:x"), "there is no format 'sraif'"),
        (("-o", "json:"), "is missing"),
        (("-o", "text:-", "-o", "json:-"), "two reports to standard output"),
        (("-o", "text:/dev/stdout", "-o", "json:-"), "two reports to standard output"),
        (("-o", "text:x", "-o", "json:x"), "two reports to x"),
        (("-o", "text:x", "-o", "json:./x"), "two reports to ./x"),
        (("--output-format", "xml"), "is not one of text, concise, json"),
        (("--diff", "-o", "json:x"), "--diff"),
        (("-o", "json:no/such/folder/x"), "no/such/folder/x: No such file"),
        (("-o", "json:."), "Is a directory"),
        ((arg for n in range(17) for arg in ("-o", "text:f%d" % n)), "more than 16 outputs"),
    )
    with folder({"m.py": model()}) as d:
        for args, message in wrong:
            p = run(("check",) + tuple(args) + ("m.py",), d, 2)
            need(message in text(p.stderr), "%r is not in %r" % (message, text(p.stderr)))
            same("output", p.stdout, b"")
            same("files", os.listdir(d), ["m.py"])
        for verb in ("verify", "rule"):
            p = run(
                (verb, "--output-format", "junit", "MLA001" if verb == "rule" else "m.py"), d, 2
            )
            need("only in text, json" in text(p.stderr), text(p.stderr))
        run(("check", "-o", "./a:b", "m.py"), d, 1)
        need(os.path.exists(os.path.join(d, "a:b")), "./a:b is no file")


def failing_outputs():
    """A full disk and a reader that went away; what can be written is."""
    many = {"m%d.py" % i: model() for i in range(40)}  # more than a buffer
    with folder(many) as d:
        for name in FORMATS:
            p = run(("check", "-o", name + ":/dev/full", "-o", "json:ok.json"), d, 2)
            need("/dev/full: No space left" in text(p.stderr), "%s: %s" % (name, text(p.stderr)))
            with open(os.path.join(d, "ok.json"), "rb") as f:
                same("findings", len(json.load(f)["findings"]), 80)
            os.unlink(os.path.join(d, "ok.json"))
            p = subprocess.Popen((TOOL,) + form(name), cwd=d, stdout=-1, stderr=-1)
            p.stdout.close()
            p.wait(60)
            message = text(p.stderr.read())
            p.stderr.close()
            same("%s to a closed pipe" % name, p.returncode, 2)
            need("standard output: Broken pipe" in message, "%s: %s" % (name, message))
        same("files", sorted(os.listdir(d)), sorted(many))


def no_permission():
    with folder({"m.py": model(), "r.json": b"old"}) as d:
        os.chmod(os.path.join(d, "r.json"), 0o444)
        p = run(("check", "-o", "json:r.json", "-o", "text:t.txt", "m.py"), d, 2)
        need("r.json: Permission denied" in text(p.stderr), text(p.stderr))
        same("files", sorted(os.listdir(d)), ["m.py", "r.json"])
        same("mode", stat.S_IMODE(os.stat(os.path.join(d, "r.json")).st_mode), 0o444)


def threads():
    with awkward() as d:
        for name in FORMATS:
            one = run(form(name, "--show-kept", "-j", "1"), d, 2)
            for _ in range(2):
                eight = run(form(name, "--show-kept", "-j", "8"), d, 2)
                need(eight.stdout == one.stdout, "%s: other bytes from eight threads" % name)
                same("%s: standard error" % name, eight.stderr, one.stderr)


CASES = (
    github,
    github_files,
    github_limit,
    junit,
    junit_characters,
    gitlab,
    gitlab_fingerprints,
    suppressed,
    statistics,
    severities,
    unanalysed,
    verbose,
    concise,
    empty_run,
    several_outputs,
    diff_and_report,
    mistakes,
    failing_outputs,
    threads,
)


def main():
    cases = Cases("reports")
    for case in CASES:
        cases.run(case.__name__.replace("_", " "), case)
    if os.getuid() == 0:
        cases.skip("no permission", "root may write everything")
    else:
        cases.run("no permission", no_permission)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
