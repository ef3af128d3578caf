#!/usr/bin/env python3
"""Revisions, ignore rules and hooks, against repositories that the git command makes. A revision
must be read as its work tree is, wherever the repository lies and whatever git's variables say."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import fill, folder, model, places, report, HEAD, MAKER, INIT, CALL
from tool import TOOL, Cases, need, run, same, text, write_tree

PARENT = fill(HEAD + MAKER + INIT, q="eq", o="uo")
CHILD = fill(
    HEAD + "\nfrom .parent import Attention\n\n\nclass Child(Attention):" + CALL, q="eq", o="uo"
)
PACKAGE = {
    "README.md": b"# a package\n",
    "p/__init__.py": b"",
    "p/parent.py": PARENT,
    "p/child.py": CHILD,
    "p/other name.py": model(),
    "p/\xe9.py": model(),
    "top.py": model(),
}
FOUND = ["p/child.py", "p/other name.py", "p/\xe9.py", "top.py"]
FIXES = ("--diff", "--no-verify", "--unsafe-fixes")


def git(cwd, *args, stdin=None, env=None):
    p = subprocess.run(
        ("git", "-c", "user.name=n", "-c", "user.email=n@example.org") + args,
        cwd=cwd,
        input=stdin,
        stdout=-1,
        stderr=-1,
        env=env,
    )
    need(p.returncode == 0, "git %s: %s" % (" ".join(args), text(p.stderr + p.stdout).strip()))
    return p.stdout.decode().strip()


def commit(cwd, message="m", date=None):
    env = dict(os.environ, GIT_COMMITTER_DATE=date) if date else None
    git(cwd, "add", "-A")
    git(cwd, "commit", "-q", "--allow-empty", "-m", message, env=env)


def repository(files):
    d = folder(files)
    git(d.name, "init", "-q", "-b", "main")
    commit(d.name)
    return d


def paths(found):
    return sorted({p for p, _ in places(found)})


def states(found, state):
    return [(f["path"], f["reason"]) for f in found["files"][state]]


def says(args, cwd, status, *words):
    """The status, and a message with all the words; nothing on standard output."""
    p = run(args, cwd, status)
    for word in words:
        need(word in text(p.stderr), "%r is not in %r" % (word, text(p.stderr)))
    return p


def everywhere():
    """A revision reads as its work tree did, in every kind of repository."""
    with repository(PACKAGE) as d, tempfile.TemporaryDirectory() as other:
        want = report(d, ".", status=1)
        patch = run(FIXES, d, 1).stdout
        same("paths", paths(want), sorted(FOUND))
        git(d, "worktree", "add", "-q", os.path.join(other, "linked"), "HEAD", "-b", "linked")
        git(d, "clone", "-q", "--bare", d, os.path.join(other, "bare"))
        url = "file://" + d
        git(d, "clone", "-q", "--depth", "1", url, os.path.join(other, "shallow"))
        git(d, "clone", "-q", "--depth", "1", "--bare", url, os.path.join(other, "shallow-bare"))
        shutil.rmtree(os.path.join(d, "p"))
        write_tree(d, {"top.py": b"x = 1\n"})
        for cwd in [d, os.path.join(d, ".git")] + [
            os.path.join(other, n) for n in ("linked", "bare", "shallow", "shallow-bare")
        ]:
            for threads in ("1", "8"):
                same(cwd, report(cwd, "--rev", "HEAD", "-j", threads, status=1), want)
            same(cwd, run(FIXES + ("--rev", "HEAD"), cwd, 1).stdout, patch)
            same(cwd, report(other, "--rev", "HEAD", cwd, status=1), want)


def narrowed():
    with repository(PACKAGE) as d, tempfile.TemporaryDirectory() as other:
        bare = os.path.join(other, "bare.git")
        git(d, "clone", "-q", "--bare", d, bare)
        sub = os.path.join(d, "p")
        shutil.move(os.path.join(sub, "child.py"), os.path.join(d, "moved.py"))
        rev = ("--rev", "main")
        p = [x for x in FOUND if x.startswith("p/")]
        for cwd, given, want in (
            (d, "p", p),
            (d, "p/", p),
            (d, "./p/../p", p),
            (sub, ".", p),
            (sub, "..", FOUND),
            (sub, "child.py", ["p/child.py"]),
            (sub, "../top.py", ["top.py"]),
            (d, os.path.join(sub, "child.py"), ["p/child.py"]),
            (bare, "p", p),
            (bare, "p/child.py", ["p/child.py"]),
            (other, "bare.git", FOUND),
            (other, "bare.git/top.py", ["top.py"]),
            (other, bare + "/p//child.py", ["p/child.py"]),
        ):
            same("%s in %s" % (given, cwd), paths(report(cwd, *rev, given)), sorted(want))
        same("two paths", paths(report(d, *rev, "p", "p/child.py", "top.py")), sorted(FOUND))
        for cwd, given, word in (
            (d, "moved.py", "not in main"),
            (d, "p/none", "not in main"),
            (d, "README.md", "not a Python or C source"),
            (bare, "../x", "no git repository"),
            (bare, "hooks", "not in main"),
            (other, "none", "no git repository"),
        ):
            says((*rev, given), cwd, 2, word)
        # A folder without sources is none that is missing.
        write_tree(d, {"docs/a.md": b"a\n"})
        commit(d)
        same("docs", report(d, "--rev", "HEAD", "docs", status=0)["files"]["checked"], 0)


def same_tree_imports():
    """What a file derives from is taken from its own revision, not from the disk or another."""
    with repository(PACKAGE) as d:
        git(d, "tag", "good")
        write_tree(d, {"p/parent.py": b"class Attention:\n    pass\n"})
        commit(d)
        args = ("--rev", "good", "p/child.py")
        same("old", paths(report(d, *args, status=1)), ["p/child.py"])
        same("new", paths(report(d, "--rev", "HEAD", "p/child.py", status=0)), [])


def special_entries():
    """Links are not followed, submodules not entered; both are named as on disk."""
    files = {"real/m.py": model(), "docs/a.md": b"a\n", "big.py": b"#" * (4 << 20) + b"\n"}
    with repository(files) as d:
        os.symlink("real", os.path.join(d, "link"))
        os.symlink("docs", os.path.join(d, "quiet"))
        os.symlink("real/m.py", os.path.join(d, "l.py"))
        os.symlink("../../..", os.path.join(d, "docs", "out"))
        commit(d)
        head = git(d, "rev-parse", "HEAD")
        git(d, "update-index", "--add", "--cacheinfo", "160000,%s,module" % head)
        git(d, "commit", "-q", "-m", "module")
        want = [
            ("big.py", "larger than 4 MB"),
            ("l.py", "symbolic link"),
            ("link", "symbolic link to a folder"),
            ("module", "another repository or a submodule"),
        ]
        found = report(d, "--rev", "HEAD", status=1)
        same("skipped", states(found, "skipped"), want)
        same("findings", paths(found), ["real/m.py"])
        # Named, they give no verdict.
        for path in ("l.py", "module", "module/x.py"):
            report(d, "--rev", "HEAD", path, status=2)


def other_owner():
    """Objects of another user are read: nothing of a repository is run."""
    with repository({"m.py": model()}) as d:
        for base, dirs, names in os.walk(d):
            for name in dirs + names + ["."]:
                os.lchown(os.path.join(base, name), 12345, 12345)
        same("findings", paths(report(d, "--rev", "HEAD", status=1)), ["m.py"])


def lfs_pointer():
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 9\n" % (b"0" * 64)
    with repository({"m.py": pointer}) as d:
        same("checked", report(d, "--rev", "HEAD", status=0)["files"]["checked"], 1)


def line_ends_and_mode():
    """The bytes are those of the object: no line-end conversion; a diff has the true mode."""
    crlf = model().replace(b"\n", b"\r\n")
    with repository({"m.py": crlf}) as d:
        git(d, "config", "core.autocrlf", "input")
        git(d, "update-index", "--chmod=+x", "m.py")
        git(d, "commit", "-q", "-m", "x")
        patch = run(FIXES + ("--rev", "HEAD"), d, 1).stdout
        need(b" 100755\n" in patch, "no mode 755")
        need(b"+        if L <= self._max_absorbed:\r\n" in patch, "no CR LF in the diff")
        git(d, "apply", "--check", "--cached", "--whitespace=nowarn", "-", stdin=patch)


def refused():
    with repository({"m.py": model(), "t.txt": b"x\n"}) as d:
        git(d, "tag", "-a", "-m", "t", "blob", "HEAD:m.py")
        git(d, "branch", "topic@")
        says(("--rev", "HEAD", "--fix"), d, 2, "cannot be fixed")
        says(("--rev", "HEAD", "-"), d, 2, "standard input")
        for rev, word in (
            ("HEAD:m.py", "is a file"),
            ("blob", "is a file"),
            ("", "no revision"),
            ("-x", "no revision"),
            ("--all", "no revision"),
            ("none", "no revision"),
            ("none@", "no revision"),
            ("@{", "no revision"),
            ("HEAD^5", "no revision"),
            ("HEAD..HEAD", "no revision"),
            ("f" * 40, "no revision"),
            ("\x1b[31m", "\\x1b[31m"),
            ("a" * 5000, "no revision"),
        ):
            says(("--rev", rev), d, 2, word)
        for rev in ("@", "@^0", "main", "HEAD^{tree}", "topic@", git(d, "rev-parse", "HEAD")[:9]):
            same(rev, paths(report(d, "--rev", rev, status=1)), ["m.py"])
    with folder({"m.py": model()}) as d:
        says(("--rev", "HEAD"), d, 2, "no git repository")
        git(d, "init", "-q")
        says(("--rev", "HEAD"), d, 2, "no revision")


def object_file(d, name):
    i = git(d, "rev-parse", name)
    return os.path.join(d, ".git", "objects", i[:2], i[2:])


def replace(path, data):
    os.chmod(path, 0o644)
    with open(path, "wb") as f:
        f.write(data)


def damaged():
    """What cannot be read fails, one by one, and leaves no verdict; the rest is reported."""
    files = {"a/m.py": model(), "b/m.py": model("L <= 1"), "c/m.py": model("L < 2")}
    with repository(files) as d:
        os.remove(object_file(d, "HEAD:a/m.py"))
        replace(object_file(d, "HEAD:b/m.py"), b"x\x9c no object")
        found = report(d, "--rev", "HEAD", status=2)
        same("failed", [p for p, _ in states(found, "failed")], ["a/m.py", "b/m.py"])
        need("is not in this repository" in states(found, "failed")[0][1], "reason of a/m.py")
        same("findings", paths(found), ["c/m.py"])
        os.remove(object_file(d, "HEAD:c"))
        found = report(d, "--rev", "HEAD", status=2)
        same("failed", [p for p, _ in states(found, "failed")], ["a/m.py", "b/m.py", "c"])
        found = report(d, "--rev", "HEAD", "c/m.py", status=2)
        same("failed", [p for p, _ in states(found, "failed")], ["c"])
        replace(object_file(d, "HEAD^{tree}"), b"")
        says(("--rev", "HEAD"), d, 2, "tree")
        replace(object_file(d, "HEAD"), b"\0" * 99)
        says(("--rev", "HEAD"), d, 2, "no revision")


def unread_import():
    """What a file derives from and cannot be read may hold its decision: no verdict."""
    with repository(PACKAGE) as d:
        same("sound", paths(report(d, "--rev", "HEAD", "p/child.py")), ["p/child.py"])
        os.remove(object_file(d, "HEAD:p/parent.py"))
        found = report(d, "--rev", "HEAD", "p/child.py", status=2)
        same("failed", [p for p, _ in states(found, "failed")], ["p/parent.py"])
        same("checked", found["files"]["checked"], 1)
        # A folder in its place is none.
        os.remove(os.path.join(d, "p", "parent.py"))
        os.mkdir(os.path.join(d, "p", "parent.py"))
        report(d, "p/child.py", status=0)
        write_tree(d, {"p/parent.py/a": b""})
        os.rename(os.path.join(d, "p", "parent.py"), os.path.join(d, "p", "gone"))
        os.mkfifo(os.path.join(d, "p", "parent.py"))
        found = report(d, "p/child.py", status=2)
        same("reason", states(found, "failed"), [("p/parent.py", "not a regular file")])


def other_bytes():
    """A sound object in the place of another one is not taken for it."""
    with repository({"a.py": model(), "b.py": b"x = 1\n"}) as d:
        shutil.copy(object_file(d, "HEAD:b.py"), os.path.join(d, "copy"))
        os.chmod(object_file(d, "HEAD:a.py"), 0o644)
        shutil.copy(os.path.join(d, "copy"), object_file(d, "HEAD:a.py"))
        found = report(d, "--rev", "HEAD", status=2)
        same("failed", [p for p, _ in states(found, "failed")], ["a.py"])


def partial_clone():
    with repository({"m.py": model(), "n.py": model("L <= 1")}) as d, tempfile.TemporaryDirectory() as o:
        git(d, "config", "uploadpack.allowFilter", "true")
        url = "file://" + d
        git(o, "clone", "-q", "--filter=blob:none", "--sparse", "--no-checkout", url, "c")
        clone = os.path.join(o, "c")
        git(clone, "cat-file", "-p", "HEAD:m.py")  # fetches it
        found = report(clone, "--rev", "HEAD", status=2)
        same("failed", [p for p, _ in states(found, "failed")], ["n.py"])
        same("findings", paths(found), ["m.py"])


def raw_tree(d, entries):
    data = b"".join(mode + b" " + name + b"\0" + bytes.fromhex(i) for mode, name, i in entries)
    return git(d, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=data)


def hostile_trees():
    with repository({"m.py": model()}) as d:
        blob = git(d, "rev-parse", "HEAD:m.py")
        sub = git(d, "rev-parse", "HEAD^{tree}")
        bad = raw_tree(
            d,
            [
                (b"40000", b"..", sub),
                (b"40000", b".git", sub),
                (b"100644", b"a/../../b.py", blob),
                (b"100644", b"m.py", blob),
                (b"100644", b"m.py", blob),
                (b"100644", b"t.py", sub),
            ],
        )
        found = report(d, "--rev", bad, status=2)
        same(
            "failed",
            [p for p, _ in states(found, "failed")],
            ["..", ".git", "a/../../b.py", "t.py"],
        )
        same("findings", paths(found), ["m.py"])
        deep = sub
        for _ in range(300):
            deep = raw_tree(d, [(b"40000", b"d", deep), (b"100644", b"m.py", blob)])
        found = report(d, "--rev", deep, status=2)
        same("reasons", [r for _, r in states(found, "failed")], ["folders nested too deeply"])
        wide = sub
        for _ in range(12):
            wide = raw_tree(d, [(b"40000", b"%d" % i, wide) for i in range(10)])
        says(("--rev", wide), d, 2, "more than")
        says(("--rev", raw_tree(d, [])), d, 0)


def ignore_rules():
    files = {
        ".gitignore": b"*.gen.py\n/out/\n!keep.gen.py\n",
        "a.gen.py": model(),
        "keep.gen.py": model(),
        "out/m.py": model(),
        "sub/out/m.py": model(),
        "sub/.gitignore": b"local.py\n!a.gen.py\n",
        "sub/a.gen.py": model(),
        "sub/local.py": model(),
        "local.py": model(),
        "excluded.py": model(),
        "global.py": model(),
        "home.py": model(),
    }
    want = ["keep.gen.py", "local.py", "sub/a.gen.py", "sub/out/m.py"]
    with folder(files) as d, tempfile.TemporaryDirectory() as other:
        git(d, "init", "-q")
        write_tree(other, {"ignore": b"global.py\n"})
        with open(os.path.join(d, ".git", "info", "exclude"), "a") as f:
            f.write("excluded.py\n")
        git(d, "config", "core.excludesFile", os.path.join(other, "ignore"))
        same("rules", paths(report(d, ".")), sorted(want + ["home.py"]))
        git(d, "config", "--unset", "core.excludesFile")
        write_tree(os.environ["HOME"], {".gitconfig": b"[core]\n\texcludesFile = ~/ignore\n"})
        write_tree(os.environ["HOME"], {"ignore": b"home.py\n"})
        try:
            same("home", paths(report(d, ".")), sorted(want + ["global.py"]))
        finally:
            os.remove(os.path.join(os.environ["HOME"], ".gitconfig"))
        every = sorted(p for p in files if p.endswith(".py"))
        same("--no-ignore", paths(report(d, "--no-ignore", ".")), every)
        # Named, a file is looked at whatever the rules say.
        same("named", paths(report(d, "excluded.py")), ["excluded.py"])


def as_git_does():
    """Random rules over random names: the files that git ignores are those that are not scanned."""
    rng = random.Random(5)
    names = ["a", "b", "ab", "a b", "a-b", "[a]", "a*"]
    parts = names + ["*", "?", "a*", "*b", "**", "[ab]", "[!a]", "\\\\*", "[[:alpha:]]b", "a**"]

    def some_path(of, last, depth):
        return "/".join([rng.choice(of) for _ in range(rng.randrange(depth))] + [last])

    def rules():
        out = []
        for _ in range(rng.randrange(1, 6)):
            line = some_path(parts, rng.choice(parts) + rng.choice(["", "", ".py"]), 3)
            line = rng.choice(["", "", "!", "/", "!/"]) + line + rng.choice(["", "", "/", " ", "/**"])
            out.append(line + rng.choice(["\n", "\n", "\r\n"]))
        return "".join(out + rng.choice([["# a\n"], ["\n"], ["b.py"], []])).encode()

    for turn in range(20):
        files = {some_path(names, rng.choice(names) + ".py", 4): model() for _ in range(30)}
        files[".gitignore"] = rules()
        for path in [os.path.dirname(p) for p in files if "/" in p][:4]:
            files[path + "/.gitignore"] = rules()
        with folder(files) as d:
            git(d, "init", "-q")
            write_tree(d, {".git/info/exclude": rules()})
            sources = sorted(p for p in files if p.endswith(".py"))
            p = subprocess.run(
                ["git", "check-ignore", "-z", "--stdin"],
                cwd=d,
                input="\0".join(sources).encode(),
                stdout=-1,
            )
            out = p.stdout.decode().split("\0")
            want = [s for s in sources if s not in out]
            got = paths(report(d, "."))
            if got != want:
                shown = {p: b for p, b in files.items() if p.endswith(".gitignore")}
                with open(os.path.join(d, ".git/info/exclude"), "rb") as f:
                    shown["info/exclude"] = f.read()
                need(False, "turn %d: %r: %r" % (turn, sorted(set(got) ^ set(want)), shown))


def odd_rules():
    """A file of rules that is none: named, and the others count."""
    with folder({".gitignore": b"b.py\n", "a/x.py": model(), "b.py": model()}) as d:
        git(d, "init", "-q")
        os.mkfifo(os.path.join(d, "a", ".gitignore"))
        p = says(("--output-format", "json", "."), d, 1, "a/.gitignore", "do not count")
        same("paths", paths(json.loads(p.stdout)), ["a/x.py"])
        os.remove(os.path.join(d, "a", ".gitignore"))
        write_tree(d, {"rules": b"*.py\n"})
        os.symlink("../rules", os.path.join(d, "a", ".gitignore"))
        p = says(("--output-format", "json", "."), d, 1, "a/.gitignore", "do not count")
        same("paths", paths(json.loads(p.stdout)), ["a/x.py"])
        os.remove(os.path.join(d, "a", ".gitignore"))
        write_tree(d, {".gitignore": b"\xef\xbb\xbfb.py\r\n" + b"#" * 200000 + b"\n" + b"[\n" * 999})
        same("paths", paths(report(d, ".")), ["a/x.py"])
        git(d, "config", "core.ignoreCase", "true")
        write_tree(d, {".gitignore": b"A\n"})
        same("case", paths(report(d, ".")), ["b.py"])


def submodules():
    with repository({"m.py": model()}) as inner, repository({"n.py": model()}) as d:
        git(d, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "mod")
        commit(d)
        want = [("mod", "another repository or a submodule")]
        for args in ((".",), ("--rev", "HEAD")):
            found = report(d, *args, status=1)
            same("paths", paths(found), ["n.py"])
            same("skipped", states(found, "skipped"), want)
        # From inside, it is a repository of its own.
        same("inside", paths(report(os.path.join(d, "mod"), "--rev", "HEAD")), ["m.py"])


def folder_of_clones():
    """Outside of any repository, clones on the way are scanned as if each was named."""
    with folder({}) as d:
        write_tree(d, {"m.py": model(), "y/.gitignore": b"venv/\n"})
        for name in ("y", "deep/er/x"):
            clone = os.path.join(d, name)
            write_tree(clone, {"m.py": model(), "venv/m.py": model(), "in/n.py": model()})
            git(clone, "init", "-q")
        git(os.path.join(d, "y", "in"), "init", "-q")
        write_tree(d, {"broken/.git/x": b"", "broken/m.py": model()})
        want = ["m.py", "broken/m.py", "deep/er/x/in/n.py", "deep/er/x/m.py"]
        want += ["deep/er/x/venv/m.py", "y/m.py"]
        p = says((), d, 1, "skipped: y/in (another repository or a submodule)")
        for path in want:
            need(("\n%s:" % path) in "\n" + text(p.stdout), path + " is not reported")
        need("y/venv" not in text(p.stdout), "the ignore rules of a clone do not count")
        found = report(d, ".", "y", status=1)
        got = {os.path.normpath(os.path.join(f["root"], f["path"])) for f in found["findings"]}
        same("paths", got, set(want))
        same("skipped", states(found, "skipped"), [("in", "another repository or a submodule")])
    with tempfile.TemporaryDirectory() as d:
        write_tree(d, {"x/m.py": model()})
        git(os.path.join(d, "x"), "init", "-q")
        found = report(d, status=1)
        same("one clone", [(f["path"], "root" in f) for f in found["findings"]], [("m.py", False)] * 2)
        run(("check", "--write-baseline", "b.json"), d, 0)
    with tempfile.TemporaryDirectory() as d:
        write_tree(d, {"notes.txt": b""})
        says((), d, 0, "no Python or C source")


def work_tree_elsewhere():
    """A path outside of what its repository calls the work tree has no place in it."""
    with repository({"m.py": model()}) as d, tempfile.TemporaryDirectory() as o:
        git(d, "config", "core.worktree", o)
        same("paths", paths(report(d, ".", status=1)), ["m.py"])


def linked_worktree():
    with repository({".gitignore": b"m.py\n", "n.py": model()}) as d:
        with tempfile.TemporaryDirectory() as other:
            work = os.path.join(other, "work")
            git(d, "worktree", "add", "-q", "-b", "b", work)
            write_tree(work, {"m.py": model(), "sub/m.py": model()})
            same("paths", paths(report(work, ".")), ["n.py"])
            git(work, "add", "-f", "sub/m.py")
            same("tracked", paths(report(work, ".")), ["n.py", "sub/m.py"])


def unreadable_repository():
    """A repository that libgit2 cannot read: that is said, and the folder is scanned all the same."""
    for name, damage in (
        ("version", ("config", "core.repositoryFormatVersion", "99")),
        ("extension", ("config", "extensions.unheardOf", "true")),
    ):
        with repository({".gitignore": b"m.py\n", "m.py": model()}) as d:
            if name == "extension":
                git(d, "config", "core.repositoryFormatVersion", "1")
            git(d, *damage)
            p = says(("--output-format", "json", "-q", "."), d, 1, "cannot be read")
            same(name, paths(json.loads(p.stdout)), ["m.py"])
            says(("--rev", "HEAD"), d, 2, "cannot be read")
    with repository({".gitignore": b"m.py\n", "m.py": model()}) as d:
        git(d, "add", "-f", "m.py")
        same("tracked", paths(report(d, ".")), ["m.py"])
        replace(os.path.join(d, ".git", "index"), b"no index")
        says((".",), d, 0, "index of the git repository cannot be read")


OTHER = CALL.replace("__call__", "other")
THIRD = CALL.replace("        return out", "        if @guard:\n            out = out + 1\n        return out")


def module(*parts, guard="L == 1"):
    return fill(HEAD + MAKER + INIT + "".join(parts), guard)


def guards(found):
    return [(f["path"], f["symbol"], f["guard"]) for f in found["findings"]]


CALLS = ["__call__", "__call__"]
OTHERS = ["other", "other"]


def symbols(found):
    return [f["symbol"].split(".")[1] for f in found["findings"]]


def new_only():
    """What the base has is left out wherever it stands now; what it has not is reported."""
    wrapped = "(L  # one\n                ==\n            1)"
    with repository({"m.py": module(CALL)}) as d:
        base = ("--diff-base", "HEAD")
        for name, source, want in (
            ("as it was", module(CALL), []),
            ("moved down", b"# a\n" * 50 + module(CALL), []),
            ("moved behind", module(OTHER, CALL), OTHERS),
            ("formatted", module(CALL, guard=wrapped), []),
            ("line ends", module(CALL).replace(b"\n", b"\r\n"), []),
            ("another guard", module(CALL, guard="L < 2"), CALLS),
            ("another class", module(CALL).replace(b"Attention", b"Latent"), CALLS),
            ("none left", b"x = 1\n", []),
        ):
            write_tree(d, {"m.py": source})
            same(name, symbols(report(d, *base, status=1 if want else 0)), want)
        # A third test like two that were there.
        write_tree(d, {"m.py": module(THIRD)})
        both = [f["line"] for f in report(d)["findings"]]
        new = [f["line"] for f in report(d, *base)["findings"]]
        same("one more of a kind", new, both[2:])
        write_tree(d, {"m.py": module(OTHER, CALL)})
        p = run(base, d, 1)
        need(b"2 findings, 2 with a fix; 2 not new" in p.stderr, text(p.stderr))
        patch = run(FIXES + base, d, 1).stdout
        same("fixed guards", patch.count(b"\n+        if L <= "), 2)
        git(d, "apply", "-", stdin=patch)
        same("left", symbols(report(d, status=1)), CALLS)


def base_of_a_branch():
    """The merge base counts, not the tip: what was fixed or added there since is not ours."""
    with repository({"m.py": module(CALL), "n.py": b""}) as d, tempfile.TemporaryDirectory() as o:
        git(d, "checkout", "-q", "-b", "topic")
        write_tree(d, {"n.py": module(OTHER)})
        commit(d)
        git(d, "checkout", "-q", "main")
        write_tree(d, {"m.py": b"", "new.py": module(CALL)})
        commit(d)
        git(d, "checkout", "-q", "topic")
        want = report(d, "n.py", status=1)["findings"]
        bare = os.path.join(o, "bare")
        git(d, "clone", "-q", "--bare", d, bare)
        for threads in ("1", "8"):
            args = ("-j", threads, "--diff-base", "main")
            same("work tree", report(d, *args, status=1)["findings"], want)
            same("bare", report(bare, "--rev", "topic", *args, status=1)["findings"], want)
        same("HEAD", report(d, "--diff-base", "HEAD", status=0)["findings"], [])
        # A tree is compared with as it is.
        found = report(d, "--diff-base", "main^{tree}", status=1)
        same("tree", paths(found), ["m.py", "n.py"])
        # Neither a file of no revision nor one of another folder is mixed up.
        write_tree(d, {"sub/m.py": module(CALL)})
        found = report(os.path.join(d, "sub"), "--diff-base", "main", ".", status=1)
        same("untracked", paths(found), ["sub/m.py"])


def renamed():
    source = b"# the same\n" * 30 + module(CALL)
    with repository({"old/a.py": source, "old/b.py": source + b"# b\n" * 9}) as d:
        base = ("--diff-base", "main")
        git(d, "checkout", "-q", "-b", "topic")
        os.mkdir(os.path.join(d, "new"))
        shutil.move(os.path.join(d, "old", "a.py"), os.path.join(d, "new", "x.py"))
        write_tree(d, {"new/x.py": source + fill(OTHER)})
        same("untracked", symbols(report(d, *base, status=1)), OTHERS)
        git(d, "add", "-A")
        same("staged", symbols(report(d, *base, status=1)), OTHERS)
        commit(d)
        same("committed", symbols(report(d, *base, status=1)), OTHERS)
        args = base + ("--rev", "topic")
        same("revision", guards(report(d, *args)), guards(report(d, *base)))
        same("narrowed", symbols(report(d, *base, "new/x.py")), OTHERS)
        # Written anew, it is no rename.
        write_tree(d, {"new/x.py": module("\n\nw = 2\n" * 400, CALL)[30:]})
        need(report(d, *base, status=1)["findings"], "a new file counts as renamed")


def base_imports():
    """The base is read with its own imports: a guard may be new in a file that nobody touched."""
    files = dict(PACKAGE)
    files["p/parent.py"] = b"class Attention:\n    pass\n"
    with repository(files) as d:
        write_tree(d, {"p/parent.py": PARENT})
        same("new", paths(report(d, "--diff-base", "HEAD", status=1)), ["p/child.py"])
        commit(d)
        same("old", paths(report(d, "--diff-base", "HEAD", status=0)), [])


def shallow_base(date):
    """Also where the commits of the branch are older than what they stand on: a walk by date then
    comes to the end of the clone before it is at the merge base."""
    with repository({"m.py": module(CALL)}) as d, tempfile.TemporaryDirectory() as o:
        for i in range(4):
            git(d, "commit", "-q", "--allow-empty", "-m", "before")
        git(d, "checkout", "-q", "-b", "topic")
        for i in range(4):
            write_tree(d, {"n.py": module(OTHER) + b"#\n" * i})
            commit(d, date=date)
        git(d, "checkout", "-q", "main")
        for i in range(4):
            write_tree(d, {"other.txt": b"%d" % i})
            commit(d)
        write_tree(d, {"m.py": b""})
        commit(d)
        for name, depth, want, note in (
            ("deep", "6", ["n.py"], False),
            ("flat", "1", ["m.py", "n.py"], True),
        ):
            clone = os.path.join(o, name)
            git(o, "clone", "-q", "--depth", depth, "--no-single-branch", "file://" + d, clone)
            args = JSON_ARGS + ("--rev", "origin/topic", "-q", "--diff-base", "origin/main")
            p = run(args, clone, 1)
            same(name, paths(json.loads(p.stdout)), want)
            words = b"no merge base in this shallow clone; compared with origin/main itself"
            same(name + ": note", words in p.stderr, note)


def no_base():
    with repository({"m.py": module(CALL)}) as d:
        tree = git(d, "rev-parse", "HEAD^{tree}")
        other = git(d, "commit-tree", "-m", "other root", tree)
        p = run(("--diff-base", other), d, 0)
        need(b"no commit in common; compared with" in p.stderr, text(p.stderr))
        p = run(("--diff-base", "main", "--rev", tree), d, 0)
        need(b"a tree has no history; compared with main itself" in p.stderr, text(p.stderr))
        git(d, "checkout", "-q", "--orphan", "fresh")
        p = run(("--diff-base", "main"), d, 0)
        need(b"HEAD has no commit yet; compared with main itself" in p.stderr, text(p.stderr))
        write_tree(d, {"m.py": b""})
        for rev in ("none", "", "-x", "main:m.py"):
            says(("--diff-base", rev), d, 2, "--diff-base")
    with folder({"m.py": b""}) as d:
        says(("--diff-base", "HEAD"), d, 2, "--diff-base needs one")


def damaged_base():
    """What the base had cannot be known, so the findings may be old: no verdict."""
    with repository({"m.py": module(CALL), "n.py": module(OTHER)}) as d:
        os.remove(object_file(d, "HEAD:m.py"))
        write_tree(d, {"m.py": module(CALL) + b"# changed\n"})
        p = run(JSON_ARGS + ("--diff-base", "HEAD"), d, 2)
        same("findings", paths(json.loads(p.stdout)), ["m.py"])
        need(b"failed in the base: m.py (object " in p.stderr, text(p.stderr))
        # A file that has nothing to compare does not matter.
        report(d, "--diff-base", "HEAD", "n.py", status=0)
        # What is gone cannot be asked whether a new file was made of it.
        os.rename(os.path.join(d, "m.py"), os.path.join(d, "new.py"))
        p = run(JSON_ARGS + ("--diff-base", "HEAD"), d, 2)
        same("findings", paths(json.loads(p.stdout)), ["new.py"])
        need(b"renames cannot be found: " in p.stderr, text(p.stderr))


def fixed_and_verified():
    """Fixes and verdicts are those of what is reported."""
    old, new = module(CALL), module(OTHER, CALL)
    with repository({"m.py": old}) as d:
        run(("--write-baseline", "b.json"), d, 0)
        write_tree(d, {"m.py": new})
        commit(d)
        for args in (("--diff-base", "HEAD~1"), ("--baseline", "b.json")):
            write_tree(d, {"m.py": new})
            run(("--fix", "--no-verify", "--unsafe-fixes") + args, d, 0)
            same("left", symbols(report(d, status=1)), CALLS)
            run(("--fix", "--no-verify", "--unsafe-fixes") + args, d, 0)
            same("left, twice", symbols(report(d, status=1)), CALLS)
        write_tree(d, {"m.py": old})
        none = run(("verify", "--diff-base", "HEAD"), d, 0).stdout
        need(b"m.py" not in none, text(none))
        want = run(("verify", "--output-format", "json"), d).stdout
        need(b"Attention.__call__" in want, text(want))
        same("revision", run(("verify", "--output-format", "json", "--rev", "@~1"), d).stdout, want)


JSON_ARGS = ("check", "--output-format", "json")


def entry(path, symbol, guard, occurrence=1, code="MLA001"):
    return json.dumps(
        dict(path=path, code=code, symbol=symbol, guard=guard, occurrence=occurrence),
        ensure_ascii=False,
    )


def listing(*entries):
    start = '{"tool": "mlalint", "version": 1, "findings": ['
    return (start + "\n" + ",\n".join(entries) + "\n]}\n" if entries else start + "]}\n").encode()


def baseline():
    files = {"m.py": module(CALL), "z/n.py": module(OTHER, guard="1  >=  L"), "c.py": b""}
    with folder(files) as d, tempfile.TemporaryDirectory() as o:
        path = os.path.join(o, "b.json")
        p = run(("--write-baseline", path, "-j", "8"), d, 0)
        same("report", p.stdout, b"")
        need(b"; 4 listed in the new baseline" in p.stderr, text(p.stderr))
        want = listing(
            entry("m.py", "Attention.__call__", "L==1"),
            entry("m.py", "Attention.__call__", "L==1", 2),
            entry("z/n.py", "Attention.other", "1>=L"),
            entry("z/n.py", "Attention.other", "1>=L", 2),
        )
        with open(path, "rb") as f:
            same("file", f.read(), want)
        run(("--write-baseline", path, "-j", "1", "z", "c.py", "m.py"), d, 0)
        with open(path, "rb") as f:
            same("file, other order", f.read(), want)

        def state(what, status, findings, known, gone, *args):
            p = run(("--baseline", path) + args, d, status)
            line = text(p.stderr).splitlines()[-1]
            need("%d finding" % findings in line, "%s: %s" % (what, line))
            need("%d in the baseline" % known in line, "%s: %s" % (what, line))
            words = "; %d baseline entr%s no longer found" % (gone, "y" if gone == 1 else "ies")
            same(what + ": gone", words in line, gone > 0)

        state("all", 0, 0, 4, 0)
        write_tree(d, {"m.py": b"#\n" * 9 + module(OTHER, CALL)})
        state("moved and more", 1, 2, 4, 0)
        state("narrowed", 1, 2, 2, 0, "m.py")
        state("another rule", 0, 0, 0, 0, "--select", "MLA900")
        write_tree(d, {"m.py": module(CALL.replace("@guard", "L < 5", 1))})
        state("other findings", 1, 2, 2, 2)
        os.remove(os.path.join(d, "m.py"))
        state("file gone", 0, 0, 2, 2)
        state("file gone, narrowed", 0, 0, 2, 2, "z/n.py")
        run(("--write-baseline", path, "--baseline", path), d, 0)
        state("written anew", 0, 0, 2, 0)
        write_tree(d, {"z/n.py": b"x = 1\n"})
        run(("--write-baseline", path), d, 0)
        with open(path, "rb") as f:
            same("empty", f.read(), listing())


def baseline_names():
    """Names and guards that are no UTF-8, and a finding that is a comment, are met again."""
    guard = "L == len('\udcff')"
    source = module(CALL).decode().replace("L == 1", guard).encode("utf-8", "surrogateescape")
    comment = b"x = 1  # mlalint:   ignore[MLA001] why\n"
    with folder({"m.py": source, "\udce9.py": module(CALL), "c.py": comment}) as d:
        count = len(report(d)["findings"])
        run(("--write-baseline", "b.json"), d, 0)
        with open(os.path.join(d, "b.json"), "rb") as f:
            text_of_it = f.read().decode("utf-8")
        need(
            entry("c.py", "", "# mlalint: ignore[MLA001] why", 1, "MLA900") in text_of_it,
            text_of_it,
        )
        same("entries", len(json.loads(text_of_it)["findings"]), count)
        p = run(("--baseline", "b.json"), d, 0)
        need(b"%d in the baseline\n" % count in p.stderr, text(p.stderr))


def baseline_refused():
    good = entry("m.py", "A.f", "L==1")
    with folder({"m.py": module(CALL), "d/x": b""}) as d:
        for name, data in (
            ("empty", b""),
            ("cut", listing(good)[:-5]),
            ("another", b'{"tool": "other"}'),
            ("list", b"[]"),
            ("version 2", listing(good).replace(b'"version": 1', b'"version": 2')),
            ("version text", listing(good).replace(b'"version": 1', b'"version": "1"')),
            ("no list", b'{"tool": "mlalint", "version": 1, "findings": {}}'),
            ("more", listing(good)[:-2] + b', "x": 1}'),
            ("entry", listing("1")),
            ("key", listing(good.replace("guard", "text"))),
            ("extra", listing(good.replace('"guard"', '"line": 3, "guard"'))),
            ("twice", listing(good.replace('"guard"', '"guard": "", "guard"'))),
            ("number", listing(good.replace('"A.f"', "7"))),
            ("zero", listing(entry("m.py", "", "", 0))),
            ("large", listing(entry("m.py", "", "", 1 << 32))),
            ("huge", listing(entry("m.py", "", "", 1 << 80))),
            ("deep", b'{"tool": ' + b"[" * 100000),
            ("bytes", b'{"tool": "\xff"}'),
        ):
            write_tree(d, {"b.json": data})
            p = says(("--baseline", "b.json"), d, 2, "b.json: ")
            same(name, p.stdout, b"")
        for path in ("none.json", "d", "/dev/null"):
            says(("--baseline", path), d, 2, path)
        same("status", run(("--baseline", "b.json", "--write-baseline", "x.json"), d).returncode, 2)
        need(not os.path.exists(os.path.join(d, "x.json")), "written all the same")
        for args in ("--fix", "--diff", "--diff-base=x"):
            says(("--write-baseline", "x.json", args), d, 2, "excludes")
        says(("--write-baseline", "-"), d, 2, "a file is needed")
        says(("--write-baseline", "m.py"), d, 2, "this file is scanned")
        says(("--write-baseline", "none/x.json"), d, 2, "none/x.json: ")
        # A scan without a verdict leaves the old one.
        write_tree(d, {"b.json": listing(good), "m.py": module(CALL).replace(b"L == 1", b"L == = 1")})
        says(("--write-baseline", "b.json"), d, 2, "not written")
        with open(os.path.join(d, "b.json"), "rb") as f:
            same("kept", f.read(), listing(good))
        same("files", sorted(os.listdir(d)), ["b.json", "d", "m.py"])
    with repository({"m.py": b""}) as a, repository({"m.py": b""}) as b:
        says(("--write-baseline", os.path.join(a, "x"), a, b), a, 2, "one repository")


def hook(d, name, body):
    path = os.path.join(d, name)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + body)
    os.chmod(path, 0o755)


def hooks():
    """Git tells its hooks about itself in variables, which must not make another tree of ours."""
    files = {".gitignore": b"ignored.py\n", "m.py": model(), "sub/n.py": model()}
    with repository(files) as d, repository({"o.py": model()}) as other:
        write_tree(d, {"ignored.py": model(), "new.py": model()})
        want = ["m.py", "new.py", "sub/n.py"]
        out = os.path.join(other, "out")
        check = "'%s' check --exit-zero --output-format json -o '%s%%s' %%s || exit 1\n" % (TOOL, out)
        calls = (
            ("all", ".", want),
            ("sub", "sub", ["sub/n.py"]),
            ("rev", "--rev HEAD", ["m.py", "sub/n.py"]),
            ("other", other, ["o.py"]),
            ("other-rev", "--rev main " + other, ["o.py"]),
        )
        script = "".join(check % (name, args) for name, args, _ in calls)
        hook(d, ".git/hooks/pre-commit", script + "env >'%senv'\n" % out)

        def seen(what):
            for name, _, paths_wanted in calls:
                with open(out + name) as f:
                    same("%s, %s" % (what, name), paths(json.load(f)), paths_wanted)
                os.remove(out + name)

        git(d, "add", "new.py")
        git(d, "commit", "-q", "-m", "whole")
        seen("commit")
        calls = [(n, a, want if n == "rev" else w) for n, a, w in calls]
        write_tree(d, {"new.py": model("L <= 1")})
        git(d, "commit", "-q", "-m", "part", "new.py")
        with open(out + "env") as f:
            need("GIT_INDEX_FILE=" in f.read(), "git did not set GIT_INDEX_FILE")
        seen("commit of one file")
        os.remove(os.path.join(d, ".git/hooks/pre-commit"))
        git(d, "rebase", "-q", "--exec", "sh -c \"%s\"" % script.replace("\n", ";"), "HEAD~1")
        seen("rebase --exec")
        # The same with variables that lead astray altogether.
        env = dict(os.environ)
        env["GIT_DIR"] = os.path.join(other, ".git")
        env["GIT_WORK_TREE"] = other
        env["GIT_INDEX_FILE"] = os.path.join(other, ".git", "index")
        env["GIT_OBJECT_DIRECTORY"] = os.path.join(other, ".git", "objects")
        env["GIT_QUARANTINE_PATH"] = os.path.join(other, ".git", "objects")
        subprocess.run(["sh", "-c", script], cwd=d, env=env, check=True)
        seen("astray")


def pushed():
    """Before git accepts a push, the objects are not in the repository yet; its hook sees them."""
    with repository({"m.py": b"x = 1\n"}) as d, tempfile.TemporaryDirectory() as o:
        server = os.path.join(o, "server.git")
        git(o, "clone", "-q", "--bare", d, server)
        body = "read old new ref\n'%s' check --rev $new -q\n" % TOOL
        hook(server, "hooks/pre-receive", body)
        write_tree(d, {"n.py": b"y = 1\n"})
        commit(d)
        git(d, "push", "-q", server, "HEAD:main")
        write_tree(d, {"m.py": model()})
        commit(d)
        p = subprocess.run(["git", "push", server, "HEAD:main"], cwd=d, stdout=-1, stderr=-1)
        need(p.returncode != 0, "the push went through")
        need("m.py:" in text(p.stderr) and "MLA001" in text(p.stderr), text(p.stderr))


def main():
    cases = Cases("git")
    home = tempfile.TemporaryDirectory()
    for name in [n for n in os.environ if n.startswith("GIT_")]:
        del os.environ[name]
    # In a build with sanitizers, libgit2's own leaks are told by the functions they are in.
    leaks = os.path.join(os.path.dirname(os.path.abspath(__file__)), "leaks.txt")
    os.environ["LSAN_OPTIONS"] = "print_suppressions=0:suppressions=" + leaks
    os.environ["ASAN_OPTIONS"] = "fast_unwind_on_malloc=0"
    os.environ.update(HOME=home.name, XDG_CONFIG_HOME=home.name, GIT_CONFIG_SYSTEM=os.devnull)
    cases.run("revision in every kind of repository", everywhere)
    cases.run("paths inside a revision", narrowed)
    cases.run("imports inside a revision", same_tree_imports)
    cases.run("links and submodules of a revision", special_entries)
    cases.run("LFS pointer", lfs_pointer)
    if os.getuid() == 0:
        cases.run("revision of another user's repository", other_owner)
    else:
        cases.skip("revision of another user's repository", "needs root")
    cases.run("line ends and mode", line_ends_and_mode)
    cases.run("revisions that are none", refused)
    cases.run("missing and corrupt objects", damaged)
    cases.run("import that cannot be read", unread_import)
    cases.run("object with other bytes", other_bytes)
    cases.run("partial clone", partial_clone)
    cases.run("hostile trees", hostile_trees)
    cases.run("ignore rules", ignore_rules)
    cases.run("ignore rules as git has them", as_git_does)
    cases.run("files of rules that are none", odd_rules)
    cases.run("submodules", submodules)
    cases.run("a folder of clones", folder_of_clones)
    cases.run("a work tree elsewhere", work_tree_elsewhere)
    cases.run("linked work tree", linked_worktree)
    cases.run("repository that cannot be read", unreadable_repository)
    cases.run("new findings only", new_only)
    cases.run("merge base", base_of_a_branch)
    cases.run("renamed files", renamed)
    cases.run("imports of the base", base_imports)
    cases.run("merge base in a shallow clone", shallow_base, None)
    cases.run("merge base in a shallow clone, odd dates", shallow_base, "2001-01-01T00:00:00Z")
    cases.run("no merge base", no_base)
    cases.run("damaged base", damaged_base)
    cases.run("fixes and verdicts of new findings", fixed_and_verified)
    cases.run("baseline", baseline)
    cases.run("baseline with odd names", baseline_names)
    cases.run("baselines that are none", baseline_refused)
    cases.run("hooks", hooks)
    cases.run("hook before a push", pushed)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
