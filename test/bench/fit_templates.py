"""Holds `fit` against `estimate --max` at both sides of its answer: usage: fit_templates.py TBEMC [every N-th | NAME,NAME...]

Each case is a network, an input or a parameter that varies, a memory and a device. Its answer must fit, the next level that can be
built must not, or where a bound is told it cannot be built; and the search must take less than 5 s of processor time. With names, the
cases of these networks on the first backend alone."""
import json
import resource
import subprocess
import sys
import tempfile

TASK = "train(loss: cross_entropy, optimizer: adamw(lr: 0.001))"
IMAGE = "image=batch,3,224,224"
SIDE = "image=1,3,size,size"
TOKENS = "tokens=1,length"
BOUNDED = """network a(x: tensor[n, l, 64]) -> tensor[n, 10]
  pre l <= 1000
{ return x |> dense(64) |> mean(1) |> dense(10) }
"""
SQUARE = """network a(x: tensor[n, 64, h, w]) -> tensor[n, 10] { let y = reshape(x, shape: [n, 64, h * w])
 return matmul(y, y, transpose_a: true) |> mean(2) |> dense(10) }
"""
PATTERN = """network a(x: tensor[n, 3, h, h]) -> tensor[n, 10]
  pre h mod 14 = 0 and h >= 28 and h <= 700
{ return x |> conv2d(out: 8, kernel: 14, stride: 14) |> global_avg_pool |> dense(10) }
"""
BERT = ["tokens=batch,512", "segments=batch,512"]


def design(network, vary, inputs, library="vision"):
    """A program in which a parameter of the network varies."""
    name = network.split("(")[0]
    shapes = "".join(f"  input {shape}\n" for shape in inputs)
    return f"import std.{library}: {name}\ndesign d of {network} {{\n  factor {vary}\n{shapes}  task {TASK}\n}}\n"


PICTURE = ["image: [4, 3, 224, 224]"]
# Depths are looked for at batches that one trains with: at few samples hundreds of layers fit a card, and a level of those takes a second
# or two to be elaborated (vit at 4 images: 544 layers on 80 GiB, 53 s).
MANY_PICTURES = ["image: [64, 3, 224, 224]"]
WORDS = ["tokens: [2, 256]"]
MANY_WORDS = ["tokens: [16, 256]"]
# (program text or "", expression or "" for the program's design, inputs, factor, memory)
CASES = [
    (BOUNDED, "a", ["x=1,size,64"], "size", "2GiB"),
    (SQUARE, "a", ["x=1,64,size,size"], "size", "8GiB"),
    (PATTERN, "a", ["x=1,3,size,size"], "size", "8GiB"),
    (PATTERN, "a", ["x=1,3,size,size"], "size", "3MiB"),
    ("", "vit()", [SIDE], "size", "8GiB"),
    ("", "vit()", [IMAGE], "batch", "8GiB"),
    ("", "gpt2()", [TOKENS], "length", "24GiB"),
    ("", "gpt2()", [TOKENS], "length", "2GiB"),
    ("", "gpt2()", ["tokens=batch,512"], "batch", "16GiB"),
    ("", "bert(classes: 2)", BERT, "batch", "16GiB"),
    ("", "bert(classes: 2)", ["tokens=8,length", "segments=8,length"], "length", "8GiB"),
    ("", "resnet(depth: 18)", [IMAGE], "batch", "8GiB"),
    ("", "resnet(depth: 50)", [IMAGE], "batch", "16GiB"),
    ("", "resnet(depth: 152)", [IMAGE], "batch", "24GiB"),
    ("", "resnet(depth: 18)", [SIDE], "size", "4GiB"),
    ("", "resnext()", [IMAGE], "batch", "16GiB"),
    ("", "wide_resnet()", [IMAGE], "batch", "16GiB"),
    ("", "cifar_resnet(depth: 110)", ["image=batch,3,32,32"], "batch", "4GiB"),
    ("", "alexnet()", [IMAGE], "batch", "8GiB"),
    ("", "alexnet()", [SIDE], "size", "8GiB"),
    ("", "vgg(depth: 16)", [IMAGE], "batch", "16GiB"),
    ("", "vgg(depth: 11, norm: true)", [IMAGE], "batch", "12GiB"),
    ("", "small_vgg(depth: 11, width: 16)", ["image=batch,3,32,32"], "batch", "2GiB"),
    ("", "mobilenet_v1()", [IMAGE], "batch", "8GiB"),
    ("", "mobilenet_v2()", [IMAGE], "batch", "8GiB"),
    ("", "mobilenet_v2()", [SIDE], "size", "4GiB"),
    ("", "mobilenet_v3()", [IMAGE], "batch", "8GiB"),
    ("", "mobilenet_v3(small: true)", [SIDE], "size", "2GiB"),
    ("", "efficientnet()", [IMAGE], "batch", "8GiB"),
    ("", "efficientnet(variant: 4)", [SIDE], "size", "6GiB"),
    ("", "densenet(depth: 121)", [IMAGE], "batch", "8GiB"),
    ("", "densenet(depth: 201)", [IMAGE], "batch", "24GiB"),
    ("", "squeezenet()", [SIDE], "size", "2GiB"),
    ("", "squeezenet(version: 1)", [IMAGE], "batch", "4GiB"),
    ("", "googlenet()", [IMAGE], "batch", "8GiB"),
    ("", "shufflenet_v2()", [IMAGE], "batch", "6GiB"),
    ("", "convnext()", [IMAGE], "batch", "16GiB"),
    ("", "convnext()", [SIDE], "size", "4GiB"),
    ("", "unet(padded: true)", ["image=1,3,size,size"], "size", "12GiB"),
    ("", "lenet5()", ["image=batch,1,28,28"], "batch", "256MiB"),
    ("", "mlp(widths: [4096, 4096, 10])", ["x=batch,1024"], "batch", "1GiB"),
    (design("convnext", "width: 96", PICTURE), "", [], "width", "8GiB"),
    (design("unet(padded: true)", "width: 64", ["image: [2, 3, 256, 256]"]), "", [], "width", "8GiB"),
    (design("wide_resnet", "factor: 2", PICTURE), "", [], "factor", "8GiB"),
    (design("densenet", "growth: 32", PICTURE), "", [], "growth", "6GiB"),
    (design("resnext", "group_width: 4", PICTURE), "", [], "group_width", "6GiB"),
    (design("small_vgg(depth: 11)", "width: 16", ["image: [64, 3, 32, 32]"]), "", [], "width", "2GiB"),
    (design("gpt2(vocab: 1000, context: 256)", "layers: 12", MANY_WORDS, "text"), "", [], "layers", "8GiB"),
    (design("gpt2(vocab: 1000, context: 256, layers: 4)", "width: 768", WORDS, "text"), "", [], "width", "4GiB"),
    (design("vit", "layers: 12", MANY_PICTURES), "", [], "layers", "8GiB"),
]
BACKENDS = ["pytorch", "pytorch-cpu", "cpu"]
# One of these for each case, in turn: its memory, and the workspaces of its convolutions as they were recorded or are modelled.
DEVICES = ["v100", "t4", "a100", "a100_40", "a10", "l4", "h100", "h100_pcie", "h200", "b200", "rtx3060", "rtx3090", "rtx4090", "rtx5090"]


def run(tbemc, *arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = subprocess.run([tbemc, *arguments], capture_output=True, text=True, timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return answer, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wrong(tbemc, case, backend, report):
    """What is wrong with the answer; "" where it holds. A backend is one of ours, or a device of eager PyTorch."""
    text, network, shapes, factor, memory = case
    device = backend in DEVICES
    with tempfile.NamedTemporaryFile("w", suffix=".tbem") as program:
        program.write(text)
        program.flush()
        given = ([program.name] if text else []) + (["-e", network, "--task", TASK] if network else [])
        given += ["--on", "pytorch" if device else backend, "--max", backend if device else memory, "--json"]
        given += ["--cudnn", "none"] if device else []
        inputs = [part for shape in shapes for part in ("--input", shape)]
        answer, seconds = run(tbemc, "fit", *given, *inputs, "--vary", factor)
        report.update(seconds=round(seconds, 3))
        if answer.returncode not in (0, 5) or not answer.stdout.startswith("{"):
            return f"exit {answer.returncode}: {answer.stderr[:300]}"
        fit = json.loads(answer.stdout.splitlines()[0])
        report.update(largest=fit["largest"], failing=fit["failing"], bounded_by=fit["bounded_by"], tried=fit["tried"])

        def status(level):
            at = inputs if shapes else ["--at", f"{factor}={level}"]
            return run(tbemc, "estimate", *given, *[one.replace(factor, str(level)) if shapes else one for one in at])[0].returncode

        if seconds > 5:
            return f"{seconds:.1f} s of processor time"
        if fit["ended_by_work"]:
            return "ended by its limit of work"
        if fit["largest"] is not None and status(fit["largest"]) != 0:
            return f"the answer {fit['largest']} does not fit"
        if fit["failing"] is not None and status(fit["failing"]) != 5:
            return f"{fit['failing']} fits or cannot be built"
        if fit["bound"] is not None and status(fit["bound"]) != 1:
            return f"the bound {fit['bound']} can be built"
        if fit["failing"] is None and fit["bound"] is None:
            return "neither a level that fails nor a bound"
        for level in range((fit["largest"] or 0) + 1, min(fit["failing"] or fit["bound"], (fit["largest"] or 0) + 4)):
            if status(level) != 1:
                return f"{level} can be built and was passed over"
    return ""


def main():
    tbemc = sys.argv[1]
    pairs = [(case, backend) for i, case in enumerate(CASES) for backend in [*BACKENDS, DEVICES[i % len(DEVICES)]]]
    asked = sys.argv[2] if len(sys.argv) > 2 else "1"
    if asked.isdigit():
        pairs = pairs[:: int(asked)]
    else:
        pairs = [(case, backend) for case, backend in pairs if case[1] in asked.split(";") and backend == BACKENDS[0]]
    bad = 0
    for case, backend in pairs:
        name = case[1] or case[0].split("design d of ")[1].split(" {")[0]
        report = {"network": name, "input": " ".join(case[2]), "factor": case[3], "memory": case[4], "backend": backend}
        why = wrong(tbemc, case, backend, report)
        report["wrong"] = why
        bad += why != ""
        print(json.dumps(report), flush=True)
    print(f"{len(pairs) - bad} of {len(pairs)} agree with estimate at both sides")
    return 1 if bad else 0


sys.exit(main())
