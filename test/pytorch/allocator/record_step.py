"""Storages that PyTorch makes and drops in training steps, by size; nothing is computed (fake tensors), so no card is needed.

  record_step.py resnet50 32 3 > steps.txt     a network of torchvision, batch, steps (SGD with momentum, cross entropy)

Lines: `+BYTES` allocates the next id (from 0 on), `-ID` frees. Workspaces of libraries are not in it.
"""
import sys
import weakref

import torch
import torchvision
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.lines, self.known = [], weakref.WeakKeyDictionary()
        self.made = 0

    def see(self, tensors):
        for tensor in tensors:
            if not isinstance(tensor, torch.Tensor):
                continue
            storage = tensor.untyped_storage()
            if storage.nbytes() == 0 or storage in self.known:
                continue
            self.known[storage] = self.made
            weakref.finalize(storage, self.lines.append, f"-{self.made}")
            self.lines.append(f"+{storage.nbytes()}")
            self.made += 1

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **kwargs or {})
        self.see(tree_leaves(made))
        return made


def main():
    name, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    with FakeTensorMode(), Recorder() as recorder:
        net = getattr(torchvision.models, name)().train()
        recorder.see([*net.parameters(), *net.buffers()])
        x, t = torch.empty(batch, 3, 224, 224), torch.empty(batch, dtype=torch.int64)
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
        for _ in range(steps):
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(net(x), t)
            loss.backward()
            optimizer.step()
        lines = list(recorder.lines)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
