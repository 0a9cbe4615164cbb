#!/usr/bin/env python3
"""Holds layers, losses, optimisers and schedules of the standard library against PyTorch, in f64 on `ref`.

usage: layers.py TBEMC [NAME...]

Each case is a small network. `tbemc step --save` gives inputs, target, weights, gradients, output, loss and the weights after the
steps; PyTorch computes the same from the same numbers. The loss, the output, each gradient and each updated weight must agree
to 1e-9 (of the norm of all gradients, and of all weights). Prints a line a case; exits with 1 where a bound is broken.
"""
import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import torch
import torch.nn.functional as F
from torch.nn.utils.stateless import functional_call
from torch.optim import lr_scheduler

torch.set_default_dtype(torch.float64)
CASES = {}


def case(name, network, inputs, model, loss="mse", reference=F.mse_loss, optimizer="sgd(lr: 0.1)", steps=1, make=None, after=None):
    """`network`: what follows `x: ...` up to the end; `model(inputs, parameters iterator)`; `make(weights)`: PyTorch's optimiser."""
    CASES[name] = dict(network=network, inputs=inputs, model=model, loss=loss, reference=reference, optimizer=optimizer, steps=steps,
                       make=make or (lambda w: torch.optim.SGD(w, lr=0.1)), after=after or (lambda optimizer, w: (lambda: None)))


def layer(name, shape, call, model, **more):
    """A layer between two dense ones, so that gradients flow through it."""
    case(name, f"x: tensor{dims(shape)}) -> tensor{dims(shape[:-1] + ['k'])}\n  post k = 3\n{{\n  return x |> dense({shape[-1]}) |> "
         f"{call} |> dense(3)\n}}", {"x": shape},
         lambda x, p: F.linear(model(F.linear(x, next(p), next(p)), p), next(p), next(p)), **more)


def dims(shape):
    return "[" + ", ".join(map(str, shape)) + "]"


def pair(p):
    return next(p), next(p)


# ---- Activations and norms ------------------------------------------------------------------------------------------------

for name, function in {  # F.hardsigmoid's gradient is rounded to f32
    "relu": F.relu, "relu6": F.relu6, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "silu": F.silu, "gelu": F.gelu, "selu": F.selu,
    "mish": F.mish, "elu": F.elu, "softplus": F.softplus, "hard_sigmoid": lambda x: F.relu6(x + 3) / 6, "hard_swish": F.hardswish,
    "hard_tanh": F.hardtanh, "leaky_relu": F.leaky_relu,
}.items():
    layer(name, [4, 6], name, lambda x, p, f=function: f(x))
layer("gelu_tanh", [4, 6], "gelu(approximate: true)", lambda x, p: F.gelu(x, approximate="tanh"))
layer("prelu", [4, 5, 6], "prelu", lambda x, p: F.prelu(x, next(p)))
layer("prelu_shared", [4, 5, 6], "prelu(shared: true)", lambda x, p: F.prelu(x, next(p)))
layer("waves", [4, 6], "sin |> add_scalar(0.5) |> cos", lambda x, p: torch.cos(torch.sin(x) + 0.5))
layer("steps", [4, 6], "mul_scalar(3) |> floor |> add_scalar(0.25) |> sign", lambda x, p: torch.sign(torch.floor(3 * x) + 0.25))
layer("log1p", [4, 6], "square |> log1p", lambda x, p: torch.log1p(x * x))
layer("expm1", [4, 6], "expm1", lambda x, p: torch.expm1(x))
layer("layer_norm", [3, 4, 6], "layer_norm", lambda x, p: F.layer_norm(x, [6], *pair(p)))
layer("layer_norm_two", [3, 4, 6], "layer_norm(axes: 2, eps: 0.001)", lambda x, p: F.layer_norm(x, [4, 6], *pair(p), eps=1e-3))
layer("layer_norm_all", [4, 6], "layer_norm(axes: 2)", lambda x, p: F.layer_norm(x, [4, 6], *pair(p)))
layer("layer_norm_plain", [3, 4, 6], "layer_norm(affine: false)", lambda x, p: F.layer_norm(x, [6]))
layer("layer_norm_no_bias", [3, 4, 6], "layer_norm(use_bias: false)", lambda x, p: F.layer_norm(x, [6], next(p)))
layer("rms_norm", [3, 4, 6], "rms_norm(eps: 0.001)",
      lambda x, p: x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-3) * next(p))
layer("group_norm", [3, 8, 5, 6], "group_norm(groups: 4)", lambda x, p: F.group_norm(x, 4, *pair(p)))
layer("group_norm_flat", [3, 8, 6], "group_norm(groups: 2, affine: false)", lambda x, p: F.group_norm(x, 2))
layer("instance_norm", [3, 4, 5, 6], "instance_norm", lambda x, p: F.instance_norm(x))
layer("instance_norm_affine", [3, 4, 5, 6], "instance_norm(affine: true)",
      lambda x, p: F.instance_norm(x, weight=next(p), bias=next(p)))
layer("channel_shuffle", [2, 6, 4, 5], "channel_shuffle(groups: 3)",
      lambda x, p: x.reshape(2, 3, 2, 4, 5).transpose(1, 2).reshape(2, 6, 4, 5))
layer("layer_scale", [3, 4, 6], "layer_scale(init: 0.5)", lambda x, p: x * next(p))

# ---- Attention and recurrence ---------------------------------------------------------------------------------------------


def attention(q, k, v, causal, mask=0):
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 + mask
    if causal:
        scores = scores + torch.triu(torch.full(scores.shape[-2:], -torch.inf), 1)
    return scores.softmax(-1) @ v


for causal in (False, True):
    word = "true" if causal else "false"
    layer(f"attention_{word}", [2, 3, 5, 4], f"twice(causal: {word})", lambda x, p, c=causal: attention(x, x * 0.5, x.square(), c))
    mask = torch.triu(torch.full([5, 5], -torch.inf), 1) if causal else None
    multi = torch.nn.MultiheadAttention(6, 2, batch_first=True)
    names = ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]
    layer(f"multi_head_{word}", [2, 5, 6], f"multi_head_attention(heads: 2, causal: {word})",
          lambda x, p, m=multi, n=names, k=mask: functional_call(m, {one: next(p) for one in n}, (x, x, x),
                                                                {"need_weights": False, "attn_mask": k})[0])
    for first in (False, True):
        norm1, norm2 = ["norm1.weight", "norm1.bias"], ["norm2.weight", "norm2.bias"]
        inner = ["self_attn." + one for one in names]
        outer = ["linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias"]
        order = norm1 + inner + norm2 + outer if first else inner + norm1 + outer + norm2
        whole = torch.nn.TransformerEncoderLayer(6, 2, 10, dropout=0.0, activation="gelu", batch_first=True, norm_first=first)
        layer(f"transformer_{word}_{str(first).lower()}", [2, 5, 6],
              f"transformer_layer(heads: 2, width: 10, causal: {word}, norm_first: {str(first).lower()})",
              lambda x, p, m=whole, o=order, k=mask: functional_call(m, {one: next(p) for one in o}, (x,), {"src_mask": k}))


def masked(x, p):
    return attention(x, x * 0.5, x.square(), False, next(p))


layer("masked_attention", [2, 3, 5, 4], "biased()", masked)


def cross(x, p):
    wq, bq, wkv, bkv, wo, bo = [next(p) for _ in range(6)]
    m = torch.nn.MultiheadAttention(6, 3, batch_first=True)
    memory = x.square()
    return functional_call(m, {"in_proj_weight": torch.cat([wq, wkv]), "in_proj_bias": torch.cat([bq, bkv]), "out_proj.weight": wo,
                               "out_proj.bias": bo}, (x, memory, memory), {"need_weights": False})[0]


layer("cross_attention", [2, 5, 6], "look(heads: 3)", cross)


def cells(cell, order):
    def model(x, p):
        weights = [next(p) for _ in range(4)]
        h = c = torch.zeros(3, 4)
        module = cell(5, 4)
        for _ in range(2):
            values = dict(zip(order, weights))
            result = functional_call(module, values, (x, (h, c)) if cell is torch.nn.LSTMCell else (x, h))
            h, c = result if cell is torch.nn.LSTMCell else (result, c)
        return h
    return model


ORDER = ["weight_ih", "bias_ih", "weight_hh", "bias_hh"]
case("lstm", "x: tensor[n, f]) -> tensor[n, 4] {\n  let cell = lstm(width: 4)\n  var state = (zeros([n, 4]), zeros([n, 4]))\n"
     "  for i in 0 .. 2 { state = cell(x, state[0], state[1]) }\n  return state[0]\n}", {"x": [3, 5]}, cells(torch.nn.LSTMCell, ORDER))
case("gru", "x: tensor[n, f]) -> tensor[n, 4] {\n  let cell = gru(width: 4)\n  var h = zeros([n, 4])\n"
     "  for i in 0 .. 2 { h = cell(x, h) }\n  return h\n}", {"x": [3, 5]}, cells(torch.nn.GRUCell, ORDER))

# ---- Losses ---------------------------------------------------------------------------------------------------------------


def loss(name, call, reference, shape=(4, 6), before="", model=lambda x: x):
    shape = list(shape)
    case(name, f"x: tensor{dims(shape)}) -> tensor{dims(shape)} {{\n  return x |> dense({shape[-1]}){before}\n}}", {"x": shape},
         lambda x, p: model(F.linear(x, next(p), next(p))), loss=call, reference=reference)


loss("l1", "l1", F.l1_loss)
loss("huber", "huber(delta: 0.7)", lambda y, t: F.huber_loss(y, t, delta=0.7))
loss("smooth_l1", "smooth_l1(beta: 0.7)", lambda y, t: F.smooth_l1_loss(y, t, beta=0.7))
loss("bce_with_logits", "bce_with_logits", F.binary_cross_entropy_with_logits)
loss("bce", "bce_of_share", lambda y, t: F.binary_cross_entropy(y, torch.sigmoid(t)), before=" |> sigmoid", model=torch.sigmoid)
loss("kl_div", "kl_of_softmax", lambda y, t: F.kl_div(y, t.softmax(1), reduction="batchmean"), before=" |> log_softmax",
     model=lambda x: x.log_softmax(1))
loss("cross_entropy", "cross_entropy", F.cross_entropy)
loss("cross_entropy_smooth", "cross_entropy(smoothing: 0.1)", lambda y, t: F.cross_entropy(y, t, label_smoothing=0.1))
loss("cross_entropy_sequence", "cross_entropy(smoothing: 0.2)",
     lambda y, t: F.cross_entropy(y.transpose(1, 2), t, label_smoothing=0.2), shape=(2, 4, 6))
loss("cross_entropy_image", "cross_entropy", F.cross_entropy, shape=(2, 4, 3, 6))
loss("nll", "nll", F.nll_loss, before=" |> log_softmax", model=lambda x: x.log_softmax(1))
loss("nll_sequence", "nll", lambda y, t: F.nll_loss(y.transpose(1, 2), t), shape=(2, 4, 6), before=" |> log_softmax(axis: 2)",
     model=lambda x: x.log_softmax(2))
loss("nll_image", "nll", F.nll_loss, shape=(2, 4, 3, 6), before=" |> log_softmax", model=lambda x: x.log_softmax(1))

# ---- Optimisers and schedules: three to nine steps ------------------------------------------------------------------------


def optimizer(name, call, make, steps=3, after=None):
    case(name, "x: tensor[n, f]) -> tensor[n, 3] {\n  return x |> dense(8) |> tanh |> dense(3)\n}", {"x": [5, 6]},
         lambda x, p: F.linear(torch.tanh(F.linear(x, next(p), next(p))), next(p), next(p)), optimizer=call, make=make, steps=steps,
         after=after)


O = torch.optim
optimizer("sgd_momentum", "sgd(lr: 0.1, momentum: 0.9)", lambda w: O.SGD(w, lr=0.1, momentum=0.9))
optimizer("sgd_nesterov", "sgd(lr: 0.1, momentum: 0.9, nesterov: true, weight_decay: 0.01)",
          lambda w: O.SGD(w, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01))
optimizer("adam", "adam(lr: 0.01, weight_decay: 0.1)", lambda w: O.Adam(w, lr=0.01, weight_decay=0.1))
optimizer("adamw", "adamw(lr: 0.01, weight_decay: 0.1)", lambda w: O.AdamW(w, lr=0.01, weight_decay=0.1))
optimizer("adamw_default", "adamw", lambda w: O.AdamW(w))
optimizer("rmsprop", "rmsprop(lr: 0.01)", lambda w: O.RMSprop(w, lr=0.01))
optimizer("rmsprop_centered", "rmsprop(lr: 0.01, centered: true, momentum: 0.9, weight_decay: 0.1)",
          lambda w: O.RMSprop(w, lr=0.01, centered=True, momentum=0.9, weight_decay=0.1))
optimizer("adagrad", "adagrad(lr: 0.1, lr_decay: 0.1, initial: 0.5, weight_decay: 0.01)",
          lambda w: O.Adagrad(w, lr=0.1, lr_decay=0.1, initial_accumulator_value=0.5, weight_decay=0.01))


def clip_norm(limit):
    return lambda optimizer, w: (lambda: torch.nn.utils.clip_grad_norm_(w, limit))


def clip_value(limit):
    return lambda optimizer, w: (lambda: torch.nn.utils.clip_grad_value_(w, limit))


for limit in (0.05, 100.0):  # one that cuts, one that does not
    optimizer(f"clip_norm_{limit}", f"sgd(lr: 0.1, momentum: 0.9, clip_norm: {limit})", lambda w: O.SGD(w, lr=0.1, momentum=0.9),
              after=clip_norm(limit))
optimizer("clip_norm_adamw", "adamw(lr: 0.01, clip_norm: 0.05)", lambda w: O.AdamW(w, lr=0.01), after=clip_norm(0.05))
optimizer("clip_norm_adam", "adam(lr: 0.01, clip_norm: 0.05)", lambda w: O.Adam(w, lr=0.01), after=clip_norm(0.05))
optimizer("clip_norm_rmsprop", "rmsprop(lr: 0.01, clip_norm: 0.05)", lambda w: O.RMSprop(w, lr=0.01), after=clip_norm(0.05))
optimizer("clip_norm_adagrad", "adagrad(lr: 0.1, clip_norm: 0.05)", lambda w: O.Adagrad(w, lr=0.1), after=clip_norm(0.05))
optimizer("clip_value", "sgd(lr: 0.1, clip_value: 0.01)", lambda w: O.SGD(w, lr=0.1), after=clip_value(0.01))


def schedule(name, call, make, steps=9):
    made = {}

    def optimizer_of(weights):
        made["optimizer"] = O.SGD(weights, lr=0.1, momentum=0.9)
        made["scheduler"] = make(made["optimizer"])
        return made["optimizer"]

    optimizer(name, f"sgd(lr: {call}, momentum: 0.9)", optimizer_of, steps=steps)
    CASES[name]["scheduler"] = made


def warmed(warmup, rest):
    """A rise in proportion to the step, then `rest(steps since)`."""
    return lambda o: lr_scheduler.LambdaLR(o, lambda t: (t + 1) / warmup if t < warmup else rest(t - warmup))


schedule("cosine", "cosine(0.1, steps: 7, floor: 0.01)", lambda o: lr_scheduler.CosineAnnealingLR(o, 7, 0.01), steps=7)
schedule("cosine_warm", "cosine(0.1, steps: 8, warmup: 3)",
         warmed(3, lambda t: 0.5 * (1 + np.cos(np.pi * min(1.0, t / 5)))), steps=9)
schedule("step_decay", "step_decay(0.1, every: 3, factor: 0.5)", lambda o: lr_scheduler.StepLR(o, 3, 0.5))
schedule("exponential_decay", "exponential_decay(0.1, factor: 0.8)", lambda o: lr_scheduler.ExponentialLR(o, 0.8))
schedule("polynomial_decay", "polynomial_decay(0.1, steps: 6, power: 2)", lambda o: lr_scheduler.PolynomialLR(o, 6, 2.0))
schedule("linear_warmup", "linear_warmup(0.1, warmup: 4)", warmed(4, lambda t: 1.0))
schedule("one_cycle", "one_cycle(0.1, steps: 9)",
         lambda o: lr_scheduler.OneCycleLR(o, 0.1, total_steps=9, cycle_momentum=False))
schedule("exponential_warm", "exponential_decay(0.1, factor: 0.8, warmup: 2)", warmed(2, lambda t: 0.8 ** t))

HELPERS = """
block twice(x: tensor[..s]; causal: bool) -> tensor[..s] {
  return scaled_dot_product_attention(x, x * 0.5, x * x, causal: causal)
}
block biased(x: tensor[n, h, l, d]) -> tensor[n, h, l, d] {
  weight bias: tensor[h, 1, l] init normal(0, 1)
  return masked_attention(x, x * 0.5, x * x, bias)
}
block look(x: tensor[n, l, f]; heads: int) -> tensor[n, l, f] { return cross_attention(x, x * x, heads: heads) }
operator bce_of_share(output: tensor[..s], target: tensor[..s]) -> (loss: tensor[]) { return bce(output, sigmoid(target)) }
operator kl_of_softmax(output: tensor[..s], target: tensor[..s]) -> (loss: tensor[]) { return kl_div(output, softmax(target)) }
"""


def norm(values):
    return float(torch.sqrt(sum((v ** 2).sum() for v in values)))


def load(path):
    with zipfile.ZipFile(path) as archive:
        names = [name[: -len(".npy")] for name in archive.namelist()]
    data = np.load(path)
    return {name: data[name] for name in names}


def check(name, one, tbemc, folder):
    program, saved = os.path.join(folder, name + ".tbem"), os.path.join(folder, name + ".npz")
    with open(program, "w") as file:
        file.write(f"network net({one['network']}\n{HELPERS}\ndesign d of net {{\n")
        for key, shape in one["inputs"].items():
            file.write(f"  input {key}: {dims(shape)}\n")
        file.write(f"  task train(loss: {one['loss']}, optimizer: {one['optimizer']})\n}}\n")
    done = subprocess.run([tbemc, "step", program, "--dtype", "f64", "--on", "ref", "--steps", str(one["steps"]), "--save", saved],
                          capture_output=True, text=True)
    if done.returncode:
        return [f"tbemc: {done.stdout}{done.stderr}"]
    arrays = load(saved)
    group = lambda word: [torch.tensor(value) for key, value in arrays.items() if key.startswith(word + "/")]
    weights = [w.requires_grad_() for w in group("weight")]
    target = torch.tensor(arrays["target"])
    optimizer = one["make"](weights)
    before = one["after"](optimizer, weights)
    for step in range(one["steps"]):
        optimizer.zero_grad()
        parameters = iter(weights)
        output = one["model"](*group("input"), parameters)
        if list(parameters):
            return ["the file has weights that the model does not use"]
        value = one["reference"](output, target)
        value.backward()
        gradients = [w.grad.clone() for w in weights]
        before()
        optimizer.step()
        if "scheduler" in one:
            one["scheduler"]["scheduler"].step()
    bad = []
    scale = max(norm(gradients), 1e-3)
    if abs(float(arrays["loss"]) - value.item()) > 1e-9 * max(abs(value.item()), 1e-3):
        bad.append(f"loss {float(arrays['loss'])} {value.item()}")
    if norm([torch.tensor(arrays["output"]) - output.detach()]) > 1e-9 * norm([output.detach()]):
        bad.append("output")
    for word, found, expected, all_of in (("gradient", group("gradient"), gradients, scale),
                                          ("after", group("after"), [w.detach() for w in weights], norm([w.detach() for w in weights]))):
        keys = [key for key in arrays if key.startswith(word + "/")]
        if len(found) != len(expected):
            bad.append(f"{len(found)} arrays {word}/ for {len(expected)} weights")
        for key, a, b in zip(keys, found, expected):
            if a.shape != b.shape or norm([a - b]) > 1e-9 * all_of:
                bad.append(f"{key} is {norm([a - b]) / all_of:.3g} away")
    return bad


def main():
    names = sys.argv[2:] or list(CASES)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            bad = check(name, CASES[name], sys.argv[1], folder)
            print(f"{'BAD' if bad else 'ok'}: {name}{': ' if bad else ''}{'; '.join(bad)}")
            failed += bool(bad)
    print(f"{len(names) - failed} of {len(names)} agree")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
