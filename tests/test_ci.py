#!/usr/bin/env python3
"""The steps of action.yml run as a script, and the pre-commit hooks from a local clone of this repository."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from tool import ROOT, TOOL, Cases, need, same, text

try:
    import yaml
except ImportError:
    yaml = None

GUARDED = os.path.join(ROOT, "testdata", "sample", "latentlm", "models")
VENV = os.path.join(ROOT, "build", "ci-venv")
UNREACHABLE = re.compile(
    "No matching distribution|Could not find a version|NewConnectionError|timed out|Temporary failure"
)
# Nothing of the caller's git or make reaches a step.
CLEAN = {k: v for k, v in os.environ.items() if not re.match("GIT_|MAKE|MFLAGS|MLALINT_", k)}
CLEAN.update(GIT_CONFIG_GLOBAL=os.devnull, GIT_AUTHOR_NAME="A", GIT_AUTHOR_EMAIL="a@b")
CLEAN.update(GIT_COMMITTER_NAME="A", GIT_COMMITTER_EMAIL="a@b")


def git(cwd, *args):
    p = subprocess.run(["git"] + list(args), cwd=cwd, env=CLEAN, stdout=-1, stderr=-1)
    same("git %s: %s" % (" ".join(args), text(p.stderr)), p.returncode, 0)
    return text(p.stdout)


def repository(folder, guarded=True):
    """A repository with a clean commit and, when asked, one more that brings the defect."""
    os.makedirs(folder)
    git(folder, "init", "-q", "-b", "main")
    with open(os.path.join(folder, "plain.py"), "w") as f:
        f.write("x = 1\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "plain")
    if guarded:
        shutil.copytree(GUARDED, os.path.join(folder, "models"))
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "models")


def action():
    with open(os.path.join(ROOT, "action.yml")) as f:
        return yaml.safe_load(f)


def steps(folder, given, where=ROOT):
    """The shell steps with inputs as GitHub gives them: status of the last, all output, outputs."""
    described = action()
    inputs = {k: v["default"] for k, v in described["inputs"].items()}
    need(set(given) <= set(inputs), "an input that action.yml does not have")
    inputs.update(given)

    def filled(value):
        return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda m: inputs[m.group(1)], value)

    output, said = os.path.join(folder, ".git", "github-output"), ""
    open(output, "w").close()
    for step in described["runs"]["steps"]:
        if "run" not in step or (step["name"] == "Build" and inputs["program"]):
            continue
        env = dict(CLEAN, GITHUB_ACTION_PATH=where, GITHUB_OUTPUT=output)
        env.update({k: filled(v) for k, v in step.get("env", {}).items()})
        need("${{" not in step["run"], "an expression pasted into a script")
        cwd = os.path.join(folder, filled(step.get("working-directory", ".")))
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        p = subprocess.run(shell, cwd=cwd, env=env, stdout=-1, stderr=-2, timeout=900)
        said += text(p.stdout)
        if p.returncode:
            break
    with open(output) as f:
        return p.returncode, said, dict(line.rstrip("\n").split("=", 1) for line in f)


def expect(given, status, annotations, folder_is_guarded=True, own=None):
    with tempfile.TemporaryDirectory(prefix="with space ") as d:
        folder = os.path.join(d, "r")
        repository(folder, folder_is_guarded)
        got, said, outputs = steps(folder, dict({"program": TOOL}, **given))
        same("status: " + said, got, status)
        same("annotations", bool(re.search("^::(error|warning|notice) (.*,)?file=", said, re.M)), annotations)
        if own is not None:
            same("output status", outputs.get("status"), own)
        if "sarif" in outputs:
            with open(outputs["sarif"]) as f:
                found = json.load(f)["runs"][0]["results"]
            same("results", bool(found), annotations)
        return outputs, said


def findings():
    outputs, _ = expect({}, 1, True, own="1")
    need("sarif" in outputs, "no SARIF report")


def nothing_found():
    outputs, _ = expect({}, 0, False, folder_is_guarded=False, own="0")
    need("sarif" in outputs, "no SARIF report")


def injection():
    """Text of an input is never run, and no pattern in it is taken as an option of the shell."""
    _, said = expect({"paths": "$(touch${IFS}pwned);`id`"}, 2, False)
    need("uid=" not in said, "an input was run")


def own_build():
    """The build step of the action, on this checkout; then the program that it made."""
    with tempfile.TemporaryDirectory() as d:
        repository(os.path.join(d, "r"))
        got, said, outputs = steps(os.path.join(d, "r"), {})
        same("status: " + said[-600:], (got, outputs.get("status")), (1, "1"))


def environment():
    """build/ci-venv with pre-commit. None when it is there, else the word and why not."""
    python = os.path.join(VENV, "bin", "python")
    if not os.path.exists(python):
        p = subprocess.run([sys.executable, "-m", "venv", VENV], stdout=-1, stderr=-2)
        if p.returncode:
            shutil.rmtree(VENV, ignore_errors=True)
            return "skip", "python3 -m venv: " + text(p.stdout).strip()
    if os.path.exists(os.path.join(VENV, "bin", "pre-commit")):
        return None
    command = [python, "-m", "pip", "install", "-q", "--no-input", "--retries=2", "pre-commit"]
    p = subprocess.run(command, stdout=-1, stderr=-2)
    if p.returncode == 0:
        return None
    said = text(p.stdout).strip()
    if UNREACHABLE.search(said):
        return "skip", "no package index could be reached"
    return "not ok", "pip install: " + said[-300:]


def hooks(d):
    """Both hooks from a clone, built there on first use."""
    clone, folder = os.path.join(d, "clone"), os.path.join(d, "r")
    git(d, "clone", "-q", ROOT, clone)
    repository(folder)
    rev = git(clone, "rev-parse", "HEAD").strip()
    # -O0: what is tested is that it builds and runs, not how fast.
    env = dict(CLEAN, PRE_COMMIT_HOME=os.path.join(d, "home"), CFLAGS="-O0")
    if shutil.which("ccache"):
        env["CC"] = "ccache cc"

    def hook(name, *args):
        with open(os.path.join(folder, ".pre-commit-config.yaml"), "w") as f:
            f.write("repos:\n- repo: %s\n  rev: %s\n  hooks: [{id: %s}]\n" % (clone, rev, name))
        git(folder, "add", ".pre-commit-config.yaml")
        command = [os.path.join(VENV, "bin", "pre-commit"), "run", "--color=never"] + list(args)
        p = subprocess.run(command, cwd=folder, env=env, stdout=-1, stderr=-2, timeout=900)
        return p.returncode, text(p.stdout)

    status, said = hook("mlalint", "--all-files")
    need(status == 1 and "exit code: 1" in said and "MLA001" in said, "findings: " + said[-600:])
    status, said = hook("mlalint", "--files", "plain.py")
    need(status == 0 and "Passed" in said, "a clean file: " + said[-600:])
    status, said = hook("mlalint-fix", "--all-files")
    need("files were modified by this hook" in said, "fixes: " + said[-600:])
    need(git(folder, "diff", "--name-only").startswith("models/"), "no fix in the work tree")


def main():
    cases = Cases("ci")
    if yaml is None:
        cases.skip("steps of action.yml", "PyYAML is not installed")
    else:
        cases.run("findings", findings)
        cases.run("nothing found", nothing_found)
        cases.run("fail-on no-verdict", expect, {"fail-on": "no-verdict"}, 0, True, True, "1")
        cases.run("no verdict fails all the same", expect, {"fail-on": "no-verdict", "paths": "gone"}, 2, False)
        cases.run("unknown fail-on", expect, {"fail-on": "never"}, 2, False)
        cases.run("two paths", expect, {"paths": "plain.py models"}, 1, True, True, "1")
        cases.run("arguments", expect, {"args": "--ignore MLA"}, 0, False, True, "0")
        cases.run("diff base, new", expect, {"diff-base": "HEAD~1"}, 1, True, True, "1")
        cases.run("diff base, nothing new", expect, {"diff-base": "HEAD"}, 0, False, True, "0")
        cases.run("working directory", expect, {"working-directory": "models"}, 1, True, True, "1")
        cases.run("inputs are not run", injection)
        cases.run("builds its own checkout", own_build)
    trouble = environment()
    if trouble:
        print("%s ci pre-commit: %s" % trouble)
        cases.failed += trouble[0] != "skip"
    else:
        with tempfile.TemporaryDirectory() as d:
            cases.run("pre-commit from a local clone", hooks, d)
    return cases.status()


if __name__ == "__main__":
    sys.exit(main())
