"""Takes the C program out of a page: the pieces between ```c and ```, in a file example.c."""
import re
import sys

page, folder = sys.argv[1:]
pieces = re.findall(r"^```c\n(.*?)^```", open(page, encoding="utf-8").read(), re.MULTILINE | re.DOTALL)
assert len(pieces) == 1, len(pieces)
with open(folder + "/example.c", "w", encoding="utf-8") as file:
    file.write(pieces[0])
