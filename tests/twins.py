"""Copies of a source that mean the same: other line ends, a byte order mark, tabs, no final newline."""

import ast
import re

from tool import need, same, same_tree


def crlf(data):
    return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def bom(data):
    return b"\xef\xbb\xbf" + data


def tabs(data):
    return re.sub(rb"(?m)^(?:    )+", lambda m: b"\t" * (len(m.group()) // 4), data)


def no_final_newline(data):
    return data[:-1] if data.endswith(b"\n") else data


TWINS = {"": bytes, "crlf": crlf, "bom": bom, "tabs": tabs, "no-final-newline": no_final_newline}


def equivalent(twin, got, want):
    """Byte for byte; with tabs the same program, every line of it indented with tabs."""
    if twin != "tabs" or got == want:
        same_tree("fixed text", got, want)
        return
    same("files after the fix", sorted(got), sorted(want))
    for path in got:
        need(
            ast.dump(ast.parse(got[path])) == ast.dump(ast.parse(want[path])),
            path + ": another program",
        )
        need(
            not re.search(rb"(?m)^\t* +\S", got[path]),
            path + ": spaces in the indentation of a file with tabs",
        )
