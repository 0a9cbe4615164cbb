#!/usr/bin/env python3
"""Holds the least and the most FLOPs of adaptive networks, and those at every exit, against published numbers.

usage: adaptive_bounds.py TBEMC

Numbers are of one picture of 3 x 32 x 32. Those of SkipNet and of Shallow-Deep Networks were counted by hooks on the modules of the authors'
released code in PyTorch 2.15: `deepperform` takes 2 x in x out x kernel a pixel of nn.Conv2d, whatever its groups, and 2 x in x out of
nn.Linear, with what nn.LSTM computes left out; `sdn` is the profiler of that code with its sums in f64, because those in f32 lose the last
digits. BlockDrop: table 1 of DeepPerform counts blocks of 9 437 184 and 7 077 888 and 128 FLOPs for a value head that only the policy's
training uses. RANet and MSDNet: the authors' code at CIFAR-100, in millions. DeepPerform's generator: the authors' code, as a
forward pass of it was counted in PyTorch 1.13. B-LeNet of pictures of 1 x 28 x 28, B-AlexNet, B-ResNet, DeeBERT and PABEE of 128 tokens:
the layers of their papers, written out below.
"""
import json
import subprocess
import sys

IMAGE = ["--input", "image=1,3,32,32"]
INPUTS = {
    "branchy_lenet": ["--input", "image=1,1,28,28"],
    "deebert": ["--input", "tokens=1,128", "--input", "segments=1,128"],
    "mixture_of_depths": ["--input", "tokens=1,1024"],
    "switch_transformer": ["--input", "tokens=1,1024"],
    "pabee": ["--input", "tokens=1,128", "--input", "segments=1,128"],
}

# B-LeNet's layers: in x out x kernel x pixels; the branch, then the rest.
BRANCH = 2 * (1 * 5 * 25 * 30**2 + 5 * 10 * 9 * 15**2 + 640 * 10)
TRUNK = 2 * (5 * 10 * 25 * 17**2 + 10 * 20 * 25 * 11**2 + 720 * 84 + 84 * 10)
def layers(*sizes):
    """2 x multiply-adds, and parameters, of convolutions (in, out, kernel, pixels a side of the result), dense layers (in, out) and
    batch normalisations (channels)."""
    products = [(each[0] * each[1] * each[2]**2 if len(each) == 4 else each[0] * each[1]) for each in sizes if len(each) > 1]
    pixels = [each[3]**2 if len(each) == 4 else 1 for each in sizes if len(each) > 1]
    flops = sum(2 * product * count for product, count in zip(products, pixels))
    return flops, sum(products) + sum(each[1] if len(each) > 1 else 2 * each[0] for each in sizes)


def blocks(count, out, pixels, first=None):
    """Residual blocks of two convolutions, each normalised, the first of `first` channels."""
    return [size for k in range(count) for size in [(first or out if k == 0 else out, out, 3, pixels), (out,), (out, out, 3, pixels), (out,)]]


def exits(*parts):
    """FLOPs at the exit behind each part, and all parameters."""
    counted = [layers(*part) for part in parts]
    return [sum(flops for flops, _ in counted[:k + 1]) for k in range(len(counted))], sum(parameters for _, parameters in counted)


ALEXNET = exits([(3, 32, 5, 32), (32, 64, 5, 16), (64, 32, 3, 8), (32, 32, 3, 8), (512, 10)],
                [(64, 96, 3, 8), (96, 32, 3, 4), (128, 10)],
                [(96, 96, 3, 8), (96, 64, 3, 8), (1024, 256), (256, 128), (128, 10)])
RESNET = exits([(3, 16, 3, 30), (16,), *blocks(1, 16, 30), (16, 32, 3, 30), (32, 32, 3, 30), (7200, 3600), (3600, 10)],
               [*blocks(18, 16, 30), *blocks(1, 16, 30), (14400, 10)],
               [*blocks(18, 32, 15, 16), *blocks(18, 64, 8, 32), (576, 10)])

# A layer of BERT on 128 tokens: four products and two of the inner layer with weights, two of queries, keys and values.
BERT = 108_891_648  # Devlin et al. 2019 without the pooler
LAYER = 2 * (128 * (4 * 768**2 + 2 * 768 * 3072) + 2 * 128**2 * 768)
RAMP = 2 * (768 * 768 + 768 * 2)

def transformer(tokens):
    """The attention and the feed-forward network of a layer of 768 numbers, and its scores."""
    return 2 * tokens * 4 * 768**2 + 4 * tokens**2 * 768, 2 * tokens * 8 * 768**2


# GPT-2 on 1024 tokens, six of whose twelve layers see 128 of them (a router a token), or have 8 experts of 160 places.
WORDS = 2 * 1024 * 768 * 50257
DEPTHS = 6 * sum(transformer(1024)) + 6 * (sum(transformer(128)) + 2 * 1024 * 768) + WORDS
SWITCH = 12 * transformer(1024)[0] + 6 * transformer(1024)[1] + 6 * (transformer(8 * 160)[1] + 2 * 1024 * 768 * 8) + WORDS

# ResNet-32's stem, head and scores of ACT; a unit, and the first one of a stage that halves the image.
ACT = 2 * (3 * 16 * 9 * 32**2 + 64 * 10 + 4 * (16 + 32 + 64))
UNIT = 2 * 2 * 16 * 16 * 9 * 32**2
HALVING = UNIT * 3 // 4 + 2 * 16 * 32 * 16**2

def dynconv(n):
    """Bounds and parameters of dynamic convolutions: what a mask decides about, and what is always computed."""
    always, masked, c = [(3, 16, 3, 32), (16,), (64, 10)], [], 16
    parameters = 3 * 16 * 9 + 2 * 16 + 64 * 10 + 10
    for i in range(3 * n):
        out, side = [16, 32, 64][i // n], 32 >> i // n
        always += [(c, 1, 3, side), (c, 1)] + ([(c, out, 1, side)] if c != out else [])
        masked += [(c, out, 3, side), (out, out, 3, side)]
        parameters += 9 * c + 1 + c + 1 + 9 * out * (c + out) + 4 * out + (c * out + 2 * out if c != out else 0)
        c = out
    least = layers(*always)[0]
    return [least, least + layers(*masked)[0]], parameters


DYNCONV = dynconv(5)

# Convolutions of 4 x 4 at every second place, without padding: 32, 15, 6, 2 pixels a side.
JUDGE = 2 * 16 * (3 * 8 * 15**2 + 8 * 16 * 6**2 + 16 * 32 * 2**2) + 2 * 32 * 2**2

# network, convention, parameters or None, FLOPs from the least path to the most: all exits, or two bounds; or one number
ROWS = [
    ("skipnet()", "deepperform", 1751655, [10887588, 506339748]),
    ("skipnet(as_released: true)", "deepperform", 1751655, [10887588, 506864036]),
    ("skipnet(n: 6)", "deepperform", 571263, [10859988, 166573524]),
    ("skipnet(n: 12)", "deepperform", 1161459, [10873788, 336456636]),
    ("skipnet(n: 25)", "deepperform", 2440217, [10903688, 704536712]),
    ('skipnet(n: 6, gates: "feed_forward_1")', "deepperform", 1074684, [35917440, 191630976]),
    ('skipnet(n: 12, gates: "feed_forward_1")', "deepperform", 2242656, [62462208, 388045056]),
    ('skipnet(gates: "feed_forward_2")', "deepperform", 2572676, [73376640, 568828800]),
    ("blockdrop()", "deepperform", None, [25370752 - 128, 530260096 - 128]),
    ("ranet()", "deepperform", None, [31.499, 62.392, 88.994, 100.398, 120.745, 126.743, 179.206, 188.678]),
    ("ranet(classes: 10)", "deepperform", None, [31.476, 188.494]),
    ("msdnet()", "deepperform", None, [29.935, 50.518, 73.561, 91.945, 113.868, 133.059, 150.975]),
    ("msdnet(steps: [1, 2, 3, 4, 5])", "deepperform", None, [13.585, 28.418, 54.558, 82.747, 116.176]),
    ("branchy_lenet()", "flop2", None, [BRANCH, BRANCH + TRUNK]),
    ("branchy_alexnet()", "flop2", ALEXNET[1], ALEXNET[0]),
    ("branchy_resnet()", "flop2", RESNET[1], RESNET[0]),
    ("mixture_of_depths()", "flop2", 124439808 + 6 * 768, [DEPTHS]),
    ("switch_transformer()", "flop2", 124439808 + 6 * (8 * 768 + 7 * 8 * 768**2 - 5 * 768), [SWITCH]),
    ("deepperform_generator()", "flop2", 15788658, [1289174704]),
    ("deepperform_discriminator()", "flop2", 10809, [JUDGE]),
    ("dynconv()", "flop2", DYNCONV[1], DYNCONV[0]),
    ("act_resnet()", "flop2", None, [ACT + UNIT + 2 * HALVING, ACT + 13 * UNIT + 2 * HALVING]),
    ("deebert()", "flop2", BERT + 12 * (768 * 768 + 768 + 768 * 2 + 2), [k * (LAYER + RAMP) for k in range(1, 13)]),
    # At the first layer there is nothing to agree with, so the sixth in a row is behind the seventh.
    ("pabee()", "flop2", BERT + 768 * 768 + 768 + 12 * (768 * 2 + 2), [k * (LAYER + RAMP) for k in range(7, 13)]),
    ("sdn_resnet56()", "deepperform", 891676, [38638592, 76392448, 112054272, 149813248, 185485312, 223254528, 251567360]),
    ("sdn_resnet56()", "sdn", 891676, [38937334, 76957164, 112794594, 150688216, 186465742, 224303556, 252666042]),
    ("sdn_resnet56(classes: 100)", "deepperform", 1220626,
     [38684672, 76484608, 112238592, 150089728, 185946112, 223899648, 252224000]),
    ("sdn_resnet56(classes: 100)", "sdn", 1220626, [38983324, 77049144, 112978644, 150964336, 186926092, 224948136, 253322052]),
    ("sdn_resnet56(classes: 200)", "deepperform", None, [38.736, 252.954]),
    ("sdn_mobilenet()", "flop2", 3483520, [20062208, 33169408, 46137344, 63373312, 84758528, 93241344]),
    ("sdn_mobilenet()", "deepperform", 3483520, [131833856, 238870528, 345989120, 513925120, 704847872, 788754432]),
    ("sdn_mobilenet()", "sdn", 3483520, [126130166, 228075500, 330029026, 489666520, 671248334, 750983108]),
    ("sdn_vgg16()", "deepperform", 15468683, [79056896, 192344064, 305672192, 381251584, 494661632, 570200064, 627881984]),
    ("sdn_vgg16()", "sdn", 15468683, [79473654, 192971756, 306410466, 382047192, 495514574, 571079620, 628779962]),
    ("sdn_wide_resnet32()", "deepperform", 7547500,
     [399364096, 701374464, 1083097088, 1385127936, 1766891520, 2068963328, 2370958336]),
    ("sdn_wide_resnet32()", "sdn", 7547500, [400411638, 703223788, 1085747170, 1388185560, 1770452942, 2072733636, 2374976442]),
]


def inputs(network):
    return INPUTS.get(network.split("(")[0], IMAGE)


def estimate(tbemc, network, convention, gates="0"):
    command = [tbemc, "estimate", "-e", network, *inputs(network), "--convention", convention, "--gates", gates, "--json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return next(row for row in map(json.loads, lines) if row["kind"] == "estimate")


def exit_paths(tbemc, network):
    """The paths of a network's exits, in the order in which a sample comes to them."""
    command = [tbemc, "step", "-e", network, *inputs(network), "--on", "ref", "--json"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [gate["path"] for row in map(json.loads, lines) if row["kind"] == "step" for gate in row["gates"]]


def agrees(found, published):
    """Whole numbers are FLOPs, others millions of three digits."""
    if isinstance(published, int):
        return found == published
    return f"{found / 1e6:.3f}" == f"{published:.3f}"


def check(tbemc, network, convention, parameters, published):
    row = estimate(tbemc, network, convention)
    wrong = []
    if parameters is not None and row["parameters"] != parameters:
        wrong.append(f"{row['parameters']} parameters, published {parameters}")
    paths = row.get("paths")
    if paths is None:  # without gates: whatever the input is
        found = row["flops"]["forward"]
        return wrong + ([] if [found] == published else [f"{found}, published {published}"])
    bounds = [paths["flops_min"], paths["flops_max"]]
    between = []
    if len(published) > 2:
        for path in exit_paths(tbemc, network)[1:len(published) - 1]:
            at_exit = estimate(tbemc, network, convention, f"{path}=1,0")
            between.append(at_exit["paths"]["flops_expected"])
    counted = [bounds[0], *between, bounds[1]]
    if len(counted) != len(published) or not all(map(agrees, counted, published)):
        wrong.append(f"{counted}, published {published}")
    return wrong


def main():
    tbemc = sys.argv[1]
    numbers = 0
    failed = False
    for network, convention, parameters, published in ROWS:
        for text in check(tbemc, network, convention, parameters, published):
            failed = True
            print(f"{network} by {convention}: {text}")
        numbers += len(published)
    if failed:
        sys.exit(1)
    print(f"{len(ROWS)} rows agree, {numbers} numbers")


main()
