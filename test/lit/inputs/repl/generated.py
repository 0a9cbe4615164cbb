#!/usr/bin/env python3
"""generated.py TBEMC LINES SEED: that many generated lines, valid and not, at one `tbemc repl --json`; it answers each entry, does not
crash, and its memory does not grow with what it answered."""
import json
import random
import subprocess
import sys
import threading

tbemc, lines, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random.seed(seed)
NAMES = ["a", "b", "net", "unit", "y", "size", "relu", "conv2d", "vgg", "n"]
ATOMS = ["1", "2", "0.5", "true", "[1, 2, 3]", "[8, 4]", "[2, 3, 8, 8]", '"text"', "{a: 1}", "(1, 2)"]
MARKS = ["+", "-", "*", "/", "div", "**", "|>", "=", "<", ",", "(", ")", "[", "]", "{", "}", ";", ":", "..", "~", "\\", "\"", "é", "\x01"]
COMMANDS = [":list", ":undo", ":redo", ":tensors", ":forget a", ":forget net", ":help undo", ":lst", ":", ":on ref", ":on", ":why E9999x",
            "?", "?relu", "?nothing", "plot [1, 2, 3]", "plot 1", "plot nothing", ":save", ":load /nowhere", ":shape relu([2, 3])",
            ":flops dense([2, 3], 4)", ":shape 1", ":shape", ":help"]


def expression(depth=0):
    kind = random.random()
    if depth > 3 or kind < 0.4:
        return random.choice(ATOMS + NAMES)
    if kind < 0.7:
        return f"{expression(depth + 1)} {random.choice(['+', '-', '*', 'div', '**', '|>', '=', 'and'])} {expression(depth + 1)}"
    if kind < 0.9:
        return f"{random.choice(NAMES + ['len', 'sum', 'dense', 'softmax'])}({expression(depth + 1)}{random.choice(['', ', 3', '; 2', ', out: 4'])})"
    return f"[{expression(depth + 1)} for i in 0 .. 3]"


def declaration():
    name = random.choice(NAMES)
    return random.choice([
        f"let {name} = {expression()}",
        f"network {name}(x: tensor[n, c]) {{ return {expression()} }}",
        f"block {name}(x: tensor[n, c]) -> tensor[n, c] {{ return relu(x) }}",
        f"network {name}(x: tensor[n, c]) -> tensor[n, c] {{ return x |> unit }}",
        f"function {name}(n: int) -> int {{ return n + {expression()} }}",
        f"design d of {name} {{ factor n: 2, 4; input x: [n, 3]; full }}",
        "import std.vision: vgg",
        f"process P(a: int) b: bool pre a > {expression()} post b = true end_process",
    ])


def line():
    kind = random.random()
    if kind < 0.35:
        return expression()
    if kind < 0.6:
        return declaration()
    if kind < 0.8:
        return random.choice(COMMANDS)
    words = [random.choice(NAMES + MARKS + ATOMS + ["let", "network", "return", "if", "for"]) for _ in range(random.randrange(1, 9))]
    return " ".join(words)


def resident(process):
    """Its memory in KiB."""
    for row in open(f"/proc/{process.pid}/status"):
        if row.startswith("VmRSS"):
            return int(row.split()[1])
    return 0


process = subprocess.Popen([tbemc, "repl", "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
answered, memory = 0, []


def write():
    for _ in range(lines):
        # An empty line ends what may go on; a comment that was opened is closed.
        process.stdin.write((line() + " // */\n\n:on\n").encode())
    process.stdin.close()


writer = threading.Thread(target=write)
writer.start()
for row in process.stdout:
    entry = json.loads(row)
    if entry["kind"] != "entry":
        continue
    answered = entry["number"]
    if answered % max(1, lines // 10) == 0:
        memory.append(resident(process))
writer.join()
status = process.wait()
if status not in (0, 1):
    sys.exit(f"status {status} after {answered} entries (seed {seed})")
if answered < lines:
    sys.exit(f"{answered} answers to {lines} lines")
half = len(memory) // 2
growth = max(memory[half:]) - max(memory[:half]) if half else 0
print(f"{lines} lines: each answered; memory grows by {growth} KiB in the second half")
if growth > 64 * 1024:
    sys.exit("memory grows with what was answered")
