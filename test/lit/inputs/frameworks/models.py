"""Models of a program's own, for `tbemc import`."""
import torch
from torch import nn
from torch.nn import functional as F


def __getattr__(name):
    """What is made when it is asked for, as transformers makes its configurations."""
    if name == "late":
        return 7
    raise AttributeError(name)


class Block(nn.Module):
    """A residual block, with a projection where the sizes differ."""

    def __init__(self, width, out, stride=1):
        super().__init__()
        self.conv = nn.Conv2d(width, out, 3, stride, 1, bias=False)
        self.norm = nn.BatchNorm2d(out)
        self.shortcut = nn.Conv2d(width, out, 1, stride) if width != out else nn.Identity()

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)) + self.shortcut(x))


class Classifier(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2))
        self.stages = nn.Sequential(Block(8, 8), Block(8, 8), Block(8, 8), Block(8, 16, 2), Block(16, 16))
        self.head = nn.Linear(16, classes)

    def forward(self, image):
        print("a model may print")
        return self.head(self.stages(self.stem(image)).mean((2, 3)))


class Layer(nn.Module):
    """Pre-norm attention with a causal mask of its own, and a gated feed-forward network."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width, bias=False)
        self.gate, self.up, self.down = nn.Linear(width, 48), nn.Linear(width, 48), nn.Linear(48, width)

    def forward(self, x, mask):
        n, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(n, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q @ k.transpose(-2, -1)) * (width // self.heads) ** -0.5
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, length, width))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """A language model whose output layer has the embedding's weight, with two results."""

    def __init__(self, vocabulary=50, width=24, heads=3, layers=3, length=8):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.words.weight
        self.register_buffer("mask", torch.ones(length, length).tril().bool(), persistent=False)

    def forward(self, tokens):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            x = layer(x, self.mask)
        return self.head(self.norm(x))[:, -1]


class Padded(nn.Module):
    """Tables of which one row is not trained: one of a layer's own, and one that is the output layer's, too."""

    def __init__(self):
        super().__init__()
        self.kinds, self.words = nn.Embedding(4, 12, padding_idx=2), nn.Embedding(4, 12, padding_idx=-4)
        self.head = nn.Linear(12, 4, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens):
        return self.head(torch.tanh(self.words(tokens) + self.kinds(tokens)).mean(1))


class Twice(nn.Module):
    """A layer that is called twice, weights that no module of their own has, parts of a tensor."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(12, 3, batch_first=True)
        self.shared = nn.Linear(12, 12)
        self.scale = nn.Parameter(torch.ones(1, 1, 12))
        self.out = nn.Linear(6, 5)

    def forward(self, x, bias):
        x = self.shared(F.gelu(self.shared(x))) * self.scale + bias
        y = self.attention(x, x, x, need_weights=False)[0]
        left, right = torch.cat([x, y], -1).chunk(2, -1)
        pooled = (left - right).amax(1)
        return self.out(torch.stack([pooled[:, ::2], 2 - pooled[:, 1::2]], 1).sum(1).clamp(min=-3))


class Pieces(nn.Module):
    """Writes into parts of tensors, elements found by their numbers, sums along an axis, repeated and summed by letters."""

    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Linear(8, 12), nn.Linear(24, 5)
        self.scale = nn.Parameter(torch.ones(12))
        self.register_buffer("places", torch.tensor([[0, 2], [1, 3], [2, 0], [3, 1]]))

    def forward(self, x):
        y = self.embed(x)
        y[:, 0] = 1.5
        y[:, 1, 3:6].mul_(2)
        right = y[:, :, 4:]
        right.transpose(1, 2)[:, 2] += 1
        left = y[:, :, :4]
        heads = torch.einsum("nld,dk->nkl", left, right[0, :4, 1:7]).cumsum(1)
        picked = y[:, self.places[:, 0], self.places[:, 1]]
        taken = torch.gather(y.tril(2), 2, y.argmax(2, keepdim=True)).squeeze(2)
        spread = (y * self.scale).var(1) + y.std((0, 1), unbiased=False) + y.max(1)[0]
        repeated = picked.repeat(1, 2).repeat_interleave(2, 1)
        z = torch.cat([spread, heads.mean(2), taken], 1)
        return self.out(z) + repeated[:, 3:8] + F.avg_pool2d(y[:, None], 5, 3, ceil_mode=True).sum((1, 2, 3))[:, None]


class Rounds(nn.Module):
    """A straight-through estimator, and a target of the model's own."""

    def __init__(self):
        super().__init__()
        self.codes, self.targets = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        y = self.codes(x)
        z = y + (torch.floor(y) - y).detach()
        with torch.no_grad():
            target = self.targets(x)
        return z - target


class Masks(nn.Module):
    """Attention under masks that are computed: the causal one in the ways that models write it, of any size; windows; none at all."""

    def __init__(self, way="compared", length=128, width=8):
        super().__init__()
        self.way, self.words, self.out = way, nn.Embedding(20, width), nn.Linear(width, 20)
        self.register_buffer("table", torch.full((2 * length, 2 * length), True).tril(), persistent=False)

    def mask(self, length):
        places = torch.arange(length)
        rows, columns = places[:, None], places[None]
        low = torch.finfo(torch.float32).min
        ways = {
            "compared": lambda: columns <= rows,
            "expanded": lambda: (places.view(1, 1, 1, length) <= places.view(1, 1, length, 1)).expand(2, 1, length, length),
            "added": lambda: torch.full((length, length), float("-inf")).triu(1),
            "filled": lambda: torch.zeros(length, length).masked_fill(columns > rows, low),
            "chosen": lambda: torch.where(rows - columns >= 0, 0.0, low),
            "multiplied": lambda: (1.0 - torch.ones(length, length).tril()) * low,
            "written over": lambda: torch.full((length, length), low).mul_(columns > rows),
            "buffer": lambda: self.table[:length, :length],
            "moved": lambda: (places + 3)[None, None] < (places + 4)[:, None],
            "transposed": lambda: (rows <= columns).t(),
            "wide window": lambda: (columns > rows - length) & (columns <= rows) & torch.ones((), dtype=torch.bool),
            "narrow window": lambda: (columns > rows - length // 2) & (columns <= rows),
            "later": lambda: columns >= rows,
            "own diagonal": lambda: columns < rows + 2,
            "faint": lambda: torch.where(columns <= rows, 0.0, -2.0),
            "open": lambda: (places >= 0)[None].expand(length, length),
        }
        return ways[self.way]()

    def forward(self, tokens):
        x, mask = self.words(tokens)[:, None], self.mask(tokens.shape[1])
        mask = mask if mask.dtype is torch.bool else mask.to(x.dtype)
        return self.out(F.scaled_dot_product_attention(x, x, x, attn_mask=mask)[:, 0].mean(1))


class Tagger(nn.Module):
    """Two layers of an LSTM in both directions over words, whose last state begins a GRU."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(30, 6)
        self.both = nn.LSTM(6, 5, num_layers=2, batch_first=True, bidirectional=True, dropout=0.1)
        self.back = nn.GRU(10, 5)
        self.head = nn.Linear(5, 4)

    def forward(self, tokens):
        outputs, (hidden, cell) = self.both(self.words(tokens))
        outputs, last = self.back(outputs.transpose(0, 1), hidden[-1:] + cell[:1])
        return self.head(outputs[-1] + last[0])


class Cells(nn.Module):
    """Cells in a loop of Python's, behind a layer without biases."""

    def __init__(self):
        super().__init__()
        self.layer = nn.RNN(4, 6, nonlinearity="relu", bias=False, batch_first=True)
        self.long = nn.LSTMCell(6, 5)
        self.gated = nn.GRUCell(5, 3)
        self.plain = nn.RNNCell(3, 4)

    def forward(self, x):
        steps, _ = self.layer(x)
        state, gated, plain = None, None, None
        for at in range(steps.shape[1]):
            state = self.long(steps[:, at], state)
            gated = self.gated(state[0], gated)
            plain = self.plain(gated, plain)
        return plain
