#!/usr/bin/env python3
"""What the command line promises about its arguments, its reports and the files it writes."""

import json
import os
import stat
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import JSON, folder, git, model, places, report
from tool import TOOL, Cases, git_apply, need, run, same, text, tree

FIX = ("check", "--fix", "--unsafe-fixes")
DIFF = ("check", "--diff", "--unsafe-fixes")


def read(*parts):
    with open(os.path.join(*parts), "rb") as f:
        return f.read()


def refused(cwd, args, *words, stdin=None):
    """Status 2, and a message that holds the words."""
    p = run(args, cwd, 2, stdin=stdin)
    for word in words:
        need(word in text(p.stderr), "%r is not in %r" % (word, text(p.stderr)))
    need("Sanitizer" not in text(p.stderr), text(p.stderr))


def old_report_stays():
    with folder({"m.py": model(), "r.json": b"old"}) as d:
        refused(d, JSON + ("-o", "r.json", "missing.py"), "missing.py")
        same("report", read(d, "r.json"), b"old")
        same("files", sorted(tree(d)), ["m.py", "r.json"])
        os.chmod(os.path.join(d, "r.json"), 0o640)
        run(JSON + ("-o", "r.json", "m.py"), d, 1)
        same("findings", len(json.loads(read(d, "r.json"))["findings"]), 2)
        same("mode", stat.S_IMODE(os.stat(os.path.join(d, "r.json")).st_mode), 0o640)
        same("files", sorted(tree(d)), ["m.py", "r.json"])


def source_stays():
    with folder({"m.py": model()}) as d:
        os.symlink("m.py", os.path.join(d, "link"))
        for output in ("m.py", "./m.py", "link"):
            refused(d, ("check", "-o", output, "m.py"), "is scanned")
            refused(d, ("check", "-o", output, "."), "is scanned")
        same("source", read(d, "m.py"), model())


def other_outputs():
    with folder({"m.py": model()}) as d:
        refused(d, ("check", "-o", "/dev/full", "m.py"), "/dev/full")
        p = run(JSON + ("-o", "/dev/stdout", "m.py"), d, 1)
        same("findings", len(json.loads(p.stdout)["findings"]), 2)
        with open(os.path.join(d, "out"), "wb") as f:
            f.write(b"before\n")
            f.flush()
            subprocess.run((TOOL,) + JSON + ("-o", "/dev/stdout", "m.py"), cwd=d, stdout=f)
        need(read(d, "out").startswith(b"before\n{"), "a report to /dev/stdout truncated its file")


def overlapping():
    with folder({"a/m.py": model(), "a/sub/n.py": model(), "w/x": b""}) as d:
        a, cwd = os.path.join(d, "a"), os.path.join(d, "w")
        found = report(cwd, a, os.path.join(a, "sub"), os.path.join(a, "m.py"), status=1)
        same("files", found["files"]["checked"], 2)
        same("findings", len(found["findings"]), 4)
        same("from below", report(os.path.join(a, "sub"), "..", ".", status=1), found)
        run(FIX + (a, os.path.join(a, "sub")), cwd, 0)
        same("after", report(cwd, a, status=0)["findings"], [])


def unique_paths():
    with folder({"a/m.py": model(), "b/m.py": model(), "w/m.py": model()}) as d:
        names = [os.path.join(d, p, "m.py") for p in "ab"]
        found = report(os.path.join(d, "w"), *names, status=1)
        same("paths", sorted({p for p, _ in places(found)}), ["a/m.py", "b/m.py"])
        found = report(os.path.join(d, "w"), "m.py", names[0], status=1)
        same("paths", sorted({p for p, _ in places(found)}), ["a/m.py", "w/m.py"])
        found = report(os.path.join(d, "w"), "m.py", status=1)
        same("paths", sorted({p for p, _ in places(found)}), ["m.py"])


def many_keys():
    config = {"key_%d" % (i * 7919 % 60000): i for i in range(60000)}
    config.update(kv_lora_rank=64, qk_nope_head_dim=128, v_head_dim=128)
    config["text_config"] = {"kv_lora_rank": 512}
    with folder({"config.json": json.dumps(config).encode()}) as d:
        start = time.time()
        p = run(("threshold", "--model-config", "config.json"), d, 0)
        same("threshold", p.stdout.split()[0], b"170")
        need(time.time() - start < 3, "60,000 keys took %.1f s" % (time.time() - start))


def no_sizes():
    """A checkpoint's configuration that does not help says so, and one that is wrong is refused."""
    sizes = {"kv_lora_rank": 512, "qk_nope_head_dim": 128, "v_head_dim": 128}
    some = dict(sizes, v_head_dim=128.0)
    wrong = dict(sizes, v_head_dim=-1)
    files = {"m.py": model(), "empty.json": b"{}"}
    for name, config in (("all", sizes), ("some", some), ("wrong", wrong)):
        files[name + ".json"] = json.dumps(config).encode()
    with folder(files) as d:
        for name, missing in (("empty", "kv_lora_rank"), ("some", "v_head_dim")):
            p = run(("check", "-q", "--model-config", name + ".json", "m.py"), d, 1)
            want = '%s.json: no integer "%s"' % (name, missing)
            need(want in text(p.stderr), "%r is not in %r" % (want, text(p.stderr)))
        p = run(("check", "-q", "--model-config", "all.json", "m.py"), d, 1)
        same("with all sizes", p.stderr, b"")
        refused(d, ("check", "--model-config", "wrong.json", "m.py"), '"v_head_dim" is -1')


def too_large():
    """The fix of one file would pass the limit of 4 MB; the other's is made all the same."""
    size = (4 << 20) - 100
    big = model() + b"#" * 80 + b"\n"
    big += (b"# " + b"x" * 997 + b"\n") * ((size - len(big)) // 1000)
    big += b"#" * (size - len(big))
    with folder({"big.py": big, "m.py": model()}) as d:
        p = run(DIFF + (".",), d, 2)
        need("big.py: the fix is left out" in text(p.stderr), text(p.stderr))
        need(b"b/m.py" in p.stdout and b"big.py" not in p.stdout, "not the diff of m.py alone")
        refused(d, FIX + (".",), "big.py: the fix is left out")
        same("big.py", read(d, "big.py") == big, True)
        need(b"_max_absorbed" in read(d, "m.py"), "m.py was not fixed")


def standard_input():
    with folder({"m.py": model(), "a/x": b""}) as d:
        refused(d, ("check", "-", "-"), "once", stdin=model())
        name = ("--stdin-filename", "m.py")
        refused(d, ("check", "-", "m.py") + name, "m.py", "standard input", stdin=model())
        refused(d, ("check", "m.py", "-") + name, "m.py", "standard input", stdin=model())
        for bad in ("", "a/", "m.txt", "a"):
            refused(d, ("check", "-", "--stdin-filename", bad), "--stdin-filename", stdin=model())
        for paths in (("-",), ()):
            p = run(JSON + paths + ("--stdin-filename", "a/new.py"), d, 1, stdin=model())
            same("path", places(json.loads(p.stdout))[0][0], "a/new.py")
        refused(d, ("check", "m.py") + name, "m.py", "not read from standard input", stdin=model())


def slips():
    """What is misspelt is named with what was meant, and nothing is scanned instead."""
    with folder({"m.py": model(), "verfy": b"", "verfiy/m.py": model()}) as d:
        for args, word in (
            (("chekc",), "'check'"),
            (("bnech", "--pool"), "'bench'"),
            (("ver",), "'verify'"),
            (("help", "rul"), "'rule'"),
            (("--statsitics",), "'--statistics'"),
            (("check", "--outptu-format=json"), "'--output-format'"),
            (("verify", "--backedn", "cpu"), "'--backend'"),
            (("check", "--show"), "'--show-kept'"),
            (("check", "--mbox", "x"), "it goes with patch"),
            (("-q", "verify", "m.py"), "'verify' is a verb"),
            (("check", "--select", "MLA01"), "--select: there is no rule 'MLA01'; did you mean 'MLA001'"),
            (("rule", "single-query-absrob"), "'single-query-absorb'"),
        ):
            refused(d, args, word)
        for args in (("xyzzy",), ("help", "xyzzy"), ("--xyzzy",), ("verify", "--rank", "1"), ("-x",)):
            need("did you mean" not in text(run(args, d, 2).stderr), "a guess for %s" % args[0])
        # What is there is a path, whatever it looks like.
        run(("verfiy",), d, 1)
        refused(d, ("verfy",), "not a Python or C source")


def help_everywhere():
    with folder({}) as d:
        overview = run(("help",), d, 0).stdout
        need(b"first steps" in overview, "no first steps")
        for args in (("--help",), ("-h",)):
            same("help", run(args, d, 0).stdout, overview)
        verbs = [line.split()[0] for line in text(overview).split("\n\n")[1].split("\n")[1:]]
        need({"check", "verify", "help"} <= set(verbs), "verbs: %s" % verbs)
        for verb in verbs:
            of_verb = run(("help", verb), d, 0).stdout
            need(of_verb.startswith(b"usage: mlalint "), text(of_verb))
            need(b"\nexit status: " in of_verb, "no exit status: " + verb)
            if verb != "help":
                same(verb, run((verb, "--help"), d, 0).stdout, of_verb)
        need(b"the form of the report: text, json\n" in run(("help", "verify"), d, 0).stdout, "formats")
        same("version", run(("--version",), d, 0).stdout, run(("version",), d, 0).stdout)


def arguments():
    with folder({"m.py": model()}) as d:
        refused(d, ("check", "--select", "", "m.py"), "--select")
        refused(d, ("check", "--ignore", "", "m.py"), "--ignore")
        refused(d, ("version", "x"), "version")
        for args in (("--help",), ("rule", "--help"), ("version",)):
            with open("/dev/full", "wb") as full:
                status = subprocess.run((TOOL,) + args, stdout=full, stderr=-1).returncode
            same("%s > /dev/full" % args[0], status, 2)


def owner():
    with folder({"m.py": model()}) as d:
        path = os.path.join(d, "m.py")
        os.chown(path, 12345, 23456)
        run(FIX + ("m.py",), d, 0)
        st = os.stat(path)
        same("owner", (st.st_uid, st.st_gid), (12345, 23456))


def hard_links():
    with folder({"m.py": model()}) as d:
        os.link(os.path.join(d, "m.py"), os.path.join(d, "other"))
        run(FIX + ("m.py",), d, 0)
        need(b"_max_absorbed" in read(d, "other"), "the other name has the old contents")
        same("contents", read(d, "m.py"), read(d, "other"))
        same("links", os.stat(os.path.join(d, "m.py")).st_nlink, 2)
        same("files", sorted(tree(d)), ["m.py", "other"])


def long_name():
    name = "m" * 245 + ".py"
    with folder({name: model()}) as d:
        run(FIX + (name,), d, 0)
        same("files", sorted(tree(d)), [name])


def clean_terminal():
    escape = "a\x1b[31m\n\u009b.py"
    with folder({escape: model() + b"\0", "m.py": model("(L ==  # \x1b[31m\n            1)")}) as d:
        p = run(("check", ".", "--show-kept"), d, 1)
        out = p.stdout + p.stderr
        need(b"\x1b" not in out and b"\xc2\x9b" not in out, "a control character came through")
        need("a\\x1b[31m\\x0a\\x9b.py" in text(p.stderr), text(p.stderr))
        refused(d, ("check", "no\x1bfile.py"), "no\\x1bfile.py")
    kept = b"import mlx.core as mx\n\n\ndef f(x):\n    B, L, D = x.shape\n    return (L ==\n\t1)\n"
    with folder({"k.py": kept}) as d:
        p = run(("check", ".", "--show-kept"), d, 0)
        need(b"kept (unrelated): L == 1\n" in p.stdout, text(p.stdout))


CASES = (
    old_report_stays,
    source_stays,
    other_outputs,
    overlapping,
    unique_paths,
    many_keys,
    no_sizes,
    too_large,
    standard_input,
    slips,
    help_everywhere,
    arguments,
    hard_links,
    long_name,
    clean_terminal,
)


def main():
    cases = Cases("cli")
    for case in CASES:
        cases.run(case.__name__.replace("_", " "), case)
    if os.getuid() == 0:
        cases.run("owner", owner)
    else:
        cases.skip("owner", "needs root")
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
