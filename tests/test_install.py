#!/usr/bin/env python3
"""What is installed: where it goes, that it agrees with --help, and that it goes away again."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import ROOT, TOOL, Cases, need, run, same, text

BUILD = os.path.relpath(os.path.dirname(TOOL), ROOT)
SHARE = os.path.join(ROOT, BUILD, "share")
PROGRAM, BASH = "usr/bin/mlalint", "usr/share/bash-completion/completions/mlalint"
FILES = [PROGRAM, BASH, "usr/share/fish/vendor_completions.d/mlalint.fish", "usr/share/man/man1/mlalint.1",
         "usr/share/zsh/site-functions/_mlalint"]  # fmt: skip


def make(*args):
    # make hands its flags down; a jobserver that is not ours is none of our business.
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    p = subprocess.run(["make", "-s", "BUILD=" + BUILD] + list(args), cwd=ROOT, env=env, stdout=-1, stderr=-1)
    same("make " + " ".join(args) + ": " + text(p.stderr), p.returncode, 0)
    return text(p.stdout)


def files(folder):
    return sorted(os.path.relpath(os.path.join(b, n), folder) for b, _, names in os.walk(folder) for n in names)


def install():
    with tempfile.TemporaryDirectory(prefix="with space ") as d:
        make("install", "DESTDIR=" + d, "PREFIX=/usr")
        same("files", files(d), sorted(FILES))
        with open(os.path.join(d, PROGRAM), "rb") as f, open(TOOL, "rb") as g:
            need(f.read() == g.read(), "another program")
        need(os.access(os.path.join(d, PROGRAM), os.X_OK), "not executable")
        make("uninstall", "DESTDIR=" + d, "PREFIX=/usr")
        same("left", files(d), [])


def verbs():
    out = text(run(("--help",), ROOT, 0).stdout)
    return re.findall(r"^  (\w+)", out.split("verbs (")[1].split("first steps:")[0], re.M)


def options(verb):
    out = text(run((verb, "--help"), ROOT, 0).stdout)
    return set(re.findall(r"^  (?:-.,|   ) (--[\w-]+)", out, re.M))


def complete(*words):
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { :; }; _mlalint; printf "%s\\n" "${COMPREPLY[@]}"'
    p = subprocess.run(["bash", "-c", script, "bash", os.path.join(SHARE, "mlalint.bash")] + list(words),
                       cwd=ROOT, stdout=-1, stderr=-1)  # fmt: skip
    same("standard error", p.stderr, b"")
    return set(text(p.stdout).split())


def bash():
    for verb in verbs():
        need(options(verb), "no options in the help of " + verb)
        same(verb, complete("mlalint", verb, "--"), options(verb))
    same("without a verb", complete("mlalint", "--"), options("check"))
    same("words", complete("mlalint", "check", "--color", ""), {"auto", "always", "never"})
    same("formats", complete("mlalint", "verify", "--output-format", ""), {"text", "json"})
    for words in (("rule", ""), ("--select", ""), ("check", "--ignore", "="), ("--ignore", "=", "ML")):
        need({"MLA001", "MLA900"} <= complete("mlalint", *words), "no codes after " + " ".join(words))
    same("a list", complete("mlalint", "--select", "MLA001,MLA1"), {"MLA001,MLA101", "MLA001,MLA102"})
    need({"check", "help"} <= complete("mlalint", "help", ""), "no verbs after help")
    need("verify" in complete("mlalint", "ver"), "no verbs")
    need("Makefile" in complete("mlalint", "check", "Make"), "no files")


def manual():
    with open(os.path.join(SHARE, "mlalint.1")) as f:
        page = f.read()
    need("@" not in page.replace("@generated", ""), "a list of the template is not filled in")
    for verb in verbs():
        need(page.count("\n.It Cm %s\n" % verb) >= 2, "no verb %s, or not its statuses" % verb)
        for option in options(verb):
            need(re.search(r"^\.It.* Fl %s\b" % re.escape(option[1:]), page, re.M), "no option " + option)


def syntax(shell, name):
    p = subprocess.run([shell, "-n", os.path.join(SHARE, name)], stdout=-1, stderr=-1)
    same(text(p.stderr), p.returncode, 0)


def archives():
    sums = make("dist")
    need(len(sums.strip().split("\n")) == 2, sums)
    dist = os.path.join(ROOT, BUILD, "dist")
    check = subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=dist, stdout=-1, stderr=-1)
    same(text(check.stdout), check.returncode, 0)
    same("a second time", make("dist"), sums)
    names = [line.split()[-1] for line in sums.strip().split("\n")]
    with tempfile.TemporaryDirectory() as d:
        for name in names:
            subprocess.run(["tar", "-xzf", os.path.join(dist, name)], cwd=d, check=True)
        program = max(os.listdir(d), key=len)
        p = subprocess.run([os.path.join(d, program, "bin/mlalint"), "version"], stdout=-1)
        same("the program of the archive", p.stdout, run(("version",), ROOT, 0).stdout)
        need(os.path.exists(os.path.join(d, min(os.listdir(d), key=len), "Makefile")), "no sources")
    shutil.rmtree(dist)


cases = Cases("install")
cases.run("install and uninstall", install)
cases.run("bash completion", bash)
cases.run("manual page", manual)
for shell in ("zsh", "fish"):
    if shutil.which(shell):
        cases.run(shell + " completion", syntax, shell, "mlalint." + shell)
    else:
        cases.skip(shell + " completion", shell + " is not installed")
in_git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, stdout=-1, stderr=-1).returncode == 0
if in_git and shutil.which("sha256sum"):
    cases.run("archives", archives)
else:
    cases.skip("archives", "not a git repository, or no sha256sum")
sys.exit(cases.status())
