"""SkipNet and Shallow-Deep Networks in eager PyTorch, with the weights of a file that `tbemc step --save` wrote.

Each model runs in three ways: `trained` as a training step does (gated_training.py); and for inference `branch` takes real branches for one sample, as a PyTorch user writes it; `masked` computes every arm
for a whole batch and selects, and says for each gate and sample the decision (1, 0, or -1 where the sample did not come there)
and how far the score was from the threshold.
"""
import torch
import torch.nn.functional as F


class Arrays:
    """The weights and buffers of a file, taken in order of definition; `calibrate` sets running statistics on the way."""

    def __init__(self, arrays, dtype=torch.float32):
        def tensors(group):
            return [(n, torch.tensor(v, dtype=dtype)) for n, v in arrays.items() if n.startswith(group)]
        self.weights, self.buffers = tensors("weight/"), tensors("buffer/")
        self.next_weight = self.next_buffer = 0

    def weight(self, *shape):
        name, value = self.weights[self.next_weight]
        assert tuple(value.shape) == shape, f"{name} is {tuple(value.shape)}, the model wants {shape}"
        self.next_weight += 1
        return value

    def buffer(self, *shape):
        name, value = self.buffers[self.next_buffer]
        assert tuple(value.shape) == shape, f"{name} is {tuple(value.shape)}, the model wants {shape}"
        self.next_buffer += 1
        return value

    def done(self):
        assert self.next_weight == len(self.weights) and self.next_buffer == len(self.buffers), "the file has more"


class ConvNorm:
    calibrating = False
    training = False  # by the batch's own moments, and running ones move

    def __init__(self, a, c, out, kernel, stride=1, pad=0):
        self.w, self.stride, self.pad = a.weight(out, c, kernel, kernel), stride, pad
        self.scale, self.shift = a.weight(out), a.weight(out)
        self.mean, self.variance = a.buffer(out), a.buffer(out)

    def __call__(self, x):
        y = F.conv2d(x, self.w, None, self.stride, self.pad)
        if ConvNorm.calibrating:
            self.mean.copy_(y.mean((0, 2, 3)))
            self.variance.copy_(y.var((0, 2, 3), unbiased=False))
        return F.batch_norm(y, self.mean, self.variance, self.scale, self.shift, ConvNorm.training, 0.1, 1e-5)


class Shortcut:
    def __init__(self, a, c, out, stride):
        self.conv = None if c == out and stride == 1 else ConvNorm(a, c, out, 1, stride)

    def __call__(self, x):
        return x if self.conv is None else self.conv(x)


class Residual:
    def __init__(self, a, c, out, stride=1):
        self.first, self.second = ConvNorm(a, c, out, 3, stride, 1), ConvNorm(a, out, out, 3, 1, 1)
        self.shortcut = Shortcut(a, c, out, stride)

    def __call__(self, x):
        return F.relu(self.second(F.relu(self.first(x))) + self.shortcut(x))


class Body:
    """A residual block whose shortcut is given."""

    def __init__(self, a, c, out, stride):
        self.first, self.second = ConvNorm(a, c, out, 3, stride, 1), ConvNorm(a, out, out, 3, 1, 1)

    def __call__(self, x, around):
        return F.relu(self.second(F.relu(self.first(x))) + around)


class Dense:
    def __init__(self, a, features, out):
        self.w, self.b = a.weight(out, features), a.weight(out)

    def __call__(self, x):
        return F.linear(x, self.w, self.b)

    def spread(self, x, scale=1.0):
        """Calibration: results on these inputs get mean 0 and this standard deviation."""
        y = F.linear(x, self.w)
        factor = scale / y.std(0, unbiased=False).clamp_min(1e-6)
        self.w.mul_(factor[:, None])
        self.b.copy_(-y.mean(0) * factor)


class SkipNet:
    def __init__(self, a, n=18, classes=10, gate=10, tau=0.5):
        self.arrays, self.tau, self.gate = a, tau, gate
        self.stem = ConvNorm(a, 3, 16, 3, 1, 1)
        self.units, c = [], 16
        self.cell_x = self.cell_h = self.score = None
        for i in range(3 * n):
            out, stride = [16, 32, 64][i // n], 2 if i > 0 and i % n == 0 else 1
            if i == 0:
                self.units.append((None, Residual(a, c, out), None))
            else:
                projection = Dense(a, c, gate)
                if self.cell_x is None:
                    self.cell_x, self.cell_h = Dense(a, gate, 4 * gate), Dense(a, gate, 4 * gate)
                    self.score = Dense(a, gate, 1)
                shortcut = Shortcut(a, c, out, stride)
                self.units.append((projection, Body(a, c, out, stride), shortcut))
            c = out
        self.head = Dense(a, 64, classes)
        a.done()

    def cell(self, x, h, c):
        i, f, g, o = (self.cell_x(x) + self.cell_h(h)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c

    def branch(self, image):
        x = F.relu(self.stem(image))
        h = c = torch.zeros(1, self.gate)
        for projection, unit, shortcut in self.units:
            if projection is None:
                x = unit(x)
                continue
            h, c = self.cell(projection(x.mean((2, 3))), h, c)
            g = torch.sigmoid(self.score(h))
            around = shortcut(x)
            x = around if g.item() <= self.tau else unit(x, around)
        return self.head(x.mean((2, 3)))

    def trained(self, image, share_of):
        """`share_of(score, threshold, number of the unit)`: how much of a unit is computed."""
        x = F.relu(self.stem(image))
        h = c = torch.zeros(image.shape[0], self.gate, dtype=image.dtype)
        for i, (projection, unit, shortcut) in enumerate(self.units):
            if projection is None:
                x = unit(x)
                continue
            h, c = self.cell(projection(x.mean((2, 3))), h, c)
            g = torch.sigmoid(self.score(h)).reshape(-1)
            share = share_of(g, self.tau, i)[:, None, None, None]
            around = shortcut(x)
            x = share * unit(x, around) + (1 - share) * around
        return [self.head(x.mean((2, 3)))]

    def masked(self, image):
        x = F.relu(self.stem(image))
        h = c = torch.zeros(image.shape[0], self.gate, dtype=image.dtype)
        decisions, margins = [], []
        for projection, unit, shortcut in self.units:
            if projection is None:
                x = unit(x)
                continue
            pooled = x.mean((2, 3))
            if ConvNorm.calibrating:
                projection.spread(pooled)
            h, c = self.cell(projection(pooled), h, c)
            if ConvNorm.calibrating and not decisions:
                self.score.spread(h, 3.0)
            g = torch.sigmoid(self.score(h)).reshape(-1)
            skipped = g <= self.tau
            decisions.append(skipped.to(torch.int32))
            margins.append((g - self.tau).abs())
            around = shortcut(x)
            x = torch.where(skipped[:, None, None, None], around, unit(x, around))
        return self.head(x.mean((2, 3))), torch.stack(decisions), torch.stack(margins)


class SdnResNet56:
    EXITS = [[3, 7], [2, 6], [1, 5]]

    def __init__(self, a, classes=10, tau=0.5):
        self.arrays, self.tau = a, tau
        self.stem = ConvNorm(a, 3, 16, 3, 1, 1)
        self.units, c = [], 16
        for s in range(3):
            for i in range(9):
                out = 16 << s
                unit = Residual(a, c, out, 2 if s > 0 and i == 0 else 1)
                size, head = 32 >> s, None
                if i in self.EXITS[s]:
                    mixture = a.weight(1)
                    head = (mixture, size // 4, Dense(a, out * 16, classes))
                self.units.append((unit, head))
                c = out
        self.last = Dense(a, 64, classes)
        a.done()

    @staticmethod
    def classify(x, head):
        mixture, kernel, dense = head
        pooled = F.max_pool2d(x, kernel) * mixture + F.avg_pool2d(x, kernel) * (1 - mixture)
        if ConvNorm.calibrating:
            dense.spread(pooled.flatten(1), 1.5)
        return dense(pooled.flatten(1))

    def branch(self, image):
        x = F.relu(self.stem(image))
        best, answer = -1.0, None
        for unit, head in self.units + [(None, None)]:
            if unit is not None:
                x = unit(x)
                if head is None:
                    continue
            y = self.classify(x, head) if head is not None else self.last(x.mean((2, 3)))
            surest = torch.softmax(y, 1).max().item()
            if surest >= self.tau:
                return y
            if surest > best:
                best, answer = surest, y
        return answer

    def masked(self, image):
        x = F.relu(self.stem(image))
        samples = image.shape[0]
        inside = torch.ones(samples, dtype=torch.bool)
        best = torch.full((samples,), -1.0, dtype=image.dtype)
        answer, decisions, margins = None, [], []
        for unit, head in self.units + [(None, None)]:
            if unit is not None:
                x = unit(x)
                if head is None:
                    continue
            if head is None and ConvNorm.calibrating:
                self.last.spread(x.mean((2, 3)), 1.5)
            y = self.classify(x, head) if head is not None else self.last(x.mean((2, 3)))
            surest = torch.softmax(y, 1).max(1).values
            taken = surest >= self.tau
            decisions.append(torch.where(inside, taken.to(torch.int32), torch.tensor(-1, dtype=torch.int32)))
            margins.append(torch.where(inside, (surest - self.tau).abs(), torch.tensor(1.0, dtype=image.dtype)))
            answer = torch.zeros_like(y) if answer is None else answer
            better = inside & (taken | (surest > best))
            answer = torch.where(better[:, None], y, answer)
            best = torch.where(better, surest, best)
            inside = inside & ~taken
        return answer, torch.stack(decisions), torch.stack(margins)


class ShallowDeep:
    """Convolutions, and behind each a dense layer on the mean over the image."""

    def __init__(self, a, channels, strides, classes=10):
        self.units, c = [], 3
        for out, stride in zip(channels, strides):
            self.units.append((ConvNorm(a, c, out, 3, stride, 1), Dense(a, out, classes)))
            c = out
        a.done()

    def trained(self, image):
        x, results = image, []
        for conv, head in self.units:
            x = F.relu(conv(x))
            results.append(head(x.mean((2, 3))))
        return results


class PlaceLayer:
    """A convolution whose weights are those of a dense layer of windows, and normalisation."""

    def __init__(self, a, c, out, stride=1):
        self.w, self.c, self.stride = a.weight(out, 9 * c), c, stride
        self.scale, self.shift = a.weight(out), a.weight(out)
        self.mean, self.variance = a.buffer(out), a.buffer(out)

    def __call__(self, x):
        kernel = self.w.reshape(-1, 3, 3, self.c).permute(0, 3, 1, 2)
        y = F.conv2d(x, kernel, None, self.stride, 1)
        return F.batch_norm(y, self.mean, self.variance, self.scale, self.shift, ConvNorm.training, 0.1, 1e-5)


class DynConv:
    def __init__(self, a, n=1, classes=10, tau=0.5):
        self.tau, self.units, c = tau, [], 16
        self.stem = ConvNorm(a, 3, 16, 3, 1, 1)
        for i in range(3 * n):
            out, stride = [16, 32, 64][i // n], 2 if i > 0 and i % n == 0 else 1
            shortcut, everywhere = Shortcut(a, c, out, stride), Dense(a, c, 1)
            score = a.weight(1, c, 3, 3), a.weight(1)
            self.units.append((shortcut, everywhere, score, stride, PlaceLayer(a, c, out, stride), PlaceLayer(a, out, out)))
            c = out
        self.head = Dense(a, 64, classes)
        a.done()

    def scores(self, x, unit):
        _, everywhere, (w, b), stride, _, _ = unit
        return torch.sigmoid(F.conv2d(x, w, b, stride, 1) + everywhere(x.mean((2, 3)))[:, :, None, None])

    def trained(self, image, share_of):
        """`share_of(scores of all places, number of the unit)`: how much of each place is taken."""
        x, shares = F.relu(self.stem(image)), []
        for i, unit in enumerate(self.units):
            p = self.scores(x, unit)
            mask = share_of(p.reshape(-1), i).reshape(p.shape)
            x = F.relu(unit[5](F.relu(unit[4](x))) * mask + unit[0](x))
            shares.append(mask.mean((1, 2, 3)))
        return self.head(x.mean((2, 3))), torch.stack(shares, 1)

    def masked(self, image):
        """The logits, the shares of places, and how near a score is to its threshold."""
        x, shares, margin = F.relu(self.stem(image)), [], 1.0
        for unit in self.units:
            p = self.scores(x, unit)
            mask = (p >= self.tau).to(x.dtype)
            read = (F.max_pool2d(p, 3, 1, 1) >= self.tau).to(x.dtype)
            x = F.relu(unit[5](F.relu(unit[4](x)) * read) * mask + unit[0](x))
            shares.append(mask.mean((1, 2, 3)))
            margin = min(margin, (p - self.tau).abs().min().item())
        return self.head(x.mean((2, 3))), torch.stack(shares, 1), margin


def images(count, seed):
    """Smooth random pictures whose means and contrasts differ, so that gates find something to tell them apart by."""
    g = torch.Generator().manual_seed(seed)
    small = torch.randn(count, 3, 8, 8, generator=g) * torch.rand(count, 1, 1, 1, generator=g) * 2
    smooth = F.interpolate(small, size=(32, 32), mode="bilinear", align_corners=False)
    return smooth + torch.randn(count, 3, 1, 1, generator=g) * 0.5 + 0.1 * torch.randn(count, 3, 32, 32, generator=g)


def calibrate(model, count=256):
    """Running statistics and gates' weights from pictures, so that activations keep their size and decisions vary."""
    with torch.no_grad():
        ConvNorm.calibrating = True
        model.masked(images(count, 99))
        ConvNorm.calibrating = False
