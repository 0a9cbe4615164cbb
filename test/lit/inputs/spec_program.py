"""A program under test: spec_program.py [FAULT], one case on standard input, its answer on standard output."""
import json
import sys
import time

case = json.load(sys.stdin)
given = case["inputs"]
fault = sys.argv[1] if len(sys.argv) > 1 else ""


def answer():
    if case["process"] == "Take":
        stock = given["~stock"]
        amount = given.get("amount", 0)
        if stock < 0 or amount < 0:
            return None
        taken = stock if "all" in given else min(amount, stock)
        if fault == "greedy" and "all" not in given and amount > stock:
            taken = amount
        return {"given": taken, "stock": stock - taken}
    if case["process"] == "Windows":
        h, kernel, stride = given["h"], given["kernel"], given["stride"]
        if kernel < 1 or h < kernel - (fault == "lax"):
            return None
        return {"count": (-(-(h - kernel) // stride) if fault == "ceil" else (h - kernel) // stride) + 1}
    if case["process"] == "Postage":
        weight = given["weight"]
        if not (0 < weight < 30 or weight == 30 and fault != "strict"):
            return None
        return {"cost": 20 if given["express"] else 5 if weight <= 2 else 9}
    whole, parts = given["whole"], given["parts"]
    if parts < 1 or whole % parts:
        return None
    if fault == "both":
        return {"low": whole // parts, "high": whole // parts}
    return {"low" if whole // parts < 4 else "high": whole // parts}


if fault == "hang" and case["case"] == 2:
    time.sleep(60)
if fault == "crash" and case["case"] == 2:
    sys.exit("the program's own words")
result = answer()
print(json.dumps({"refused": "outside"} if result is None else {"outputs": result}))
