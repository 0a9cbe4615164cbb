"""Every row of many_rows.tbem against the closed form of two dense layers without what lies between them."""
import json
import sys

rows = [json.loads(line) for line in sys.stdin]
for at, row in enumerate(rows):
    b, w = row["levels"]["batch"], row["levels"]["width"]
    dense = row["flops"]["by_operator"]["dense"]
    kinds = {"weights": 4 * (784 * w + w + 10 * w + 10), "input": 4 * 784 * b, "activations": 4 * b * (w + 10)}
    expected = {
        "row": at,
        "parameters": 784 * w + w + 10 * w + 10,
        "forward": 2 * b * w * 784 + b * w + 2 * b * 10 * w + b * 10,
        "macs": 2 * b * w * 784 + 2 * b * 10 * w,
        "static": sum(kinds.values()),
        "kinds": kinds,
        "device": None,
        "arena": None,
    }
    found = {
        "row": row["row"],
        "parameters": row["parameters"],
        "forward": row["flops"]["forward"],
        "macs": dense["mac_flops_forward"],
        "static": row["memory"]["static"],
        "kinds": {kind: bytes for kind, bytes in row["memory"]["kinds"].items() if bytes},
        "device": row["device"],
        "arena": row["memory"]["arena"],
    }
    if found != expected:
        sys.exit(f"row {at}: {found}, not {expected}")
print(f"{len(rows)} rows as expected")
