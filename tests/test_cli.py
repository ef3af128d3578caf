#!/usr/bin/env python3
"""What the command line promises about files: which are looked at, and what is said about those
that are not. Every case makes its own folder."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import TOOL, Cases, need, run, same, text, write_tree

JSON = ("check", "--output-format", "json")

HEAD = """import mlx.core as mx
import mlx.nn as nn
"""

MAKER = """

class MultiLinear(nn.Module):
    def __init__(self, inputs, outputs, heads):
        super().__init__()
        self.weight = mx.zeros((heads, outputs, inputs))
"""

INIT = """

class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = 8
        self.kv_lora_rank = 512
        self.qk_nope_head_dim = 128
        self.v_head_dim = 128
        self.@q = MultiLinear(self.qk_nope_head_dim, self.kv_lora_rank, self.heads)
        self.@o = MultiLinear(self.kv_lora_rank, self.v_head_dim, self.heads)
        self.q_proj = nn.Linear(64, self.heads * self.qk_nope_head_dim)
        self.kv_a_proj = nn.Linear(64, self.kv_lora_rank)
"""

CALL = """
    def __call__(self, x, mask=None, cache=None):
        B, L, D = x.shape
        q = self.q_proj(x).reshape(B, L, self.heads, -1).transpose(0, 2, 1, 3)
        latent = self.kv_a_proj(x)[:, None]
        latent, _ = cache.update_and_fetch(latent, latent)
        if @guard:
            q = self.@q(q)
            k = v = latent
        else:
            k = self.@q(latent, transpose=False)
            v = self.@o(latent)
        out = mx.fast.scaled_dot_product_attention(q, k, v, scale=0.1, mask=mask)
        if @guard:
            out = self.@o(out)
        return out.transpose(0, 2, 1, 3).reshape(B, L, -1)
"""


def fill(source, guard="L == 1", q="embed_q", o="unembed_out"):
    return source.replace("@guard", guard).replace("@q", q).replace("@o", o).encode()


def model(guard="L == 1", extra=""):
    return fill(HEAD + extra + MAKER + INIT + CALL, guard)


def folder(files):
    d = tempfile.TemporaryDirectory()
    write_tree(d.name, files)
    return d


def report(cwd, *args, status=None):
    return json.loads(run(JSON + args, cwd, status).stdout)


def places(found):
    return [(f["path"], f["line"]) for f in found["findings"]]


GUARDS = {
    "line end": ("(L ==\n            1)", ""),
    "backslash": ("L == \\\n            1", ""),
    "comment": ("(L ==  # one\n            1)", ""),
    "tab": ("1\t== L", ""),
    "one capital": ("L == Q", "Q = 1\n"),
    "small letters": ("L == one", "one = 1\n"),
    "underscore": ("L == _ONE", "_ONE = 1\n"),
}


def bound(guard, extra):
    with folder({"m.py": model(guard, extra)}) as d:
        found = report(d, ".", status=1)
        need(len(found["findings"]) == 2, "%d findings, expected 2" % len(found["findings"]))


def derived(names):
    """A child whose file has no word of projections is found as with --show-kept."""
    files = {
        "parent.py": fill(HEAD + MAKER + INIT, q="eq", o="uo"),
        "child.py": fill(
            HEAD + "\nfrom parent import Attention\n\n\nclass Child(Attention):" + CALL,
            q="eq",
            o="uo",
        ),
        "middle.py": b"from child import Child as Base\n\n\nclass Middle(\n    Base\n):\n"
        b"    pass\n",
        "grand.py": fill(
            HEAD + "\nimport middle\n\n\nclass Grand(middle.Middle):" + CALL, q="eq", o="uo"
        ),
        "patched.py": fill(
            HEAD
            + "\nfrom parent import Attention\n"
            + CALL.replace("\n    ", "\n").replace("__call__", "fast")
            + "\n\nAttention.__call__ = fast\n",
            q="eq",
            o="uo",
        ),
    }
    with folder(files) as d:
        kept = report(d, "--show-kept", *names)
        same("--show-kept", {p for p, _ in places(kept)} >= {"child.py"}, True)
        same("findings without --show-kept", places(report(d, *names)), places(kept))


def broken(source, want, doubtful):
    """A partial file: status 2 only where the error touches what could hold a decision."""
    with folder({"m.py": source}) as d:
        found = report(d, ".", status=want)
        same("partial", [f["path"] for f in found["files"]["partial"]], ["m.py"])
        reason = found["files"]["partial"][0]["reason"]
        same("reason", "where a decision may be" in reason, doubtful)


BROKEN_GUARD = model().replace(b"q = self.embed_q(q)", b"q = = self.embed_q(q)")
BROKEN_INIT = model().replace(b"self.heads = 8", b"self.heads = = 8")
BROKEN_HELPER = model() + b"\n    def small(self, L):\n        return L == 1 +\n"
BROKEN_ELSEWHERE = model() + b"\n\ndef other(x):\n    return x = = x\n"
BROKEN_TOP = model() + b"\n\nx = = 3\n"
BROKEN_OTHER_BODY = model() + (
    b"\n\nclass Other:\n    x = = 3\n\n    def f(self, n):\n        return n == 3\n"
)
BROKEN_HEAD = model().replace(b"def __call__(self, x,", b"def __call__(self, x = = 3,")
BROKEN_OTHER_CLASS = model() + (
    b"\n\nclass Other:\n    def f(self, n):\n        if n == 3:\n            return x = = x\n"
)


def unreadable():
    """As root nothing is unreadable, so a copy of the tool runs as somebody else there."""
    with folder({"a/m.py": model(), "b.py": b"x = 1\n"}) as d:
        os.chmod(d, 0o755)
        tool = shutil.copy(TOOL, d)
        nobody = (lambda: os.setuid(65534)) if os.getuid() == 0 else None
        os.chmod(os.path.join(d, "a"), 0)
        try:
            p = subprocess.run((tool,) + JSON, cwd=d, stdout=-1, stderr=-1, preexec_fn=nobody)
        finally:
            os.chmod(os.path.join(d, "a"), 0o755)
        same("exit status", p.returncode, 2)
        found = json.loads(p.stdout)
        same("failed", [f["path"] for f in found["files"]["failed"]], ["a"])


def fifo():
    with folder({"b.py": b"x = 1\n"}) as d:
        os.mkfifo(os.path.join(d, "p.py"))
        found = report(d, "p.py", status=2)
        want = [{"path": "p.py", "reason": "not a regular file"}]
        same("skipped", found["files"]["skipped"], want)
        report(d, ".", status=0)


def large():
    with folder({"big.py": b"#" * ((4 << 20) + 1)}) as d:
        report(d, "big.py", status=2)
        report(d, ".", status=0)


def not_text(data, reason):
    with folder({"m.py": data}) as d:
        found = report(d, ".", status=0)
        same("skipped", found["files"]["skipped"], [{"path": "m.py", "reason": reason}])
        report(d, "m.py", status=2)
        same("standard input", run(("check", "-"), d, stdin=data).returncode, 2)


def comments():
    with folder({"m.py": model() + b"# c\n" * 70000}) as d:
        reason = "more than 8192 comment lines in a row"
        failed = report(d, ".", status=2)["files"]["failed"]
        same("failed", failed, [{"path": "m.py", "reason": reason}])


def links():
    files = {"real/m.py": b"x = 1\n", "docs/a.txt": b"", "outside/deep/er/m.py": b"x = 1\n"}
    with folder(files) as d:
        os.mkdir(os.path.join(d, "scanned"))
        for name, to in (("one", "../real"), ("two", "../docs"), ("three", "../outside")):
            os.symlink(to, os.path.join(d, "scanned", name))
        found = report(d, "scanned", status=0)["files"]["skipped"]
        same(
            "skipped",
            [(f["path"], f["reason"]) for f in found],
            [("scanned/" + n, "symbolic link to a folder") for n in ("one", "three")],
        )


def git(cwd, *args):
    env = dict(os.environ, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_SYSTEM=os.devnull)
    subprocess.run(("git", "-c", "safe.directory=*") + args, cwd=cwd, env=env, check=True)


def tracked_and_ignored():
    files = {
        ".gitignore": b"m.py\nout/\n",
        "m.py": model(),
        "out/t.py": model(),
        "out/u.py": model(),
        "sub/m.py": model(),
    }
    with folder(files) as d:
        git(d, "init", "-q")
        git(d, "add", "-f", ".gitignore", "m.py", "out/t.py")
        found = report(d, ".", status=1)
        same("paths", sorted({p for p, _ in places(found)}), ["m.py", "out/t.py"])


def foreign_repository():
    """Ignore rules hold in a repository of another user too."""
    with folder({".gitignore": b"m.py\n", "m.py": model(), "n.py": b"x = 1\n"}) as d:
        git(d, "init", "-q")
        for base, dirs, names in os.walk(d):
            for name in dirs + names + ["."]:
                os.lchown(os.path.join(base, name), 12345, 12345)
        same("findings", places(report(d, ".", status=0)), [])


def main():
    cases = Cases("cli")
    for name, (guard, extra) in GUARDS.items():
        cases.run("bound after " + name, bound, guard, extra)
    cases.run("inherited projections, folder", derived, ["."])
    cases.run("inherited projections, named", derived, ["child.py"])
    cases.run("inherited projections, some named", derived, ["grand.py", "child.py"])
    cases.run("error in the method", broken, BROKEN_GUARD, 2, True)
    cases.run("error in the constructor", broken, BROKEN_INIT, 2, True)
    cases.run("error in a helper", broken, BROKEN_HELPER, 2, True)
    cases.run("error elsewhere", broken, BROKEN_ELSEWHERE, 1, False)
    cases.run("error in another class", broken, BROKEN_OTHER_CLASS, 1, False)
    cases.run("error between definitions", broken, BROKEN_TOP, 1, False)
    cases.run("error between methods elsewhere", broken, BROKEN_OTHER_BODY, 1, False)
    cases.run("error in the head of the method", broken, BROKEN_HEAD, 2, True)
    cases.run("unreadable folder", unreadable)
    cases.run("named pipe", fifo)
    cases.run("large file", large)
    utf16 = model().decode().encode("utf-16")
    cases.run("UTF-16", not_text, utf16, "not text: UTF-16")
    cases.run("NUL bytes", not_text, model() + b"\0", "not text: it holds NUL bytes")
    cases.run("comments without end", comments)
    cases.run("link to a folder", links)
    cases.run("tracked although ignored", tracked_and_ignored)
    if os.getuid() == 0:
        cases.run("repository of another user", foreign_repository)
    else:
        cases.skip("repository of another user", "needs root")
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
