#!/usr/bin/env python3
"""Holds `tbemc estimate` of every named network against published numbers.

A row: the network, its input, its parameters, and the FLOPs (2 x the multiply-adds) of convolutions and of matrix products in a forward
pass. Parameters are those of the papers' authors or torchvision's model cards; FLOPs of rows with `torchvision` are what
torch.utils.flop_counter.FlopCounterMode (torch 2.15, torchvision 0.29) counts as aten.convolution and as aten.addmm, mm and bmm, without
biases, at this input. None: not published there.
"""
import json
import subprocess
import sys

IMAGE = "image=2,3,224,224"
# network, input, parameters, FLOPs of convolutions, FLOPs of matrix products
ROWS = [
    # torchvision
    ("alexnet()", IMAGE, 61100840, 2622266112, 234487808),
    ("vgg(depth: 11)", IMAGE, 132863336, 29941825536, 494534656),
    ("vgg(depth: 13)", IMAGE, 133047848, 44739330048, 494534656),
    ("vgg(depth: 16)", IMAGE, 138357544, 61386522624, 494534656),
    ("vgg(depth: 16, norm: true)", IMAGE, 138365992, 61386522624, 494534656),
    ("vgg(depth: 19)", IMAGE, 143667240, 78033715200, 494534656),
    ("resnet(depth: 18)", IMAGE, 11689512, 7254245376, 2048000),
    ("resnet(depth: 34)", IMAGE, 21797672, 14652997632, 2048000),
    ("resnet(depth: 50)", IMAGE, 25557032, 16348545024, 8192000),
    ("resnet(depth: 101)", IMAGE, 44549160, 31197429760, 8192000),
    ("resnet(depth: 152)", IMAGE, 60192808, 46046314496, 8192000),
    ("resnext()", IMAGE, 25028904, 16913727488, 8192000),
    ("resnext(depth: 101, groups: 32, group_width: 8)", IMAGE, 88791336, 65647869952, 8192000),
    ("wide_resnet()", IMAGE, 68883240, 45583892480, 8192000),
    ("wide_resnet(depth: 101)", IMAGE, 126886696, 91004010496, 8192000),
    ("mobilenet_v2()", IMAGE, 3504872, 1197977088, 5120000),
    ("mobilenet_v3()", IMAGE, 5483032, 856323840, 10035200),
    ("mobilenet_v3(small: true)", IMAGE, 2542856, 219586304, 6455296),
    ("efficientnet()", IMAGE, 5288548, 1538139008, 5120000),
    ("efficientnet(variant: 1)", IMAGE, 7794184, 2273486720, 5120000),
    ("efficientnet(variant: 2)", IMAGE, 9109994, 2630221760, 5632000),
    ("efficientnet(variant: 3)", IMAGE, 12233232, 3844688960, 6144000),
    ("efficientnet(variant: 4)", IMAGE, 19341616, 6007673728, 7168000),
    ("convnext()", IMAGE, 28589128, 1171860480, 16650264576),
    ("convnext(units: [3, 3, 27, 3])", IMAGE, 50223688, 1437391872, 33297457152),
    ("convnext(units: [3, 3, 27, 3], width: 128)", IMAGE, 88591464, 2224803840, 59194114048),
    ("densenet()", IMAGE, 7978856, 11332550656, 4096000),
    ("densenet(depth: 169)", IMAGE, 14149480, 13432717312, 6656000),
    ("densenet(depth: 201)", IMAGE, 20013928, 17157783552, 7680000),
    ("squeezenet()", IMAGE, 1235496, 1396607744, 0),
    ("squeezenet(version: 1)", IMAGE, 1248424, 3275698304, 0),
    ("googlenet()", IMAGE, 6624904, 5989408768, 4096000),
    ("shufflenet_v2()", IMAGE, 2278604, 575535968, 4096000),
    ("shufflenet_v2(width: 0.5)", IMAGE, 1366792, 157809792, 4096000),
    ("shufflenet_v2(width: 1.5)", IMAGE, 3503624, 1178941568, 4096000),
    ("shufflenet_v2(width: 2)", IMAGE, 7393996, 2324821856, 8192000),
    ("vit()", IMAGE, 86567656, 462422016, 16732127232 + 2861309952 + 50199453696),
    ("vit(patch: 32)", IMAGE, 88224232, 462422016, 4246732800 + 184320000 + 12743270400),
    ("vit(layers: 24, width: 1024, heads: 16)", IMAGE, 304326632, 616562688, 59492007936 + 7630159872 + 178480119808),
    # Their papers' authors, or a count by hand: LeNet-5 with the full C3; MobileNet as its authors' code (4.2 million in table 8).
    ("lenet5()", "image=2,1,28,28", 61706, None, None),
    ("cifar_resnet(depth: 20)", "image=2,3,32,32", 269722, None, None),
    ("mobilenet_v1()", IMAGE, 4231976, None, None),
    ("unet(padded: false)", "image=1,1,572,572", 31030658, None, 0),
    # Parameters: their authors' checkpoints. A layer's four products of width by width and two of width by 4 width, attention's two; the head.
    ("gpt2()", "tokens=2,64", 124439808, 0, 12 * (2 * 128 * 12 * 768**2 + 4 * 2 * 64**2 * 768) + 2 * 128 * 768 * 50257),
    ("gpt2(layers: 24, width: 1024, heads: 16)", "tokens=2,64", 354823168, 0, None),
    ("bert()", "tokens=2,64 segments=2,64", 109482240, 0, 12 * (2 * 128 * 12 * 768**2 + 4 * 2 * 64**2 * 768) + 2 * 2 * 768**2),
]
PRODUCTS = ("dense", "matmul", "matrix_product")


def estimate(tbemc, network, given):
    command = [tbemc, "estimate", "-e", network, "--json"]
    for one in given.split():
        command += ["--input", one]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    rows = [row for row in map(json.loads, lines) if row["kind"] == "estimate"]
    counts = {name: count["mac_flops_forward"] for name, count in rows[0]["flops"]["by_operator"].items()}
    products = sum(counts.pop(name, 0) for name in PRODUCTS)
    return rows[0]["parameters"], sum(counts.values()), products


def main():
    bad = 0
    for network, given, *expected in ROWS:
        found = estimate(sys.argv[1], network, given)
        for what, mine, published in zip(("parameters", "convolution FLOPs", "matrix product FLOPs"), found, expected):
            if published is not None and mine != published:
                print(f"BAD {network}: {mine} {what}, published {published}")
                bad += 1
    print(f"{len(ROWS)} networks agree" if not bad else f"{bad} numbers differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
