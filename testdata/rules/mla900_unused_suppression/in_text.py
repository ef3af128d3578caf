"""What looks like a suppression in a string is none: # mlalint: ignore[MLA001]"""

NOTE = "# mlalint: ignore[MLA001]"  # expect: none
