"""A program under test: sofl_program.py [FAULT], one case of sofl.tbem on standard input, its answer on standard output."""
import json
import sys

case = json.load(sys.stdin)
given = case["inputs"]
fault = sys.argv[1] if len(sys.argv) > 1 else ""


def answer():
    if case["process"] == "Window":
        h, f, p, s = (given[name] for name in "HFPS")
        return {"W": (h - f + 2 * p) // s + 1} if h + 2 * p >= f >= 1 else None
    if case["process"] == "Turn":
        way = ["north", "east", "south", "west"]
        return {"next": way[(way.index(given["at"]) + 1) % 4]}
    if case["process"] == "Largest":
        if not 1 <= len(given["s"]) <= 4:
            return None
        return {"m": given["s"][0] if fault == "first" else max(given["s"])}
    if case["process"] == "Letters":
        return {"t": sorted(set(given["s"]), reverse=True)} if len(given["s"]) <= 3 else None
    if case["process"] == "Push":
        if len(given["~stack"]) > 3:
            return None
        return {"stack": [given["x"]] + given["~stack"] + ([0] * 6)[: (5 - len(given["~stack"])) * (fault == "long")]}
    return {"y": given["s"][0] + given["s"][-1]} if given["s"] else None


result = answer()
print(json.dumps({"refused": "outside"} if result is None else {"outputs": result}))
