#!/usr/bin/env python3
"""Writes the peak of live tensors in an eager PyTorch training step, by kind, as torch.distributed's MemTracker reports it under fake
tensors: no data are computed, no device is needed. Bytes are rounded up to 512 a storage, as the caching allocator does.

The second step is looked at (the optimiser's state is there), with cross entropy and gradients set to None before each step.
Needs a current torch and torchvision (`python3 -m venv V; V/bin/pip install torch torchvision`).
usage: live_peaks.py > docs/measurements/DATE-pytorch-live-peaks.json
       live_peaks.py --clip > docs/measurements/DATE-pytorch-live-peaks-clip.json   the norm of the gradients is limited
       live_peaks.py --accumulate > docs/measurements/DATE-pytorch-live-peaks-accumulate.json   micro-batches, one step of the optimiser
       live_peaks.py --autocast > docs/measurements/DATE-pytorch-live-peaks-autocast.json   forward under torch.autocast in bfloat16
With --cuda, alone or with one of these (-cuda in the file's name), tensors are of CUDA: PyTorch takes its operators, autocast's lists and
optimisers (foreach, named, as torch.optim does not look at the device of fake weights) for a card; a stand-in answers for that
(allocator/), so that no card is needed, but torch built for CUDA, and g++.
"""
import datetime
import json
import pathlib
import sys

import torch
import torchvision
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "allocator"))
import compare_allocator  # noqa: E402

DEVICE = "cuda" if "--cuda" in sys.argv[1:] else "cpu"
FOREACH = True if DEVICE == "cuda" else None
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.01, foreach=FOREACH),
    "sgd momentum": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, foreach=FOREACH),
    "adam": lambda p: torch.optim.Adam(p, foreach=FOREACH),
    "adamw fused": lambda p: torch.optim.AdamW(p, fused=True),
}
# torchvision's network, batch, size, optimisers
NETWORKS = [
    ("resnet18", 16, 224, list(OPTIMIZERS)), ("resnet18", 16, 32, ["sgd momentum", "adam"]), ("resnet50", 32, 224, ["sgd", "sgd momentum", "adam"]),
    ("resnet101", 8, 224, ["sgd momentum"]), ("vgg11", 16, 224, ["sgd momentum", "adam"]), ("vgg16", 32, 224, ["sgd momentum"]),
    ("vgg16_bn", 16, 224, ["sgd momentum", "adam"]), ("alexnet", 128, 224, ["sgd momentum", "adam"]), ("mobilenet_v2", 64, 224, ["sgd momentum", "adam"]),
    ("mobilenet_v3_large", 32, 224, ["sgd momentum"]), ("densenet121", 16, 224, ["sgd momentum"]), ("squeezenet1_1", 32, 224, ["sgd momentum", "adam"]),
    ("shufflenet_v2_x1_0", 32, 224, ["sgd momentum"]), ("efficientnet_b0", 16, 224, ["sgd momentum", "adam"]), ("convnext_tiny", 8, 224, ["adamw fused"]),
    ("vit_b_16", 8, 224, ["adamw fused", "sgd momentum"]), ("resnext50_32x4d", 16, 224, ["sgd momentum"]),
]
AUTOCAST = [
    ("resnet18", 16, 224, ["sgd momentum", "adam"]), ("resnet50", 8, 224, ["sgd momentum"]), ("vgg16_bn", 8, 224, ["sgd momentum"]),
    ("alexnet", 128, 224, ["sgd momentum"]), ("mobilenet_v2", 32, 224, ["sgd momentum"]), ("densenet121", 8, 224, ["sgd momentum"]),
    ("squeezenet1_1", 32, 224, ["sgd"]), ("efficientnet_b0", 16, 224, ["adam"]), ("convnext_tiny", 8, 224, ["adamw fused"]),
    ("vit_b_16", 8, 224, ["adamw fused"]), ("resnext50_32x4d", 16, 224, ["sgd momentum"]),
]
# torchvision's network, batch, size, optimisers, micro-batches
ACCUMULATE = [
    ("resnet18", 64, 224, ["sgd", "sgd momentum", "adam"], 4), ("resnet18", 16, 32, ["adam"], 8), ("resnet50", 32, 224, ["sgd momentum", "adam"], 2),
    ("vgg16_bn", 16, 224, ["sgd momentum"], 4), ("alexnet", 128, 224, ["sgd momentum", "adam"], 8), ("mobilenet_v2", 64, 224, ["adam"], 4),
]
CLIPPED = [
    ("resnet18", 16, 32, list(OPTIMIZERS)), ("resnet18", 16, 224, ["sgd momentum", "adam"]), ("mobilenet_v2", 64, 224, ["sgd momentum"]),
    ("alexnet", 16, 224, ["sgd", "adam"]), ("shufflenet_v2_x1_0", 32, 224, ["sgd momentum"]), ("vit_b_16", 8, 224, ["adamw fused"]),
    ("resnet50", 2, 32, ["sgd", "adamw fused"]),
]
CLIPS = "--clip" in sys.argv[1:]


def peak(name, batch, size, optimizer_name, autocast, parts):
    with FakeTensorMode(), torch.device(DEVICE):
        model = getattr(torchvision.models, name)().train()
        optimizer = OPTIMIZERS[optimizer_name](model.parameters())
        image = torch.empty(batch, 3, size, size)
        labels = torch.empty(batch, dtype=torch.int64)
        tracker = MemTracker()
        tracker.track_external(model, optimizer, image, labels)
        with tracker:
            for step in range(2):
                optimizer.zero_grad(set_to_none=True)
                for images, targets in zip(image.split(batch // parts), labels.split(batch // parts)):
                    tracker.reset_mod_stats()
                    with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=autocast):
                        loss = torch.nn.functional.cross_entropy(model(images), targets)
                    if parts > 1:
                        loss = loss / parts
                    loss.backward()
                    del loss
                if CLIPS:
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
        snapshot = tracker.get_tracker_snapshot("peak")[torch.device(DEVICE, 0) if DEVICE == "cuda" else torch.device(DEVICE)]
    return {getattr(kind, "value", str(kind)): count for kind, count in snapshot.items()}


def main():
    if DEVICE == "cuda":
        compare_allocator.on_standin(9)
    torch.nn.init.trunc_normal_ = lambda tensor, *_, **__: tensor  # looks at values, which there are none of
    rows = []
    autocast, accumulate = "--autocast" in sys.argv[1:], "--accumulate" in sys.argv[1:]
    for name, batch, size, optimizers, *parts in ACCUMULATE if accumulate else CLIPPED if CLIPS else AUTOCAST if autocast else NETWORKS:
        for optimizer in optimizers:
            kinds = peak(name, batch, size, optimizer, autocast, *(parts or [1]))
            rows.append({"torchvision": name, "batch": batch, "size": size, "optimizer": optimizer, "peak": kinds} | ({"accumulate": parts[0]} if parts else {}))
            print(name, batch, size, optimizer, kinds.get("Total"), file=sys.stderr, flush=True)
    json.dump({"date": str(datetime.date.today()), "what": f"peak of live tensors, second step, MemTracker under FakeTensorMode ({DEVICE})" + (", forward under autocast in bfloat16" if autocast else "") + (", gradients accumulated over micro-batches" if accumulate else ""),
               "device": DEVICE, "autocast": "bfloat16" if autocast else None, "clip_norm": 1 if CLIPS else None, "torch": torch.__version__, "torchvision": torchvision.__version__, "rows": rows}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
