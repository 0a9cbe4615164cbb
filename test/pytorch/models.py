"""The networks of the standard library in PyTorch's functional form, fed by a list of parameters in order of definition.

Each takes (inputs, parameters iterator, training) and returns the output. Written from the papers that stdlib/ names, and
independent of it: only the order in which weights are defined is shared.
"""
import torch
import torch.nn.functional as F

import text_models
import vision_models
import vision_models_later
from primitives import conv, linear, norm


def mlp(x, p, activation=F.relu, layers=3):
    for i in range(layers):
        x = linear(x, p)
        if i + 1 < layers:
            x = activation(x)
    return x


def lenet5(x, p):
    x = F.avg_pool2d(torch.tanh(conv(x, p, padding=2 if x.shape[2] == 28 else 0)), 2)
    x = F.avg_pool2d(torch.tanh(conv(x, p)), 2)
    x = torch.tanh(linear(x.flatten(1), p))
    x = torch.tanh(linear(x, p))
    return linear(x, p)


VGG_STAGES = {11: [1, 1, 2, 2, 2], 13: [2, 2, 2, 2, 2], 16: [2, 2, 3, 3, 3], 19: [2, 2, 4, 4, 4]}


def small_vgg(x, p, depth=11, activation=F.relu, pool=F.max_pool2d):
    for count in VGG_STAGES[depth]:
        for _ in range(count):
            x = activation(norm(conv(x, p, bias=False, padding=1), p))
        x = pool(x, 2)
    return linear(x.flatten(1), p)


def basic_block(x, p, width, stride, activation):
    y = activation(norm(conv(x, p, bias=False, stride=stride, padding=1), p))
    y = norm(conv(y, p, bias=False, padding=1), p)
    if stride != 1 or x.shape[1] != width:
        x = norm(conv(x, p, bias=False, stride=stride), p)
    return activation(y + x)


def resnet18(x, p, activation=F.relu, pool=F.max_pool2d):
    x = activation(norm(conv(x, p, bias=False, stride=2, padding=3), p))
    x = pool(x, kernel_size=3, stride=2, padding=1)
    for stage, width in enumerate([64, 128, 256, 512]):
        for unit in range(2):
            x = basic_block(x, p, width, 2 if stage > 0 and unit == 0 else 1, activation)
    return linear(x.mean((2, 3)), p)


def own_operator(x, p):
    """examples/own_operator: snake, local response normalisation, context gating."""

    def snake(x, a):
        return x + torch.sin(a * x) ** 2 / a

    x = F.local_response_norm(snake(conv(x, p, padding=1), 1.0), size=5, alpha=0.5, beta=0.75, k=1.0)
    x = snake(conv(x, p, stride=2, padding=1), 0.5).mean((2, 3))
    x = x * torch.sigmoid(linear(x, p))
    return linear(x, p)


def own_prelu(x, p):
    """test/lit/inputs/own: a slope for each channel, learned."""
    x = F.prelu(conv(x, p, padding=1), next(p))
    return linear(x.mean((2, 3)), p)


MODELS = {
    **vision_models.MODELS,
    **vision_models_later.MODELS,
    **text_models.MODELS,
    "own_operator": own_operator,
    "own_prelu": own_prelu,
    "mlp": mlp,
    "lenet5": lenet5,
    "small_vgg": small_vgg,
    "resnet18": resnet18,
    "mlp_silu": lambda x, p: mlp(x, p, F.silu),
    "small_vgg_silu": lambda x, p: small_vgg(x, p, 11, F.silu, F.avg_pool2d),
    "resnet18_silu": lambda x, p: resnet18(x, p, F.silu, F.avg_pool2d),
}
