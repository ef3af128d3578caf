#!/usr/bin/env python3
"""Runs real attention classes in real MLX with the numbers of a replay. Called by upstream.py.

Reads lines `ROOT FIXED PATH` (the stock tree, the patched one, a file in both) from standard input.
For widths 1, 3 and 8 at 0 and 64 cached positions it compares the replay with the stock class (f32,
relative 1e-5), and the patched class with the stock one (1e-4, identical at one query). Prints an
`ok` or `not ok` line for each file.
Needs mlx, numpy and pillow; the package itself is not installed: its files are imported from ROOT.
usage: upstream_mlx.py EXPORT
"""

import importlib
import inspect
import json
import os
import subprocess
import sys
import tempfile
import types

import mlx.core as mx

sys.dont_write_bytecode = True
WIDTHS, CACHED = (1, 3, 8), (0, 64)
TOPK = (0, 16)  # of a sparse model: no row dropped; rows dropped at 64 cached positions


def forget():
    for name in [n for n in sys.modules if n.split(".")[0].startswith("mlx_")]:
        del sys.modules[name]


def load(root, path, roots):
    """The module of a file, without running the __init__ of the packages above it."""
    forget()
    for other in roots:
        for base, dirs, _ in os.walk(other):
            dirs[:] = [d for d in dirs if not d.startswith(".")]
            name = os.path.relpath(base, other).replace(os.sep, ".")
            if name != "." and name not in sys.modules:
                package = types.ModuleType(name)
                package.__path__ = [base]
                sys.modules[name] = package
    return importlib.import_module(path[:-3].replace("/", "."))


def config_of(cls, fields):
    """The argument of the constructor: its annotated config class, from the replay's fields."""
    parameter = list(inspect.signature(cls.__init__).parameters.values())[1]
    known = inspect.signature(parameter.annotation).parameters
    return parameter.annotation(**{k: v for k, v in fields.items() if k in known})


def arguments(cls, config):
    """Further parameters without a default are layer indices."""
    rest = list(inspect.signature(cls.__init__).parameters.values())[2:]
    return [config] + [0 for p in rest if p.default is p.empty]


def set_weights(layer, tensors):
    own = {k[8:]: v for k, v in tensors.items() if k.startswith("weights.")}
    layer.load_weights(list(own.items()), strict=False)
    flat = dict(mlx_flatten(layer.parameters()))
    missing = sorted(set(flat) - set(own))
    if missing or set(own) - set(flat):
        raise ValueError("weights differ: %s, %s" % (missing, sorted(set(own) - set(flat))))


def mlx_flatten(tree, prefix=""):
    for k, v in tree.items():
        if isinstance(v, dict):
            yield from mlx_flatten(v, prefix + k + ".")
        else:
            yield prefix + k, v


def make_cache(module, rows, cached):
    caches = importlib.import_module("mlx_lm.models.cache")
    made = []
    for i in range(0, len(rows), 2):
        one = caches.KVCache()
        if cached:
            one.update_and_fetch(rows[i], rows[i + 1])
        made.append(one)
    return made[0] if len(made) == 1 else caches.CacheList(*made)


def call(module, symbol, fields, tensors, cached):
    cls = getattr(module, symbol.split(".")[0])
    layer = cls(*arguments(cls, config_of(cls, fields)))
    set_weights(layer, tensors)
    rows = [tensors["rows.%d" % i] for i in range(sum(k.startswith("rows.") for k in tensors))]
    mask = tensors["mask"].astype(mx.bool_) if "mask" in tensors else None
    out = layer(tensors["x"], mask, make_cache(module, rows, cached))
    out = out[0] if isinstance(out, tuple) else out
    mx.eval(out)
    return out


def relative(a, b):
    return (mx.abs(a - b).max() / mx.abs(b).max()).item()


def one(worst, export, root, fixed, path, roots, width, cached, topk):
    """False: the method has no top-k to choose."""
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as f:
        command = [export, root, path, f.name, str(width), str(cached), str(topk)]
        p = subprocess.run(command, stdout=-1, stderr=-1)
        if p.returncode:
            raise ValueError("replay: " + p.stderr.decode("utf-8", "replace").strip())
        said, tensors = json.loads(p.stdout), mx.load(f.name)
        mx.eval(tensors)
    fields = said["config"]
    if topk and "index_topk" not in fields:
        return False
    stock, patched = (
        call(load(r, path, [r] + roots), said["symbol"], fields, tensors, cached)
        for r in (root, fixed)
    )
    worst["replay"] = max(worst["replay"], relative(tensors["out"], stock))
    worst["patched"] = max(worst["patched"], relative(patched, stock))
    if width == 1 and not mx.array_equal(stock, patched):
        raise ValueError("width 1, %d cached: stock and patched differ" % cached)
    return True


def compare(export, root, fixed, path, roots):
    worst = {"replay": 0, "patched": 0}
    for topk in TOPK:
        for width in WIDTHS:
            for cached in CACHED:
                if not one(worst, export, root, fixed, path, roots, width, cached, topk):
                    return worst
    return worst


def main():
    lines = [line.split() for line in sys.stdin.read().splitlines()]
    roots = sorted({line[0] for line in lines})
    for root, fixed, path in lines:
        name = "%s in real MLX" % path
        try:
            worst = compare(sys.argv[1], root, fixed, path, roots)
            if not worst["replay"] <= 1e-5 or not worst["patched"] <= 1e-4:
                raise ValueError("relative difference: %r" % worst)
        except Exception as e:
            print("not ok upstream %s: %s: %s" % (name, type(e).__name__, e))
            continue
        print("ok upstream %s (%.1e; patched %.1e)" % (name, worst["replay"], worst["patched"]))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
