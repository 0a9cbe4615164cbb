#!/usr/bin/env python3
"""Writes NAME.txt beside this file for each network: the names and shapes of torchvision's state_dict, in its order.

Needs torchvision; the files there are of version 0.29.2.
"""
import pathlib

import torch
import torchvision

NETWORKS = """alexnet vgg11 vgg16_bn resnet18 resnet50 resnext50_32x4d wide_resnet50_2 mobilenet_v2 mobilenet_v3_large mobilenet_v3_small
efficientnet_b0 densenet121 squeezenet1_0 squeezenet1_1 googlenet shufflenet_v2_x1_0 convnext_tiny vit_b_16""".split()

for name in NETWORKS:
    options = {"aux_logits": False, "init_weights": False, "transform_input": False} if name == "googlenet" else {}
    with torch.device("meta"):
        state = torchvision.models.get_model(name, weights=None, **options).state_dict()
    lines = [" ".join([key, *map(str, value.shape)]) for key, value in state.items()]
    pathlib.Path(__file__).with_name(f"{name}.txt").write_text("\n".join(lines) + "\n")
