# mlalint: ignore-file[MLA001] nothing is found here  # expect: MLA900 comment
"""A suppression of the whole file that suppresses nothing."""

WIDTH = 1
