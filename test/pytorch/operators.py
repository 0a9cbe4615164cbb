#!/usr/bin/env python3
"""Holds single operators of the standard library against PyTorch: results and gradients.

usage: operators.py TBEMC FOLDER [CASE...]

Each case is an expression over weights a, b, c of given shapes and integer inputs i (with their range), in the language and in
PyTorch. `tbemc step` runs it as a network with the mean squared error as its loss, in f64 on ref and in f32 on cpu; the saved
arrays give PyTorch the same numbers. Output and gradients must agree to 1e-11 (f64) and 2e-5 (f32), relative to the norm.
"""
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

CASES = {}


def case(name, text, function, **shapes):
    """`shapes`: a, b, c of weights; i of an integer input. `text`: the language's expression, or statements and a return."""
    CASES[name] = (text, function, shapes)


case("concat_channels", "concat([a, b, a], axis: 1)", lambda a, b: torch.cat([a, b, a], 1), a=[2, 16, 3, 4], b=[2, 5, 3, 4])
case("concat_rows", "concat([a, b], axis: 0)", lambda a, b: torch.cat([a, b]), a=[2, 3], b=[4, 3])
case("concat_last", "concat([a, b * a], axis: 3)", lambda a, b: torch.cat([a, b * a], 3), a=[2, 3, 4, 5], b=[2, 3, 4, 5])
case("split", "let p = split(a, sizes: [2, 1, 3], axis: 1)\n return concat([p[2], p[0] * p[0]], axis: 1)",
     lambda a: torch.cat([a.split([2, 1, 3], 1)[2], a.split([2, 1, 3], 1)[0] ** 2], 1), a=[3, 6, 2])
case("stack", "stack([a, b, a], axis: 1)", lambda a, b: torch.stack([a, b, a], 1), a=[2, 3], b=[2, 3])
case("flip", "flip(a * a, axis: [0, -1]) * a", lambda a: (a * a).flip(0, 2) * a, a=[3, 4, 5])
case("roll", "roll(a * a, shift: [2, 0 - 7], axis: [-2, 0]) * a", lambda a: (a * a).roll([2, -7], [1, 0]) * a, a=[3, 4, 5])
case("embedding_rows", "gather(a, i, axis: 0)", lambda a, i: F.embedding(i, a), a=[7, 5], i=[3, 4])
case("padded_rows", "padded_gather(a, i, padding: 2)", lambda a, i: F.embedding(i, a, padding_idx=2), a=[4, 5], i=[3, 8])
case("padded_tied", "let words = embedding(4, 5, padding: 0)\n return matmul(words(i), words.weight, transpose_b: true)",
     lambda w, i: F.embedding(i, w, padding_idx=0) @ w.T, i=[3, 8])
case("gather_middle", "gather(a, i, axis: 1)", lambda a, i: a.index_select(1, i), a=[2, 6, 3], i=[9])
case("gather_last", "gather(a, i, axis: 2)", lambda a, i: a[:, :, i], a=[2, 3, 6], i=[2, 2])
case("tied", "let words = embedding(11, 4)\n return matmul(words(i), words.weight, transpose_b: true)",
     lambda w, i: F.embedding(i, w) @ w.T, i=[2, 3])
case("one_hot", "one_hot(i, classes: 5) * a", lambda a, i: F.one_hot(i, 5) * a, a=[2, 3, 5], i=[2, 3])
case("argmax", "cast(argmax(a, axis: 1), to: f64) + 0 * sum(a, axis: 1)", lambda a: a.argmax(1).double() + 0 * a.sum(1), a=[3, 5, 4])
case("argmin", "cast(argmin(a, axis: 2), to: f64) + 0 * sum(a, axis: 2)", lambda a: a.argmin(2).double() + 0 * a.sum(2), a=[3, 5, 4])
case("arange", "a * cast(arange(4), to: f64)", lambda a: a * torch.arange(4).to(a.dtype), a=[3, 4])
case("constant", "a * constant([1, 2.5, 0 - 3])", lambda a: a * torch.tensor([1, 2.5, -3], dtype=a.dtype), a=[2, 3])
case("where", "where(a > 0, b, a * b)", lambda a, b: torch.where(a > 0, b, a * b), a=[3, 4], b=[3, 4])
case("where_broadcast", "where(a > 0, b, c)", lambda a, b, c: torch.where(a > 0, b, c), a=[3, 1, 4], b=[2, 1], c=[1, 3, 1, 4])
case("logic", "where(a > 0 and not (b > 0) or a = b, a, b)", lambda a, b: torch.where((a > 0) & ~(b > 0) | (a == b), a, b), a=[5, 6],
     b=[5, 6])
case("unequal", "where(a <> b, a, 2 * b)", lambda a, b: torch.where(a != b, a, 2 * b), a=[5, 6], b=[5, 6])
case("compare_integers", "where(argmax(b, axis: 1) < 3, a, 2 * a)", lambda a, b: torch.where(b.argmax(1) < 3, a, 2 * a), a=[7], b=[7, 6])
case("min", "min(a, axis: [0, 2])", lambda a: a.amin((0, 2)), a=[3, 4, 5])
case("matmul", "matmul(a, b)", lambda a, b: a @ b, a=[2, 3, 4, 5], b=[2, 3, 5, 6])
case("matmul_transposed", "matmul(a, b, transpose_a: true, transpose_b: true)", lambda a, b: a.mT @ b.mT, a=[2, 5, 4], b=[2, 6, 5])
case("matmul_one_matrix", "matmul(a, b, transpose_b: true)", lambda a, b: a @ b.mT, a=[2, 3, 4, 5], b=[6, 5])
case("matmul_broadcast", "matmul(a, b)", lambda a, b: a @ b, a=[2, 1, 4, 5], b=[3, 5, 6])
case("matmul_permuted",
     "let q = permute(a, order: [0, 2, 1, 3])\n let k = permute(b, order: [0, 2, 1, 3])\n"
     " return permute(matmul(softmax(matmul(q, k, transpose_b: true), axis: 3), k), order: [0, 2, 1, 3])",
     lambda a, b: (torch.softmax(a.transpose(1, 2) @ b.transpose(1, 2).mT, 3) @ b.transpose(1, 2)).transpose(1, 2), a=[2, 5, 3, 4],
     b=[2, 5, 3, 4])
for output_pad, groups in ((0, 1), (1, 2)):
    case(f"conv_transpose2d_{groups}", f"conv_transpose2d(a, out: 6, kernel: 3, stride: 2, pad: 1, output_pad: {output_pad}, groups: {groups})",
         lambda a, w, bias, p=output_pad, g=groups: F.conv_transpose2d(a, w, bias, 2, 1, p, g), a=[2, 4, 5, 4])
case("conv_transpose2d_dilated", "conv_transpose2d(a, out: 3, kernel: [2, 3], stride: [3, 2], pad: [0, 1], dilation: [1, 2], use_bias: false)",
     lambda a, w: F.conv_transpose2d(a, w, None, (3, 2), (0, 1), dilation=(1, 2)), a=[2, 4, 5, 4])
case("conv1d", "conv1d(a, out: 6, kernel: 3, stride: 2, pad: 2, dilation: 2, groups: 2)",
     lambda a, w, bias: F.conv1d(a, w, bias, 2, 2, 2, 2), a=[2, 4, 11])
case("conv3d", "conv3d(a, out: 4, kernel: [3, 2, 3], stride: [2, 1, 2], pad: [1, 0, 1], dilation: [1, 2, 1], groups: 2)",
     lambda a, w, bias: F.conv3d(a, w, bias, (2, 1, 2), (1, 0, 1), (1, 2, 1), 2), a=[2, 4, 5, 6, 7])
case("max_pool1d", "max_pool1d(a, kernel: 3, stride: 2, pad: 1)", lambda a: F.max_pool1d(a, 3, 2, 1), a=[2, 3, 10])
case("avg_pool1d", "avg_pool1d(a, kernel: 3, stride: 2, pad: 1, count_include_pad: false)",
     lambda a: F.avg_pool1d(a, 3, 2, 1, count_include_pad=False), a=[2, 3, 10])
case("max_pool3d", "max_pool3d(a, kernel: [2, 3, 2], stride: [2, 2, 1], pad: [1, 1, 0])",
     lambda a: F.max_pool3d(a, (2, 3, 2), (2, 2, 1), (1, 1, 0)), a=[2, 3, 5, 6, 4])
for height, width in ((3, 4), (2, 5), (7, 10), (1, 1)):
    case(f"adaptive_max_{height}", f"adaptive_max_pool2d(a, size: [{height}, {width}])",
         lambda a, size=(height, width): F.adaptive_max_pool2d(a, size), a=[2, 3, 7, 10])
case("adaptive_max_ties", "adaptive_max_pool2d(relu(a), size: [2, 3])", lambda a: F.adaptive_max_pool2d(F.relu(a), (2, 3)), a=[2, 3, 5, 7])
for kernel, stride, pad, size in ((3, 2, 0, 6), (3, 2, 1, 7), (2, 3, 1, 8), (2, 2, 1, 5), (3, 3, 0, 7)):
    case(f"ceil_{kernel}{stride}{pad}", f"max_pool2d(a, kernel: {kernel}, stride: {stride}, pad: {pad}, ceil_mode: true)",
         lambda a, k=kernel, s=stride, p=pad: F.max_pool2d(a, k, s, p, ceil_mode=True), a=[2, 3, size, size + 1])
case("nearest", "upsample2d(a, size: [6, 10])", lambda a: F.interpolate(a, (6, 10)), a=[2, 3, 3, 4])
for align in (False, True):
    case(f"bilinear_{align}", f'upsample2d(a, size: [7, 8], mode: "bilinear", align_corners: {str(align).lower()})',
         lambda a, c=align: F.interpolate(a, (7, 8), mode="bilinear", align_corners=c), a=[2, 3, 3, 5])
case("bilinear_smaller", 'upsample2d(a, size: [3, 1], mode: "bilinear")', lambda a: F.interpolate(a, (3, 1), mode="bilinear"), a=[1, 2, 5, 4])
case("pad_reflect", "pad_reflect(a, low: [0, 0, 2, 1], high: [0, 0, 1, 3])", lambda a: F.pad(a, (1, 3, 2, 1), mode="reflect"), a=[2, 3, 4, 5])
case("pad_edge", "pad_edge(a, low: [0, 0, 2, 1], high: [0, 0, 1, 6])", lambda a: F.pad(a, (1, 6, 2, 1), mode="replicate"), a=[2, 3, 4, 5])
case("pixel_shuffle", "pixel_shuffle(a, factor: 2)", lambda a: F.pixel_shuffle(a, 2), a=[2, 12, 3, 4])


def program(text, shapes):
    weights = "".join(f"  weight {name}: tensor{shape} init normal(0, 1)\n" for name, shape in shapes.items() if name != "i")
    body = text if "return" in text else f"return {text}"
    index = f"i: i64[{', '.join(f'i{k}' for k in range(len(shapes['i'])))}]" if "i" in shapes else "x: tensor[n]"
    return (f"network case({index}) -> tensor[..s] {{\n{weights}  {body}\n}}\n"
            f"design d of case {{\n  input {'i' if 'i' in shapes else 'x'}: {shapes.get('i', [1])}\n"
            "  task train(loss: mse, optimizer: sgd(lr: 0.1))\n}\n")


def load(path):
    with zipfile.ZipFile(path) as archive:
        names = [name[: -len(".npy")] for name in archive.namelist()]
    data = np.load(path)
    return {name: torch.tensor(data[name]) for name in names}


def relative(ours, reference):
    return float((ours.double() - reference).norm() / max(float(reference.norm()), 1.0 if not reference.any() else 0.0))


def compare(tbemc, folder, name, backend):
    text, function, shapes = CASES[name]
    dtype, bound = ("f64", 1e-11) if backend == "ref" else ("f32", 2e-5)
    source, saved = folder / f"{name}.tbem", folder / f"{name}.{backend}.npz"
    code = program(text, shapes)
    source.write_text(code if backend == "ref" else code.replace("to: f64", "to: f32"))
    run = subprocess.run([tbemc, "step", source, "--dtype", dtype, "--on", backend, "--save", saved], capture_output=True, text=True)
    if run.returncode != 0:
        return f"BAD: {name} on {backend}: {run.stdout}{run.stderr}"
    arrays = load(saved)
    weights = [value.double().requires_grad_() for key, value in arrays.items() if key.startswith("weight/")]
    inputs = [arrays["input/i"]] if "i" in shapes else []
    output = function(*weights, *inputs)
    if list(output.shape) != list(arrays["output"].shape):
        return f"BAD: {name} on {backend}: shape {list(arrays['output'].shape)}, PyTorch has {list(output.shape)}"
    F.mse_loss(output, arrays["target"].double()).backward()
    worst = {"output": relative(arrays["output"], output.detach())}
    for key, weight in zip((k for k in arrays if k.startswith("weight/")), weights):
        ours = arrays.get(key.replace("weight/", "gradient/"), torch.zeros(weight.shape))  # none where no gradient flows
        worst[key] = relative(ours, weight.grad if weight.grad is not None else torch.zeros(weight.shape))
    bad = {key: value for key, value in worst.items() if not value <= bound}
    if bad:
        return f"BAD: {name} on {backend}: {bad}"
    return f"ok: {name} on {backend}, at most {max(worst.values()):.1e}"


def main():
    tbemc, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    lines = [compare(tbemc, folder, name, backend) for name in sys.argv[3:] or CASES for backend in ("ref", "cpu")]
    print("\n".join(lines))
    bad = sum(line.startswith("BAD") for line in lines)
    print(f"{len(lines)} comparisons, {bad} bad")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
