"""Runs the Python of a page, its pieces one after the other, and holds what they print against what the page says they print:
the comment behind a `print`."""
import contextlib
import io
import re
import sys

pieces = re.findall(r"^```python\n(.*?)^```", open(sys.argv[1], encoding="utf-8").read(), re.MULTILINE | re.DOTALL)
names = {}
for piece in pieces:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(piece, sys.argv[1], "exec"), names)  # pylint: disable=exec-used
    wanted = re.findall(r"print\(.*\)  # (.*)$", piece, re.MULTILINE)
    lines = printed.getvalue().splitlines()
    if lines != wanted:
        sys.exit(f"printed {lines}\nthe page says {wanted}")
assert len(pieces) >= 3, len(pieces)
print(len(pieces), "pieces of Python ran")
