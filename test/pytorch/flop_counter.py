#!/usr/bin/env python3
"""Writes what PyTorch's FlopCounterMode counts for torchvision's networks, forward and whole step, as JSON: the truth of test/lit/flop_counter.test.

Needs a current torch and torchvision (`python3 -m venv V; V/bin/pip install torch torchvision`); no data are computed (meta tensors).
Its backward of grouped convolutions is wrong (it leaves the groups out). Of networks with such, the closed form is the truth: twice the forward
pass, for the gradients of inputs and weights, but for the input gradient of the first layer, which nobody needs. It is checked here on the others.
usage: flop_counter.py > test/lit/inputs/flop_counter.json
"""
import json
import sys

import torch
import torchvision
from torch.utils.flop_counter import FlopCounterMode

# tbemc's network, torchvision's, its arguments, batch, size
NETWORKS = [
    ("alexnet()", "alexnet", {}, 4, 224), ("vgg(depth: 11)", "vgg11", {}, 2, 224), ("vgg(depth: 16)", "vgg16", {}, 2, 224),
    ("vgg(depth: 19, norm: true)", "vgg19_bn", {}, 1, 224), ("resnet(depth: 18)", "resnet18", {}, 4, 224),
    ("resnet(depth: 34)", "resnet34", {}, 2, 128), ("resnet(depth: 50)", "resnet50", {}, 2, 224),
    ("resnet(depth: 101)", "resnet101", {}, 1, 224), ("wide_resnet()", "wide_resnet50_2", {}, 1, 224),
    ("densenet()", "densenet121", {}, 2, 224), ("squeezenet()", "squeezenet1_1", {}, 2, 224),
    ("googlenet()", "googlenet", {"aux_logits": False, "init_weights": False}, 2, 224), ("vit()", "vit_b_16", {}, 2, 224),
    ("mobilenet_v2()", "mobilenet_v2", {}, 2, 224), ("mobilenet_v3()", "mobilenet_v3_large", {}, 2, 224),
    ("efficientnet()", "efficientnet_b0", {}, 2, 224), ("shufflenet_v2()", "shufflenet_v2_x1_0", {}, 2, 224),
    ("convnext()", "convnext_tiny", {}, 2, 224), ("resnext()", "resnext50_32x4d", {}, 2, 224),
]


def grouped(model):
    return any(isinstance(module, torch.nn.Conv2d) and module.groups > 1 for module in model.modules())


def first_layer(model, image):
    """FLOPs of the first convolution, from the shapes that go through it."""
    conv = next(module for module in model.modules() if isinstance(module, torch.nn.Conv2d))
    weight = conv.weight
    return 2 * weight.numel() * conv(image)[:, 0].numel()


def main():
    torch.nn.init.trunc_normal_ = lambda tensor, *_, **__: tensor  # looks at values, which there are none of
    rows = []
    for ours, name, arguments, batch, size in NETWORKS:
        with torch.device("meta"):
            model = getattr(torchvision.models, name)(**arguments).train()
            image = torch.empty(batch, 3, size, size)
            labels = torch.empty(batch, dtype=torch.int64)
            with FlopCounterMode(display=False) as forward:
                output = model(image)
            forward_flops = forward.get_total_flops()
            with FlopCounterMode(display=False) as backward:
                torch.nn.functional.cross_entropy(output, labels).backward()
            backward_flops = backward.get_total_flops()
            closed = 2 * forward_flops - first_layer(model, image)
            assert grouped(model) or backward_flops == closed, name
            row = {"network": ours, "torchvision": name, "batch": batch, "size": size, "forward": forward_flops}
            rows.append(row | {"backward": closed, "backward_from": "closed form" if grouped(model) else "FlopCounterMode"})
    json.dump({"torch": torch.__version__, "torchvision": torchvision.__version__, "rows": rows}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
