#!/usr/bin/env python3
"""What the command line promises about files: which are looked at, what is said about those that are
not, and what is written where. Every case makes its own folder."""

import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import Cases, need, run, same, text, write_tree

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
        "middle.py": b"from child import Child as Base\n\n\nclass Middle(\n    Base\n):\n    pass\n",
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


def main():
    cases = Cases("cli")
    for name, (guard, extra) in GUARDS.items():
        cases.run("bound after " + name, bound, guard, extra)
    cases.run("inherited projections, folder", derived, ["."])
    cases.run("inherited projections, named", derived, ["child.py"])
    cases.run("inherited projections, some named", derived, ["grand.py", "child.py"])
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
