#!/usr/bin/env python3
"""Exports of one or a few operators, written here: import_forms.py TBEMC FOLDER. Each has the form that is said, or, where none would
be right for all inputs, is refused with --strict. Prints what is wrong, and how many are right."""
import json
import pathlib
import re
import subprocess
import sys

tbemc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
REFUSED = None


def tensor(shape, kind="float32"):
    return {"shape": shape, "type": kind}


def open_size(number, of):
    return {"size": number, "of": of}


def at(name):
    return {"node": name}


def node(name, op, arguments, facts=None, named=None, parts=None):
    made = {"name": name, "op": op if op == "getitem" else "aten." + op, "args": arguments, "named": named or {},
            "modules": [["L__self__", "", "models.Model"]], "at": "models.py:3", **(facts or {})}
    return {**made, "parts": parts} if parts else made


X, TWO, COUNTS = tensor([2, 4, 8]), tensor([2, 4]), tensor([2, 4], "int64")
LENGTH = open_size(16, "s77")
OPEN = tensor([2, LENGTH, 8])
HEADS, ATTENTION = tensor([2, 1, 3, 4]), "scaled_dot_product_attention.default"
TRIPLED = node("a", "mul.Tensor", [at("x"), 3], X)

# The title; the inputs; the nodes, of which the last is the result; what the program has, or that there is none; constants.
CASES = [
    ("a pad that moves elements", {"x": X}, [node("y", "pad.default", [at("x"), [0, 0, 1, -1]], X)], REFUSED),
    ("a pad of nothing", {"x": X}, [node("y", "pad.default", [at("x"), [0, 0, 0, 0]], X)], r"return x\n"),
    ("a pad by an open size", {"x": OPEN}, [node("y", "pad.default", [at("x"), [0, 0, 0, open_size(8, "s77//2")]],
                                                 tensor([2, open_size(24, "s77 + s77//2"), 8]))], REFUSED),
    ("a write behind a view", {"x": X}, [TRIPLED, node("v", "select.int", [at("a"), 1, 0], tensor([2, 8])),
                                         node("w", "mul_.Tensor", [at("a"), 2], X),
                                         node("y", "neg.default", [at("v")], tensor([2, 8]))], REFUSED),
    ("a write into what overlaps", {"x": X}, [TRIPLED, node("p", "slice.Tensor", [at("a"), 1, 0, 3], tensor([2, 3, 8])),
                                              node("q", "slice.Tensor", [at("a"), 1, 1, 4], tensor([2, 3, 8])),
                                              node("w", "relu_.default", [at("p")], tensor([2, 3, 8])),
                                              node("y", "neg.default", [at("q")], tensor([2, 3, 8]))], REFUSED),
    ("a write into one half", {"x": X}, [TRIPLED, node("c", "chunk.default", [at("a"), 2, 1], parts=[tensor([2, 2, 8])] * 2),
                                         node("p", "getitem", [at("c"), 0], tensor([2, 2, 8])),
                                         node("q", "getitem", [at("c"), 1], tensor([2, 2, 8])),
                                         node("w", "relu_.default", [at("p")], tensor([2, 2, 8])),
                                         node("y", "add.Tensor", [at("w"), at("q")], tensor([2, 2, 8]))], r"relu.* \+ "),
    ("a write into a copy", {"x": X}, [TRIPLED, node("t", "transpose.int", [at("a"), 1, 2], tensor([2, 8, 4])),
                                       node("r", "reshape.default", [at("t"), [2, 32]], tensor([2, 32])),
                                       node("w", "relu_.default", [at("r")], tensor([2, 32])),
                                       node("y", "neg.default", [at("a")], X)], REFUSED),
    ("zeros written into a part", {"x": X}, [TRIPLED, node("p", "slice.Tensor", [at("a"), 1, 0, 2], tensor([2, 2, 8])),
                                             node("w", "zero_.default", [at("p")], tensor([2, 2, 8])),
                                             node("y", "neg.default", [at("a")], X)],
     r"(?s)^(?!.*start: \[0, 0, 0\]).*concat\(\[fill"),
    ("parts behind given places", {"x": X}, [node("c", "tensor_split.indices", [at("x"), [1], 1], parts=[tensor([2, 1, 8]), tensor([2, 3, 8])]),
                                             node("p", "getitem", [at("c"), 1], tensor([2, 3, 8])),
                                             node("y", "neg.default", [at("p")], tensor([2, 3, 8]))], r"split\(x, sizes: \[1, 3\]\)"),
    ("a comparison with a size", {"x": OPEN}, [node("b", "lt.Scalar", [at("x"), LENGTH], {**OPEN, "type": "bool"}),
                                               node("y", "masked_fill.Scalar", [at("x"), at("b"), 0], OPEN)], REFUSED),
    ("a bound that is a size", {"x": OPEN}, [node("y", "clamp.default", [at("x"), 0, open_size(15, "s77 - 1")], OPEN)], REFUSED),
    ("the last of an open axis", {"x": OPEN}, [node("y", "select.int", [at("x"), 1, -1], tensor([2, 8]))], r"start: \[0, l\d? - 1, 0\]"),
    ("the last two of an open axis", {"x": OPEN}, [node("y", "slice.Tensor", [at("x"), 1, -2, 2 ** 63 - 1], tensor([2, 2, 8]))],
     r"start: \[0, l\d? - 2, 0\]"),
    ("the last of a closed axis", {"x": X}, [node("y", "select.int", [at("x"), 1, -1], tensor([2, 8]))], r"start: \[0, 3, 0\]"),
    ("half places", {"x": OPEN}, [node("a", "arange.start_step", [0.5, LENGTH, 1], tensor([LENGTH])),
                                  node("u", "unsqueeze.default", [at("a"), 1], tensor([LENGTH, 1])),
                                  node("y", "mul.Tensor", [at("x"), at("u")], OPEN)], r"as_real\(arange\(l\d?\)\) \+ 0.5"),
    ("half steps", {"x": OPEN}, [node("a", "arange.start_step", [0, 8.0, 0.5], tensor([LENGTH])),
                                 node("u", "unsqueeze.default", [at("a"), 1], tensor([LENGTH, 1])),
                                 node("y", "mul.Tensor", [at("x"), at("u")], OPEN)], r"as_real\(arange\(l\d?\)\) \* 0.5"),
    ("a quotient cut off", {"x": COUNTS}, [node("d", "div.Tensor_mode", [at("x"), 2], COUNTS, {"rounding_mode": "trunc"}),
                                           node("y", "to.dtype", [at("d"), {"type": "float32"}], TWO)], REFUSED),
    ("a quotient rounded down", {"x": COUNTS}, [node("d", "div.Tensor_mode", [at("x"), 2], COUNTS, {"rounding_mode": "floor"}),
                                                node("y", "to.dtype", [at("d"), {"type": "float32"}], TWO)], r"floor\(as_real\(x\) / 2\)"),
    ("a variance of all", {"x": X}, [node("v", "var_mean.dim", [at("x"), [2], False], parts=[TWO, TWO]),
                                     node("y", "getitem", [at("v"), 0], TWO)], r"return variance\(x, axis: 2\)  //"),
    ("a variance of a sample", {"x": X}, [node("v", "var_mean.correction", [at("x"), [2]], parts=[TWO, TWO], named={"correction": 1}),
                                          node("y", "getitem", [at("v"), 0], TWO)], r"variance\(x, axis: 2\) \* 1.14285714"),
    ("sizes by a factor that is not theirs", {"x": tensor([1, 3, 5, 5])},
     [node("y", "upsample_bilinear2d.vec", [at("x"), None, False, [1.5, 1.5]], tensor([1, 3, 7, 7]))], REFUSED),
    ("sizes by their factor", {"x": tensor([1, 3, 4, 4])},
     [node("y", "upsample_bilinear2d.vec", [at("x"), None, False, [1.5, 1.5]], tensor([1, 3, 6, 6]))], r"upsample2d\(x, size: \[6, 6\]"),
    ("all axes exchanged", {"x": tensor([4, 4, 4])}, [node("y", "numpy_T.default", [at("x")], tensor([4, 4, 4]))], REFUSED),
    ("a part of an open axis replaced", {"x": OPEN, "z": tensor([2, 8])},
     [node("y", "select_scatter.default", [at("x"), at("z"), 1, 0], OPEN)], REFUSED),
    ("dropout that keeps a mean", {"x": X}, [node("y", "alpha_dropout.default", [at("x"), 0.1, False], X)], REFUSED),
    ("a scaled elu", {"x": X}, [node("y", "elu.default", [at("x"), 1.0, 2.0], X)], REFUSED),
    ("sums of integers as reals", {"x": COUNTS}, [node("d", "cumsum.default", [at("x"), 1], TWO, {"dtype": {"type": "float32"}}),
                                                  node("y", "mul.Tensor", [at("d"), 0.5], TWO)], r"cumsum\(as_real\(x\)|as_real\(x\) \|> cumsum"),
    ("the smaller of two", {"x": COUNTS, "z": COUNTS}, [node("m", "min.other", [at("x"), at("z")], COUNTS),
                                                        node("y", "to.dtype", [at("m"), {"type": "float32"}], TWO)], r"minimum\(x, z\)"),
    ("attention under a mask of ones", {"x": HEADS}, [node("m", "expand.default", [at("k"), [2, 1, 3, 3]], tensor([2, 1, 3, 3], "bool")),
                                                      node("y", ATTENTION, [at("x"), at("x"), at("x"), at("m")], HEADS)],
     r"return scaled_dot_product_attention\(x, x, x\)",
     [{"node": "k", "name": None, **tensor([1, 1, 3, 3], "bool"), "pattern": {"fill": True}}]),
    ("attention under a mask of zeros", {"x": HEADS}, [node("y", ATTENTION, [at("x"), at("x"), at("x")], HEADS, {"attn_mask": at("k")})],
     r"return scaled_dot_product_attention\(x, x, x\)",
     [{"node": "k", "name": None, **tensor([3, 3]), "pattern": {"fill": 0.0}}]),
    ("attention that sees nothing", {"x": HEADS}, [node("y", ATTENTION, [at("x"), at("x"), at("x"), at("k")], HEADS)],
     r"masked_attention\(x, x, x,\s+where\(",
     [{"node": "k", "name": None, **tensor([3, 3], "bool"), "pattern": {"fill": False}}]),
    ("indices of relative positions", {"x": tensor([25, 2])},
     [node("y", "index.Tensor", [at("x"), [at("k")]], tensor([81, 2]))],
     r"\(arange\(3\) \* 5 \|> reshape\(shape: \[3, 1, 1, 1\]\)\) \+ \(arange\(3\) \|> reshape\(shape: \[3, 1, 1\]\)\)"
     r"\s+- \(arange\(3\) \* 5 \|> reshape\(shape: \[3, 1\]\)\) - arange\(3\) \+ 12",
     [{"node": "k", "name": None, **tensor([81], "int64"),
       "values": [5 * (a - c) + b - d + 12 for a in range(3) for b in range(3) for c in range(3) for d in range(3)]}]),
    ("a part without elements written", {"x": TWO},
     [node("p", "slice.Tensor", [at("x"), 0, 0, 0], tensor([0, 4])), node("w", "fill_.Scalar", [at("p"), 1.0], tensor([0, 4])),
      node("y", "relu.default", [at("x")], TWO)], r"return relu\(x\)"),
    ("a mask of infinities", {"x": TWO}, [node("y", "add.Tensor", [at("x"), at("k")], TWO)], r"constant\(\[0, -1e30, 0, 0\]\)",
     [{"node": "k", "name": None, **tensor([4]), "values": [0.0, {"number": "-inf"}, 0.0, 0.0]}]),
    ("a mask of one infinity", {"x": TWO}, [node("y", "add.Tensor", [at("x"), at("k")], TWO)], r"value: -1e30",
     [{"node": "k", "name": None, **tensor([4]), "pattern": {"fill": {"number": "-inf"}}}]),
]

right = 0
for title, inputs, nodes, wanted, *constants in CASES:
    document = {"torch": "2.15.0", "python": "python3", "kind": "Model", "state": [], "weights": [], "nodes": nodes,
                "constants": constants[0] if constants else [],
                "inputs": [{"node": name, "name": name, **facts} for name, facts in inputs.items()],
                "outputs": [{"node": nodes[-1]["name"], "name": None}]}
    file = folder / "export.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    run = subprocess.run([tbemc, "import", str(file), "--name", "model", "--strict", "--color", "never"], capture_output=True, text=True,
                         check=False)
    refused = run.returncode == 1 and "error[E0805]" in run.stderr and not run.stdout
    has_form = wanted is not REFUSED and run.returncode == 0 and re.search(wanted, run.stdout) is not None
    if refused if wanted is REFUSED else has_form:
        right += 1
    else:
        print(f"{title}: ends with {run.returncode}, not {'refused' if wanted is REFUSED else wanted}\n{run.stdout}{run.stderr}")
print(f"{right} of {len(CASES)} forms are right")
