"""Holds `fit` against `estimate --max` at both sides of its answer: usage: fit_templates.py TBEMC [every N-th case]

Each case is a network, an input in which one name varies, a memory and a device. Its answer must fit, the next level that can be
built must not, or where a bound is told it cannot be built; and the search must take less than 5 s of processor time."""
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
# (program text or "", expression, input, factor, memory)
CASES = [
    (BOUNDED, "a", "x=1,size,64", "size", "2GiB"),
    (SQUARE, "a", "x=1,64,size,size", "size", "8GiB"),
    (PATTERN, "a", "x=1,3,size,size", "size", "8GiB"),
    (PATTERN, "a", "x=1,3,size,size", "size", "3MiB"),
    ("", "vit()", SIDE, "size", "8GiB"),
    ("", "vit()", IMAGE, "batch", "8GiB"),
    ("", "gpt2()", TOKENS, "length", "24GiB"),
    ("", "gpt2()", TOKENS, "length", "2GiB"),
    ("", "gpt2()", "tokens=batch,512", "batch", "16GiB"),
    ("", "resnet(depth: 18)", IMAGE, "batch", "8GiB"),
    ("", "resnet(depth: 50)", IMAGE, "batch", "16GiB"),
    ("", "resnet(depth: 18)", SIDE, "size", "4GiB"),
    ("", "alexnet()", IMAGE, "batch", "8GiB"),
    ("", "alexnet()", SIDE, "size", "8GiB"),
    ("", "vgg(depth: 16)", IMAGE, "batch", "16GiB"),
    ("", "small_vgg(depth: 11, width: 16)", "image=batch,3,32,32", "batch", "2GiB"),
    ("", "mobilenet_v2()", IMAGE, "batch", "8GiB"),
    ("", "mobilenet_v2()", SIDE, "size", "4GiB"),
    ("", "densenet(depth: 121)", IMAGE, "batch", "8GiB"),
    ("", "squeezenet()", SIDE, "size", "2GiB"),
]
BACKENDS = ["pytorch", "pytorch-cpu", "cpu"]


def run(tbemc, *arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = subprocess.run([tbemc, *arguments], capture_output=True, text=True, timeout=300)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return answer, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def wrong(tbemc, case, backend, report):
    """What is wrong with the answer; "" where it holds."""
    text, network, shape, factor, memory = case
    with tempfile.NamedTemporaryFile("w", suffix=".tbem") as program:
        program.write(text)
        program.flush()
        given = ([program.name] if text else []) + ["-e", network, "--task", TASK, "--on", backend, "--max", memory, "--json"]
        answer, seconds = run(tbemc, "fit", *given, "--input", shape, "--vary", factor)
        if answer.returncode not in (0, 5) or not answer.stdout.startswith("{"):
            return f"exit {answer.returncode}: {answer.stderr[:300]}"
        fit = json.loads(answer.stdout.splitlines()[0])
        report.update(largest=fit["largest"], failing=fit["failing"], bounded_by=fit["bounded_by"], tried=fit["tried"], seconds=round(seconds, 3))

        def status(level):
            return run(tbemc, "estimate", *given, "--input", shape.replace(factor, str(level)))[0].returncode

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
    step = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    pairs = [(case, backend) for case in CASES for backend in BACKENDS][::step]
    bad = 0
    for case, backend in pairs:
        report = {"network": case[1], "input": case[2], "memory": case[4], "backend": backend}
        why = wrong(tbemc, case, backend, report)
        report["wrong"] = why
        bad += why != ""
        print(json.dumps(report))
    print(f"{len(pairs) - bad} of {len(pairs)} agree with estimate at both sides")
    return 1 if bad else 0


sys.exit(main())
