#!/usr/bin/env python3
"""Shapes and costs in an editor, held against closed forms and other commands: costs.py TBEMC FOLDER PROGRAM...

Networks of several sizes: each hint's shape and FLOPs are those of the formulas for convolutions, pools and dense layers, and those
of `emit --as json`. Of each program the lenses have the parameters, the arena and the line of the peak that `estimate --json` has.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import client as lsp

TBEMC, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
UNITS = {"FLOP": 1, "kFLOP": 1e3, "MFLOP": 1e6, "GFLOP": 1e9, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
DIGITS = 6e-4  # of a number with four digits
EVERYTHING = {"start": {"line": 0, "character": 0}, "end": {"line": 10**6, "character": 0}}

TEXT = """network net(image: tensor[n, {channels}, h, w]) -> tensor[n, 7] {{
  let a = conv2d(image, out: {out}, kernel: {kernel}, stride: {stride}, pad: {pad})
  let b = a |> relu |> max_pool2d(kernel: 3, stride: 2)
  return b |> global_avg_pool |> dense(7)
}}

design sizes of net {{
  factor batch: {batch}, 64
  input  image: [batch, {channels}, {height}, {width}]
  task   train(loss: cross_entropy, optimizer: sgd(lr: 0.1))
}}
"""
SIZES = [dict(batch=2, channels=3, out=8, kernel=3, stride=1, pad=1, height=16, width=16),
         dict(batch=5, channels=1, out=6, kernel=5, stride=2, pad=0, height=33, width=28),
         dict(batch=16, channels=4, out=12, kernel=7, stride=3, pad=2, height=40, width=56)]


def window(size, kernel, stride, pad=0):
    return (size + 2 * pad - kernel) // stride + 1


def expected(s):
    """By the text of the call: shape, FLOPs forward, weights."""
    h, w = window(s["height"], s["kernel"], s["stride"], s["pad"]), window(s["width"], s["kernel"], s["stride"], s["pad"])
    ph, pw = window(h, 3, 2), window(w, 3, 2)
    n, out = s["batch"], s["out"]
    taps = s["channels"] * s["kernel"]**2
    return {
        "conv2d(": ([n, out, h, w], n * out * h * w * (2 * taps + 1), 4 * out * (taps + 1)),
        "relu": ([n, out, h, w], n * out * h * w, 0),
        "max_pool2d(": ([n, out, ph, pw], None, 0),
        "global_avg_pool": ([n, out], None, 0),
        "dense(": ([n, 7], n * 7 * (2 * out + 1), 4 * 7 * (out + 1)),
    }


def amount(text, what):
    """Of "1.500 KiB", in front of or behind `what`."""
    found = re.search(what, text)
    return float(found.group(1)) * UNITS[found.group(2)] if found else 0


def near(shown, number):
    return abs(shown - number) <= DIGITS * max(1, abs(number))


def run(*command):
    return subprocess.run([TBEMC, *command, "--quiet"], stdout=subprocess.PIPE, check=True, encoding="utf-8").stdout


def known(client, uri):
    """Waits until the costs are there."""
    client.wait("workspace/inlayHint/refresh")
    client.wait("workspace/codeLens/refresh")
    hints = client.ask("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": EVERYTHING})["result"]
    return hints, client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})["result"]


def flops_of(operator):
    return sum((2 if part == "mac" else 1) * count for part, count in operator.get("flops", {}).items())


def check_shapes(client, sizes, version):
    text = TEXT.format(**sizes)
    path = FOLDER / "sizes.tbem"
    path.write_text(text, encoding="utf-8")
    uri = path.as_uri()
    if version == 1:
        client.open(uri, text)
    else:
        client.change(uri, version, [{"text": text}])
    assert client.diagnostics(uri, version) == []
    hints, _ = known(client, uri)
    graph = json.loads(run("emit", str(path), "--at", f"batch={sizes['batch']}", "--as", "json"))
    calls = expected(sizes)
    assert len(hints) == len(calls), hints
    by_place = {lsp.offset(text, one["position"]): one for one in hints}
    for call, (shape, flops, weights) in calls.items():
        begin = text.index(call)
        end = text.index(")", begin) + 1 if call.endswith("(") else begin + len(call)
        hint = by_place[end]
        tip = hint["tooltip"]["value"]
        assert hint["label"] == str(shape), (call, hint, shape)
        forward = amount(tip, r"([\d.]+) ([kMG]?FLOP) forward")
        assert flops is None or near(forward, flops), (call, tip, flops)
        assert near(amount(tip, r"weights ([\d.]+) ([KM]?i?B)"), weights), (call, tip, weights)
        line, column = text[:begin].count("\n") + 1, begin - text.rfind("\n", 0, begin)
        there = [one for one in graph["operators"] if one["at"] == f"{path}:{line}:{column}"]
        assert near(forward, sum(flops_of(one) for one in there if one["phase"] == "forward")), (call, tip)
        results = [graph["tensors"][i]["shape"] for one in there if one["phase"] == "forward" for i in one["outputs"]]
        assert shape in results, (call, results)
    # A hover says the same, also of the name that the call gives a value to.
    for word in ("conv2d(", "a = conv2d"):
        hover = client.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": lsp.place(text, text.index(word))})["result"]
        assert str(calls["conv2d("][0]) in hover["contents"]["value"], hover
    return len(calls)


def check_lenses(client, program):
    folder = FOLDER / pathlib.Path(program).stem
    shutil.copytree(pathlib.Path(program).parent, folder, dirs_exist_ok=True)
    path = folder / pathlib.Path(program).name
    text = path.read_text(encoding="utf-8")
    client.open(path.as_uri(), text)
    assert client.diagnostics(path.as_uri(), 1) == []
    lenses = {}
    for one in known(client, path.as_uri())[1]:
        lenses.setdefault(one["range"]["start"]["line"], []).append(one["command"]["title"])
    first = {}
    for row in map(json.loads, run("estimate", str(path), "--json").splitlines()):
        if row["kind"] == "estimate":
            first.setdefault(row["design"], row)
    for design, row in first.items():
        declared = re.search(rf"^(design|train) +{design}\b", text, re.MULTILINE)
        title = " ".join(lenses[text[:declared.start()].count("\n")])
        shown = int(re.search(r"([\d\u202f]+) parameters", title).group(1).replace("\u202f", ""))
        assert shown == row["parameters"], (title, row)
        assert near(amount(title, r"peak ([\d.]+) ([KMG]?i?B)"), row["memory"]["arena"]), (title, row["memory"])
        peak = row["memory"]["peak_at"]
        assert any(one.startswith("peak") and f"at this line: {peak['operator']}" in one for one in lenses[peak["line"] - 1]), (peak, lenses)
    client.tell("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
    return len(first)


with lsp.Client(TBEMC) as opened:
    print("calls:", sum(check_shapes(opened, sizes, 1 + i) for i, sizes in enumerate(SIZES)))
    print("designs:", sum(check_lenses(opened, program) for program in sys.argv[3:]))
    # A program with a mistake has none, and an edit drops what was being computed.
    broken = (FOLDER / "sizes.tbem").as_uri()
    good = TEXT.format(**SIZES[0])
    opened.change(broken, 10, [{"text": good}])
    opened.diagnostics(broken, 10)
    opened.change(broken, 11, [{"text": good.replace("dense", "dens")}])
    print("told:", [one["code"] for one in opened.diagnostics(broken, 11)])
    print("hints:", opened.ask("textDocument/inlayHint", {"textDocument": {"uri": broken}, "range": EVERYTHING})["result"])
    print("lenses:", opened.ask("textDocument/codeLens", {"textDocument": {"uri": broken}})["result"])
    opened.change(broken, 12, [{"text": good}])
    opened.diagnostics(broken, 12)
    print("then:", *(one["label"] for one in known(opened, broken)[0]))
