#!/usr/bin/env python3
"""Holds a training step of networks of the standard library, made small, against PyTorch: in f64 on ref, in f32 on cpu.

usage: compare_networks.py TBEMC FOLDER [--accumulate PARTS] NAME...
"""
import subprocess
import sys

from compare_step import compare

# name of the model: network, inputs, bound of the f32 gradient (see compare_step.py): networks with relu have kinks, where f32 is unstable
NETWORKS = {
    "mobilenet_v1": ("mobilenet_v1(width: 0.25, classes: 10)", ["image=4,3,64,64"], "2e-2"),
    "mobilenet_v2": ("mobilenet_v2(width: 0.25, classes: 10, dropout: 0)", ["image=4,3,64,64"], "2e-2"),
    "mobilenet_v3_small": ("mobilenet_v3(small: true, width: 0.5, classes: 10, dropout: 0)", ["image=4,3,64,64"], "2e-2"),
    "efficientnet": ("efficientnet(width: 0.25, classes: 10, dropout: 0, drop: 0)", ["image=4,3,64,64"], "own"),
    "convnext": ("convnext(width: 16, units: [1, 1, 2, 1], classes: 10, drop: 0, scale: 0.5)", ["image=2,3,64,64"], "own"),
    "densenet": ("densenet(growth: 8, classes: 10)", ["image=2,3,64,64"], "2e-2"),
    "squeezenet": ("squeezenet(classes: 10, dropout: 0)", ["image=2,3,64,64"], "2e-2"),
    "googlenet": ("googlenet(classes: 10, dropout: 0)", ["image=2,3,96,96"], "2e-2"),
    "shufflenet_v2": ("shufflenet_v2(width: 0.5, classes: 10)", ["image=4,3,64,64"], "2e-2"),
    "unet": ("unet(classes: 3, width: 4)", ["image=2,3,32,48"], "2e-2"),
    "unet_valid": ("unet(classes: 3, width: 4, padded: false)", ["image=1,3,188,204"], "2e-2"),
    "deepperform_generator": ("deepperform_generator()", ["image=2,3,20,20"], "own"),
    "vit": ("vit(layers: 2, width: 32, heads: 4, classes: 10, dropout: 0)", ["image=2,3,64,48"], "own"),
    "swin": ("swin(width: 16, units: [1, 2, 2], head_width: 8, window: 5, classes: 10, drop: 0)", ["image=2,3,52,36"], "own"),
    "regnet": ("regnet(depth: 4, initial: 24, slope: 12, step: 1.6, group: 8, squeeze: 0.25, classes: 10)", ["image=4,3,64,64"], "2e-2"),
    "mnasnet": ("mnasnet(width: 0.25, classes: 10, dropout: 0)", ["image=4,3,64,64"], "2e-2"),
    "efficientnet_v2": ("efficientnet_v2(width: 0.25, classes: 10, dropout: 0, drop: 0)", ["image=4,3,64,64"], "own"),
    "inception_v3": ("inception_v3(classes: 10, dropout: 0)", ["image=4,3,139,139"], "own"),
    "gpt2": ("gpt2(vocab: 101, context: 32, layers: 2, width: 32, heads: 4, dropout: 0)", ["tokens=3,20"], "own"),
    "llama": ("llama(vocab: 101, context: 32, layers: 2, width: 32, heads: 4, groups: 2, hidden: 48)", ["tokens=3,20"], "own"),
    "bert": ("bert(vocab: 101, context: 32, layers: 2, width: 32, heads: 4, classes: 5, dropout: 0)", ["tokens=3,20", "segments=3,20"], "own"),
    "mixture_of_depths": ("mixture_of_depths(vocab: 101, context: 32, layers: 4, width: 32, heads: 4, capacity: 0.3, dropout: 0)",
                          ["tokens=3,20"], "own"),
    "switch_transformer": ("switch_transformer(vocab: 101, context: 32, layers: 2, width: 32, heads: 4, experts: 4, dropout: 0)",
                           ["tokens=3,20"], "own"),
    "cifar_resnet": ("cifar_resnet(depth: 20)", ["image=4,3,32,32"], "2e-2"),
    "resnext": ("resnext(groups: 8, group_width: 2, classes: 10)", ["image=2,3,64,64"], "2e-2"),
}
# With the default seed a ReLU of mobilenet_v1 is so near 0 that rounding decides it: of seeds 0 to 5 on a processor with AVX2 the f32
# gradient is 3 % from f64's for 0 and 5, and 1.5e-5 to 2.5e-5 for the others.
SEEDS = {"mobilenet_v1": "2"}
TASK = "train(loss: cross_entropy, optimizer: sgd(lr: 0.1, momentum: 0.9))"


def step(tbemc, network, inputs, parts, path, *options):
    shapes = "\n".join(f"  input {given.replace('=', ': [')}]" for given in inputs)
    design = f"design d of {network} {{\n{shapes}\n  task {TASK}\n  accumulate {parts}\n}}"
    subprocess.run([tbemc, "step", "-e", design, "--save", path, *options], check=True, stdout=subprocess.DEVNULL)


def main():
    tbemc, folder, *names = sys.argv[1:]
    parts = int(names.pop(1)) if names[0] == "--accumulate" else 1
    names = names[parts > 1:]
    good = 0
    for name in names:
        network, inputs, f32 = NETWORKS[name]
        print(f"{network} in f64 on ref")
        path = f"{folder}/{name}.npz"
        seed = ["--seed", SEEDS[name]] if name in SEEDS else []
        step(tbemc, network, inputs, parts, path, "--dtype", "f64", "--on", "ref", *seed)
        agrees = compare(path, name, parts=parts)
        print(f"{network} in f32 on cpu")
        step(tbemc, network, inputs, parts, path, "--on", "cpu", *seed)
        good += compare(path, name, f32, parts=parts) and agrees
    print(f"{good} of {len(names)} networks agree")
    return 0 if good == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
