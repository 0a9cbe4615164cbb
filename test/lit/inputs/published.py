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
LARGE = "image=2,3,299,299"


def llama(layers, width, inner, hidden, vocab):
    """FLOPs of the products of two sequences of 64 tokens, with keys and values of `inner` numbers."""
    layer = 2 * 128 * (2 * width**2 + 2 * width * inner + 3 * width * hidden) + 2 * 2 * 2 * 64**2 * width
    return layers * layer + 2 * 128 * width * vocab


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
    ("swin()", IMAGE, 28288354, 57802752, 16650264576 + 560566272 + 693633024),
    ("swin(units: [2, 2, 18, 2])", IMAGE, 49606258, 57802752, 33297457152 + 914608128 + 693633024),
    ("swin(width: 128, units: [2, 2, 18, 2])", IMAGE, 87768224, 77070336, 59194114048 + 1219477504 + 1233125376),
    ("mnasnet(width: 0.5)", IMAGE, 2218512, 412703872, 5120000),
    ("mnasnet(width: 0.75)", IMAGE, 3170208, 856852416, 5120000),
    ("mnasnet(width: 1)", IMAGE, 4383312, 1252543488, 5120000),
    ("mnasnet(width: 1.3)", IMAGE, 6282256, 2100329728, 5120000),
    ("efficientnet_v2()", IMAGE, 21458488, 11394463488, 5120000),
    ('efficientnet_v2(size: "m")', IMAGE, 54139356, 21443708800, 5120000),
    ('efficientnet_v2(size: "l")', IMAGE, 118515272, 48919634176, 5120000),
    ("inception_v3()", LARGE, 23834568, 22844672384, 8192000),
    ("regnet()", IMAGE, 5495976, 1653650432, 1600000),
    ("regnet(depth: 16, initial: 56, slope: 35.73, step: 2.28)", IMAGE, 7259656, 3196110848, 2688000),
    ("regnet(depth: 18, initial: 80, slope: 34.01, step: 2.25, group: 24)", IMAGE, 9190136, 6407751168, 3648000),
    ("regnet(depth: 25, initial: 88, slope: 26.31, step: 2.25, group: 48)", IMAGE, 15296552, 12702455808, 4032000),
    ("regnet(depth: 23, initial: 80, slope: 49.56, step: 2.88, group: 120)", IMAGE, 39572648, 31972849664, 7680000),
    ("regnet(initial: 216, slope: 55.59, step: 2.1, group: 128)", IMAGE, 54278536, 63754829824, 8192000),
    ("regnet(depth: 23, initial: 320, slope: 69.86, step: 2, group: 168)", IMAGE, 107811560, 126933639168, 10080000),
    ("regnet(depth: 16, initial: 48, slope: 27.89, step: 2.09, group: 8, squeeze: 0.25)", IMAGE, 4344144, 1605611392, 1760000),
    ("regnet(depth: 14, initial: 56, slope: 38.84, step: 2.4, squeeze: 0.25)", IMAGE, 6432512, 3332289024, 3136000),
    ("regnet(depth: 27, initial: 48, slope: 20.71, step: 2.65, group: 24, squeeze: 0.25)", IMAGE, 11202430, 6444752640, 3552000),
    ("regnet(depth: 21, initial: 80, slope: 42.63, step: 2.66, group: 24, squeeze: 0.25)", IMAGE, 19436338, 12699883008, 6048000),
    ("regnet(depth: 17, initial: 192, slope: 76.82, step: 2.19, group: 56, squeeze: 0.25)", IMAGE, 39381472, 33884218368, 8064000),
    ("regnet(depth: 18, initial: 200, slope: 106.23, step: 2.48, group: 112, squeeze: 0.25)", IMAGE, 83590140, 63633945088, 12096000),
    ("regnet(depth: 20, initial: 232, slope: 115.89, step: 2.53, group: 232, squeeze: 0.25)", IMAGE, 145046770, 129103363328, 14848000),
    ("regnet(depth: 27, initial: 456, slope: 160.83, step: 2.52, group: 264, squeeze: 0.25)", IMAGE, 644812894, None, None),
    # Their papers' authors, or a count by hand: LeNet-5 with the full C3; MobileNet as its authors' code (4.2 million in table 8).
    ("lenet5()", "image=2,1,28,28", 61706, None, None),
    ("cifar_resnet(depth: 20)", "image=2,3,32,32", 269722, None, None),
    ("mobilenet_v1()", IMAGE, 4231976, None, None),
    ("unet(padded: false)", "image=1,1,572,572", 31030658, None, 0),
    # Parameters: their authors' checkpoints. A layer's four products of width by width and two of width by 4 width, attention's two; the head.
    ("gpt2()", "tokens=2,64", 124439808, 0, 12 * (2 * 128 * 12 * 768**2 + 4 * 2 * 64**2 * 768) + 2 * 128 * 768 * 50257),
    ("gpt2(layers: 24, width: 1024, heads: 16)", "tokens=2,64", 354823168, 0, None),
    # A layer's products for queries and results, keys and values, and three of width by hidden; attention's two; the head. Llama 2 7B and 13B,
    # Llama 3 8B.
    ("llama()", "tokens=2,64", 6738415616, 0, llama(32, 4096, 4096, 11008, 32000)),
    ("llama(layers: 40, width: 5120, heads: 40, hidden: 13824)", "tokens=2,64", 13015864320, 0, llama(40, 5120, 5120, 13824, 32000)),
    ("llama(vocab: 128256, context: 8192, groups: 8, hidden: 14336, base: 500000)", "tokens=2,64", 8030261248, 0, llama(32, 4096, 1024, 14336, 128256)),
    ("bert()", "tokens=2,64 segments=2,64", 109482240, 0, 12 * (2 * 128 * 12 * 768**2 + 4 * 2 * 64**2 * 768) + 2 * 2 * 768**2),
]
# torchvision's model cards (`_ops`): network, height and width of the image, multiply-adds in units of 10^9, to three digits behind the point.
CARDS = [
    ("swin()", 224, 4.491),
    ("swin(units: [2, 2, 18, 2])", 224, 8.741),
    ("swin(width: 128, units: [2, 2, 18, 2])", 224, 15.431),
    ("mnasnet(width: 0.5)", 224, 0.104),
    ("mnasnet(width: 0.75)", 224, 0.215),
    ("mnasnet(width: 1)", 224, 0.314),
    ("mnasnet(width: 1.3)", 224, 0.526),
    ("efficientnet_v2()", 384, 8.366),
    ('efficientnet_v2(size: "m")', 480, 24.582),
    ('efficientnet_v2(size: "l")', 480, 56.08),
    ("inception_v3()", 299, 5.713),
    ("regnet()", 224, 0.414),
    ("regnet(depth: 16, initial: 56, slope: 35.73, step: 2.28)", 224, 0.8),
    ("regnet(depth: 18, initial: 80, slope: 34.01, step: 2.25, group: 24)", 224, 1.603),
    ("regnet(depth: 25, initial: 88, slope: 26.31, step: 2.25, group: 48)", 224, 3.177),
    ("regnet(depth: 23, initial: 80, slope: 49.56, step: 2.88, group: 120)", 224, 7.995),
    ("regnet(initial: 216, slope: 55.59, step: 2.1, group: 128)", 224, 15.941),
    ("regnet(depth: 23, initial: 320, slope: 69.86, step: 2, group: 168)", 224, 31.736),
    ("regnet(depth: 16, initial: 48, slope: 27.89, step: 2.09, group: 8, squeeze: 0.25)", 224, 0.402),
    ("regnet(depth: 14, initial: 56, slope: 38.84, step: 2.4, squeeze: 0.25)", 224, 0.834),
    ("regnet(depth: 27, initial: 48, slope: 20.71, step: 2.65, group: 24, squeeze: 0.25)", 224, 1.612),
    ("regnet(depth: 21, initial: 80, slope: 42.63, step: 2.66, group: 24, squeeze: 0.25)", 224, 3.176),
    ("regnet(depth: 17, initial: 192, slope: 76.82, step: 2.19, group: 56, squeeze: 0.25)", 224, 8.473),
    ("regnet(depth: 18, initial: 200, slope: 106.23, step: 2.48, group: 112, squeeze: 0.25)", 224, 15.912),
    ("regnet(depth: 20, initial: 232, slope: 115.89, step: 2.53, group: 232, squeeze: 0.25)", 224, 32.28),
    ("regnet(depth: 27, initial: 456, slope: 160.83, step: 2.52, group: 264, squeeze: 0.25)", 384, 374.57),
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
    for network, size, published in CARDS:
        _, convolutions, products = estimate(sys.argv[1], network, f"image=1,3,{size},{size}")
        mine = (convolutions + products) / 2e9
        if abs(mine - published) > 0.00051:
            print(f"BAD {network}: {mine} GMAC, published {published}")
            bad += 1
    print(f"{len(ROWS)} networks agree, and {len(CARDS)} model cards" if not bad else f"{bad} numbers differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
