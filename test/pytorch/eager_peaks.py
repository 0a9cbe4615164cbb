"""The peak of live tensors in the second of two eager PyTorch training steps, as MemTracker counts it: bytes as asked for, and nothing
is computed. For operator_peaks.py, frozen_peaks.py and layout_peaks.py, whose files test/lit/inputs/pytorch_operators.py reads."""
import datetime
import json
import sys

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
from torch.nn import functional as F


def peak(make, device):
    """`make()` gives the model, its optimiser, its input and the classes that are its target."""
    with FakeTensorMode(), torch.device(device):
        model, optimizer, x, labels = make()
        tracker = MemTracker()
        tracker.track_external(model, optimizer, x, labels)
        with tracker:
            for _ in range(2):
                optimizer.zero_grad(set_to_none=True)
                tracker.reset_mod_stats()
                loss = F.cross_entropy(model(x), labels)
                loss.backward()
                del loss
                optimizer.step()
        snapshot = tracker.get_tracker_snapshot("peak")[torch.device(device, 0) if device == "cuda" else torch.device(device)]
    return next(count for kind, count in snapshot.items() if getattr(kind, "value", kind) == "Total")


def write(steps, device="cpu"):
    """By name: the program of the step, and what makes it."""
    rows = []
    for name, (program, make) in steps.items():
        rows.append({"operator": name, "program": program, "peak": peak(make, device)})
        print(name, rows[-1]["peak"], file=sys.stderr, flush=True)
    json.dump({"date": str(datetime.date.today()), "what": f"peak of live tensors, second step, MemTracker under FakeTensorMode ({device})", "device": device,
               "torch": torch.__version__, "rows": rows}, sys.stdout, indent=1)
    print()
