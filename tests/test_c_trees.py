#!/usr/bin/env python3
"""Decisions of C that are spread over files: trees of testdata/c_trees, fixed as a whole.

`expect: CODE role` or `expect: kept reason` stands at the end of the line of a finding. NAME.fixed
is what the fixes make of the tree NAME, whether --fix writes them, --diff prints them, or the edits
of the JSON report are made; a tree without it has no fix. What compiled before compiles after.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import ROOT, TOOL, Cases, Failure, edits_by_path, git_apply, need, run, same
from tool import same_tree, spliced, text, tree, write_tree

TREES = os.path.join(ROOT, "testdata", "c_trees")
COMPILERS = {"c": ("gcc", "-std=gnu11"), "cpp": ("g++", "-std=c++17")}


def expected(files):
    for path in sorted(files):
        for number, line in enumerate(text(files[path]).splitlines(), 1):
            for code, role in re.findall(r"expect: (\S+) (\S+)", line):
                yield path, number, code, role


def compiles(folder):
    folders = {os.path.dirname(path) for path in tree(folder)}
    folders |= {os.path.dirname(f) for f in folders} - {""}
    includes = ["-I" + f for f in sorted(folders) if f]
    for path in sorted(tree(folder)):
        command = COMPILERS.get(path.rsplit(".", 1)[-1])
        if not command or not shutil.which(command[0]):
            continue
        p = subprocess.run(
            [*command, *includes, "-fsyntax-only", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", path],
            cwd=folder,
            stdout=-1,
            stderr=-1,
        )
        same("compiler on " + path, (p.returncode, text(p.stderr)), (0, ""))


def fixes(name):
    before = want = tree(os.path.join(TREES, name))
    if os.path.exists(os.path.join(TREES, name + ".fixed")):
        want = tree(os.path.join(TREES, name + ".fixed"))
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, before)
        compiles(folder)
        args = ("check", "--show-kept", "--output-format", "json", ".")
        report = json.loads(run(args, folder, 1).stdout)
        rows = [(f["path"], f["line"], f["code"], f["role"]) for f in report["findings"]]
        rows += [(k["path"], k["line"], "kept", k["reason"]) for k in report["kept"]]
        same("findings", sorted(rows), sorted(expected(before)))
        edits = edits_by_path(report)
        made = {p: spliced(before[p], edits.get(p, ())) for p in before}
        same_tree("edits of the report", made, want)
        diff = run(("check", "--diff", "--unsafe-fixes", "."), folder).stdout
        run(("check", "--fix", "--unsafe-fixes", "."), folder)
        same_tree("fixed", tree(folder), want)
        compiles(folder)
        run(("check", "--fix", "--unsafe-fixes", "."), folder)
        same_tree("fixed twice", tree(folder), want)
        write_tree(folder, before)
        if want != before:
            git_apply(folder, diff)
        same_tree("diff", tree(folder), want)


def each_alone(name):
    """The fix of one finding is whole without those of the others."""
    before = tree(os.path.join(TREES, name))
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, before)
        report = json.loads(run(("check", "--output-format", "json", "."), folder, 1).stdout)
        for finding in report["findings"]:
            edits = edits_by_path({"findings": [finding]})
            write_tree(folder, {p: spliced(before[p], edits.get(p, ())) for p in before})
            compiles(folder)


DRIVER = """
#include "src/context.h"
#include <stdio.h>
static int absorbed;
void absorb_query(float *q) { (void)q; absorbed = 1; }
void attend_latent(float *q) { (void)q; }
void project_latent(float *out) { (void)out; }
void expand_latent(const float *cache) { (void)cache; absorbed = 0; }
void attend_full(const float *q, float *out) { (void)q; (void)out; }
void attention(const struct context *c, float *q, const float *cache, float *out, int n_tokens);
void draft_attention(const struct context *c, float *q, const float *cache, float *out, int n_tokens);
void other_attention(const struct context *c, float *q, const float *cache, float *out, int n_tokens);
int graph_nodes(const struct context *c, int n_tokens);
int main(void)
{
    struct context c = {{2, 256, 64, 64}, {2}};
    int most[4] = {0, 0, 0, 0};
    for (int n = 1; n <= 300; n++) {
        attention(&c, 0, 0, 0, n);
        most[0] += absorbed;
        draft_attention(&c, 0, 0, 0, n);
        most[1] += absorbed;
        other_attention(&c, 0, 0, 0, n);
        most[2] += absorbed;
        most[3] += graph_nodes(&c, n) == 64;
    }
    printf("%d %d %d %d\\n", most[0], most[1], most[2], most[3]);
    return 0;
}
"""


def copies_move_together():
    """256/64/64: floor(256 * 128 / (512 - 128)) = 85 for both copies, the draft and the mirror."""
    if not shutil.which("gcc"):
        return
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, tree(os.path.join(TREES, "shared_header")))
        run(("check", "--fix", "--unsafe-fixes", "."), folder)
        write_tree(folder, {"driver.c": DRIVER.encode()})
        sources = ["driver.c", "src/attention.c", "src/other.c", "src/budget.c"]
        p = subprocess.run(["gcc", "-o", "driver", *sources], cwd=folder, stderr=-1)
        need(p.returncode == 0, text(p.stderr)[:300])
        p = subprocess.run(["./driver"], cwd=folder, stdout=-1)
        same("most queries absorbed", text(p.stdout).split(), ["85"] * 4)


def from_above():
    """Headers are those of the project that a file is in, wherever the scan begins."""
    with tempfile.TemporaryDirectory() as folder:
        inside = os.path.join(folder, "clones", "shared_header")
        files = tree(os.path.join(TREES, "shared_header"))
        context = files["src/context.h"].replace(b"../include/model.h", b"model.h")
        need(context != files["src/context.h"], "the header is included by another name")
        write_tree(inside, {**files, "src/context.h": context})
        found = []
        for where, path in ((inside, "src"), (folder, "clones/shared_header/src"), (folder, ".")):
            report = json.loads(run(("check", "--output-format", "json", path), where, 1).stdout)
            found.append([(os.path.basename(f["path"]), f["line"], f["code"]) for f in report["findings"]])
        need(found[0], "nothing found")
        same("from above", found[1:], [found[0]] * 2)


def no_cached_length():
    """A rank of the cache is not its length: nothing is in scope for that form."""
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, tree(os.path.join(TREES, "shared_header")))
        p = run(("check", "--threshold", "cache-length", "src/attention.c"), folder, 1)
        why = "no fix: the cached length is not in scope at the test (line 24)"
        need(why in text(p.stdout), "not said: " + text(p.stdout))


HEADER = b"struct sizes { int rank, nope, vdim; };\n"
SOURCE = b"""#include "inner/sizes.h"
void absorb_query(float *q);
void project_latent(float *out);
void expand_latent(const float *cache);
void head(const struct sizes *s, float *q, const float *cache, float *out, int n_tokens)
{
    if (n_tokens == 1) {
        absorb_query(q);
        project_latent(out);
    } else {
        expand_latent(cache);
    }
}
"""


def found_header(header, path):
    """The sizes are known only where the header is found."""
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, {header: HEADER, "src/head.c": SOURCE})
        report = json.loads(run(("check", "--output-format", "json", path), folder, 1).stdout)
        same("fix", [bool(f["fix"] and f["fix"]["files"]) for f in report["findings"]], [True])


def header_above_root():
    """Only `src` of a project is looked at, from elsewhere."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as elsewhere:
        write_tree(folder, {"include/inner/sizes.h": HEADER, "src/head.c": SOURCE})
        args = ("check", "--output-format", "json", os.path.join(folder, "src"))
        report = json.loads(run(args, elsewhere, 1).stdout)
        same("fix", [bool(f["fix"] and f["fix"]["files"]) for f in report["findings"]], [True])


def file_of_a_gather():
    """The reason against a fix names the file that gathers."""
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, tree(os.path.join(TREES, "gather_elsewhere")))
        p = run(("check", "."), folder, 1)
        why = "gathers one query's top-k rows and absorbs (few.cpp, line 9)"
        need(why in text(p.stdout), "not said: " + text(p.stdout))


def chosen_rows():
    """Where the absorbed arm may attend to top-k rows, the message says what that means."""
    said = "with a sparse top-k the absorbed arm attends to fewer rows, and the limit is higher there"
    for name, want in (("gather_of_one_query", [True, False]), ("long_enough", [False, False])):
        with tempfile.TemporaryDirectory() as folder:
            write_tree(folder, tree(os.path.join(TREES, name)))
            report = json.loads(run(("check", "--output-format", "json", "."), folder, 1).stdout)
            same(name, [said in f["message"] for f in report["findings"]], want)


def rest_of_a_decision():
    """Copies, mirrors and the limit of the cached length, for every finding and in each format."""
    want = {
        ("build", 21): [(27, "mirror"), (11, "cached-length")],
        ("nodes", 27): [(21, "select"), (11, "cached-length")],
    }
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, tree(os.path.join(TREES, "long_enough")))
        report = json.loads(run(("check", "--output-format", "json", "."), folder, 1).stdout)
        got = {
            (f["symbol"], f["line"]): [(r["line"], r["role"]) for r in f["related"]]
            for f in report["findings"]
        }
        same("related", got, want)
        sarif = json.loads(run(("check", "--output-format", "sarif", "."), folder, 1).stdout)
        got = [
            [
                (r["physicalLocation"]["region"]["startLine"], r["message"]["text"])
                for r in result["relatedLocations"]
            ]
            for result in sarif["runs"][0]["results"]
        ]
        same("related locations", sorted(got), sorted(want.values()))
        lines = text(run(("check", "."), folder, 1).stdout).splitlines()
        told = "= with cached-length in graph.cpp:11: n_kv >= enough"
        same("lines about the length", sum(told in line for line in lines), 2)


def given_sizes():
    """The number in a message is that of the sizes that the user names."""
    with tempfile.TemporaryDirectory() as folder:
        write_tree(folder, tree(os.path.join(TREES, "long_enough")))
        write_tree(folder, {"config.json": CONFIG})
        for args, said in (
            (("--geometry", "256/64/64/64"), "up to 85 queries (r=256 n=64 v=64, --geometry)"),
            (("--model-config", "config.json"), "up to 398 queries (r=512 n=192 v=256, --model-"),
        ):
            p = run(("check",) + args + (".",), folder, 1)
            need(said in text(p.stdout), "not said: %s: %s" % (said, text(p.stdout)))
        args = ("check", "--geometry", "64/64/64/64", ".")
        need("threshold is 1" in text(run(args, folder, 1).stdout), "a fix that changes nothing")


def every_rule_when_fixed():
    """Rules that run only when they are selected have nothing to say about a choice by the sizes."""
    for name in sorted(os.listdir(TREES)):
        if name.endswith(".fixed"):
            default = ("check", "--output-format", "concise", name)
            p = subprocess.run((TOOL,) + default, cwd=TREES, stdout=-1, stderr=-1)
            every = run(default + ("--select", "MLA"), TREES, p.returncode)
            same("findings of " + name, text(every.stdout), text(p.stdout))


CONFIG = b'''{"model_type": "x", "kv_lora_rank": 512, "qk_nope_head_dim": 192,
"qk_rope_head_dim": 64, "v_head_dim": 256}'''


def main():
    cases = Cases("c tree")
    cases.run("chosen rows", chosen_rows)
    cases.run("rest of a decision", rest_of_a_decision)
    cases.run("given sizes", given_sizes)
    cases.run("file of a gather", file_of_a_gather)
    cases.run("header of a component", found_header, "lib/include/inner/sizes.h", ".")
    cases.run("header among sources", found_header, "lib/src/inner/sizes.h", ".")
    cases.run("header above the root", header_above_root)
    for name in sorted(os.listdir(TREES)):
        if not name.endswith(".fixed"):
            cases.run(name, fixes, name)
            cases.run(name + ", each alone", each_alone, name)
    cases.run("copies move together", copies_move_together)
    cases.run("from above", from_above)
    cases.run("no cached length", no_cached_length)
    cases.run("every rule when fixed", every_rule_when_fixed)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
