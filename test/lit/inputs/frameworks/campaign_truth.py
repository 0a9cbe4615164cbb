"""What PyTorch itself says of a model: its parameters, the multiply-adds of a step, the peak of its live tensors. Tensors are fake
ones of CUDA, beside a card that is not there (test/pytorch/allocator): nothing is computed.
"""
import inspect

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker
from torch.utils import flop_counter
from torch.utils.flop_counter import FlopCounterMode

from import_step import model_of

TYPES = {"i64": torch.int64, "f32": torch.float32}
RATE = 0.01


def without_values():
    """Weights have no numbers that matter here, and some initialisers look at those that fake tensors lack."""
    for name in dir(torch.nn.init):
        if name.endswith("_") and not name.startswith("_"):
            setattr(torch.nn.init, name, lambda tensor, *_, **__: tensor)


def built(target, arguments):
    model = model_of(target, arguments)
    for part in model.modules():  # what is kept for a next call is no result
        if getattr(getattr(part, "config", None), "use_cache", None) is True:
            part.config.use_cache = False
    return model


def to_fake(model, mode, device):
    """Puts fake tensors in the place of all that the model has. What is tied stays tied."""
    fakes = {}

    def fake(value):
        if id(value) not in fakes:
            with mode:
                moved = mode.from_tensor(value.detach()).to(device)
            fakes[id(value)] = value, torch.nn.Parameter(moved) if isinstance(value, torch.nn.Parameter) else moved
        return fakes[id(value)][1]

    for module in model.modules():
        for table in (module._parameters, module._buffers, vars(module)):
            for name, value in list(table.items()):
                if isinstance(value, torch.Tensor):
                    table[name] = fake(value)
    return model


def inputs_of(texts, model, device):
    known = list(inspect.signature(model.forward).parameters)
    positional, named = [], {}
    for text in texts:
        name, sizes = text.split("=")
        sizes, _, kind = sizes.partition(":")
        shape = [int(size) for size in sizes.split(",")]
        tensor = torch.empty(shape, device=device, dtype=TYPES[kind or "f32"])
        if name in known:
            named[name] = tensor
        else:
            positional.append(tensor)
    return positional, named


def first_tensor(result):
    return next(value for value in torch.utils._pytree.tree_leaves(result) if isinstance(value, torch.Tensor))


def logits_of(result):
    """The first result, as cross entropy takes it: of three dimensions the last has the classes, of more the second."""
    logits = first_tensor(result)
    return logits.flatten(0, 1) if logits.dim() == 3 else logits


def labels_for(logits):
    return torch.empty([logits.shape[0], *logits.shape[2:]], dtype=torch.int64, device=logits.device)


class OfGradients:
    """A formula of FLOPs in the place of one of FlopCounterMode's own; `own` is the sum by which those say more."""

    def __init__(self, formula, theirs):
        self.formula, self.theirs, self.own = formula, theirs, 0

    def __call__(self, *shapes, out_shape=None, **_):
        count = self.formula(*shapes)
        self.own += self.theirs(*shapes, out_val=out_shape) - count
        return count


def of_convolution(grad, x, weight, *rest):
    """FlopCounterMode's own formula leaves the groups out."""
    transposed, output_mask = rest[4], rest[7]
    forward = 2 * torch.Size(weight[1:]).numel() * torch.Size(x if transposed else grad).numel()
    return forward * sum(map(int, output_mask[:2]))


def of_attention(_, query, key, value, *__):
    """Twice the forward pass. FlopCounterMode also counts the scores that a kernel computes again."""
    rows, width = torch.Size(query[:-1]).numel(), query[-1] + value[-1]
    return 2 * 2 * rows * key[-2] * width


def corrected():
    known, aten = flop_counter.flop_registry, torch.ops.aten
    formulas = {aten.convolution_backward: of_convolution,
                aten._scaled_dot_product_efficient_attention_backward: of_attention,
                aten._scaled_dot_product_flash_attention_backward: of_attention,
                aten._scaled_dot_product_cudnn_attention_backward: of_attention}
    return {packet: OfGradients(formula, known[packet]) for packet, formula in formulas.items()}


def one_step(model, optimizer, positional, named, labels):
    optimizer.zero_grad(set_to_none=True)
    logits = logits_of(model(*positional, **named))
    loss = torch.nn.functional.cross_entropy(logits, labels)
    del logits
    loss.backward()
    optimizer.step()


def step(model, texts, mode, device):
    """A step with plain gradient descent, which has no state: the first is as all others. Multiply-adds by FlopCounterMode, then, of
    a second step, the peak of live tensors by MemTracker: FlopCounterMode takes operators apart that have a kernel of their own
    (`silu_backward`), whose parts would count as tensors."""
    formulas = corrected()
    model.train()
    with mode:
        optimizer = torch.optim.SGD(model.parameters(), lr=RATE, foreach=True)
        positional, named = inputs_of(texts, model, device)
        with torch.no_grad(), FlopCounterMode(display=False) as forward:
            labels = labels_for(logits_of(model(*positional, **named)))
        with FlopCounterMode(display=False, custom_mapping=formulas) as whole:
            one_step(model, optimizer, positional, named, labels)
        optimizer.zero_grad(set_to_none=True)
        tracker = MemTracker()
        tracker.track_external(model, optimizer, labels, *positional, *named.values())
        with tracker:
            one_step(model, optimizer, positional, named, labels)
        peaks = tracker.get_tracker_snapshot("peak")
    backward = whole.get_total_flops() - forward.get_total_flops()
    kinds = {getattr(kind, "value", str(kind)): count for kind, count in peaks[torch.device(device, 0)].items()}
    return {"flops": {"forward": forward.get_total_flops(), "backward": backward,
                      "backward_as_torch": backward + sum(formula.own for formula in formulas.values())},
            "peak": kinds.pop("Total"), "kinds": kinds}


def truth(target, arguments, texts, device="cuda"):
    without_values()
    model = built(target, arguments)
    facts = {"parameters": sum(weight.numel() for weight in model.parameters()),
             "weights": len(list(model.parameters())),
             "grouped": any(getattr(part, "groups", 1) != 1 for part in model.modules())}
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    to_fake(model, mode, device)
    return facts | step(model, texts, mode, device)
