"""Rows of `tbemc measure --json` from stdin: on which cards they ran, and that none is lost.

usage: cards.py ROWS CARDS: so many rows in all, on so many of the machine's first cards
"""
import json
import sys

rows = [row for row in map(json.loads, sys.stdin) if row["kind"] == "measure"]
wanted, count = map(int, sys.argv[1:])
assert len(rows) == wanted, f"{len(rows)} rows"
assert all(row["status"] == "ok" for row in rows), [row["reason"] for row in rows]
on = {backend: {row["card"] for row in rows if row["backend"] == backend} for backend in ("cuda", "ref")}
assert on["ref"] <= {None}, on
assert on["cuda"] == {f"GPU-7465626d-0000-0000-0000-{number:012d}" for number in range(count)}, on
print(f"ok: {wanted} rows on {count} cards")
