"""Searches for inputs that make a network slow, in PyTorch, as docs/perturb.md says of each method."""
import numpy as np
import torch
import torch.nn.functional as F

from perturbed_models import TEMPERATURE, Walk


class Method:
    """A method as its text says, or as docs/perturb.md where that says nothing."""

    def __init__(self, text, radius):
        self.text, self.word = text, text.split("(")[0]
        inside = text[len(self.word) + 1:-1]
        given = dict(part.split(": ", 1) for part in inside.split(", ") if ": " in part)
        steps, rate, look = {"deepsloth": (30, 0.002, 0), "ilfo": (300, 0.01, 0), "gradmdm": (100, 0.01, 0)}.get(self.word, (30, radius / 10, 5))
        objective = {"deepsloth": "uncertainty", "ilfo": "margins", "gradmdm": "closed"}.get(self.word, "flops")
        self.steps = int(given.get("steps", steps))
        self.look = int(given.get("look", look))
        self.rate = float(given.get("rate", rate))
        self.objective = given.get("objective", objective)
        self.temperature = float(given.get("temperature", TEMPERATURE))
        self.distance = float(given.get("distance", {"ilfo": 0.01, "gradmdm": 1 / 1500}.get(self.word, 0)))
        self.power = float(given.get("power", 3.5))
        self.label = float(given.get("label", 0.03))
        self.epochs = int(given.get("epochs", 3))
        self.projected = given.get("place") == "projected"
        self.adversarial = float(given.get("adversarial", 0))
        self.sgd = float(given["optimizer"][len("sgd(lr: "):-1]) if "optimizer" in given else None


class Twin:
    """One network with its weights, searched in PyTorch. `search`: name, norm, radius, box, whether the label is kept, methods.
    `wrong`: what it is to do otherwise than the page says."""

    def __init__(self, network, weights, search, wrong=""):
        _, self.norm, self.radius, self.box, self.keep, _ = search
        self.network, self.weights, self.wrong = network, weights, wrong
        self.dtype = weights["weight/conv_bn_relu.conv2d.weight"].dtype

    def walk(self, x, temperature=None):
        if temperature is not None and self.wrong == "temperature":
            temperature *= 1.2
        return self.network(Walk(self.weights, len(x), temperature, self.wrong != "straight through"), x.to(self.dtype))

    def answers(self, x):
        with torch.no_grad():
            return self.walk(x)

    # ---- what is made less

    def objective(self, method, x, seed, labels):
        walk = self.walk(x, method.temperature)
        if method.objective == "uncertainty":
            results = walk.results if self.wrong == "last result" else walk.results[:-1]
            total = sum(-y.log_softmax(1).mean(1).sum() for y in results)
        elif method.objective == "closed":
            power = 2 if self.wrong == "power" else method.power
            total = -self.closed(walk, method, power).pow(1 / power).sum()
        elif method.objective == "gates":
            total = self.surprises(walk, method)
        else:
            shares = [1 / len(walk.gates)] * len(walk.gates) if self.wrong == "shares" else walk.shares()
            if self.wrong == "places":
                shares = [share * gate.places for share, gate in zip(shares, walk.gates)]
            terms = [gate.reach if method.objective == "flops" else gate.margin for gate in walk.gates]
            if self.wrong == "on the way":
                terms = [torch.sigmoid(gate.margin / method.temperature) for gate in walk.gates]
            total = -sum(share * term.sum() for share, term in zip(shares, terms))
        if method.distance and self.wrong != "distance":
            total = total + method.distance * (x - seed).square().sum()
        if self.keep and self.wrong != "label":
            total = total + method.label * sum(F.cross_entropy(y, labels, reduction="sum") for y in walk.results)
        return total

    def closed(self, walk, method, power):
        """Of each example, the sum over gates of how likely a closed one opens, to this power."""
        most = 1 if self.wrong == "open gates" else 0.5
        ways = [gate.margin if share > 0 else -gate.margin for gate, share in zip(walk.gates, walk.shares())]
        likely = [(torch.sigmoid(way / method.temperature).clamp(max=most) + 1e-6).pow(power) for way in ways]
        return sum(gate.reshape(len(walk.results[0]), -1).sum(1) for gate in likely)

    def surprises(self, walk, method):
        """The cross entropy between what gates give and 1, of those that come to the gate, in the mean over all gates."""
        def surprise(gate, share):
            p = torch.sigmoid(gate.margin / method.temperature) if gate.likely is None else gate.likely
            p = p if share > 0 or self.wrong == "dear side" else 1 - p
            kept = p.detach().clamp(min=1e-12)
            here = torch.ones_like(gate.here) if self.wrong == "who comes" else gate.here
            missed = -(kept.log() + (p - p.detach()) / kept)
            return (here * missed if gate.places == 1 else missed).sum() / (1 if self.wrong == "places" else gate.places)

        return sum(surprise(gate, share) for gate, share in zip(walk.gates, walk.shares())) / len(walk.gates)

    # ---- where points may lie

    def lengths(self, x):
        return x.flatten(1).norm(dim=1)[:, None, None, None]

    def into_box(self, x):
        return x.clamp(-self.box, self.box)

    def within(self, x, seed):
        if self.norm == "linf":
            return self.into_box(torch.maximum(torch.minimum(x, seed + self.radius), seed - self.radius))
        length = self.lengths(x - seed)
        radius = 0.9 * self.radius if self.wrong == "projection" else self.radius
        return self.into_box(seed + (x - seed) * torch.where(length > radius, radius / length, 1))

    def uniform(self, seed):
        step = self.radius if self.norm == "linf" else self.radius / np.sqrt(seed[0].numel())
        return self.into_box(seed + step)

    # ---- steps

    def search(self, method, examples):
        """The points; `gradients` are those of the first step."""
        seed = examples.to(self.dtype)
        if method.word == "uniform":
            return self.uniform(seed).float()
        before = self.answers(examples)
        labels = before.predictions()
        x, best = examples, None
        m = v = torch.zeros_like(seed)
        for step in range(1, method.steps + 1):
            now = x.to(self.dtype).requires_grad_(True)
            g, = torch.autograd.grad(self.objective(method, now, seed, labels), now)
            self.gradients = g if step == 1 else self.gradients
            now = now.detach()
            if method.word in ("ilfo", "gradmdm"):
                m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
                change = m / (1 - 0.9**step) / ((v / (1 - 0.999**step)).sqrt() + 1e-8)
            elif self.norm == "linf":
                change = g.sign()
            else:
                length = self.lengths(g)
                change = torch.where(length > 0, g / length, 0)
            x = self.within(now - method.rate * change, seed).float()
            if step == method.steps or (method.look and step % method.look == 0):
                best = self.better(best, x, labels)
        found, points, flops = best
        if method.look:  # who looks on the way need not take what costs less than the example
            found = found & (flops >= before.flops())
        return torch.where(found[:, None, None, None], points, examples)

    def better(self, best, x, labels):
        """Of the points that were asked about, the first that costs most; with `keep label` of those that keep it."""
        walk = self.answers(x)
        counts = walk.predictions() == labels if self.keep else torch.ones(len(x), dtype=torch.bool)
        flops = walk.flops()
        if best is None:
            return counts, x, flops
        found, points, most = best
        replaces = counts & (~found | (flops > most))
        return found | counts, torch.where(replaces[:, None, None, None], x, points), torch.where(replaces, flops, most)

    def learn(self, method, examples, batch):
        """What `moving` or `near` makes of the examples, once it was trained on this batch alone."""
        gain, shift = (torch.full(examples.shape[1:], value, dtype=self.dtype, requires_grad=True)
                       for value in ((0.05, 0.025) if "near()" in method.text else (0.5, 0.25)))

        def place(seed):
            raw = seed * gain + shift
            if method.projected and self.wrong != "place":
                return self.within(seed + raw, seed)
            if self.norm == "linf":
                return self.into_box(seed + self.radius * raw.tanh())
            return self.into_box(seed + self.radius * raw / (self.lengths(raw) + 1e-12))

        share = torch.full((examples.shape[1], 1, 1), 0.3, dtype=self.dtype, requires_grad=True)
        offset = torch.full(examples.shape[2:], 0.1, dtype=self.dtype, requires_grad=True)

        def tell(x):
            return ((x * share).sum(1, keepdim=True) + offset).sigmoid()

        def judged(points):
            return (tell(points) - 1).square().flatten(1).mean(1).sum()

        judging = torch.optim.Adam([share, offset], method.rate)
        optimizer = torch.optim.Adam([gain, shift], method.rate)
        if method.sgd is not None:
            optimizer = torch.optim.SGD([gain, shift], method.sgd)
        batch = batch.to(self.dtype)
        for _ in range(method.epochs):
            if method.adversarial and self.wrong != "discriminator":
                judging.zero_grad()
                (judged(batch) + tell(place(batch).detach()).square().flatten(1).mean(1).sum()).backward()
                judging.step()
            optimizer.zero_grad()
            points = place(batch)
            loss = self.objective(method, points, batch, None)
            if method.adversarial and self.wrong != "adversarial":
                loss = loss + method.adversarial * judged(points)
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            return place(examples.to(self.dtype)).float()
