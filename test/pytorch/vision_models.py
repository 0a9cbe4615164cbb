"""Networks of stdlib/vision in PyTorch's functional form, written from the papers; see models.py for what they take."""
import torch
import torch.nn.functional as F

from primitives import conv, linear, norm, layer_norm, multi_head_layer


def divisible(channels, divisor=8):
    near = max(divisor, int(channels + divisor / 2) // divisor * divisor)
    return near + divisor if near < 0.9 * channels else near


def conv_norm(x, p, activation=lambda x: x, eps=1e-5, **options):
    return activation(norm(conv(x, p, bias=False, **options), p, eps))


def mobilenet_v1(x, p):
    x = conv_norm(x, p, F.relu, stride=2, padding=1)
    for stride in [1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1]:
        x = conv_norm(x, p, F.relu, stride=stride, padding=1, groups=x.shape[1])
        x = conv_norm(x, p, F.relu)
    return linear(x.mean((2, 3)), p)


def hard_sigmoid(x):
    """Not F.hardsigmoid, whose gradient in f64 has 1/6 rounded to f32."""
    return F.relu6(x + 3) / 6


def squeeze_excitation(x, p, activation, gate):
    s = activation(conv(x.mean((2, 3), keepdim=True), p))
    return x * gate(conv(s, p))


def inverted_residual(x, p, out, hidden, kernel, stride, activation, squeeze=None, eps=1e-5):
    y = x
    if hidden != x.shape[1]:
        y = conv_norm(y, p, activation, eps)
    y = conv_norm(y, p, activation, eps, stride=stride, padding=kernel // 2, groups=hidden)
    if squeeze:
        y = squeeze_excitation(y, p, *squeeze)
    y = conv_norm(y, p, eps=eps)
    return x + y if stride == 1 and x.shape[1] == out else y


def mobilenet_v2(x, p, width=0.25):
    x = conv_norm(x, p, F.relu6, stride=2, padding=1)
    for expand, channels, count, stride in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(count):
            x = inverted_residual(x, p, divisible(channels * width), expand * x.shape[1], 3, stride if i == 0 else 1, F.relu6)
    x = conv_norm(x, p, F.relu6)
    return linear(x.mean((2, 3)), p)


# kernel, hidden, channels, squeeze and excitation, activation, stride: Howard et al. 2019, table 2
MOBILENET_V3_SMALL = [(3, 16, 16, True, F.relu, 2), (3, 72, 24, False, F.relu, 2), (3, 88, 24, False, F.relu, 1), (5, 96, 40, True, F.hardswish, 2),
                      (5, 240, 40, True, F.hardswish, 1), (5, 240, 40, True, F.hardswish, 1), (5, 120, 48, True, F.hardswish, 1),
                      (5, 144, 48, True, F.hardswish, 1), (5, 288, 96, True, F.hardswish, 2), (5, 576, 96, True, F.hardswish, 1),
                      (5, 576, 96, True, F.hardswish, 1)]


def mobilenet_v3_small(x, p, width=0.5):
    x = conv_norm(x, p, F.hardswish, 1e-3, stride=2, padding=1)
    for kernel, hidden, channels, squeezed, activation, stride in MOBILENET_V3_SMALL:
        squeeze = (F.relu, hard_sigmoid) if squeezed else None
        x = inverted_residual(x, p, divisible(channels * width), divisible(hidden * width), kernel, stride, activation, squeeze, 1e-3)
    x = conv_norm(x, p, F.hardswish, 1e-3).mean((2, 3))
    return linear(F.hardswish(linear(x, p)), p)


def efficientnet(x, p, width=0.25):
    x = conv_norm(x, p, F.silu, stride=2, padding=1)
    rows = [(1, 16, 1, 3, 1), (6, 24, 2, 3, 2), (6, 40, 2, 5, 2), (6, 80, 3, 3, 2), (6, 112, 3, 5, 1), (6, 192, 4, 5, 2), (6, 320, 1, 3, 1)]
    for expand, channels, count, kernel, stride in rows:
        for i in range(count):
            x = inverted_residual(x, p, divisible(channels * width), expand * x.shape[1], kernel, stride if i == 0 else 1, F.silu, (F.silu, torch.sigmoid))
    x = conv_norm(x, p, F.silu)
    return linear(x.mean((2, 3)), p)


def cifar_resnet(x, p):
    x = conv_norm(x, p, F.relu, padding=1)
    for stage, width in enumerate([16, 32, 64]):
        for unit in range(3):
            stride = 2 if stage > 0 and unit == 0 else 1
            y = conv_norm(conv_norm(x, p, F.relu, stride=stride, padding=1), p, padding=1)
            x = F.relu(y + F.pad(x[:, :, ::stride, ::stride], (0, 0, 0, 0, 0, width - x.shape[1])))
    return linear(x.mean((2, 3)), p)


def resnext(x, p):
    x = F.max_pool2d(conv_norm(x, p, F.relu, stride=2, padding=3), 3, 2, 1)
    for stage, count in enumerate([3, 4, 6, 3]):
        for unit in range(count):
            stride = 2 if stage > 0 and unit == 0 else 1
            y = conv_norm(x, p, F.relu)
            y = conv_norm(y, p, F.relu, stride=stride, padding=1, groups=8)
            y = conv_norm(y, p)
            x = F.relu(y + (conv_norm(x, p, stride=stride) if unit == 0 else x))
    return linear(x.mean((2, 3)), p)


def densenet(x, p, counts=(6, 12, 24, 16)):
    x = F.max_pool2d(conv_norm(x, p, F.relu, stride=2, padding=3), 3, 2, 1)
    for stage, count in enumerate(counts):
        for _ in range(count):
            y = conv(F.relu(norm(x, p)), p, bias=False)
            x = torch.cat([x, conv(F.relu(norm(y, p)), p, bias=False, padding=1)], 1)
        if stage + 1 < len(counts):
            x = F.avg_pool2d(conv(F.relu(norm(x, p)), p, bias=False), 2)
    return linear(F.relu(norm(x, p)).mean((2, 3)), p)


def squeezenet(x, p):
    x = F.max_pool2d(F.relu(conv(x, p, stride=2)), 3, 2, ceil_mode=True)
    for unit in range(8):
        s = F.relu(conv(x, p))
        x = torch.cat([F.relu(conv(s, p)), F.relu(conv(s, p, padding=1))], 1)
        if unit in (1, 3):
            x = F.max_pool2d(x, 3, 2, ceil_mode=True)
    return F.relu(conv(x, p)).mean((2, 3))


def googlenet(x, p):
    def step(x, **options):
        return conv_norm(x, p, F.relu, 1e-3, **options)
    x = F.max_pool2d(step(x, stride=2, padding=3), 3, 2, ceil_mode=True)
    x = F.max_pool2d(step(step(x), padding=1), 3, 2, ceil_mode=True)
    for unit in range(9):
        branches = [step(x), step(step(x), padding=1), step(step(x), padding=1), step(F.max_pool2d(x, 3, 1, 1))]
        x = torch.cat(branches, 1)
        if unit == 1:
            x = F.max_pool2d(x, 3, 2, ceil_mode=True)
        if unit == 6:
            x = F.max_pool2d(x, 2, 2, ceil_mode=True)
    return linear(x.mean((2, 3)), p)


def shuffle(x, groups=2):
    n, c, h, w = x.shape
    return x.view(n, groups, c // groups, h, w).transpose(1, 2).reshape(n, c, h, w)


def shufflenet_v2(x, p):
    x = F.max_pool2d(conv_norm(x, p, F.relu, stride=2, padding=1), 3, 2, 1)
    for count in [4, 8, 4]:
        for unit in range(count):
            stride = 2 if unit == 0 else 1
            if unit == 0:
                left = conv_norm(conv_norm(x, p, stride=2, padding=1, groups=x.shape[1]), p, F.relu)
                right = x
            else:
                left, right = x.chunk(2, 1)
            y = conv_norm(right, p, F.relu)
            y = conv_norm(y, p, stride=stride, padding=1, groups=y.shape[1])
            x = shuffle(torch.cat([left, conv_norm(y, p, F.relu)], 1))
    return linear(conv_norm(x, p, F.relu).mean((2, 3)), p)


def norm_channels(x, p):
    return layer_norm(x.permute(0, 2, 3, 1), p, 1e-6).permute(0, 3, 1, 2)


def convnext(x, p, units=(1, 1, 2, 1)):
    x = norm_channels(conv(x, p, stride=4), p)
    for stage, count in enumerate(units):
        if stage > 0:
            x = conv(norm_channels(x, p), p, stride=2)
        for _ in range(count):
            scale = next(p)
            y = layer_norm(conv(x, p, padding=3, groups=x.shape[1]).permute(0, 2, 3, 1), p, 1e-6)
            x = x + scale * linear(F.gelu(linear(y, p)), p).permute(0, 3, 1, 2)
    return linear(layer_norm(x.mean((2, 3)), p, 1e-6), p)


def unet(x, p, padding=1):
    def twice(x):
        for _ in range(2):
            x = F.relu(conv(x, p, padding=padding))
        return x
    features = []
    for _ in range(4):
        features.append(twice(x))
        x = F.max_pool2d(features[-1], 2)
    x = twice(x)
    for skipped in reversed(features):
        weight, bias = next(p), next(p)
        y = F.conv_transpose2d(x, weight, bias, stride=2)
        top, left = ((a - b) // 2 for a, b in zip(skipped.shape[2:], y.shape[2:]))
        x = twice(torch.cat([skipped[:, :, top:top + y.shape[2], left:left + y.shape[3]], y], 1))
    return conv(x, p)


def vit(x, p, patch=16, layers=2, heads=4):
    token = next(p)
    x = conv(x, p, stride=patch).flatten(2).transpose(1, 2)
    x = torch.cat([token.expand(x.shape[0], -1, -1), x], 1) + next(p)
    for _ in range(layers):
        x = multi_head_layer(x, p, heads, norm_first=True, eps=1e-6)
    return linear(layer_norm(x, p, 1e-6)[:, 0], p)


MODELS = {
    "mobilenet_v1": mobilenet_v1, "mobilenet_v2": mobilenet_v2, "mobilenet_v3_small": mobilenet_v3_small, "efficientnet": efficientnet,
    "cifar_resnet": cifar_resnet, "resnext": resnext, "densenet": densenet, "squeezenet": squeezenet, "googlenet": googlenet, "shufflenet_v2": shufflenet_v2,
    "convnext": convnext, "unet": unet, "unet_valid": lambda x, p: unet(x, p, padding=0), "vit": vit,
}
