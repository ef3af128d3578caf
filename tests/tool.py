"""What the Python test scripts share: running the tool, and the lines that tests/run.sh counts."""

import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOL = os.path.abspath(os.environ.get("MLALINT", os.path.join(ROOT, "build", "mlalint")))


class Failure(Exception):
    """Ends one case; its text is what the `not ok` line says."""


def need(condition, message):
    if not condition:
        raise Failure(message)


def same(what, got, want):
    if got != want:
        raise Failure("%s: got %r, expected %r" % (what, got, want))


def text(data):
    return data.decode("utf-8", "backslashreplace")


def run(args, cwd, status=None, stdin=None):
    """Run the tool; with `status`, any other exit status fails the case."""
    p = subprocess.run([TOOL] + list(args), cwd=cwd, input=stdin, stdout=-1, stderr=-1, timeout=600)
    if status is not None and p.returncode != status:
        raise Failure(
            "mlalint %s: exit status %d, expected %d: %s"
            % (" ".join(args), p.returncode, status, text(p.stderr).strip())
        )
    return p


def check(cwd, *args):
    """`check --show-kept` as JSON. Fails on a status that the findings do not explain."""
    p = run(("check", "--output-format", "json", "--show-kept") + args, cwd)
    try:
        report = json.loads(p.stdout)
    except ValueError as e:
        raise Failure(
            "check: exit status %d, not JSON (%s): %s" % (p.returncode, e, text(p.stderr).strip())
        )
    same("check: exit status", p.returncode, 1 if report["findings"] else 0)
    same("check: failed files", report["files"]["failed"], [])
    return report


def spliced(before, edits):
    """`before` with byte-offset edits applied: what the tool has to write, and nothing else."""
    out, at = [], 0
    for start, end, new in sorted(edits):
        need(
            at <= start <= end <= len(before), "edits overlap or leave the file at byte %d" % start
        )
        out += [before[at:start], new]
        at = end
    return b"".join(out + [before[at:]])


def edits_by_path(report):
    """The edits of all fixes of a report, each once."""
    paths = {}
    for finding in report["findings"]:
        for f in (finding["fix"] or {"files": []})["files"]:
            for e in f["edits"]:
                edit = (e["start"], e["end"], e["text"].encode("utf-8"))
                paths.setdefault(f["path"], set()).add(edit)
    return paths


def git_apply(cwd, patch, *flags):
    """git apply outside of any repository, so that the paths of the patch are taken as they are."""
    env = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(os.path.abspath(cwd)))
    p = subprocess.run(
        ["git", "apply", "--whitespace=nowarn"] + list(flags),
        cwd=cwd,
        env=env,
        input=patch,
        stderr=-1,
    )
    need(p.returncode == 0, "git apply %s: %s" % (" ".join(flags), text(p.stderr).strip()))


def tree(folder):
    """path -> bytes of every file below a folder."""
    files = {}
    for base, dirs, names in os.walk(folder):
        dirs[:] = [d for d in dirs if d not in ("__pycache__", ".git")]
        for name in names:
            path = os.path.join(base, name)
            with open(path, "rb") as f:
                files[os.path.relpath(path, folder)] = f.read()
    return files


def write_tree(folder, files):
    for path, data in files.items():
        full = os.path.join(folder, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as f:
            f.write(data)


def same_tree(what, got, want):
    for path in sorted(set(got) | set(want)):
        if got.get(path) != want.get(path):
            raise Failure(
                "%s: %s: %s" % (what, path, first_difference(got.get(path), want.get(path)))
            )


def first_difference(got, want):
    if got is None or want is None:
        return "missing" if got is None else "not expected"
    a, b = got.splitlines(True), want.splitlines(True)
    for i in range(max(len(a), len(b))):
        x, y = a[i] if i < len(a) else b"", b[i] if i < len(b) else b""
        if x != y:
            return "line %d: got %s, expected %s" % (i + 1, ascii(x), ascii(y))
    return "no difference"


class Cases:
    """Runs cases and prints their lines. Leave with `sys.exit(cases.status())`."""

    def __init__(self, prefix):
        self.prefix, self.failed, self.ran = prefix, 0, 0

    def run(self, name, case, *args):
        self.ran += 1
        try:
            case(*args)
        except Exception as e:  # a case that dies has failed; the others still run
            self.failed += 1
            why = str(e) if isinstance(e, Failure) else "%s: %s" % (type(e).__name__, e)
            print("not ok %s %s: %s" % (self.prefix, name, why.replace("\n", " | ")))
        else:
            print("ok %s %s" % (self.prefix, name))
        sys.stdout.flush()

    def skip(self, name, why):
        print("skip %s %s: %s" % (self.prefix, name, why))

    def status(self):
        return 1 if self.failed else 0
