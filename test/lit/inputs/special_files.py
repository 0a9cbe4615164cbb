#!/usr/bin/env python3
"""special_files.py TBEMC PROGRAM PATH...: gives each path wherever a command reads a file. Every command must end soon, in little
memory, with a status that is not of success, and name the path."""
import os
import resource
import subprocess
import sys

tbemc, program, paths = sys.argv[1], sys.argv[2], sys.argv[3:]
with open(program) as file:
    text = file.read()
folder = os.path.dirname(program)


def written(name, content):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(content)
    return path


def commands(path):
    for command in ("check", "estimate", "design", "spec", "fmt", "fmt --check", "plan", "plan --verify", "weights", "replay",
                    "measure", "report", "step", "emit --as json", "check --fix", "fmt -w"):
        yield [*command.split(), path]
    yield ["measure", program, "--store", path]
    yield ["step", program, "--load", path]
    yield ["plan", "--diff", path, path]
    yield ["check", written("array.tbem", 'network net(x: tensor[n, c]; w: int) -> tensor[n, w] { return x |> dense(w) }\n'
                            'design d of net { factor w: 2, 3; factor k: 1, 2; input x: [k, 3]; array "' + path + '" }\n')]
    yield ["train", written("data.tbem", 'dataset examples = npy(inputs: ["' + path + '"], target: "' + path + '")\n' + text.split("design")[0] +
                            "train t = net() on examples.train { epochs 1; batch 2; optimizer sgd(lr: 0.1) }\n")]


limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
count = 0
for path in paths:
    for command in commands(path):
        done = subprocess.run([tbemc, *command], capture_output=True, text=True, timeout=20, preexec_fn=limit, stdin=subprocess.DEVNULL)
        said = done.stdout + done.stderr
        if done.returncode not in (1, 2, 3) or path not in said:
            sys.exit(f"{command}: {done.returncode}\n{said}")
        count += 1
print(f"refused {count} times")
