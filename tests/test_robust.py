#!/usr/bin/env python3
"""When the surroundings fail: no reader, no room, no permission, a signal. Every file of the user is
old or new, nothing is left beside it, and what was written is said."""

import json
import os
import resource
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import folder, model
from tool import TOOL, Cases, need, run, same, text, tree

NOBODY = 65534
FIX = ("check", "--fix", "--no-verify", "--unsafe-fixes")
MANY = {"d%02d/m%d.py" % (i % 20, i): model() for i in range(200)}


def popen(args, cwd, **more):
    return subprocess.Popen((TOOL,) + tuple(args), cwd=cwd, stdout=-1, stderr=-1, **more)


def ended(p, status):
    out, err = p.communicate(timeout=300)
    need("Sanitizer" not in text(err), text(err))
    same("status of %s: %s" % (" ".join(p.args[1:]), text(err)[-300:]), p.returncode, status)
    return out, text(err)


def git(cwd, *args):
    who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "safe.directory=*"]
    return subprocess.run(
        ["git"] + who + list(args), cwd=cwd, check=True, stdout=-1, stderr=-1
    ).stdout.decode()


def repository(files):
    d = folder(files)
    git(d.name, "init", "-q")
    git(d.name, "config", "user.name", "A")
    git(d.name, "config", "user.email", "a@b.c")
    git(d.name, "add", ".")
    git(d.name, "commit", "-qm", "start")
    return d


def fixed(files):
    with folder(files) as d:
        run(FIX, d, 0)
        return tree(d)


NEW = fixed({"m.py": model()})["m.py"]


def unchanged(d, files):
    need(tree(d) == files, "changed or left behind: %s" % sorted(set(tree(d)) ^ set(files)))


def old_or_new(d, files):
    """The names of those that are new."""
    got = tree(d)
    same("files missing or left behind", sorted(set(got) ^ set(files))[:5], [])
    new = [n for n in files if got[n] != files[n]]
    for name in new:
        need(got[name] == NEW, "%s is neither old nor new" % name)
    return sorted(new)


# Readers


VERBS = (
    ("check", "--diff", "--no-verify", "--unsafe-fixes"),
    ("check", "--statistics"),
    ("verify",),
    ("patch", "-o", "-", "--no-verify", "--unsafe-fixes"),
    ("config", "--dump"),
    ("rule", "--all"),
    ("threshold", "--rank", "512", "--nope", "128", "--value", "128"),
    ("plan", "--accept", "0.9", "--decode-ms", "1", "--verify-ms", "1"),
    ("version",),
    ("--help",),
    ("merge", "part.json"),
)


def no_reader():
    """A pipe that is closed, a device that is full, a descriptor that is not there."""
    with repository({"m.py": model()}) as d:
        run(("check", "--shard", "1/1", "-o", "json:part.json"), d, 1)
        for args in VERBS:
            p = popen(args, d)
            p.stdout.close()
            p.stdout = None
            _, err = ended(p, 2)
            need("standard output: Broken pipe" in err, "%s: %s" % (args[0], err))
            with open("/dev/full", "wb") as full:
                p = subprocess.Popen((TOOL,) + args, cwd=d, stdout=full, stderr=-1)
                _, err = ended(p, 2)
                need("standard output: No space left" in err, "%s: %s" % (args[0], err))
            p = popen(args, d, preexec_fn=lambda: os.close(1))
            _, err = ended(p, 2)
            need("standard output: Bad file descriptor" in err, "%s: %s" % (args[0], err))


def fix_without_reader():
    """The fixes are there, and said; only the report is not."""
    with folder({"m.py": model(), "n.py": b"# mlalint: ignore[MLA001]\n"}) as d:
        p = popen(FIX + ("m.py", "--show-kept", "-o", "json:-"), d)
        p.stdout.close()
        p.stdout = None
        _, err = ended(p, 2)
        need("1 file fixed" in err, err)
        need(tree(d)["m.py"] == NEW, "not fixed")


def closed_standard_error():
    """No message gets into a file that took the place of standard error, or into a source."""
    for fds in ((2,), (1, 2), (0, 1, 2)):
        with folder({"m.py": model(), "u.py": b"\xff\xfex\x00"}) as d:

            def close():
                for fd in fds:
                    os.close(fd)

            ended(popen(("check", "-o", "json:r"), d, preexec_fn=close), 1)
            with open(os.path.join(d, "r")) as f:
                same("findings", len(json.load(f)["findings"]), 2)
            os.unlink(os.path.join(d, "r"))
            ended(popen(FIX + ("-o", "json:r"), d, preexec_fn=close), 0)
            need(tree(d)["m.py"] == NEW, "not fixed, or with a message in it")


# Room


def at_most(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def no_room():
    """A limit between the sizes of the old and the new contents."""
    limit = at_most((len(model()) + len(NEW)) // 2)
    files = {"a.py": b"", "m.py": model(), "n.py": b"# mlalint: ignore[MLA001]\n"}
    with repository(files) as d:
        _, err = ended(popen(FIX, d, preexec_fn=limit), 2)
        need("m.py: cannot write: File too large" in err and "nothing was written" in err, err)
        unchanged(d, files)
        long = "x" * (len(NEW) - len(model()))
        _, err = ended(popen(("check", "--add-ignore", long), d, preexec_fn=limit), 2)
        need("File too large" in err and "nothing was written" in err, err)
        unchanged(d, files)
        for args in (("--write-baseline", "b"), ("-o", "json:b")):
            _, err = ended(popen(("check",) + args, d, preexec_fn=at_most(100)), 2)
            need("b: File too large" in err, err)
            unchanged(d, files)


def no_room_for_a_patch():
    files = {"m.py": model()}
    with repository(files) as d:
        git(d, "gc", "-q")
        before = git(d, "for-each-ref"), git(d, "status", "--porcelain")
        for limit in (20, 200, 1000):  # within the reference, an object, the mail
            args = ("patch", "--no-verify", "--unsafe-fixes", "--branch", "x", "--mbox", "p")
            ended(popen(args + ("-o", "d"), d, preexec_fn=at_most(limit)), 2)
            same("references", (git(d, "for-each-ref"), git(d, "status", "--porcelain")), before)
            unchanged(d, files)
            if os.path.isdir(os.path.join(d, "p")):
                os.rmdir(os.path.join(d, "p"))
        git(d, "fsck", "--strict")


def no_room_for_a_linked_file():
    """It is written in place: what it holds must not be half of it."""
    files = {"m.py": model()}
    with folder(files) as d:
        os.link(os.path.join(d, "m.py"), os.path.join(d, "other"))
        files["other"] = model()
        for limit in (10, len(model()) - 10, len(NEW) - 10):
            _, err = ended(popen(FIX, d, preexec_fn=at_most(limit)), 2)
            need("File too large" in err and "nothing was written" in err, err)
            unchanged(d, files)
        run(FIX, d, 0)
        same("both names", tree(d), {"m.py": NEW, "other": NEW})


# Permission


def as_nobody():
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def theirs(d):
    if os.getuid() == 0:
        for base, dirs, names in os.walk(d):
            for name in [""] + names:
                os.chown(os.path.join(base, name), NOBODY, NOBODY)


def mode(*parts):
    path = os.path.join(*parts[:-1])
    os.chmod(path, parts[-1])
    return path


def no_permission():
    """To write a file, to write beside it, to read it, to enter a folder."""
    files = {"a.py": model(), "b.py": model(), "s/c.py": model(), "r/d.py": model()}
    with folder(files) as d:
        theirs(d)
        run_as = {"preexec_fn": as_nobody}
        mode(d, "b.py", 0o444)
        _, err = ended(popen(FIX, d, **run_as), 2)
        need("b.py: cannot write: Permission denied" in err, err)
        need("nothing was written" in err, err)
        unchanged(d, files)
        mode(d, "b.py", 0o644)
        mode(d, "s", 0o555)
        for args in (FIX, ("check", "--add-ignore", "why")):
            _, err = ended(popen(args, d, **run_as), 2)
            need("s/c.py: cannot write beside it: Permission denied" in err, err)
            need("nothing was written" in err, err)
            unchanged(d, files)
        for args in (("--write-baseline", "s/b"), ("-o", "json:s/r"), ("-o", "text:s/c.py")):
            ended(popen(("check",) + args, d, **run_as), 2)
            unchanged(d, files)
        mode(d, "s", 0o755)
        mode(d, "b.py", 0)
        mode(d, "r", 0)
        out, err = ended(popen(("check", "-o", "json:-"), d, **run_as), 2)
        mode(d, "r", 0o755)
        mode(d, "b.py", 0o644)
        report = json.loads(out)
        failed = {f["path"]: f["reason"] for f in report["files"]["failed"]}
        same("failed", failed, {"b.py": "Permission denied", "r": "Permission denied"})
        same("found", {f["path"] for f in report["findings"]}, {"a.py", "s/c.py"})


def no_permission_for_a_patch():
    files = {"m.py": model()}
    args = ("patch", "--no-verify", "--unsafe-fixes", "--branch", "x", "--mbox", "p")
    with repository(files) as d:
        run_as = {"preexec_fn": as_nobody, "env": dict(os.environ, HOME=d)}
        theirs(d)
        before = git(d, "for-each-ref")
        for place in (".git/refs/heads", ".git/objects", "."):
            mode(d, place, 0o555)
            ended(popen(args, d, **run_as), 2)
            mode(d, place, 0o755)
            same("references after %s" % place, git(d, "for-each-ref"), before)
            unchanged(d, files)
            if os.path.isdir(os.path.join(d, "p")):
                os.rmdir(os.path.join(d, "p"))
        ended(popen(args, d, **run_as), 1)
        need("refs/heads/x" in git(d, "for-each-ref"), "no branch")


# Signals


def said(err):
    return sorted(line[18:] for line in err.splitlines() if line.startswith("mlalint: written: "))


def wait_for(p, condition, what):
    until = time.monotonic() + 60
    while not condition():
        need(p.poll() is None, "ended before %s: %s" % (what, p.returncode))
        need(time.monotonic() < until, "no sign of %s" % what)


def temporaries(d):
    return any(
        n.startswith(".mlalint-") for i in range(20) for n in os.listdir("%s/d%02d" % (d, i))
    )


def after_stop(p, d, files, what):
    """All or nothing, and what there is said; the program ended by the signal or was done."""
    out, err = p.communicate(timeout=300)
    new = old_or_new(d, files)
    need(len(new) in (0, len(files)), "%d of %d files are new" % (len(new), len(files)))
    if p.returncode == 0:
        same(what + ": done", len(new), len(files))
    else:
        same(what + ": " + err.decode()[-200:], p.returncode, -p.sent)
        need("mlalint: interrupted" in text(err), text(err))
        same(what + ": said", said(text(err)), new)
        need(new or "nothing was written" in text(err), text(err))
    return bool(new), p.returncode != 0


def stopped(d, number, condition, what):
    p = popen(FIX + ("-j", "2"), d)
    wait_for(p, condition, what)
    p.sent = number
    p.send_signal(number)
    return after_stop(p, d, MANY, what)


def signal_while_writing():
    """As soon as a temporary file is there: none has its place, and none gets it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        with folder(MANY) as d:
            new, stop = stopped(d, number, lambda: temporaries(d), "the first temporary file")
            same("%s: new, stopped" % number, (new, stop), (False, True))


def signal_while_replacing():
    """As soon as one file is new: the others get theirs, for they may belong together."""
    with folder(MANY) as d:

        def one_is_new():
            return any(os.stat(os.path.join(d, n)).st_size != len(model()) for n in MANY)

        new, _ = stopped(d, signal.SIGINT, one_is_new, "the first new file")
        need(new, "a file is old again")


def signal_at_any_time():
    with folder(MANY) as d:
        start = time.monotonic()
        run(FIX + ("-j", "2"), d, 0)
        whole = time.monotonic() - start
    stops = 0
    for i in range(12):
        with folder(MANY) as d:
            p = popen(FIX + ("-j", "2"), d)
            time.sleep(0.03 + whole * i / 12)
            p.sent = signal.SIGINT
            p.send_signal(signal.SIGINT)
            stops += after_stop(p, d, MANY, "after %d/12" % i)[1]
    need(stops > 3, "only %d of 12 signals came in time" % stops)


def ignored_signal():
    """nohup: what the caller ignores stays ignored."""
    with folder(MANY) as d:
        p = popen(FIX, d, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        wait_for(p, lambda: temporaries(d), "the first temporary file")
        p.send_signal(signal.SIGHUP)
        ended(p, 0)
        same("new", len(old_or_new(d, MANY)), len(MANY))


def signal_before_a_report():
    """A report or a baseline on its way: the old one stays, and nothing lies beside it."""
    files = dict(MANY, b=b"old", r=b"old")
    for args in (("-o", "json:r"), ("--write-baseline", "b"), ("-o", "json:r", "-o", "sarif:b")):
        with folder(files) as d:
            p = popen(("check", "--verify", "-j", "1") + args, d)

            def on_its_way():
                return any(n.startswith(".mlalint-") for n in os.listdir(d))

            if args[0] == "-o":
                wait_for(p, on_its_way, "the report")
            else:
                time.sleep(0.05)
            p.send_signal(signal.SIGINT)
            _, err = ended(p, -signal.SIGINT)
            need(args[0] == "-o" or "interrupted; nothing was written" in err, err)
            unchanged(d, files)


def signal_during_a_patch():
    """A branch with its mail, or neither; what there is, is said. The repository is whole."""
    args = ("patch", "--no-verify", "--unsafe-fixes", "--branch", "x", "--mbox", "p")
    args += ("-o", "d", "--split", "file")
    files = {n: data for n, data in list(MANY.items())[:40]}
    with repository(files) as d:
        start = time.monotonic()
        run(args, d, 1)
        whole = time.monotonic() - start
    stops = 0
    for i in range(10):
        with repository(files) as d:
            p = popen(args, d)
            time.sleep(whole * (i + 1) / 11)
            p.send_signal(signal.SIGINT)
            _, err = p.communicate(timeout=300)
            need(p.returncode in (1, -signal.SIGINT), "status %d: %s" % (p.returncode, text(err)))
            made = "refs/heads/x" in git(d, "for-each-ref")
            mails = sorted(os.listdir(os.path.join(d, "p"))) if os.path.isdir(d + "/p") else []
            same("mails", len(mails), len(files) if made else 0)
            same("diff", os.path.exists(os.path.join(d, "d")), made)
            same("left behind", [n for n in os.listdir(d) if n.startswith(".mlalint")], [])
            git(d, "fsck", "--strict")
            if p.returncode != 1:
                stops += 1
                want = ["branch x", "d"] + ["p/" + m for m in mails] if made else []
                same("said", said(text(err)), sorted(want))
    need(stops > 2, "only %d of 10 signals came in time" % stops)


CASES = (
    no_reader,
    fix_without_reader,
    closed_standard_error,
    no_room,
    no_room_for_a_patch,
    no_room_for_a_linked_file,
    no_permission,
    no_permission_for_a_patch,
    signal_while_writing,
    signal_while_replacing,
    signal_at_any_time,
    ignored_signal,
    signal_before_a_report,
    signal_during_a_patch,
)


def main():
    # A run under nohup, or in the background of a script, would hand on that it ignores one of
    # them, and so would the program.
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    cases = Cases("robust")
    for case in CASES:
        cases.run(case.__name__.replace("_", " "), case)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
