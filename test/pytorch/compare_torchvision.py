#!/usr/bin/env python3
"""Holds inference with torchvision's weights, taken by `tbemc step --load FILE --names torchvision`, against torchvision itself.

usage: compare_torchvision.py TBEMC FOLDER [NAME...]

The weights are random and so are running statistics, scales and biases: two arrays that change places show. The results agree to 1e-9 of
their size in f64. test/lit/frameworks/torchvision.test runs it for some; all take some minutes.
"""
import pathlib
import re
import subprocess
import sys

import numpy as np
import torch
import torchvision

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "test/lit/inputs"))
from safetensors_file import write

CODES = {"float64": "F64", "int64": "I64"}
NAMES = ["alexnet", "vgg11", "vgg16_bn", "resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2", "densenet121", "squeezenet1_0", "squeezenet1_1",
         "googlenet", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v3_small", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "efficientnet_b0",
         "efficientnet_b1", "convnext_tiny", "vit_b_16", "swin_t", "swin_s", "swin_b", "regnet_x_400mf", "regnet_y_400mf", "regnet_x_1_6gf",
         "regnet_y_1_6gf", "regnet_x_8gf", "efficientnet_v2_s", "efficientnet_v2_m", "mnasnet0_5", "mnasnet1_0", "mnasnet1_3", "inception_v3"]
OPTIONS = {"vit_b_16": {"image_size": 64}, "googlenet": {"init_weights": False, "transform_input": False},
           "inception_v3": {"init_weights": False, "transform_input": False}}
# Height and width where they are not 64 and 64. At Swin's, windows are shifted in three of its four stages, along one side in one of
# these, and sides are odd or no multiples of a window.
SIZES = {"inception_v3": (107, 91), **{name: (136, 72) for name in ("swin_t", "swin_s", "swin_b")}}


def network_of(name):
    """How the compiler says torchvision's name (compiler/sema/TorchvisionNames.def)."""
    table = (ROOT / "compiler/sema/TorchvisionNames.def").read_text()
    return dict(re.findall(r'NETWORK\("(.*?)", "(.*)"\)', table)).get(name, f"{name}()").replace('\\"', '"')


def randomise(model):
    for module in model.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 1 or parameter.abs().max() < 1e-3:  # a ViT's head begins as 0, ConvNeXt's branches as nearly nothing
                parameter.add_(torch.randn_like(parameter), alpha=0.1)


def agrees(tbemc, folder, name):
    torch.manual_seed(1)
    model = torchvision.models.get_model(name, weights=None, **OPTIONS.get(name, {})).double().eval()
    randomise(model)
    height, width = SIZES.get(name, (64, 64))
    image = torch.randn(2, 3, height, width, dtype=torch.float64)
    with torch.no_grad():
        theirs = model(image).numpy()
    weights, given, saved = (f"{folder}/{name}{end}" for end in (".safetensors", "_image.npz", ".npz"))
    arrays = {key: value.contiguous().numpy() for key, value in model.state_dict().items()}
    write(weights, {key: (CODES[str(a.dtype)], list(a.shape), a.tobytes()) for key, a in arrays.items()})
    step = [tbemc, "step", "-e", network_of(name), "--input", f"image=2,3,{height},{width}", "--dtype", "f64", "--quiet", "--json", "--save", saved, "--load"]
    subprocess.run([*step, weights, "--names", "torchvision"], check=True, stdout=subprocess.DEVNULL)
    # The table names weights only: the picture goes in with the weights by their own paths.
    arrays = {key: value for key, value in np.load(saved).items() if key.startswith(("weight/", "buffer/"))}
    np.savez(given, **arrays, **{"input/image": image.numpy()})
    subprocess.run([*step, given], check=True, stdout=subprocess.DEVNULL)
    ours = np.load(saved)["output"]
    error = np.abs(ours - theirs).max() / np.abs(theirs).max()
    print(f"{'ok' if error < 1e-9 else 'BAD'}: {name} as {network_of(name)}: {error:.2g}", flush=True)
    for path in (weights, given, saved):
        pathlib.Path(path).unlink()
    return error < 1e-9


def main():
    tbemc, folder, *names = sys.argv[1:]
    names = names or NAMES
    good = sum(agrees(tbemc, folder, name) for name in names)
    print(f"{good} of {len(names)} networks agree")
    return 0 if good == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
