#!/usr/bin/env python3
"""Estimates every named network, inference and training, and checks what must hold of its plan."""
import json
import subprocess
import sys

NETWORKS = [
    ("alexnet()", "2,3,224,224"), ("vgg(depth: 11)", "2,3,224,224"), ("vgg(depth: 16, norm: true)", "2,3,64,64"),
    ("vgg(depth: 19)", "1,3,224,224"), ("small_vgg(depth: 11, width: 16)", "16,3,32,32"), ("small_vgg(depth: 19, width: 64)", "4,3,32,32"),
    ("resnet(depth: 18)", "16,3,32,32"), ("resnet(depth: 34)", "2,3,224,224"), ("resnet(depth: 50)", "2,3,224,224"),
    ("resnet(depth: 101)", "1,3,64,64"), ("resnet(depth: 152)", "2,3,64,64"), ("cifar_resnet(depth: 20)", "16,3,32,32"),
    ("cifar_resnet(depth: 56, projection: true)", "3,3,32,32"), ("cifar_resnet(depth: 110)", "2,3,32,32"), ("lenet5()", "4,1,28,28"),
    ("resnext()", "2,3,64,64"), ("wide_resnet()", "2,3,64,64"), ("mobilenet_v1()", "2,3,96,96"), ("mobilenet_v2()", "4,3,96,96"),
    ("mobilenet_v3()", "2,3,96,96"), ("mobilenet_v3(small: true)", "2,3,224,224"), ("efficientnet()", "2,3,96,96"),
    ("efficientnet(variant: 4)", "2,3,224,224"), ("convnext()", "2,3,96,96"),
]
TASKS = [None, "train(loss: cross_entropy, optimizer: sgd(lr: 0.01, momentum: 0.9))"]


def estimates(tbemc, arguments):
    out = subprocess.run([tbemc, "estimate", "--json", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def main():
    tbemc, count, bad = sys.argv[1], 0, 0
    jobs = [(name, f"image={shape}", task) for name, shape in NETWORKS for task in TASKS]
    jobs += [("mlp(widths: [64, 32, 10])", "x=8,20", task) for task in TASKS]
    jobs += [("lenet5()", "image=4,1,32,32", "train(loss: cross_entropy, optimizer: adam())"),
             ("resnet(depth: 18)", "image=16,3,224,224", TASKS[1])]
    for name, shape, task in jobs:
        for row in estimates(tbemc, ["-e", name, "--input", shape, *(["--task", task] if task else [])]):
            memory = row["memory"]
            total = sum(memory["kinds"].values()) + (0 if "gaps" in memory["kinds"] else memory["gaps"])
            if memory["arena"] > 1.02 * memory["live"] or memory["arena"] < memory["live"] or total != memory["arena"]:
                print("BAD", name, task, memory)
                bad += 1
            count += 1
    print(f"{count} estimates hold" if not bad else f"{bad} of {count} do not hold")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
