"""Networks of stdlib/text in PyTorch's functional form, written from the papers; see models.py for what they take."""
import torch
import torch.nn.functional as F

from primitives import layer_norm, linear, multi_head_layer


def gpt2(tokens, p, layers=2, heads=4):
    words, places = next(p), next(p)
    x = F.embedding(tokens, words) + places[: tokens.shape[1]]
    for _ in range(layers):
        x = multi_head_layer(x, p, heads, norm_first=True, causal=True, activation=lambda x: F.gelu(x, approximate="tanh"))
    return layer_norm(x, p) @ words.T


def bert(tokens, segments, p, layers=2, heads=4):
    words, kinds, places = next(p), next(p), next(p)
    x = layer_norm(F.embedding(tokens, words) + F.embedding(segments, kinds) + places[: tokens.shape[1]], p, 1e-12)
    for _ in range(layers):
        x = multi_head_layer(x, p, heads, eps=1e-12)
    x = torch.tanh(linear(x[:, 0], p))
    return linear(x, p)


MODELS = {"gpt2": gpt2, "bert": bert}
