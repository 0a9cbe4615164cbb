"""Detectors of slow inputs, and squeezed inputs, in NumPy and PyTorch, as docs/perturb.md says of `detect` and `squeeze`."""
import numpy as np
import torch

from perturbed_models import Walk
from philox import shuffled

FOLDS, COST, EXAMPLES = 3, 20, 30
CLAUSES = f"  detect svm(folds: {FOLDS}, cost: {COST}, examples: {EXAMPLES})\n  squeeze bits(3), median(2), median(5)\n"
SQUEEZERS = ["bits(3)", "median(2)", "median(5)"]


# ---- Detectors --------------------------------------------------------------------------------------------------------


def separating(rows, labels, cost):
    """The w that makes |w|^2 / 2 + cost * sum of max(0, 1 - y w x)^2 least: Newton's method, which ends after finitely many
    steps (Keerthi & DeCoste 2005, "A Modified Finite Newton Method for Fast Solution of Large Scale Linear SVMs")."""
    w, active = np.zeros(rows.shape[1]), None
    for _ in range(100):
        wrong = labels * (rows @ w) < 1
        if active is not None and (wrong == active).all():
            return w
        active = wrong
        x, y = rows[active], labels[active]
        w = np.linalg.solve(np.eye(len(w)) + 2 * cost * x.T @ x, 2 * cost * x.T @ y)
    raise AssertionError("Newton's method goes on and on")


def area(points, examples):
    above = points[:, None] - examples[None, :]
    return ((above > 0) + 0.5 * (above == 0)).mean()


def areas(twin, examples, points, wrong=""):
    """By method that detectors learned, by method: the mean area over folds, and its deviation."""
    def layer(x):
        walk = Walk(twin.weights, EXAMPLES)
        y = walk.conv(x[:EXAMPLES].to(twin.dtype), "conv_bn_relu.conv2d")
        y = y if wrong == "activation" else walk.relu(walk.norm(y, "conv_bn_relu.batch_norm"))
        return y.detach().float().double().flatten(1).numpy()

    clean, moved = layer(examples), [layer(p) for p in points]
    differ = [((p - examples)[:EXAMPLES].flatten(1).abs().amax(1) > 0).numpy() for p in points]
    fold = np.empty(EXAMPLES, int)
    fold[np.array(shuffled(0, 0, EXAMPLES))] = np.arange(EXAMPLES) % FOLDS
    if wrong == "folds":
        fold = np.arange(EXAMPLES) % FOLDS
    found = np.full((len(points), len(points), FOLDS), np.nan)
    for learned in range(len(points)):
        for held in range(FOLDS):
            inside = (fold != held) & differ[learned]
            if wrong == "held out":
                inside = differ[learned]
            rows = np.concatenate([moved[learned][inside], clean[inside]])
            mean, deviation = rows.mean(0), rows.std(0)
            deviation = deviation * (deviation > 0).sum()**0.5  # rows have length 1 in the mean
            if wrong == "scale":
                mean, deviation = 0 * mean, np.ones_like(deviation)

            def scaled(x):
                return np.c_[(x - mean) / np.where(deviation > 0, deviation, 1), np.ones(len(x))]

            w = separating(scaled(rows), np.repeat([1, -1], inside.sum()), 50 * COST if wrong == "cost" else COST)
            for other in range(len(points)):
                of = (fold == held) & differ[other]
                if of.any():
                    found[learned, other, held] = area(scaled(moved[other][of]) @ w, scaled(clean[of]) @ w)
    return found.mean(2), found.std(2, ddof=1).diagonal()


def far_of_areas(twin, rows, examples, points, wrong=""):
    """The largest difference of an area from what is told."""
    mean, deviation = areas(twin, examples, points, wrong)
    methods = [row["method"] for row in rows]
    told = np.array([[row["auc_by_learned"][learned] for row in rows] for learned in methods], float)  # None is nan
    own = np.array([[row["auc"], row["auc_deviation"]] for row in rows], float)
    assert (np.isnan(told) == np.isnan(mean)).all() and not np.isnan(told).all()
    return max(np.nanmax(abs(told - mean)), np.nanmax(abs(own - np.c_[mean.diagonal(), deviation])))


# ---- Squeezers --------------------------------------------------------------------------------------------------------


def squeezed(text, x, box, wrong=""):
    size = int(text.split("(")[1][:-1])
    x = x.double().numpy()
    if text.startswith("bits"):
        steps = 2**size - (0 if wrong == "levels" else 1)
        return torch.tensor(np.rint((x + box) / (2 * box) * steps) / steps * 2 * box - box).float()
    before, after = size // 2, size - 1 - size // 2
    if wrong == "window":
        before, after = after, before
    padded = np.pad(x, [(0, 0), (0, 0), (before, after), (before, after)], "edge" if wrong == "edges" else "symmetric")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (2, 3)).reshape(*x.shape, size * size)
    return torch.tensor(np.sort(windows, -1)[..., size * size // 2]).float()


def far_of_squeezed(twin, rows, examples, points, labels, wrong=""):
    """The largest difference of FLOPs, as a share, and of an accuracy, from what is told."""
    far = 0
    for row, (text, of) in zip(rows, [(text, of) for text in SQUEEZERS for of in points], strict=True):
        assert row["squeezer"] == text
        before, after = (twin.answers(squeezed(text, x, twin.box, wrong)) for x in (examples, of))
        flops = {"flops_before": before.flops().double().mean().item(), "flops": after.flops().double().mean().item()}
        increase = ((after.flops() - before.flops()).double() / before.flops()).mean().item()
        accuracies = {"accuracy_before": before, "accuracy": after}
        far = max([far, abs(row["increase_mean"] - increase), *(abs(row[k] / v - 1) for k, v in flops.items()),
                   *(abs(row[k] - (walk.predictions() == labels).double().mean().item()) for k, walk in accuracies.items())])
    return far


