#!/usr/bin/env python3
"""Configuration: which file holds, what goes before what, and how mistakes are said."""

import json
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import folder, model
from tool import TOOL, Cases, need, run, same, text


def report(cwd, *args):
    return json.loads(run(("check", "-q", "--output-format", "json") + args, cwd).stdout)


def paths(cwd, *args):
    return sorted({f["path"] for f in report(cwd, *args)["findings"]})


def refused(files, message, *args):
    with folder(dict({"m.py": model()}, **files)) as d:
        p = run(("check",) + args, d, 2)
        same("message", text(p.stderr).replace(os.path.realpath(d) + "/", ""), "mlalint: %s\n" % message)
        same("standard output", p.stdout, b"")


def toml(body):
    return ("[project]\nname = 'x'\n[tool.mlalint]\n" + body + "\n").encode()


def closest_wins():
    files = {
        "pyproject.toml": toml('ignore = ["MLA001"]'),
        "m.py": model(),
        "sub/mlalint.toml": b'threshold = "cache-length"\n',
        "sub/m.py": model(),
        "sub/deep/m.py": model(),
        "sub/other/pyproject.toml": b"[project]\nname = 'y'\n",
        "sub/other/m.py": model(),
        "sub/hidden/.mlalint.toml": b'ignore = ["MLA001"]\n',
        "sub/hidden/mlalint.toml": b"",
        "sub/hidden/m.py": model(),
    }
    with folder(files) as d:
        same("paths", paths(d), ["sub/deep/m.py", "sub/m.py", "sub/other/m.py"])
        same("from below", paths(os.path.join(d, "sub/deep")), ["m.py"])
        same("isolated", len(paths(d, "--isolated")), 5)
        fix = text(run(("check", "--diff", "-q", "sub/m.py", "--no-verify", "--unsafe-fixes"), d, 1).stdout)
        need("latent.shape[-2]" in fix, "the threshold of the configuration is not used: " + fix)


def command_line_first():
    files = {"pyproject.toml": toml('ignore = ["MLA001"]\nthreshold = "cache-length"'), "m.py": model()}
    with folder(files) as d:
        same("none", paths(d), [])
        same("select resets", paths(d, "--select", "MLA"), ["m.py"])
        same("extend-select is later", paths(d, "--extend-select", "MLA001"), ["m.py"])
        same("ignore is last", paths(d, "--select", "MLA", "--ignore", "MLA001"), [])
        diff = run(("check", "--diff", "-q", "--select", "MLA001", "--threshold", "geometry", "--no-verify",
                    "--unsafe-fixes"), d, 1)  # fmt: skip
        need("L <= self." in text(diff.stdout), "--threshold does not go before the file")


def severity():
    files = {"mlalint.toml": b'severity = {MLA001 = "error", MLA = "note", ALL = "warning"}\n', "m.py": model()}
    with folder(files) as d:
        same("severity", {f["severity"] for f in report(d)["findings"]}, {"error"})


def per_file():
    files = {
        "pyproject.toml": toml('per-file-ignores = {"gen/**" = ["MLA001"], "n.py" = ["single-query-absorb"]}'),
        "gen/a/m.py": model(),
        "m.py": model(),
        "x/n.py": model(),
    }
    with folder(files) as d:
        same("paths", paths(d), ["m.py"])
        files["pyproject.toml"] = toml('per-file-ignores = {"!gen/**" = ["MLA001"]}')
        with folder(files) as d2:
            same("all others", paths(d2), ["gen/a/m.py"])


def geometry():
    files = {
        "pyproject.toml": toml('geometry = {"a/*" = "512/128/64/128", "**" = "256/64/32/64"}'),
        "a/m.py": model(),
        "b/m.py": model(),
    }
    with folder(files) as d:
        got = {f["path"]: f["threshold"]["queries"] for f in report(d)["findings"]}
        same("queries", got, {"a/m.py": 170, "b/m.py": 85})
        got = {f["threshold"]["kv_lora_rank"] for f in report(d, "--geometry", "128/32/16/32")["findings"]}
        same("the flag goes first", got, {128})


def excluded():
    files = {
        "pyproject.toml": toml('exclude = ["vendor", "a/b/*"]'),
        "m.py": model(),
        "x/vendor/y/m.py": model(),
        "a/b/m.py": model(),
        "a/m.py": model(),
    }
    with folder(files) as d:
        same("paths", paths(d), ["a/m.py", "m.py"])
        same("named file", paths(d, "a/b/m.py"), ["a/b/m.py"])
        same("named folder", paths(d, "x/vendor"), ["x/vendor/y/m.py"])
        same("files in a named folder", paths(d, "a/b"), [])
        p = run(("check", "--force-exclude", "a/b/m.py", "x/vendor", "m.py"), d, 1)
        need(b"mlalint: 2 files excluded by pyproject.toml\n" in p.stderr, text(p.stderr))
        same("forced", paths(d, "--force-exclude", "a/b/m.py", "m.py"), ["m.py"])
        same("only excluded ones", run(("check", "--force-exclude", "a/b/m.py"), d, 0).stdout, b"")
        same("flag replaces", paths(d, "--exclude", "m.py"), [])
        same("flag", paths(d, "--exclude", "a, x"), ["m.py"])


def not_entered():
    """An excluded folder is not looked into: what cannot be read there is nobody's fault."""
    files = {"mlalint.toml": b'exclude = ["vendor", "a/old"]\n', "m.py": model(), "vendor/x/v.py": model(),
             "b/vendor/v.py": model(), "a/old/o.py": model(), "a/new/n.py": model()}  # fmt: skip
    run_as = {}
    if os.getuid() == 0:
        run_as["preexec_fn"] = lambda: os.setuid(65534)
    closed = ("vendor/x", "b/vendor", "a/old")
    with folder(files) as d:
        os.chmod(d, 0o755)
        for name in closed:
            os.chmod(os.path.join(d, name), 0)
        try:
            for args, status in (((), 1), (("--force-exclude",), 1), (("--exclude", "vendor"), 2)):
                p = subprocess.run((TOOL, "check") + args, cwd=d, stdout=-1, stderr=-1, **run_as)
                same("status of %r: %s" % (args, text(p.stderr)), p.returncode, status)
                need(("Permission denied" in text(p.stderr)) == (status == 2), text(p.stderr))
                by = "2 folders excluded by --exclude" if status == 2 else "3 folders excluded by mlalint.toml"
                need("mlalint: %s\n" % by in text(p.stderr), text(p.stderr))
            p = subprocess.run((TOOL, "check", "vendor"), cwd=d, stdout=-1, stderr=-1, **run_as)
            same("a folder that is named is entered", p.returncode, 2)
        finally:
            for name in closed:
                os.chmod(os.path.join(d, name), 0o755)
        same("paths", paths(d), ["a/new/n.py", "m.py"])
        same("named", paths(d, "vendor"), ["vendor/x/v.py"])
        same("named below", paths(d, "vendor/x"), ["vendor/x/v.py"])


def baseline():
    """Known findings are in a file that the configuration at the root names, from its folder."""
    body = toml('baseline = "ci/known.json"')
    with folder({"pyproject.toml": body, "m.py": model(), "sub/n.py": model(), "ci/x": b""}) as d:
        p = run(("check",), d, 2)
        need("ci/known.json: No such file" in text(p.stderr), text(p.stderr))
        p = run(("check", "--write-baseline", "ci/known.json", "m.py"), d, 0)
        need("2 listed in the new baseline" in text(p.stderr), text(p.stderr))
        for cwd in (d, os.path.join(d, "sub")):
            p = run(("check", d), cwd, 1)
            need("2 findings, 2 with a fix; 2 in the baseline\n" in text(p.stderr), text(p.stderr))
        same("found", paths(d), ["sub/n.py"])
        p = run(("check", "--write-baseline", "ci/known.json"), d, 0)
        need("4 listed in the new baseline" in text(p.stderr), text(p.stderr))
        same("all is known", paths(d), [])
        same("none of it", paths(d, "--isolated"), ["m.py", "sub/n.py"])
        with open(os.path.join(d, "none.json"), "w") as f:
            run(("check", "--isolated", "--select", "MLA002", "--write-baseline", "none.json"), d, 0)
        same("the option goes first", paths(d, "--baseline", "none.json"), ["m.py", "sub/n.py"])
    message = "pyproject.toml:4: baseline: a string is needed, this is an integer"
    refused({"pyproject.toml": toml("baseline = 3")}, message)


def given_file():
    files = {"ci/all.toml": b'exclude = ["a/*"]\n', "ci/pyproject.toml": toml('ignore = ["MLA"]'),
             "mlalint.toml": b'ignore = ["MLA"]\n', "a/m.py": model(), "m.py": model()}  # fmt: skip
    with folder(files) as d:
        same("patterns are of the working directory", paths(d, "--config", "ci/all.toml"), ["m.py"])
        same("pyproject", paths(d, "--config", "ci/pyproject.toml"), [])
        for args, message in (
            (("--config", "no.toml"), "no.toml: no such file"),
            (("--config", "ci"), "ci: no such file"),
            (("--config", "ci/all.toml", "--isolated"), "--config and --isolated exclude each other"),
        ):
            same(message, text(run(("check",) + args, d, 2).stderr), "mlalint: %s\n" % message)


def revisions():
    with folder({"mlalint.toml": b'ignore = ["MLA001"]\n', "m.py": model()}) as d:
        for args in (["init", "-q"], ["add", "."],
                     ["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"]):  # fmt: skip
            subprocess.run(["git"] + args, cwd=d, check=True)
        same("on disk and in HEAD", (paths(d), paths(d, "--rev", "HEAD")), ([], []))
        os.remove(os.path.join(d, "mlalint.toml"))
        same("in HEAD alone", (paths(d), paths(d, "--rev", "HEAD")), (["m.py"], []))


def mistakes():
    for body, message in (
        ("selct = []", "pyproject.toml:4: unknown key 'selct'; did you mean 'select'?"),
        ("per_file_ignores = {}", "pyproject.toml:4: unknown key 'per_file_ignores'; did you mean 'per-file-ignores'?"),
        ("zzz = 1", "pyproject.toml:4: unknown key 'zzz'; mlalint config --dump lists the keys"),
        ("select = 'MLA'", "pyproject.toml:4: select: an array of strings is needed, this is a string"),
        ("select = [\n1]", "pyproject.toml:5: select: a string is needed, this is an integer"),
        ("select = ['MLA001',\n'X1']", "pyproject.toml:5: select: there is no rule 'X1'; mlalint rule --all lists them"),
        ("select = ['MLA001,MLA900']", "pyproject.toml:4: select: there is no rule 'MLA001,MLA900'; mlalint rule --all lists them"),
        ("exclude = ['[a']", "pyproject.toml:4: exclude: '[a' has a [ without ]"),
        ("force-exclude = 'yes'", "pyproject.toml:4: force-exclude: true or false is needed, this is a string"),
        ("threshold = 'x'", "pyproject.toml:4: threshold: 'x' is not one of geometry, cache-length"),
        ("[tool.mlalint.severity]\nMLA001 = 'fatal'", "pyproject.toml:5: severity: 'fatal' is not one of error, warning, note"),
        ("[tool.mlalint.geometry]\n'a*' = '1/2'", "pyproject.toml:5: geometry: '1/2' is not R/N/P/V, four sizes such as 512/128/64/128"),
        ("geometry = 3", "pyproject.toml:4: geometry: a string or a table from patterns is needed, this is an integer"),
        ("select = []\nselect = []", "pyproject.toml:5: 'select' is defined twice"),
        ("select = [", "pyproject.toml:4: not TOML"),
    ):  # fmt: skip
        refused({"pyproject.toml": toml(body)}, message)
    refused({"mlalint.toml": b"[tool.mlalint]\n"}, "mlalint.toml:1: unknown key 'tool'; outside of pyproject.toml "
            "the keys stand at the top, without [tool.mlalint]")  # fmt: skip
    refused({"pyproject.toml": b"[tool]\nmlalint = 3\n"}, "pyproject.toml:2: [tool.mlalint] as a table is needed, this is an integer")


def foreign_tables():
    other = b"[project]\nname = 'x'\n[tool.other]\nselect = 3\nx = [{a = 1979-05-27}]\n"
    for data in (other + b"[tool.mlalint]\n", other, b"= broken [\n", b"\xff\xfe"):
        with folder({"pyproject.toml": data, "m.py": model()}) as d:
            same(repr(data), paths(d), ["m.py"])


def hostile():
    for data, message in (
        (b"\0" * 10000000, "mlalint.toml: larger than 4 MB"),
        (b"#\n" * 600000, "mlalint.toml: larger than 1 MB"),
        (b"select = " + b"[" * 100000, "mlalint.toml:1: nested more than 128 deep"),
        (b"select = ['\xff']", "mlalint.toml:1: not UTF-8"),
        (b"a" + b".a" * 100000 + b"= 1", "mlalint.toml:1: nested more than 128 deep"),
        (b"exclude = ['" + b"*a" * 300 + b"']", "mlalint.toml:1: exclude: a pattern has from 1 to 512 characters"),
    ):
        refused({"mlalint.toml": data}, message)


def hostile_and_slow():
    """What the parser would take minutes or hours for: half a million syntax errors."""
    for data in (b'"' * 1000000, b"x = [\n" + b'"a" ' * 250000, b"x = 1 2\n" * 120000, b"x=" * 500000):
        start = time.monotonic()
        with folder({"mlalint.toml": data, "m.py": model()}) as d:
            p = run(("check", "m.py"), d, 2)
        need(b"mlalint.toml:1: not TOML" in p.stderr, text(p.stderr))
        seconds = time.monotonic() - start
        need(seconds < 20, "%.1f seconds for %r..." % (seconds, data[:12]))
    with folder({"pyproject.toml": b"#\n" * 900000, "m.py": model()}) as d:
        same("a large file of others", paths(d), ["m.py"])


def dump():
    body = 'select = ["MLA001"]\nexclude = ["a \\"b\\\\c"]\ngeometry = {"x/*" = "1/2/3/4"}'
    with folder({"pyproject.toml": toml(body), "sub/m.py": model()}) as d:
        out = text(run(("config", "--dump", "sub/m.py"), d, 0).stdout)
        for line in ('select = ["MLA001"]  # pyproject.toml:4', "ignore = []  # default",
                     'exclude = ["a \\"b\\\\c"]  # pyproject.toml:5', "#   MLA900 off"):  # fmt: skip
            need(line in out.split("\n"), "no line %r in %s" % (line, out))
        with open(os.path.join(d, "sub", "mlalint.toml"), "w") as f:
            f.write(out)
        again = text(run(("config", "--dump", "sub/m.py"), d, 0).stdout)
        strip = lambda s: [line.split("  #")[0] for line in s.split("\n") if not line.startswith("# from")]
        same("the dump as a configuration", strip(again), strip(out))
        run(("config",), d, 2)
        run(("config", "--dump", "nowhere"), d, 2)


def check_verb():
    with folder({"pyproject.toml": toml(""), "m.py": model(), "sub/mlalint.toml": b"x = 1\n", "sub/m.py": model()}) as d:
        same("good", run(("config", "--check", "m.py"), d, 0).stdout, b"pyproject.toml: ok\n")
        p = run(("config", "--check"), d, 2)
        need(b"sub/mlalint.toml:1: unknown key 'x'" in p.stderr, text(p.stderr))
        need(b"unknown key 'x'" in run(("config", "--check", "sub/mlalint.toml"), d, 2).stderr, "a file itself")


cases = Cases("config")
for case in (closest_wins, command_line_first, severity, per_file, geometry, excluded, not_entered, baseline, given_file, revisions,
             mistakes, foreign_tables, hostile, hostile_and_slow, dump, check_verb):  # fmt: skip
    cases.run(case.__name__.replace("_", " "), case)
sys.exit(cases.status())
