#!/usr/bin/env python3
"""Writes NAME.txt beside this file for each network: the names and shapes of torchvision's state_dict, in its order.

Needs torchvision; the files there are of version 0.29.2. Swin's patch merging registers its dense layer before the normalisation that it
calls first: these stand in the order of the calls.
"""
import pathlib
import re

import torch
import torchvision

NETWORKS = """alexnet vgg11 vgg16_bn resnet18 resnet50 resnext50_32x4d wide_resnet50_2 mobilenet_v2 mobilenet_v3_large mobilenet_v3_small
efficientnet_b0 densenet121 squeezenet1_0 squeezenet1_1 googlenet shufflenet_v2_x1_0 convnext_tiny vit_b_16 swin_t regnet_x_400mf
regnet_y_400mf efficientnet_v2_s mnasnet0_5 inception_v3""".split()


def as_called(names):
    """The names, with a patch merging's dense layer behind its normalisation."""
    merged = [key for key in names if re.fullmatch(r"features\.\d+\.reduction\.weight", key)]
    rest = [key for key in names if key not in merged]
    for key in merged:
        rest.insert(rest.index(key.replace("reduction.weight", "norm.bias")) + 1, key)
    return rest


for name in NETWORKS:
    options = {"aux_logits": False, "init_weights": False, "transform_input": False} if name in ("googlenet", "inception_v3") else {}
    with torch.device("cpu" if name.startswith("regnet") else "meta"):
        state = torchvision.models.get_model(name, weights=None, **options).state_dict()
    lines = [" ".join([key, *map(str, state[key].shape)]) for key in as_called(state)]
    pathlib.Path(__file__).with_name(f"{name}.txt").write_text("\n".join(lines) + "\n")
