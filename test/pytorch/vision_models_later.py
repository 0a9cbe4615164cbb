"""More networks of stdlib/vision in PyTorch's functional form, written from the papers; see models.py for what they take."""
import torch
import torch.nn.functional as F

from primitives import conv, layer_norm, linear, norm
from vision_models import conv_norm, divisible, inverted_residual, squeeze_excitation


def regions(sides, window, shifts):
    """Where the pixels of an image that was moved come from: numbers of its parts, in windows."""
    parts = [torch.arange(side).roll(-shift) < shift for side, shift in zip(sides, shifts)]
    return in_windows((2 * parts[0][:, None] + parts[1][None, :])[None, :, :, None], window)[:, :, 0]


def in_windows(x, window):
    """[n, h, w, c] as [n windows, pixels, c]."""
    columns = x.unfold(1, window, window).unfold(2, window, window)
    return columns.permute(0, 1, 2, 4, 5, 3).reshape(-1, window * window, x.shape[3])


def window_attention(x, p, heads, window, shift):
    n, h, w, c = x.shape
    table = next(p)
    x = F.pad(x, (0, 0, 0, -w % window, 0, -h % window))
    sides = x.shape[1:3]
    shifts = [shift if side > window else 0 for side in sides]
    x = in_windows(x.roll([-shift for shift in shifts], (1, 2)), window)
    query, key, value = linear(x, p).view(len(x), -1, 3, heads, c // heads).permute(2, 0, 3, 1, 4)
    row, column = (place.flatten() for place in torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij"))
    index = (row[:, None] - row + window - 1) * (2 * window - 1) + column[:, None] - column + window - 1
    scores = query @ key.transpose(-1, -2) / (c // heads) ** 0.5 + table[index].permute(2, 0, 1)
    if sum(shifts) > 0:
        region = regions(sides, window, shifts)
        apart = (region[:, :, None] != region[:, None, :]).repeat(n, 1, 1)[:, None]
        scores = scores - 100.0 * apart
    x = linear((scores.softmax(-1) @ value).transpose(1, 2).reshape(len(x), -1, c), p)
    x = x.view(n, sides[0] // window, sides[1] // window, window, window, c).transpose(2, 3).reshape(n, *sides, c)
    return x.roll(shifts, (1, 2))[:, :h, :w]


def swin(x, p, units=(1, 2, 2), head_width=8, window=5):
    x = layer_norm(conv(x, p, stride=4).permute(0, 2, 3, 1), p)
    for stage, count in enumerate(units):
        if stage > 0:
            x = F.pad(x, (0, 0, 0, x.shape[2] % 2, 0, x.shape[1] % 2))
            x = torch.cat([x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)], -1)
            x = F.linear(layer_norm(x, p), next(p))
        for unit in range(count):
            x = x + window_attention(layer_norm(x, p), p, x.shape[3] // head_width, window, unit % 2 * (window // 2))
            x = x + linear(F.gelu(linear(layer_norm(x, p), p)), p)
    return linear(layer_norm(x, p).mean((1, 2)), p)


def regnet(x, p, widths=(24, 40, 40, 64), group=8, squeeze=0.25):
    """RegNet by the units' widths, which the caller has worked out."""
    x = conv_norm(x, p, F.relu, stride=2, padding=1)
    last = 0
    for width in widths:
        inside, stride = x.shape[1], 2 if width != last else 1
        before = conv_norm(x, p, stride=stride) if (inside, stride) != (width, 1) else x
        y = conv_norm(x, p, F.relu)
        y = conv_norm(y, p, F.relu, stride=stride, padding=1, groups=width // group)
        y = squeeze_excitation(y, p, F.relu, torch.sigmoid) if squeeze else y
        x = F.relu(before + conv_norm(y, p))
        last = width
    return linear(x.mean((2, 3)), p)


def mnasnet(x, p, width=0.25):
    x = conv_norm(x, p, F.relu, stride=2, padding=1)
    x = conv_norm(x, p, F.relu, padding=1, groups=x.shape[1])
    x = conv_norm(x, p)
    # expansion, channels, units, kernel, stride: Tan et al. 2019, figure 7 without squeeze and excitation
    for expand, channels, count, kernel, stride in [(3, 24, 3, 3, 2), (3, 40, 3, 5, 2), (6, 80, 3, 5, 2), (6, 96, 2, 3, 1), (6, 192, 4, 5, 2), (6, 320, 1, 3, 1)]:
        for i in range(count):
            x = inverted_residual(x, p, divisible(channels * width), expand * x.shape[1], kernel, stride if i == 0 else 1, F.relu)
    return linear(conv_norm(x, p, F.relu).mean((2, 3)), p)


def efficientnet_v2(x, p, width=0.25):
    x = conv_norm(x, p, F.silu, 1e-3, stride=2, padding=1)
    for channels, count, stride, expand in [(24, 2, 1, 1), (48, 4, 2, 4), (64, 4, 2, 4)]:
        for i in range(count):
            out, step = divisible(channels * width), stride if i == 0 else 1
            y = conv_norm(x, p, F.silu, 1e-3, stride=step, padding=1)
            y = conv_norm(y, p, eps=1e-3) if expand > 1 else y
            x = x + y if step == 1 and x.shape[1] == out else y
    for channels, count, stride, expand in [(128, 6, 2, 4), (160, 9, 1, 6), (256, 15, 2, 6)]:
        for i in range(count):
            x = inverted_residual(x, p, divisible(channels * width), expand * x.shape[1], 3, stride if i == 0 else 1, F.silu, (F.silu, torch.sigmoid), 1e-3)
    return linear(conv_norm(x, p, F.silu, 1e-3).mean((2, 3)), p)


def inception_v3(x, p):
    def step(x, **options):
        return conv_norm(x, p, F.relu, 1e-3, **options)

    def line(x, *paddings):
        """Convolutions in turn: their sides are odd and keep the size."""
        for padding in paddings:
            x = step(x, padding=padding)
        return x

    def mean(x):
        return step(F.avg_pool2d(x, 3, 1, 1))

    def both(x):
        return torch.cat([step(x, padding=(0, 1)), step(x, padding=(1, 0))], 1)

    x = F.max_pool2d(step(step(step(x, stride=2)), padding=1), 3, 2)
    x = F.max_pool2d(step(step(x)), 3, 2)
    for _ in range(3):
        x = torch.cat([step(x), line(x, 0, 2), line(x, 0, 1, 1), mean(x)], 1)
    x = torch.cat([step(x, stride=2), step(line(x, 0, 1), stride=2), F.max_pool2d(x, 3, 2)], 1)
    across, down = (0, 3), (3, 0)
    for _ in range(4):
        x = torch.cat([step(x), line(x, 0, across, down), line(x, 0, down, across, down, across), mean(x)], 1)
    x = torch.cat([step(step(x), stride=2), step(line(x, 0, across, down), stride=2), F.max_pool2d(x, 3, 2)], 1)
    for _ in range(2):
        x = torch.cat([step(x), both(step(x)), both(line(x, 0, 1)), mean(x)], 1)
    return linear(x.mean((2, 3)), p)


def deepperform_generator(x, p):
    def transposed(x, **options):
        return F.conv_transpose2d(x, next(p), None, **options)

    def moved(x):
        return F.leaky_relu(F.instance_norm(x), 0.01)

    def padded(x):
        return norm(conv(F.pad(x, (1, 1, 1, 1), mode="reflect"), p, bias=False), p)

    def attention(x):
        share = next(p)
        n, c, h, w = x.shape
        query, key, value = (conv(x, p).flatten(2) for _ in range(3))
        seen = torch.einsum("nci,ncj->nij", query, key).softmax(2)
        return x + share * torch.einsum("ncj,nij->nci", value, seen).reshape(n, c, h, w)

    for stride in (1, 2, 2):
        x = moved(conv(x, p, stride=stride))
    for _ in range(4):
        y = padded(padded(x))
        x = y + (x if y.shape == x.shape else norm(conv(x, p, bias=False), p))
    for _ in range(2):
        x = attention(moved(transposed(x, stride=2)))
    return transposed(x).tanh()


MODELS = {"deepperform_generator": deepperform_generator, "swin": swin, "regnet": regnet, "mnasnet": mnasnet, "efficientnet_v2": efficientnet_v2, "inception_v3": inception_v3}
