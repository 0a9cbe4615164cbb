"""Checks the rows of where_process.tbem's designs (CSV on standard input) with the conditions written anew."""
import csv
import itertools
import sys

rows = [tuple(int(cell) for cell in row) for row in list(csv.reader(sys.stdin))[1:]]
if sys.argv[1] == "fits":
    every = itertools.product((7, 8, 9, 11), (1, 2, 3, 9), (1, 2, 3))
    wanted = [r for r in every if r[1] <= r[0] and (r[0] - r[1]) % r[2] == 0]
else:
    wanted = [r for r in itertools.product(range(1, 7), (1, 2)) if r[0] % 2 == 0 or r[1] == 2]
assert sorted(rows) == sorted(wanted), (rows, wanted)
