"""Networks of stdlib/text in PyTorch's functional form, written from the papers; see models.py for what they take."""
import torch
import torch.nn.functional as F

from primitives import attention, layer_norm, linear, multi_head_layer


def gpt2(tokens, p, layers=2, heads=4):
    words, places = next(p), next(p)
    x = F.embedding(tokens, words) + places[: tokens.shape[1]]
    for _ in range(layers):
        x = gpt2_layer(x, p, heads)
    return layer_norm(x, p) @ words.T


def bert(tokens, segments, p, layers=2, heads=4):
    words, kinds, places = next(p), next(p), next(p)
    x = layer_norm(F.embedding(tokens, words) + F.embedding(segments, kinds) + places[: tokens.shape[1]], p, 1e-12)
    for _ in range(layers):
        x = multi_head_layer(x, p, heads, eps=1e-12)
    x = torch.tanh(linear(x[:, 0], p))
    return linear(x, p)


def rms_norm(x, p, eps=1e-5):
    return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * next(p)


def turned(x, base):
    """Numbers i and d / 2 + i as one complex number each, times e^(i p base^(-2 i / d))."""
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] / base ** (torch.arange(half, dtype=x.dtype) / half)
    y = torch.complex(x[..., :half], x[..., half:]) * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([y.real, y.imag], -1)


def llama(tokens, p, layers=2, heads=4, groups=2, base=10000):
    x = F.embedding(tokens, next(p))
    n, l, width = x.shape
    for _ in range(layers):
        y = rms_norm(x, p)
        query, key, value = (F.linear(y, next(p)).view(n, l, -1, width // heads).transpose(1, 2) for _ in range(3))
        key, value = (turned(key, base).repeat_interleave(heads // groups, 1), value.repeat_interleave(heads // groups, 1))
        scores = turned(query, base) @ key.transpose(-1, -2) / (width // heads) ** 0.5
        scores = scores.masked_fill(torch.ones(l, l, dtype=torch.bool).triu(1), float("-inf"))
        x = x + F.linear((scores.softmax(-1) @ value).transpose(1, 2).reshape(n, l, width), next(p))
        y = rms_norm(x, p)
        gate, wide = F.linear(y, next(p)), F.linear(y, next(p))
        x = x + F.linear(F.silu(gate) * wide, next(p))
    return F.linear(rms_norm(x, p), next(p))


def gpt2_layer(x, p, heads):
    return multi_head_layer(x, p, heads, norm_first=True, causal=True, activation=gelu_of_tanh)


def gelu_of_tanh(x):
    return F.gelu(x, approximate="tanh")


def mixture_of_depths(tokens, p, layers=4, heads=4, capacity=0.3):
    words, places = next(p), next(p)
    x = F.embedding(tokens, words) + places[: tokens.shape[1]]
    for layer in range(layers):
        if layer % 2 == 0:
            x = gpt2_layer(x, p, heads)
            continue
        scores = F.linear(x, next(p))
        chosen = scores.topk(int(x.shape[1] * capacity), 1).indices.sort(1).values
        seen = x.gather(1, chosen.expand(-1, -1, x.shape[2]))
        change = (gpt2_layer(seen, p, heads) - seen) * scores.gather(1, chosen)
        x = x.scatter_add(1, chosen.expand(-1, -1, x.shape[2]), change)
    return layer_norm(x, p) @ words.T


def switch_layer(x, p, capacity):
    """Token by token: each goes to the expert with the largest probability, while that has room."""
    inside, outside, router = next(p), next(p), next(p)
    probabilities = F.linear(x, router).softmax(2)
    rows = []
    for tokens, shares in zip(x, probabilities):
        room = [capacity] * len(inside)
        for token, share in zip(tokens, shares):
            expert = share.argmax().item()
            room[expert] -= 1
            computed = share[expert] * (gelu_of_tanh(token @ inside[expert]) @ outside[expert])
            rows.append(computed if room[expert] >= 0 else torch.zeros_like(token))
    return torch.stack(rows).view(x.shape)


def switch_transformer(tokens, p, layers=2, heads=4, capacity=7):
    words, places = next(p), next(p)
    x = F.embedding(tokens, words) + places[: tokens.shape[1]]
    for layer in range(layers):
        x = x + attention(layer_norm(x, p), p, heads, causal=True)
        y = layer_norm(x, p)
        x = x + (linear(gelu_of_tanh(linear(y, p)), p) if layer % 2 == 0 else switch_layer(y, p, capacity))
    return layer_norm(x, p) @ words.T


MODELS = {"gpt2": gpt2, "bert": bert, "llama": llama, "mixture_of_depths": mixture_of_depths,
          "switch_transformer": switch_transformer}
