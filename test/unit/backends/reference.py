#!/usr/bin/python3
"""Random problems for every primitive, answered by PyTorch in f64.

Writes one binary file: for each problem the primitive's name, attributes, scalars, inputs and outputs. Usage: reference.py FILE [CASES].
Integers are i64, reals f64, little endian; a text is its length and its bytes; an array is rank, dims, kind (0 real, 1 i64), values.
"""
import struct
import sys

import numpy as np
import torch
import torch.nn.functional as F

from reference_attention import attention_problems

torch.set_num_threads(1)
rng = np.random.default_rng(20250101)


def integer(low, high):
    """Uniform in [low, high], both included."""
    return int(rng.integers(low, high + 1))


def real(*dims, ties=False):
    """Normal values; with `ties` few distinct ones, so that maxima repeat."""
    values = rng.integers(-2, 3, dims).astype(float) if ties else rng.standard_normal(dims)
    return torch.tensor(values, dtype=torch.float64).reshape(dims).requires_grad_()


def conv_problem():
    while True:
        groups = [1, 1, 1, 2, 3][integer(0, 4)]
        if integer(0, 5) == 0:
            groups = integer(2, 20)
            c = o = groups
        else:
            c, o = groups * integer(1, 20), groups * integer(1, 20)
        kh, kw = integer(1, 4), integer(1, 4)
        stride, dilation = [integer(1, 3), integer(1, 3)], [integer(1, 2), integer(1, 2)]
        pad = [integer(0, 2) for _ in range(4)]
        n, h, w = integer(1, 3), integer(1, 11), integer(1, 11)
        if h + pad[0] + pad[2] >= dilation[0] * (kh - 1) + 1 and w + pad[1] + pad[3] >= dilation[1] * (kw - 1) + 1:
            break
    x, weight, bias = real(n, c, h, w), real(o, c // groups, kh, kw), real(o)
    padded = F.pad(x, (pad[1], pad[3], pad[0], pad[2]))
    y = F.conv2d(padded, weight, bias, stride, 0, dilation, groups)
    return x, weight, bias, y, stride + pad + dilation + [groups]


def pool_problem(maximum):
    while True:
        n, c, h, w = integer(1, 3), integer(1, 35), integer(1, 9), integer(1, 9)
        kernel, stride = [integer(1, 4), integer(1, 4)], [integer(1, 3), integer(1, 3)]
        pad = [integer(0, kernel[0] - 1), integer(0, kernel[1] - 1), integer(0, kernel[0] - 1), integer(0, kernel[1] - 1)]
        if h + pad[0] + pad[2] >= kernel[0] and w + pad[1] + pad[3] >= kernel[1]:
            break
    x = real(n, c, h, w, ties=maximum and integer(0, 1) == 1)
    around = (pad[1], pad[3], pad[0], pad[2])
    if maximum:
        return x, F.max_pool2d(F.pad(x, around, value=-float("inf")), kernel, stride), kernel + stride + pad
    include = integer(0, 1)
    sums = F.avg_pool2d(F.pad(x, around), kernel, stride) * (kernel[0] * kernel[1])
    inside = F.avg_pool2d(F.pad(torch.ones_like(x), around), kernel, stride) * (kernel[0] * kernel[1])
    # A window of padding alone has sum 0; its average is 0.
    y = sums / (kernel[0] * kernel[1] if include else torch.clamp(inside, min=1).detach())
    return x, y, kernel + stride + pad + [include]


def gradient(y, wanted):
    dy = torch.tensor(rng.standard_normal(tuple(y.shape)), dtype=torch.float64).reshape(y.shape)
    return dy, torch.autograd.grad(y, wanted, dy)


def lead(last):
    return [integer(1, 4) for _ in range(integer(0, 2))] + [last]


def dims_and_axes():
    dims = [integer(1, 6) for _ in range(integer(1, 5))]
    axes = sorted(rng.choice(len(dims), integer(1, len(dims)), replace=False).tolist())
    return dims, axes


def image_like(smallest=1):
    return [integer(smallest, 4), integer(1, 40)] + [integer(1, 6) for _ in range(integer(0, 3))]


def conv2d():
    x, weight, bias, y, attributes = conv_problem()
    if integer(0, 1):
        return attributes, [], [x, weight, bias], [y]
    return attributes, [], [x, weight, None], [y - bias.reshape(1, -1, 1, 1)]


def conv2d_input_gradient():
    x, weight, _, y, attributes = conv_problem()
    dy, (dx,) = gradient(y, [x])
    return attributes, [], [dy, weight], [dx]


def conv2d_weight_gradient():
    x, weight, _, y, attributes = conv_problem()
    dy, (dweight,) = gradient(y, [weight])
    return attributes, [], [x, dy], [dweight]


def dense_problem():
    i, o = integer(1, 40), integer(1, 40)
    x, weight, bias = real(*lead(i)), real(o, i), real(o)
    return x, weight, bias, F.linear(x, weight, bias)


def dense():
    x, weight, bias, y = dense_problem()
    return ([], [], [x, weight, bias], [y]) if integer(0, 1) else ([], [], [x, weight, None], [y - bias])


def dense_input_gradient():
    x, weight, _, y = dense_problem()
    dy, (dx,) = gradient(y, [x])
    return [], [], [dy, weight], [dx]


def dense_weight_gradient():
    x, weight, _, y = dense_problem()
    dy, (dweight,) = gradient(y, [weight])
    return [], [], [x, dy], [dweight]


def matmul():
    batch, m, k, n = [integer(1, 4) for _ in range(integer(0, 2))], integer(1, 30), integer(1, 30), integer(1, 30)
    ta, tb = integer(0, 1), integer(0, 1)
    a, b = real(*batch, m, k), real(*batch, k, n)
    return [ta, tb], [], [a.transpose(-1, -2) if ta else a, b.transpose(-1, -2) if tb else b], [a @ b]


def reduce_sum():
    dims, axes = dims_and_axes()
    x = real(*dims)
    return [len(axes)] + axes, [], [x], [x.sum(axes)]


def reduce_max():
    dims, axes = dims_and_axes()
    x = real(*dims)
    return [len(axes)] + axes, [], [x], [x.amax(axes)]


def reduce_max_gradient():
    dims, axes = dims_and_axes()
    x = real(*dims, ties=integer(0, 1) == 1)
    y = x.amax(axes)
    dy, (dx,) = gradient(y, [x])
    return [len(axes)] + axes, [], [dy, x, y], [dx]


def channel_moments():
    x = real(*image_like())
    axes = [d for d in range(x.dim()) if d != 1]
    return [], [], [x], [x.mean(axes), x.var(axes, unbiased=False)]


def channel_gradient_sums():
    x = real(*image_like(smallest=2))
    weight, bias, eps = torch.ones(x.shape[1], dtype=torch.float64, requires_grad=True), real(x.shape[1]), 1e-5
    dy, (dweight, dbias) = gradient(F.batch_norm(x, None, None, weight, bias, True, 0.1, eps), [weight, bias])
    axes = [d for d in range(x.dim()) if d != 1]
    return [], [eps], [dy, x, x.mean(axes), x.var(axes, unbiased=False)], [dweight, dbias]


def row_gradient_sums():
    x, eps = real(*lead(integer(1, 40))), 1e-5
    features, affine, centred = x.shape[-1], integer(0, 1), integer(0, 1)
    weight, bias = real(features), real(features)
    mean = x.mean(-1) if centred else None
    variance = x.var(-1, unbiased=False) if centred else x.square().mean(-1)
    xhat = ((x - mean[..., None]) if centred else x) / torch.sqrt(variance + eps)[..., None]
    dy, (dweight, dbias) = gradient(xhat.detach() * weight + bias, [weight, bias])
    g = dy * weight.detach() if affine else dy
    return [], [eps], [dy, x, variance, weight if affine else None, mean], [dweight, dbias, g.sum(-1), (g * xhat).sum(-1)]


def sum_squares():
    x = real(*lead(integer(1, 40)))
    return [], [], [x], [x.square().sum()]


def max_pool2d():
    x, y, attributes = pool_problem(True)
    return attributes, [], [x], [y]


def max_pool2d_gradient():
    x, y, attributes = pool_problem(True)
    dy, (dx,) = gradient(y, [x])
    return attributes, [], [dy, x], [dx]


def avg_pool2d():
    x, y, attributes = pool_problem(False)
    return attributes, [], [x], [y]


def avg_pool2d_gradient():
    x, y, attributes = pool_problem(False)
    dy, (dx,) = gradient(y, [x])
    return attributes, [], [dy], [dx]


def adaptive_problem():
    x = real(integer(1, 3), integer(1, 35), integer(1, 9), integer(1, 9))
    return x, F.adaptive_avg_pool2d(x, (integer(1, 5), integer(1, 5)))


def adaptive_avg_pool2d():
    x, y = adaptive_problem()
    return [], [], [x], [y]


def adaptive_avg_pool2d_gradient():
    x, y = adaptive_problem()
    dy, (dx,) = gradient(y, [x])
    return [], [], [dy], [dx]


def along_axis(function, large=False):
    """`large`: sometimes logits of several hundred, whose exponentials overflow."""
    dims, axes = dims_and_axes()
    x = real(*dims)
    if large and integer(0, 3) == 0:
        x = (x * 300).detach().requires_grad_()
    return x, function(x, axes[0]), [axes[0]]


def softmax():
    x, y, attributes = along_axis(F.softmax, large=True)
    return attributes, [], [x], [y]


def softmax_gradient():
    x, y, attributes = along_axis(F.softmax)
    dy, (dx,) = gradient(y, [x])
    return attributes, [], [dy, y], [dx]


def log_softmax():
    x, y, attributes = along_axis(F.log_softmax, large=True)
    return attributes, [], [x], [y]


def log_softmax_gradient():
    x, y, attributes = along_axis(F.log_softmax)
    dy, (dx,) = gradient(y, [x])
    return attributes, [], [dy, y], [dx]


def entropy_problem():
    n, classes, smoothing = integer(1, 20), integer(1, 20), float(rng.choice([0, 0.1]))
    rest = [integer(1, 5) for _ in range(integer(0, 2))]  # images: classes are axis 1
    logits, target = real(n, classes, *rest), torch.tensor(rng.integers(0, classes, [n] + rest))
    if integer(0, 1):  # targets without a class: their lines are left out
        target[torch.tensor(rng.random(target.shape) < 0.3)] = -100
    kept = target != -100
    loss = F.cross_entropy(logits.movedim(1, -1)[kept], target[kept], label_smoothing=smoothing) if kept.any() else 0 * logits.sum()
    return logits, target, smoothing, loss


def cross_entropy():
    logits, target, smoothing, loss = entropy_problem()
    return [1], [smoothing], [logits, target], [loss]


def cross_entropy_gradient():
    logits, target, smoothing, loss = entropy_problem()
    dloss, (dlogits,) = gradient(loss, [logits])
    return [1], [smoothing], [dloss, logits, target], [dlogits]


def permute():
    dims, _ = dims_and_axes()
    order = rng.permutation(len(dims)).tolist()
    x = real(*dims)
    return [len(order)] + order, [], [x], [x.permute(order)]


def box():
    few = [integer(1, 4) for _ in range(integer(1, 5))]
    start, step = [integer(0, 2) for _ in few], [integer(1, 3) for _ in few]
    many = [s + (f - 1) * t + 1 + integer(0, 2) for f, s, t in zip(few, start, step)]
    places = np.ix_(*[s + t * np.arange(f) for f, s, t in zip(few, start, step)])
    return few, many, start, step, places


def pad():
    few, many, low, step, places = box()
    x, y = real(*few), np.zeros(many)
    y[places] = x.detach().numpy()
    return [len(low)] + low + [len(low)] + [s - 1 for s in step], [], [x], [torch.tensor(y)]


def slice():
    _, many, start, step, places = box()
    x = real(*many)
    return [len(start)] + start + [len(start)] + step, [], [x], [torch.tensor(x.detach().numpy()[places])]


def concat():
    dims = [integer(1, 5) for _ in range(integer(1, 4))]
    axis = integer(0, len(dims) - 1)
    xs = [real(*dims[:axis], integer(1, 20), *dims[axis + 1:]) for _ in range(integer(1, 4))]
    return [axis], [], xs, [torch.cat(xs, axis)]


def gather_problem():
    dims = [integer(1, 6) for _ in range(integer(1, 4))]
    axis = integer(0, len(dims) - 1)
    x = real(*dims)
    index = torch.tensor(rng.integers(0, dims[axis], [integer(1, 5) for _ in range(integer(0, 2))]))
    y = x.index_select(axis, index.reshape(-1)).reshape(dims[:axis] + list(index.shape) + dims[axis + 1:])
    return axis, x, index, y


def gather():
    axis, x, index, y = gather_problem()
    return [axis], [], [x, index], [y]


def gather_gradient():
    axis, x, index, y = gather_problem()
    dy, (dx,) = gradient(y, [x])
    return [axis], [], [dy, index], [dx]


def arg_max():
    dims = [integer(1, 7) for _ in range(integer(1, 4))]
    axis = integer(0, len(dims) - 1)
    x = real(*dims)
    return [axis], [], [x], [x.argmax(axis)]


def constant():
    values = [float(v) for v in rng.normal(size=integer(1, 300))]
    return [], values, [], [torch.tensor(values, dtype=torch.float64)]


def matmul_broadcast():
    batch, m, k, n = [integer(1, 4) for _ in range(integer(1, 3))], integer(1, 20), integer(1, 20), integer(1, 20)
    own = [1 if integer(0, 2) == 0 else d for d in batch]
    a, b = (real(*own, m, k), real(*batch, k, n)) if integer(0, 1) else (real(*batch, m, k), real(*own[integer(0, len(own)):], k, n))
    return [0, 0], [], [a, b], [a @ b]


matmul_broadcast.__name__ = "matmul"


attention, attention_gradient = attention_problems(integer, real, gradient)

# What is new goes last, so that the problems of the others stay: in f32 a bound holds for the ones that were drawn.
PRIMITIVES = [conv2d, conv2d_input_gradient, conv2d_weight_gradient, dense, dense_input_gradient, dense_weight_gradient, matmul, reduce_sum,
              reduce_max, reduce_max_gradient, channel_moments, channel_gradient_sums, row_gradient_sums, sum_squares, max_pool2d,
              max_pool2d_gradient, avg_pool2d,
              avg_pool2d_gradient, adaptive_avg_pool2d, adaptive_avg_pool2d_gradient, softmax, softmax_gradient, log_softmax,
              log_softmax_gradient, cross_entropy, cross_entropy_gradient, permute, pad, slice, concat, gather, gather_gradient, arg_max,
              matmul_broadcast, constant, attention, attention_gradient]


def write_array(file, array):
    if array is None:
        file.write(struct.pack("<q", -1))
        return
    values = array.detach().numpy()
    whole = values.dtype.kind == "i"
    file.write(struct.pack(f"<{2 + values.ndim}q", values.ndim, *values.shape, int(whole)))
    file.write(np.ascontiguousarray(values).astype("<f8").tobytes())


def main():
    cases = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    with open(sys.argv[1], "wb") as file:
        for primitive in PRIMITIVES:
            for _ in range(cases):
                attributes, scalars, inputs, outputs = primitive()
                name = primitive.__name__.encode()
                file.write(struct.pack("<q", len(name)) + name)
                file.write(struct.pack(f"<q{len(attributes)}q", len(attributes), *attributes))
                file.write(struct.pack(f"<q{len(scalars)}d", len(scalars), *scalars))
                for arrays in (inputs, outputs):
                    file.write(struct.pack("<q", len(arrays)))
                    for array in arrays:
                        write_array(file, array)


if __name__ == "__main__":
    main()
