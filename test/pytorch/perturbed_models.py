"""The networks of perturb.py as its program has them, and these and that of bench/attack.py in PyTorch, written out by hand: what a
point costs, and its gates.

`Walk` computes every arm of a gate and every exit, as a search does, and says of each gate its margin and who came there;
of each branch what it costs, by what the layers take. The weights are those of a training's checkpoint.
"""
import json
import struct

import torch
import torch.nn.functional as F

NETWORKS = """
network leaver(image: tensor[b, c, h, w]) -> tensor[b, 4] {
  let widths = [6, 8, 8]
  let thresholds = [0.4, 0.5, 0.6]
  var x = image |> conv_bn_relu(out: 6)
  for i in 0 .. 3 as stage {
    x = residual(x, out: widths[i], stride: if i = 1 then 2 else 1)
    let y = x |> global_avg_pool |> dense(4)
    exit y when y |> softmax(axis: 1) |> max(axis: 1) >= thresholds[i]
  }
  return x |> global_avg_pool |> dense(4)
}

block inner(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  let y = conv_bn_relu(x, out: c)
  let score = y |> global_avg_pool |> dense(1) |> reshape([n])
  let z = skip conv_bn_relu(y, out: c) when 0.1 > score leaving y
  return z
}

network skipper(image: tensor[b, c, h, w]) -> tensor[b, 4] {
  var x = image |> conv_bn_relu(out: 6)
  for i in 0 .. 2 as unit {
    let score = x |> global_avg_pool |> dense(1) |> sigmoid |> reshape([b])
    x = skip conv_bn_relu(x, out: 6) when score <= 0.5 leaving x
  }
  let shut = x |> global_avg_pool |> dense(1) |> reshape([b])
  let open = x |> global_avg_pool |> dense(1) |> reshape([b])
  x = skip inner(x) when shut > open leaving inner(conv_bn_relu(x, out: 6))
  return x |> global_avg_pool |> dense(4)
}

network placer(image: tensor[b, c, h, w]) -> (tensor[b, 4], tensor[b]) {
  var x = image |> conv_bn_relu(out: 6)
  let score = x |> global_avg_pool |> dense(1) |> sigmoid |> reshape([b])
  x = skip conv_bn_relu(x, out: 6) when score <= 0.5 leaving x
  let places = b * h * w
  let p = x |> conv2d(out: 1, kernel: 3, pad: 1, use_bias: false) |> sigmoid |> reshape([places])
  let rows = x |> permute([0, 2, 3, 1]) |> reshape([places, 6])
  let y = skip rows |> dense(6) |> relu when p < 0.5 leaving rows
  let all = y |> reshape([b, h, w, 6]) |> permute([0, 3, 1, 2])
  return (all |> global_avg_pool |> dense(4), p |> reshape([b, h * w]) |> mean(axis: 1))
}

operator and_half(y: tensor[b, k], share: tensor[b], label: i64[b]) -> (loss: tensor[]) {
  return cross_entropy(y, label) + mean(square(share - 0.5), axis: 0)
}

block affine(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  weight gain: tensor[c, h, w] init constant(0.5)
  weight shift: tensor[c, h, w] init constant(0.25)
  return x * gain + shift
}

network moving(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] { return affine(x) }

block nearly(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] {
  weight gain: tensor[c, h, w] init constant(0.05)
  weight shift: tensor[c, h, w] init constant(0.025)
  return x * gain + shift
}

// Moves less than the ball reaches: a projection would have no gradient.
network near(x: tensor[n, c, h, w]) -> tensor[n, c, h, w] { return nearly(x) }

block weighed(x: tensor[n, c, h, w]) -> tensor[n, 1, h, w] {
  weight share: tensor[c, 1, 1] init constant(0.3)
  weight shift: tensor[h, w] init constant(0.1)
  return sigmoid(reshape(sum(x * share, axis: 1), shape: [n, 1, h, w]) + shift)
}

network telling(x: tensor[n, c, h, w]) -> tensor[n, 1, h, w] { return weighed(x) }

dataset pictures = npy(inputs: ["train.npy"], target: "train_labels.npy", classes: 4, test_inputs: ["test.npy"],
                       test_target: "test_labels.npy")
"""
TEMPERATURE = 0.3  # of the logistic function where a method names none


def read_arrays(path):
    """A .safetensors file (github.com/huggingface/safetensors, "Format") as tensors by name."""
    types = {"F64": torch.float64, "F32": torch.float32, "I64": torch.int64}
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    arrays = {}
    for name, about in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        first, last = (8 + length + at for at in about["data_offsets"])
        numbers = torch.frombuffer(bytearray(data[first:last]), dtype=types[about["dtype"]])
        arrays[name] = numbers.reshape(about["shape"])
    return arrays


class Gate:
    """Examples for which its condition does not hold go on in branch NUMBER+, the others in NUMBER-."""

    def __init__(self, number, within, margin, taken, here, reach, likely):
        self.open, self.shut, self.within = f"{number}+", f"{number}-", within
        self.margin, self.taken = margin, taken  # [example], or [example, place] of a gate at the places of an image
        self.places = 1 if margin.dim() == 1 else margin.shape[1]
        self.likely = likely  # how likely the gate says its open branch is; None: it compares two tensors
        self.here = here    # who comes to it
        self.reach = reach  # how likely an example comes to its open branch


class Walk:
    """Of a batch of points. `costs[branch]`: FLOPs of an example there; `inside[branch]`: who is there."""

    def __init__(self, weights, count, temperature=TEMPERATURE, straight=True):
        self.weights, self.temperature, self.straight = weights, temperature, straight
        self.gates, self.results, self.leaves = [], [], []
        self.branch, self.reach, self.best = "all", None, None
        self.costs = {"all": 0}
        self.inside = {"all": torch.ones(count, dtype=torch.bool)}

    def get(self, path):
        return self.weights[path]

    # ---- layers; an element-wise operator takes one FLOP for each arithmetic operation and element

    def takes(self, flops):
        self.costs[self.branch] += flops

    def conv(self, x, path, stride=1, pad=1):
        w = self.get(f"weight/{path}.weight")
        y = F.conv2d(x, w, None, stride, pad)
        self.takes(2 * y[0].numel() * w[0].numel())
        return y

    def norm(self, x, path):
        self.takes(6 * x[0].numel())
        return F.batch_norm(x, self.get(f"buffer/{path}.running_mean"), self.get(f"buffer/{path}.running_variance"),
                            self.get(f"weight/{path}.weight"), self.get(f"weight/{path}.bias"), False, 0, 1e-5)

    def relu(self, x):
        self.takes(x[0].numel())
        return F.relu(x)

    def conv_bn_relu(self, x, path, stride=1):
        return self.relu(self.norm(self.conv(x, f"{path}.conv2d", stride), f"{path}.batch_norm"))

    def residual(self, x, path, stride):
        y = self.conv_bn_relu(x, f"{path}.conv_bn_relu", stride)
        y = self.norm(self.conv(y, f"{path}.conv2d"), f"{path}.batch_norm")
        if y.shape != x.shape:
            x = self.norm(self.conv(x, f"{path}.shortcut.conv2d", stride, 0), f"{path}.shortcut.batch_norm")
        self.takes(y[0].numel())
        return self.relu(y + x)

    def pool(self, x):
        self.takes(x[0].numel() + x.shape[1])  # additions, and a division for each channel
        return x.mean((2, 3))

    def dense(self, x, path):
        w = self.get(f"weight/{path}.weight")
        self.takes(2 * w.numel() + len(w))
        return F.linear(x, w, self.get(f"weight/{path}.bias"))

    def mixed_pool_classifier(self, x, path):
        """Maximal and average pooling to 4 x 4, mixed by a learned share, and a dense layer (std.adaptive)."""
        mixture = self.get(f"weight/{path}.mixture")
        kernel = x.shape[2] // 4
        y = F.max_pool2d(x, kernel) * mixture + F.avg_pool2d(x, kernel) * (1 - mixture)
        # two windows; a division, two products and a sum; and once for the whole batch, 1 - mixture
        self.takes(2 * x[0].numel() + 4 * y[0].numel() + 1 / len(x))
        return self.dense(y.flatten(1), f"{path}.dense")

    def sigmoid(self, x):
        self.takes(4 * x[0].numel())
        return torch.sigmoid(x)

    def surest(self, y):
        """The largest of softmax's results."""
        self.takes(5 * y.shape[1] + y.shape[1])
        return y.softmax(1).amax(1)

    # ---- gates

    def gate(self, margin, taken, likely=None):
        self.takes(1)  # the comparison
        reach = None
        if self.temperature is not None:
            reach = torch.sigmoid(margin / self.temperature)
            reach = reach if self.reach is None else self.reach * reach
        here = self.inside[self.branch]
        gate = Gate(len(self.gates) + 1, self.branch, margin, taken, here, reach, likely)
        self.gates.append(gate)
        self.costs |= {gate.open: 0, gate.shut: 0}
        if taken.dim() == 2:  # the share of an example's places
            self.inside |= {gate.open: (~taken).double().mean(1), gate.shut: taken.double().mean(1)}
        else:
            self.inside |= {gate.open: here & ~taken, gate.shut: here & taken}
        return gate

    def exit_when_at_least(self, y, score, threshold):
        gate = self.gate(threshold - score, score >= threshold, 1 - score)
        self.results.append(y)
        self.leaves.append(self.inside[gate.shut])
        self.branch, self.reach = gate.open, gate.reach

    def exit_or_best(self, y, score, threshold):
        """An exit of a network with `fallback best`: who leaves nowhere gets the value with the largest score."""
        if self.best is None:
            self.best = score, y
        else:
            better = score > self.best[0]
            self.takes(3)  # comparisons: a score that is no number never replaces one that is
            self.best = torch.where(better, score, self.best[0]), torch.where(better[:, None], y, self.best[1])
        self.exit_when_at_least(y, score, threshold)

    def skip(self, x, arm, score, margin, taken, sign, leaving=lambda x: x, likely=None):
        """x through `arm`, or through `leaving` where `taken`. `score` is what the mixture's gradient goes to, and `sign` 1
        where a larger one opens, else -1."""
        outside, before = self.branch, self.reach
        gate = self.gate(margin, taken, likely)
        self.branch, self.reach = gate.open, gate.reach
        y = arm(x)
        self.branch = gate.shut
        if gate.reach is not None:
            self.reach = (1 if before is None else before) - gate.reach
        left = leaving(x)
        self.branch, self.reach = outside, before
        share = (~taken).to(x.dtype)
        if self.straight:  # as gates are trained
            share = share + sign * (score - score.detach())
        share = share[:, None, None, None]
        return share * y + (1 - share) * left

    def skip_places(self, rows, arm, score):
        """Rows [example, place, channel] through `arm` where the score [example, place] is at least 0.5."""
        self.takes(score.shape[1] - 1)  # a comparison each
        taken = score < 0.5
        gate = self.gate(score - 0.5, taken, score)
        outside, self.branch = self.branch, gate.open
        y = arm(rows)
        self.branch = outside
        share = (~taken).to(rows.dtype)
        if self.straight:
            share = share + score - score.detach()
        return share[:, :, None] * y + (1 - share[:, :, None]) * rows

    # ---- what came of it

    def ends(self, y):
        self.results.append(y)
        self.leaves.append(self.inside[self.branch])
        return self

    def predictions(self):
        output = torch.zeros_like(self.results[0])
        for y, leaving in zip(self.results, self.leaves):
            output = torch.where(leaving[:, None], y, output)
        return output.argmax(1)

    def flops(self):
        return sum(self.costs[branch] * inside.double() for branch, inside in self.inside.items())

    def bounds(self, branch="all"):
        """The least and the most, over all paths."""
        least = most = self.costs[branch]
        for gate in self.gates:
            if gate.within == branch:
                open_, shut = self.bounds(gate.open), self.bounds(gate.shut)
                least, most = least + min(open_[0], shut[0]), most + max(open_[1], shut[1])
        return least, most

    def shares(self):
        """Of each decision of a gate, what its open branch costs more, as a share of all gates' sizes. Of gates in whole
        millionths."""
        costs = [self.costs[gate.open] - self.costs[gate.shut] for gate in self.gates]
        return [round(cost / sum(map(abs, costs)) * 1e6) / 1e6 / gate.places for gate, cost in zip(self.gates, costs)]

    def decisions(self):
        """1: the condition held; 0: it did not; of places the share where it held; -1: nobody came there. [gate, example]"""
        held = [gate.taken.double() if gate.places == 1 else gate.taken.double().mean(1) for gate in self.gates]
        return torch.stack([torch.where(gate.here, share, -1) for gate, share in zip(self.gates, held)])


def leaver(walk, image):
    x = walk.conv_bn_relu(image, "conv_bn_relu")
    for stage, stride in enumerate([1, 2, 1]):
        x = walk.residual(x, f"stage[{stage}].residual", stride)
        y = walk.dense(walk.pool(x), f"stage[{stage}].dense")
        walk.exit_when_at_least(y, walk.surest(y), [0.4, 0.5, 0.6][stage])
    return walk.ends(walk.dense(walk.pool(x), "dense"))


def skipper(walk, image):
    """Conditions of three forms: `score <= threshold`, `number > score`, and a comparison of two tensors, whose arms both
    have gates of their own; the one that leaves costs more."""
    def inner(x, path):
        y = walk.conv_bn_relu(x, f"{path}.conv_bn_relu")
        score = walk.dense(walk.pool(y), f"{path}.dense")[:, 0]
        again = f"{path}.conv_bn_relu_2"
        return walk.skip(y, lambda z: walk.conv_bn_relu(z, again), score, score - 0.1, 0.1 > score, 1, likely=score)

    x = walk.conv_bn_relu(image, "conv_bn_relu")
    for unit in range(2):
        score = walk.sigmoid(walk.dense(walk.pool(x), f"unit[{unit}].dense"))[:, 0]
        path = f"unit[{unit}].conv_bn_relu"
        x = walk.skip(x, lambda z, path=path: walk.conv_bn_relu(z, path), score, score - 0.5, score <= 0.5, 1, likely=score)
    shut, open_ = (walk.dense(walk.pool(x), path)[:, 0] for path in ("dense", "dense_2"))
    x = walk.skip(x, lambda y: inner(y, "inner"), shut - open_, open_ - shut, shut > open_, -1,
                  lambda y: inner(walk.conv_bn_relu(y, "conv_bn_relu_2"), "inner_2"))
    return walk.ends(walk.dense(walk.pool(x), "dense_3"))


def placer(walk, image):
    """A gate for each example, and one for each place of its image; the second result is not looked at."""
    x = walk.conv_bn_relu(image, "conv_bn_relu")
    score = walk.sigmoid(walk.dense(walk.pool(x), "dense"))[:, 0]
    x = walk.skip(x, lambda z: walk.conv_bn_relu(z, "conv_bn_relu_2"), score, score - 0.5, score <= 0.5, 1, likely=score)
    p = walk.sigmoid(walk.conv(x, "conv2d")).flatten(1)
    rows = x.flatten(2).transpose(1, 2)

    def arm(rows):
        w = walk.get("weight/dense_2.weight")
        walk.takes(rows.shape[1] * (2 * w.numel() + 2 * len(w)))  # products, the bias, relu
        return F.relu(F.linear(rows, w, walk.get("weight/dense_2.bias")))

    y = walk.skip_places(rows, arm, p).transpose(1, 2).reshape(x.shape)
    walk.takes(p.shape[1] + 1)  # the mean of the scores
    return walk.ends(walk.dense(walk.pool(y), "dense_3"))


def sdn_resnet56(walk, image):
    """std.adaptive's network as a Shallow-Deep one, whose surest classifier answers where none is sure."""
    x = walk.conv_bn_relu(image, "conv_bn_relu")
    for stage in range(3):
        for unit in range(9):
            path = f"stage[{stage}].unit[{unit}]"
            x = walk.residual(x, f"{path}.residual", 2 if stage > 0 and unit == 0 else 1)
            if unit in [(3, 7), (2, 6), (1, 5)][stage]:
                y = walk.mixed_pool_classifier(x, f"{path}.mixed_pool_classifier")
                walk.exit_or_best(y, walk.surest(y), 0.5)
    y = walk.dense(walk.pool(x), "dense")
    walk.exit_or_best(y, walk.surest(y), 0.5)
    return walk.ends(walk.best[1])
