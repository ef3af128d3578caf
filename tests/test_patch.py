#!/usr/bin/env python3
"""The patch verb against the git command: what `patch --mbox` writes and `git am` applies has to be
what `patch --branch` commits, and nothing else of a repository may change."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import fill, folder, HEAD, MAKER, INIT, CALL
from test_git import commit, git, repository
from tool import ROOT, TOOL, Cases, git_apply, need, run, same, text, tree, write_tree

NAME = "J\xe9r\xf4me D. \xdcnl\xfc"
MAKER += """
    def __call__(self, x, transpose=True):
        return x @ (self.weight.swapaxes(-1, -2) if transpose else self.weight)
"""
HELPER = fill(HEAD + MAKER)
USER = fill(HEAD + "\nfrom .mla import MultiLinear\n" + INIT + CALL)
COMMENT = b"# mlalint: ignore[MLA001] nothing is here\nx = 1\n"


FAST = ("--no-verify", "--unsafe-fixes")  # where only the form matters


def model():
    return fill(HEAD + MAKER + INIT + CALL)


def identity(d, name=NAME, mail="j@example.org"):
    git(d, "config", "user.name", name)
    git(d, "config", "user.email", mail)


def project(files, name=NAME):
    d = repository(files)
    identity(d.name, name)
    return d


def read(*parts):
    with open(os.path.join(*parts), "rb") as f:
        return f.read()


def state(d):
    """What must not change: HEAD, index, work tree, and every reference but new ones."""
    g = git(d, "rev-parse", "--absolute-git-dir")
    index = os.path.join(g, "index")
    return (
        read(g, "HEAD"),
        read(index) if os.path.exists(index) else b"",
        git(d, "rev-parse", "HEAD"),
        git(d, "status", "--porcelain"),
        tree(d),
    )


def patch(d, *args, status=1):
    return run(("patch",) + args, d, status)


def mails(folder_name):
    return [os.path.join(folder_name, n) for n in sorted(os.listdir(folder_name))]


def apply_mail(d, box, config=()):
    """The commits that git am makes of the mail on a clone of HEAD."""
    clone = tempfile.TemporaryDirectory()
    git(clone.name, "clone", "-q", "--no-hardlinks", d, "c")
    c = os.path.join(clone.name, "c")
    if not os.path.isdir(os.path.join(d, ".git")) or git(d, "rev-parse", "HEAD") != git(
        c, "rev-parse", "HEAD"
    ):
        git(c, "checkout", "-q", "--detach", git(d, "rev-parse", "HEAD"))
    git(c, "config", "core.autocrlf", "false")
    for key, value in config:
        git(c, "config", key, value)
    git(c, "am", "-q", *mails(box))
    return clone, c


FORMAT = "--format=%an%n%ae%n%at%n%T%n%B%x00"


def round_trip(d, *args):
    """patch to a branch and to mail; both must be the same commits. The branch's changed paths."""
    before = state(d)
    with tempfile.TemporaryDirectory() as box:
        p = patch(d, "--branch", "fixes", "--mbox", box, *(FAST + args))
        need("Sanitizer" not in text(p.stderr), text(p.stderr))
        same("index, HEAD and work tree", state(d), before)
        need(mails(box), "no mail")
        for number, name in enumerate(mails(box), 1):
            need(os.path.basename(name).startswith("%04d-" % number), name)
            check_mail(read(name))
        clone, c = apply_mail(d, box)
        with clone:
            same(
                "git am against the branch",
                git(c, "log", FORMAT, "origin/HEAD..HEAD")
                if "origin/HEAD" in git(c, "branch", "-r")
                else git(c, "log", FORMAT, "-%d" % len(mails(box))),
                git(d, "log", FORMAT, "HEAD..fixes"),
            )
    git(d, "fsck", "--strict")
    return git(d, "-c", "core.quotePath=false", "diff", "--name-only", "HEAD", "fixes").split("\n")


def check_mail(mail):
    head, body = mail.split(b"\n\n", 1)
    lines = head.split(b"\n")
    need(len(lines[0].split(b" ")[1]) == 40, "no full commit id: %r" % lines[0])
    for line in lines:
        need(len(line) <= 94, "long header: %r" % line)
        need(all(c < 0x80 for c in line), "unencoded header: %r" % line)
    for word in (b"MIME-Version: 1.0", b"Content-Type: text/plain; charset=UTF-8"):
        need(word in lines, "no %r" % word)
    if b"Content-Transfer-Encoding: 8bit" in lines:
        need(b"\r" not in body, "a carriage return in 8bit")
        body.decode("utf-8")


TRIPS = {
    "LF": ({"m.py": model()}, 0o644),
    "CRLF": ({"m.py": model().replace(b"\n", b"\r\n")}, 0o644),
    "mixed line ends": ({"m.py": model().replace(b"\n", b"\r\n", 20)}, 0o644),
    "no final newline": ({"m.py": model().rstrip(b"\n")}, 0o644),
    "no final newline, CRLF": (
        {"m.py": model().replace(b"\n", b"\r\n").rstrip(b"\r\n")},
        0o644,
    ),
    "BOM": ({"m.py": b"\xef\xbb\xbf" + model()}, 0o644),
    "mode 755": ({"m.py": model()}, 0o755),
    "spaces": ({"a b/m  n.py": model()}, 0o644),
    "UTF-8 name": ({"\xe9t\xe9/\u6a21\u578b.py": model()}, 0o644),
    "quotes, backslash, tab": ({'q"\\\t\'.py': model()}, 0o644),
    "no UTF-8": ({"m.py": b"# coding: latin-1\n# caf\xe9\n" + model() + b"# \xe9\n"}, 0o644),
    "long line": ({"m.py": model() + b'x = "' + 1200 * b"y" + b'"\n'}, 0o644),
    "line of a patch": ({"m.py": model() + b'"""\n---\n\nFrom x\ndiff --git a/x b/x\n"""\n'}, 0o644),
}


def trip(files, mode):
    with project(files) as d:
        path = os.path.join(d, *files)
        os.chmod(path, mode)
        git(d, "commit", "-q", "--allow-empty", "-am", "mode")
        same("changed", len(round_trip(d)), 1)
        line = git(d, "ls-tree", "-r", "fixes").split("\n")[0]
        same("mode", line.split(" ")[0], "100%o" % mode)
        with tempfile.TemporaryDirectory() as out:
            patch(d, "-o", os.path.join(out, "d"), *FAST)
            diff = read(out, "d")
            same("stdout", patch(d, "-o", "-", *FAST).stdout, diff)
            git_apply(d, diff)
        same("diff", git(d, "status", "--porcelain") != "", True)
        git(d, "commit", "-qam", "by diff")
        same("tree of the diff", git(d, "rev-parse", "HEAD^{tree}"), git(d, "rev-parse", "fixes^{tree}"))


def author_names():
    """git am takes no name of more than 60 bytes."""
    for name in (NAME, "A. U. Thor", 'Q "x" \\ Y', "=?odd?=", 9 * "\xe9\u6a21 "):
        with project({"m.py": model()}, name.strip()) as d:
            round_trip(d)


def helper_and_model():
    with project({"p/__init__.py": b"", "p/mla.py": HELPER, "p/m.py": USER}) as d:
        same("changed", round_trip(d), ["p/m.py", "p/mla.py"])
        need("p/m.py:" in git(d, "log", "-1", "--format=%B", "fixes"), "no site in the message")


def deleted_then_added():
    """The same path again with other bytes, and a path of HEAD that is gone from the disk."""
    with project({"m.py": b"x = 1\n", "gone.py": model()}) as d:
        os.unlink(os.path.join(d, "m.py"))
        git(d, "commit", "-qam", "delete")
        write_tree(d, {"m.py": model()})
        commit(d)
        os.unlink(os.path.join(d, "gone.py"))
        same("changed", round_trip(d), ["gone.py", "m.py"])


def series(split, subjects):
    files = {
        "p/__init__.py": b"",
        "p/mla.py": HELPER,
        "p/a.py": USER + b"\n\n" + COMMENT,
        "p/b.py": USER,
        "p/c.py": COMMENT,
    }
    with project(files) as d:
        round_trip(d, "--split", split)
        got = git(d, "log", "--reverse", "--format=%s", "HEAD..fixes").split("\n")
        same("subjects", got, subjects)
        for rev in git(d, "rev-list", "HEAD..fixes").split("\n"):
            for path in files:
                compile(git(d, "show", "%s:%s" % (rev, path)), path, "exec")
        same("helper", "p/mla.py" in git(d, "show", "--stat", "fixes~%d" % (len(got) - 1)), True)
        git(d, "checkout", "-q", "fixes")
        same("after", run(("check", "."), d, 0).stdout, b"")
        git(d, "checkout", "-q", "main")
        patch(d, "--branch", "whole", *FAST)
        same("one commit", git(d, "rev-list", "--count", "main..whole"), "1")
        same("same end", git(d, "rev-parse", "whole^{tree}"), git(d, "rev-parse", "fixes^{tree}"))


def empty():
    for files, words in (
        ({"m.py": b"x = 1\n"}, ()),
        ({"m.py": model()}, ("--no-verify",)),
    ):
        with project(files) as d:
            before = state(d), git(d, "for-each-ref"), git(d, "count-objects")
            p = patch(d, "--branch", "fixes", "--mbox", "box", "-o", "-", *words, status=0)
            same("output", p.stdout, b"")
            need("nothing to patch" in text(p.stderr), text(p.stderr))
            same("repository", (state(d), git(d, "for-each-ref"), git(d, "count-objects")), before)


def dirty():
    """The patch is of HEAD, whatever is staged or edited."""
    files = {"m.py": model(), "n.py": b"x = 1\n"}
    with project(files) as d:
        write_tree(d, {"m.py": b"broken (\n", "n.py": model(), "new.py": model()})
        git(d, "add", "n.py")
        same("changed", round_trip(d), ["m.py"])


def only_mail_leaves_no_objects():
    with project({"m.py": model()}) as d:
        before = state(d), git(d, "for-each-ref"), git(d, "count-objects", "-v")
        with tempfile.TemporaryDirectory() as box:
            patch(d, "--mbox", box, "-o", os.path.join(box, "d"), *FAST)
        same("repository", (state(d), git(d, "for-each-ref"), git(d, "count-objects", "-v")), before)


def kinds_of_repository():
    with project({"m.py": model()}) as d, tempfile.TemporaryDirectory() as other:
        patch(d, "--branch", "plain", *FAST)
        want = git(d, "rev-parse", "plain^{tree}")
        bare = os.path.join(other, "bare.git")
        git(other, "clone", "-q", "--bare", d, bare)
        identity(bare)
        run(("patch", "--branch", "b", bare) + FAST, other, 1)
        same("bare", git(bare, "rev-parse", "b^{tree}"), want)
        linked = os.path.join(other, "linked")
        git(d, "worktree", "add", "-q", "-b", "side", linked)
        git(linked, "commit", "-q", "--allow-empty", "-m", "side")
        patch(linked, "--branch", "w", *FAST)
        same("linked", git(d, "rev-parse", "w^{tree}"), want)
        same("its parent", git(d, "rev-parse", "w~1"), git(linked, "rev-parse", "HEAD"))
        git(d, "checkout", "-q", "--detach")
        before = state(d)
        patch(d, "--branch", "det", *FAST)
        same("detached", git(d, "rev-parse", "det^{tree}"), want)
        same("state", state(d), before)


def configuration_does_not_count():
    with project({"m.py": model()}) as d:
        for key, value in (
            ("diff.noprefix", "true"),
            ("diff.mnemonicPrefix", "true"),
            ("diff.context", "0"),
            ("core.autocrlf", "true"),
            ("core.quotePath", "false"),
            ("format.pretty", "oneline"),
        ):
            git(d, "config", key, value)
        write_tree(d, {".gitattributes": b"*.py -diff text eol=crlf\n"})
        git(d, "add", ".gitattributes")
        git(d, "commit", "-qm", "attributes")
        diff = patch(d, "-o", "-", *FAST).stdout
        for word in (b"--- a/m.py\n", b"+++ b/m.py\n", b"\n         out = mx.fast"):
            need(word in diff, "no %r in %r" % (word, diff))


def refused(d, words, *args):
    p = patch(d, *(args + FAST), status=2)
    for word in words:
        need(word in text(p.stderr), "%r is not in %r" % (word, text(p.stderr)))


def refusals():
    with project({"m.py": model(), "sub/n.py": model()}) as d:
        git(d, "branch", "taken")
        git(d, "branch", "dir/x")
        before = state(d), git(d, "for-each-ref")
        refused(d, ["patch needs"])
        refused(d, ["taken", "already"], "--branch", "taken")
        for name in ("a..b", "-x", "a b", "HEAD", "x.lock", ""):
            refused(d, ["not a valid name"], "--branch=" + name)
        refused(d, ["--branch: 'dir'"], "--branch", "dir", "--mbox", "box")
        refused(d, ["Python source"], "-o", "m.py")
        refused(d, ["no option --rev"], "--rev", "HEAD", "-o", "-")
        refused(d, ["--mbox nowhere/box"], "--mbox", "nowhere/box", "--branch", "x")
        refused(d, ["/dev/full"], "-o", "/dev/full", "--branch", "y")
        git(d, "config", "--unset", "user.name")
        refused(d, ["user.name", "user.email"], "--branch", "x")
        same("repository", (state(d), git(d, "for-each-ref")), before)
        patch(d, "-o", "-", *FAST)  # a diff needs no name
        with project({"m.py": model()}) as e:
            refused(d, ["one repository at a time"], "-o", "-", ".", e)
    with folder({"m.py": model()}) as d:
        refused(d, ["in no git repository"], "-o", "-")
        git(d, "init", "-q")
        refused(d, ["no commit yet"], "-o", "-")


def variables_for_the_author():
    with project({"m.py": model()}) as d:
        env = {"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.org"}
        subprocess.run((TOOL, "patch", "-q", "--branch", "x") + FAST, cwd=d, env=dict(os.environ, **env))
        same("author", git(d, "log", "-1", "--format=%an %ae %cn", "x"), "Ann ann@example.org " + NAME)


def old_mail_is_noticed():
    with project({"m.py": model()}) as d:
        patch(d, "--mbox", "box", *FAST)
        names = os.listdir(os.path.join(d, "box"))
        patch(d, "--mbox", "box", *FAST)
        same("again", os.listdir(os.path.join(d, "box")), names)
        write_tree(d, {"box/0002-old.patch": b""})
        refused(d, ["0002-old.patch"], "--mbox", "box")


def message(d, *args):
    """Subject and body of the one commit of a patch."""
    patch(d, "--branch", "fixes", *args)
    subject, body = git(d, "log", "-1", "--format=%B", "fixes").split("\n\n", 1)
    git(d, "branch", "-D", "fixes")
    need(len(subject) < 72, "subject of %d" % len(subject))
    for line in body.split("\n"):
        need(len(line) <= 72 or line.startswith("    "), "long line: %r" % line)
        need(line == line.rstrip(), "blanks at the end of %r" % line)
    return subject, " ".join(body.split())


def rows(d, *args):
    """The worst numbers of a site as verify measures them."""
    (site,) = json.loads(run(("verify", "--output-format", "json") + args, d).stdout)["sites"]
    cases = [c for c in site["cases"] if c["max_abs"] is not None]
    most = lambda name, of: max(c[name] for c in of)
    return site, [
        "%.2e" % most("max_abs", cases),
        "%.2f" % most("ulp", cases),
        "%.2e" % most("rms_rel", cases),
        "%.2e" % most("rel_f64", site["cases"]),
    ]


def what_it_says():
    with project({"m.py": model()}) as d:
        subject, body = message(d)
        site, numbers = rows(d)
        lines = ",".join(map(str, site["lines"]))
        need("m.py:%s L == 1 L <= self._max_absorbed 170 512/128/128" % lines in body, body)
        need("verified 1-4,8 169-171 0,64,513,2048" in body, body)
        need(" ".join(numbers) in body, "%r is not in %r" % (numbers, body))
        for words in ("Not bit-identical", "Cold cache:", "Not run: a checkpoint"):
            need(words in body, "no %r" % words)
        need("NOT verified" not in body, body)
        _, body = message(d, "--threshold", "cache-length")
        need("Cold cache:" not in body, body)
        need("L == 1 absorbed %d " % rows(d, "--threshold", "cache-length")[0]["threshold"] in body, body)
        _, body = message(d, "--no-verify", "--unsafe-fixes")
        for words in ("NOT verified", "an argument, not a measurement", "Nothing was run"):
            need(words in body, "no %r" % words)
        for words in ("ULP", "bit-identical", "observed"):
            need(words not in body, "%r in %r" % (words, body))


def fixture_of(rule, name):
    with open(os.path.join(ROOT, "testdata", "rules", rule, name), "rb") as f:
        return re.sub(rb" *# expect:.*", b"", f.read())


def rows_of_other_rules():
    """Pools and comments have numbers and rows too, and a verified pool the engine's numbers."""
    files = {
        "a.py": b"# mlalint: ignore[MLA888] gone\nx = 1\n",
        "b.py": fixture_of("mla101_single_step_pool", "checked.py"),
        "c.py": fixture_of("mla101_single_step_pool", "cache_class.py"),
        "d.py": fixture_of("mla102_stale_pool", "any_count.py"),
        "m.py": model(),
    }
    with project(files) as d:
        subject, body = message(d, "--unsafe-fixes")
        same("subject", subject, "Absorb short multi-token MLA steps")
        (pool,) = json.loads(run(("verify", "--output-format", "json", "b.py"), d).stdout)["sites"]
        calls = len(pool["cases"])
        trims = sum(c["trimmed"] != 0 for c in pool["cases"])
        longest = [c for c in pool["cases"] if not c["trimmed"]]
        longest = [c for c in longest if c["cached"] == max(c["cached"] for c in longest)][-1]
        windows = longest["windows"], longest["windows_from_scratch"], longest["cached"]
        for words in (
            " 1 m.py:",
            "2 b.py:25 before S == 1 and memo is not None and memo[0].shape[0] == B and memo[1] == T - 1 "
            "after memo is not None and memo[0].shape[0] == B and memo[1] == T - S 3 c.py:",
            "4 d.py:25 before memo is not None and memo[0].shape[0] == B "
            "after memo is not None and memo[0].shape[0] == B and memo[1] == T - S",
            "5 a.py:1 before # mlalint: ignore[MLA888] gone after removed",
            "2 verified 1-4,8 %d %d %d of %d at %d 0.00 4 verified" % (calls, trims, *windows),
            "measurement: - 3: ",
        ):
            need(words in body, "no %r in %s" % (words, body))
        for rule, subject in (
            ("MLA101", "Extend pooled indexer keys by any number of tokens"),
            ("MLA102", "Extend pooled indexer keys only while they are current"),
            ("MLA900", "Remove mlalint suppressions that suppress nothing"),
        ):
            got, body = message(d, "--select", rule)
            same("subject", got, subject)
            need("1 verified" in body or rule == "MLA900", body)
            same("trims", "After a trim:" in body, rule == "MLA101")
            need("Sites" not in body and "The limit is" not in body, body)


TRIM = b"""

class Cache:
    def trim(self, n):
        self.offset -= n
        self.pooled_keys = %s
"""


def pools_and_trims():
    """Only a pool that is cut with its cache extends after a trim: else all keys are pooled again."""
    model = fixture_of("mla101_single_step_pool", "checked.py")
    for kept, again in ((b"None", True), (b"cut(self.pooled_keys, n)", False)):
        with project({"b.py": model + TRIM % kept}) as d:
            _, body = message(d, "--unsafe-fixes")
            same("message after " + text(kept), "After a trim:" in body, again)
            p = run(("check", "b.py"), d)
            same("title after " + text(kept), "after a trim, as of rejected" in text(p.stdout), again)


def names_of_mail():
    """Where every file has its mail, the name of the mail tells which one it is of."""
    models = ["a_long_folder/of_models/%s_attention.py" % n for n in ("first", "second")]
    maker = fill(HEAD + MAKER)
    files = {m: model().replace(maker, fill(HEAD) + maker) for m in models}
    with project(files) as d:
        run(("patch", "--split", "file", "--mbox", "mail", "--unsafe-fixes"), d, 1)
        names = sorted(os.listdir(os.path.join(d, "mail")))
        for name, which in zip(names, ("first", "second"), strict=True):
            need(name.endswith("-%s_attention.py.patch" % which), repr(names))
            need(len(name) <= 5 + 52 + 6, repr(names))


def whole_conditions():
    """What an edit adds at the end of a long condition is in the message."""
    model = fixture_of("mla101_single_step_pool", "padding_flag.py")
    model = model.replace(b"memo is not None and", b"memo is not None and %s" % (b"memo is not None and " * 8))
    with project({"b.py": model}) as d:
        _, body = message(d, "--unsafe-fixes")
        added = "and (S == 1 or valid is None or bool(mx.all(valid[:, -S:])))"
        need(added in body.split("Verification")[0], body)


def backend():
    """As verify has it: another one computes, and the message says which; an unknown one is none."""
    with project({"m.py": model()}) as d:
        _, body = message(d, "--backend", "cpu-strict")
        need("mlalint 0" in body and "engine; bf16 on cpu-strict" in body, body)
        _, body = message(d)
        need("its reference engine on the CPU)" in body, body)
        p = run(("patch", "--backend", "x", "-o", "-"), d, 2)
        need("unknown backend 'x'" in text(p.stderr), text(p.stderr))


def what_it_leaves():
    """A site that cannot be replayed is hidden, or listed as not verified; never passed over."""
    odd = model().replace(b"        latent, _ =", b"        mx.odd_call(x)\n        latent, _ =")
    with project({"a.py": model(), "b.py": odd}) as d:
        _, body = message(d)
        need("Found and left as it is: - b.py:" in body, body)
        need("the fix is not verified: " in body and "odd_call" in body, body)
        same("files", patch(d, "-o", "-").stdout.count(b"diff --git"), 1)
        _, body = message(d, "--unsafe-fixes")
        need("NOT verified; here the change is" in body and "- 2: " in body, body)
        same("files", patch(d, "--unsafe-fixes", "-o", "-").stdout.count(b"diff --git"), 2)
        write_tree(d, {"c.py": model() + b"def f(:\n    embed_q == 1\n"})
        commit(d)
        p = patch(d, "-o", "-", status=None)
        need(b"a/a.py" in p.stdout, text(p.stderr))


def main():
    cases = Cases("patch")
    home = tempfile.TemporaryDirectory()
    for name in [n for n in os.environ if n.startswith("GIT_")]:
        del os.environ[name]
    os.environ.update(HOME=home.name, XDG_CONFIG_HOME=home.name, GIT_CONFIG_SYSTEM=os.devnull)
    for name, (files, mode) in TRIPS.items():
        cases.run("mail and branch: " + name, trip, files, mode)
    cases.run("mail and branch: helper and model", helper_and_model)
    cases.run("mail and branch: deleted, then added", deleted_then_added)
    cases.run("mail and branch: names of authors", author_names)
    cases.run("mail and branch: dirty index and work tree", dirty)
    rule = "Absorb short multi-token MLA steps"
    comment = "Remove mlalint suppressions that suppress nothing"
    cases.run("split by rule", series, "rule", [rule, comment])
    cases.run(
        "split by file",
        series,
        "file",
        [rule + " in p/a.py", rule + " in p/b.py", comment + " in p/c.py"],
    )
    cases.run("nothing to patch", empty)
    cases.run("mail alone leaves no objects", only_mail_leaves_no_objects)
    cases.run("bare, linked, detached", kinds_of_repository)
    cases.run("settings of git", configuration_does_not_count)
    cases.run("refusals", refusals)
    cases.run("author from variables", variables_for_the_author)
    cases.run("old mail in the folder", old_mail_is_noticed)
    cases.run("what the message says", what_it_says)
    cases.run("rows of other rules", rows_of_other_rules)
    cases.run("pools and trims", pools_and_trims)
    cases.run("names of mail", names_of_mail)
    cases.run("whole conditions", whole_conditions)
    cases.run("backend", backend)
    cases.run("what the message leaves out", what_it_leaves)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
