"""Suppressions that suppress nothing, on a line with code and alone."""

import os


def first(path):
    name = os.path.basename(path)  # mlalint: ignore[MLA001] was here once  # expect: MLA900 comment
    return name


def second(path):
    # a remark that stays
    # mlalint: ignore[single-query-absorb] long gone  # expect: MLA900 comment
    return os.path.dirname(path)
