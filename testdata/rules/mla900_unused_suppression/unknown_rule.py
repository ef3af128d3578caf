"""Codes that are no rule, and a suppression that names none."""


def first(value):
    return value + 1  # mlalint: ignore[MLA777]  # expect: MLA900 comment


def second(value):
    return value + 2  # mlalint: ignore for ever  # expect: MLA900 comment
