"""Layers in PyTorch's functional form that take their weights from an iterator, in order of definition."""
import torch
import torch.nn.functional as F


def conv(x, p, bias=True, **options):
    weight = next(p)
    return F.conv2d(x, weight, next(p) if bias else None, **options)


def norm(x, p, eps=1e-5):
    weight, bias = next(p), next(p)
    channels = x.shape[1]
    mean = torch.zeros(channels, dtype=weight.dtype)
    variance = torch.ones(channels, dtype=weight.dtype)
    return F.batch_norm(x, mean, variance, weight, bias, training=True, momentum=0.1, eps=eps)


def linear(x, p):
    weight, bias = next(p), next(p)
    return F.linear(x, weight, bias)


def layer_norm(x, p, eps=1e-5):
    weight, bias = next(p), next(p)
    return F.layer_norm(x, weight.shape, weight, bias, eps)


def attention(x, p, heads, causal=False):
    n, l, width = x.shape
    query, key, value = linear(x, p).view(n, l, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
    scores = query @ key.transpose(-1, -2) / (width // heads) ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones(l, l, dtype=torch.bool).triu(1), float("-inf"))
    return linear((scores.softmax(-1) @ value).transpose(1, 2).reshape(n, l, width), p)


def multi_head_layer(x, p, heads, norm_first=False, causal=False, activation=F.gelu, eps=1e-5):
    """A transformer layer; the order of its weights is norm, attention, norm, feed-forward if norms come first, else as they are used."""
    if norm_first:
        x = x + attention(layer_norm(x, p, eps), p, heads, causal)
        return x + linear(activation(linear(layer_norm(x, p, eps), p)), p)
    x = layer_norm(x + attention(x, p, heads, causal), p, eps)
    return layer_norm(x + linear(activation(linear(x, p)), p), p, eps)
