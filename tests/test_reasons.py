#!/usr/bin/env python3
"""What a finding says of other places: the file of a line in a reason, a condition beside a test."""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_cli import CALL, HEAD, INIT, MAKER, fill, folder
from tool import Cases, need, run, text

ROWS = b"""import mlx.core as mx


def rows(latent, topk):
    return mx.take_along_axis(latent, topk, axis=2)
"""

HEIR = """
from base import Attention


class Gated(Attention):
    def finish(self, out, L):
        if L == 1:
            out = self.unembed_out(out)
        return out
"""

POOL = b"""import mlx.core as mx

from windows import Windows


class Pool(Windows):
    def pool(self, keys):
        b, t, d = keys.shape
        keys = mx.pad(keys, [(0, 0), (0, -t % self.window), (0, 0)])
        return keys.reshape(b, -1, self.window, d).mean(axis=2)

    def newest(self, keys, n):
        return keys[:, n:]

    def __call__(self, x, cache):
        B, S, _ = x.shape
        keys = cache.append(x)
        T = keys.shape[1]
        memo = getattr(cache, "pooled", None)
        if S == 1 and memo is not None and memo[1] == T - 1:
            tail = self.tail_of(memo[1], keys)
            stable = memo[1] // self.window
            pooled = mx.concatenate([memo[0][:, :stable], tail], axis=1)
        else:
            pooled = self.pool(keys)
        cache.pooled = (pooled, T)
        return pooled
"""

WINDOWS = b"""import mlx.core as mx
import mlx.nn as nn


class Windows(nn.Module):
    def __init__(self, window):
        super().__init__()
        self.window = window

    def tail_of(self, seen, keys):
        start = (seen + 1) // self.window * self.window
        return self.pool(keys[:, start:])
"""


def said(files, *words):
    with folder(files) as d:
        out = text(run(("check", "."), d, 1).stdout)
        for w in words:
            need(w in out, "no %r in %s" % (w, out))


def gather():
    call = CALL.replace("cache=None)", "cache=None, topk=None)")
    call = call.replace("k = v = latent", "k = v = rows(latent, topk)")
    model = fill(HEAD + "\nfrom rows import rows\n" + MAKER + INIT + call)
    said({"m.py": model, "rows.py": ROWS}, "absorbs (rows.py, line 5)")


def pool():
    said({"m.py": POOL, "windows.py": WINDOWS}, "`seen + 1` (windows.py, line 11)")


def base(select="L == 1"):
    """Its follow-up is a method, which an heir in another file has anew."""
    select = "        if @guard:\n            q = ", "        if %s:\n            q = " % select
    call = CALL.replace(*select)
    tail = call[call.rindex("        if @guard") : call.rindex("        return out")]
    call = call.replace(tail, "        out = self.finish(out, L)\n")
    method = "\n    def finish(self, out, L):\n" + tail + "        return out\n"
    return fill(HEAD + MAKER + INIT + call + method)


def suppressed():
    source = base("L == 1:  # mlalint: ignore[MLA001] so\n            pass\n        if L == 1")
    source = source.replace(b":  # mlalint: ignore[MLA001] so\n            pass\n        if L == 1:",
                            b":  # mlalint: ignore[MLA001] so")
    said({"base.py": source, "heir.py": fill(HEIR)}, "is suppressed (base.py, line ")


def comment():
    source = base("(\n            L  # rows\n            == 1\n        )")
    said({"base.py": source, "heir.py": fill(HEIR)}, "the comment in line 29 of base.py would be")


def short_cache():
    """Where many queries expand only while the cache is short, the message says how long."""
    guard = "L > 1 and latent.shape[2] <= 512"
    call = CALL.replace("@guard", "not (%s)" % guard)
    said({"m.py": fill(HEAD + MAKER + INIT + call)}, "and as long as `latent.shape[2] <= 512`, every")
    other = guard.replace("<=", ">=")
    with folder({"m.py": fill(HEAD + MAKER + INIT + call.replace(guard, other))}) as d:
        out = text(run(("check", "."), d, 1).stdout)
        need("every step" in out and "as long as" not in out, out)


def main():
    cases = Cases("reasons")
    for case in (gather, pool, suppressed, comment, short_cache):
        cases.run(case.__name__, case)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
