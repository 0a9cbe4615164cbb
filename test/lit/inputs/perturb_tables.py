#!/usr/bin/env python3
"""The tables of cost and of change in what `tbemc perturb` printed: perturb_tables.py FILE."""
import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
tables = re.findall(r"^\S+: (?:what an example costs|how examples changed)\n(?:.+\n)+", text, re.MULTILINE)
if not tables:
    sys.exit("there is no table")
print("\n".join(tables))
