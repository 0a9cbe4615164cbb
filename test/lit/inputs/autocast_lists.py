"""Whether `mixed bf16 --on pytorch` and `--on pytorch-cpu` give the results of operators that read bf16 the types that PyTorch gives them under
autocast: every row of a file that test/pytorch/autocast_lists.py made. usage: autocast_lists.py TBEMC LISTS.json"""
import json
import pathlib
import subprocess
import sys

# how a program applies what the file names, to x: tensor[4, 8, 8, 8]; else `x |> NAME`
CALLS = {"group_norm": "group_norm(x, groups: 2)", "softmax": "softmax(x, axis: 1)", "log_softmax": "log_softmax(x, axis: 1)", "pow": "pow(x, exponent: 3)",
         "scalar_div": "1 / x", "clamp": "clamp(x, low: 0, high: 1)", "dropout": "dropout(x, p: 0.5)", "sum": "sum(x, axis: [2, 3])", "mean": "mean(x, axis: [2, 3])",
         "max": "max(x, axis: [2, 3])", "min": "min(x, axis: [2, 3])", "max_pool2d": "max_pool2d(x, kernel: 2)", "avg_pool2d": "avg_pool2d(x, kernel: 2)",
         "adaptive_avg_pool2d": "adaptive_avg_pool2d(x, size: 1)", "upsample2d": "upsample2d(x, size: 16)", "pad": "pad(x, low: [0, 0, 1, 1], high: [0, 0, 1, 1])",
         "pad_reflect": "pad_reflect(x, low: [0, 0, 1, 1], high: [0, 0, 1, 1])", "pixel_shuffle": "pixel_shuffle(x, factor: 2)", "add": "x + x", "mul": "x * x", "maximum": "maximum(x, x)",
         "concat": "concat([x, x], axis: 0)", "leaky_relu": "leaky_relu(x, slope: 0.01)"}


def result_type(tbemc, name, backend):
    text = (f"network n(image: tensor[4, 8, 8, 8]) -> tensor[..s] {{\n let x = conv2d(image, out: 8, kernel: 1)\n return {CALLS.get(name, f'{name}(x)')}\n}}\n"
            "design d of n { input image: [4, 8, 8, 8]; mixed bf16 }\n")
    done = subprocess.run([tbemc, "emit", "-e", text, "--on", backend, "--as", "json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{name}: {done.stderr}")
    graph = json.loads(done.stdout)
    return graph["tensors"][graph["outputs"][0]]["dtype"]


def main():
    tbemc, path = sys.argv[1:]
    lists = json.loads(pathlib.Path(path).read_text())
    wrong = []
    for row in lists["rows"]:
        for device, backend in (("cuda", "pytorch"), ("cpu", "pytorch-cpu")):
            if (found := result_type(tbemc, row["operator"], backend)) != row[device]:
                wrong.append(f"{row['operator']} on {device}: {found}, PyTorch {row[device]}")
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"{len(lists['rows'])} operators have the types that torch {lists['torch']} gives them on two devices")


if __name__ == "__main__":
    main()
