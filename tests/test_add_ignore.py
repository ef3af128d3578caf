#!/usr/bin/env python3
"""check --add-ignore: on every fixture the program stays what it was, nothing is left to find, and
a second time changes nothing."""

import ast
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import ROOT, Cases, check, need, run, same, same_tree, text, tree, write_tree

RULES = os.path.join(ROOT, "testdata", "rules")
FIRST = os.path.join(RULES, "mla001_single_query_absorb")
ALL = ("--select", "ALL")

ONE_LINE = b"""import mlx.nn as nn
from mla import MultiLinear


class Attention(nn.Module):
    def __init__(self, r=512, n=128, v=128, heads=8):
        self.kv_lora_rank, self.qk_nope_head_dim, self.v_head_dim = r, n, v
        self.embed_q = MultiLinear(n, self.kv_lora_rank, heads)
        self.unembed_out = MultiLinear(self.kv_lora_rank, v, heads)

    def __call__(self, x, latent, q, cache=None, mask=None):
        B, L, _ = x.shape
        latent, _ = cache.update_and_fetch(latent, latent)
        text = '''
        ''' if x is None else ""; short = L == 1  # a remark
        if cache is None:
            return q
        elif short: q = self.embed_q(q); k = v = latent
        else: k, v = self.embed_q(latent, transpose=False), self.unembed_out(latent)
        out = nn.scaled_dot_product_attention(q, k, v, mask=mask)
        return (
            self.unembed_out(out)
            if L == 1
            else out
        )
"""


def crlf(data):
    return data.replace(b"\n", b"\r\n")


def program(files):
    return {p: ast.dump(ast.parse(d)) for p, d in files.items()}


def add(files, transform):
    files = {p: transform(d) for p, d in files.items()}
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, files)
        before = check(folder, *ALL)["findings"]
        p = run(("check", *ALL, "--add-ignore", "as it is", "."), folder)
        after = tree(folder)
        same("program", program(after), program(files))
        left = [f for f in check(folder, *ALL)["findings"] if f["code"] != "MLA900"]
        same("findings left (%s)" % text(p.stderr), left, [])
        same("changed", after != files, any(f["code"] != "MLA900" for f in before))
        for path, data in after.items():
            lone = data.replace(b"\r\n", b"").count(b"\n")
            need(transform is not crlf or not lone, path + ": a line end of another kind")
        run(("check", *ALL, "--add-ignore", "another reason", "."), folder)
        same_tree("a second time", tree(folder), after)
        return after


def fixtures(rule, transform):
    folder, files = os.path.join(RULES, rule), {}
    for path, data in tree(folder).items():
        if path.endswith(".py") and ".fixed" not in path:
            files[path] = data
    for name in ("base.py", "mla.py"):
        with open(os.path.join(FIRST, name), "rb") as f:
            files.setdefault(name, f.read())
    add(files, transform)


def one_line():
    mla = b"class MultiLinear:\n    def __init__(self, n, r, heads):\n        pass\n"
    after = add({"model.py": ONE_LINE, "mla.py": mla}, bytes)["model.py"]
    # The select begins no line; the function around it is the next statement that does, and what
    # covers it covers the follow-up too.
    need(b"    # mlalint: ignore[MLA001] as it is\n    def __call__" in after, "no comment above the method")


def taken_by_the_comment_there():
    path = os.path.join(FIRST, "equal.py")
    with open(path, "rb") as f:
        source = f.read()
    line = next(x for x in source.split(b"\n") if x.lstrip().startswith(b"if L == 1:"))
    has = line.split(b":")[0] + b":  # mlalint: ignore[MLA900] known"
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, {"equal.py": source.replace(line, has)})
        run(("check", "--ignore", "MLA900", "--add-ignore", "as it is", "."), folder, 0)
        after = tree(folder)["equal.py"]
    same("comments", after.count(b"ignore[MLA900, MLA001] known"), source.count(line))


def refused(args, word):
    with tempfile.TemporaryDirectory() as folder:
        p = run(("check",) + args, folder, 2)
        need(word in text(p.stderr), text(p.stderr))


def main():
    cases = Cases("add-ignore")
    for rule in sorted(os.listdir(RULES)):
        cases.run(rule, fixtures, rule, bytes)
        cases.run(rule + " crlf", fixtures, rule, crlf)
    cases.run("several statements on a line", one_line)
    cases.run("a comment that is there", taken_by_the_comment_there)
    cases.run("two lines of reason", refused, ("--add-ignore", "a\nb"), "one line")
    cases.run("no reason", refused, ("--add-ignore", " "), "empty")
    cases.run("with --fix", refused, ("--add-ignore", "a", "--fix"), "neither")
    cases.run("standard input", refused, ("--add-ignore", "a", "-"), "standard input")
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
