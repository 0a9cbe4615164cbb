#!/usr/bin/env python3
"""Holds `tbemc perturb` against PyTorch: the same weights and examples, the points of every method, and what they cost.

usage: perturb.py [--tbemc PATH]

Three networks, one with exits, one with gates of three forms and some inside others, and one with a gate at the places of an image
and two results, are trained and searched with both norms; PyTorch takes the weights of the checkpoints and the same steps. In f64, points are the same to 2e-6 (they are handed
on in f32 between steps); FLOPs, decisions and predictions are the same. In f32 one step moves the same numbers the same
way, but for those whose gradient is as small as rounding. What learns is compared where its weights begin with known
numbers and it sees one batch; `random`, and methods that begin with random weights, are held to what their page says of
them. Of two searches, detectors that Newton's method finds tell points from examples as well, and squeezed examples and
points cost the same (perturb_defences.py). At last the same comparison is made with a twin that is wrong in one thing, and each of these must be seen. Exits
with 1 otherwise.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.nn.functional as F

import perturb_defences as defences
from perturb_search import Method, Twin
from perturbed_models import NETWORKS, leaver, placer, read_arrays, skipper

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHAPE, TRAIN, TEST, BATCH, BOX = (2, 8, 8), 120, 36, 20, 1.5  # the last batch of the test is not full

WALKS = [
    "random", "uniform", "gradient(steps: 4, look: 0)", "gradient(steps: 4, look: 0, objective: margins)",
    "gradient(steps: 4, look: 0, temperature: 0.4, rate: 0.02)", "gradient(steps: 5, look: 2, rate: 0.03)",
    "gradient(steps: 3, look: 0, rate: 0.5)",  # leaves the ball
    "ilfo(steps: 4)", "ilfo(steps: 5, look: 1, rate: 0.03, distance: 0.5)",
    "gradmdm(steps: 4)", "gradmdm(steps: 5, look: 1, rate: 0.03, power: 2, temperature: 0.5)", "blackbox(steps: 60)",
]
# the loss of DeepPerform's released program
RELEASED = ["gradient(steps: 4, look: 0, objective: gates)", "gradient(steps: 4, look: 0, objective: gates, temperature: 0.5, rate: 0.02)"]
EXITS = ["deepsloth(steps: 4)", "gradient(steps: 3, look: 0, objective: uncertainty)"]
KEEPS = ["random", "gradient(steps: 4, look: 0)", "gradient(steps: 4, look: 1, label: 0.2, objective: margins)",
         "ilfo(steps: 4, label: 3)", "gradmdm(steps: 4, label: 0.2)", "blackbox(steps: 60, share: 0.3)"]
LEARNS = ["generator(moving(), epochs: 4, examples: 20, rate: 0.02)",
          "generator(moving(), epochs: 3, examples: 20, optimizer: sgd(lr: 0.05), objective: margins)",
          "generator(moving(), epochs: 3, examples: 20, rate: 0.02, objective: closed)",
          "generator(moving(), epochs: 3, examples: 20, rate: 0.02, objective: gates)",
          "generator(near(), epochs: 3, examples: 20, rate: 0.002, objective: gates, place: projected)",
          "generator(moving(), epochs: 4, examples: 20, rate: 0.02, discriminator: telling(), adversarial: 0.5)"]
FREE = ["universal(epochs: 30)", "generator(epochs: 30)"]  # random numbers begin them

DEFENDED = ["linf", "l2"]  # searches whose points are told from examples, and squeezed

# name, norm, radius, box, keeps the label, methods; each for both networks
SEARCHES = [
    ("linf", "linf", 0.1, BOX, False, WALKS + RELEASED + LEARNS + FREE),
    ("l2", "l2", 0.8, BOX, False, WALKS + RELEASED + LEARNS + FREE),
    ("kept", "linf", 0.1, BOX, True, KEEPS),
    ("kept_l2", "l2", 0.8, 9, True, KEEPS),
]


# ---- Comparisons ------------------------------------------------------------------------------------------------------


def pictures(count, seed):
    """Pictures whose brightness says their class, of different contrast."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 4, count)
    contrast = random.uniform(0.1, 0.9, (count, 1, 1, 1))
    images = (labels[:, None, None, None] - 1.5) / 4 + contrast * random.standard_normal((count, *SHAPE))
    return np.clip(images, -BOX, BOX).astype(np.float32), labels


class Run:
    """`tbemc perturb` of a program, with all that it left."""

    def __init__(self, tbemc, folder, text, backend):
        folder.mkdir()
        self.data, self.labels = {}, {}
        for split, count, seed in (("train", TRAIN, 1), ("test", TEST, 2)):
            images, labels = pictures(count, seed)
            self.data[split], self.labels[split] = torch.tensor(images), torch.tensor(labels)
            np.save(folder / f"{split}.npy", images)
            np.save(folder / f"{split}_labels.npy", labels)
        (folder / "p.tbem").write_text(text)
        command = [tbemc, "perturb", str(folder / "p.tbem"), "--on", backend, "--json", "--points", "--quiet", "--save"]
        command.append(str(folder / "points.safetensors"))
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        rows = [json.loads(line) for line in told.splitlines()]
        self.rows = {kind: [row for row in rows if row["kind"] == kind] for kind in ("perturbation", "point", "detected", "squeezed")}
        self.points = read_arrays(folder / "points.safetensors")
        self.weights = {net: read_arrays(folder / f"p.out/train_{net}.safetensors") for net in ("leaver", "skipper", "placer")}

    def told(self, name, method):
        return [row for row in self.rows["point"] if row["name"] == name and row["method"] == method]


def program(trainings, searches):
    text = NETWORKS
    for network in ("leaver", "skipper", "placer"):
        loss = "and_half" if network == "placer" else "cross_entropy"
        text += (f"train train_{network} = {network}() on pictures.train {{\n"
                 f"  epochs 6; batch {BATCH}; optimizer adam(lr: 0.01); loss {loss}; {trainings}\n}}\n")
        for name, norm, radius, box, keep, methods in searches:
            methods = methods + (EXITS if network == "leaver" else [])
            text += (f"perturb {network}_{name} of train_{network} on pictures.test {{\n"
                     f"  norm {norm}({radius}); box [-{box}, {box}]; batch {BATCH}\n  by {', '.join(methods)}\n"
                     + ("  keep label\n" if keep else "") + (defences.CLAUSES if name in DEFENDED else "") + "}\n")
    return text


BAD = []


def check(what, good, told):
    print(f"{'ok' if good else 'BAD'}: {what}: {told}")
    if not good:
        BAD.append(what)


def agrees(walk, rows, after):
    """Whether FLOPs, predictions and decisions are those told of these points (`after`), or of their examples."""
    which = "" if after else "_before"
    return (walk.flops().tolist() == [row["flops" + which] for row in rows]
            and walk.predictions().tolist() == [row["predicted" + which] for row in rows]
            and walk.decisions().T.tolist() == [list(row["gates" + which].values()) for row in rows])


def compare_costs(run, name, twin, methods, examples):
    told = next(row for row in run.rows["perturbation"] if row["name"] == name)
    before = twin.answers(examples)
    bad = 0 if before.bounds() == (told["flops_least"], told["flops_most"]) else 1
    for number, method in enumerate(methods, 1):
        rows, points = run.told(name, method), run.points[f"{name}/{number}.{Method(method, 0).word}"]
        after = twin.answers(points)
        bad += not agrees(before, rows, False) or not agrees(after, rows, True)
        bad += twin.keep and not torch.equal(before.predictions(), after.predictions())
    sides = {tuple(column) for column in before.decisions().T.tolist()}
    check(f"{name}, costs", bad == 0 and len(sides) > 1,
          f"{bad} of {len(methods)} methods differ, and the examples take {len(sides)} paths")


def compare_random(name, twin, points, examples):
    """Every number moved by the radius, half of them up; or all together by the radius, in no direction twice."""
    change = (points.double() - examples.double())
    free = points.abs() < twin.box - 1e-6
    if twin.keep:
        moved = change.flatten(1).abs().amax(1) > 0
        change, free = change[moved], free[moved]
    if twin.norm == "linf":
        up = (change[free] > 0).double().mean().item()
        good = (change[free].abs() - twin.radius).abs().max() < 1e-6 and abs(up - 0.5) < 3 / free.sum().item()**0.5
        told = f"{100 * up:.1f} % of {free.sum().item()} numbers moved up"
    else:
        inside = free.flatten(1).all(1)
        lengths = change.flatten(1).norm(dim=1)
        directions = F.normalize(change.flatten(1), dim=1)
        cosines = (directions @ directions.T).fill_diagonal_(0).abs().max().item()
        good = ((lengths[inside] - twin.radius).abs().max() < 1e-6 and lengths.max() < twin.radius + 1e-6
                and cosines < 0.6)
        told = f"{inside.sum().item()} inside the box on the sphere, cosines up to {cosines:.2f}"
    check(f"{name}, random", good and len(change) > len(points) // 2, told)


def compare_blackbox(name, twin, points, examples):
    """Where points may lie, and that none costs less than its example; with `linf` every number is the example's or on the
    edge of ball or box, in squares or stripes."""
    change = points.double() - examples.double()
    before, after = twin.answers(examples).flops(), twin.answers(points).flops()
    if twin.norm == "linf":
        edge = torch.minimum((change.abs() - twin.radius).abs(), (points.double().abs() - twin.box).abs())
        placed = torch.minimum(edge, change.abs()).max() < 1e-6
    else:
        lengths = change.flatten(1).norm(dim=1)
        inside = (points.abs() < twin.box - 1e-6).flatten(1).all(1) & (lengths > 0)
        placed = lengths.max() < twin.radius * (1 + 1e-5) and (lengths[inside] - twin.radius).abs().max() < 1e-5
    different = {tuple(one.flatten().sign().tolist()) for one in change}
    raised = (after > before).sum().item()
    good = placed and (after >= before).all() and len(different) > len(points) // 2
    check(f"{name}, blackbox", good, f"{raised} of {len(points)} cost more, none less")
    return raised


def compare_free(name, twin, method, points, examples):
    """What is said of any method that learns: where its points lie, and that the objective falls."""
    change = points.double() - examples.double()
    length = change.abs().max() if twin.norm == "linf" else change.flatten(1).norm(dim=1).max()
    with torch.no_grad():
        before, after = (twin.objective(method, x.to(twin.dtype), examples.to(twin.dtype), None).item() / TEST
                         for x in (examples, points))
    good = length <= twin.radius * (1 + 1e-5) and points.abs().max() <= twin.box and after < before
    check(f"{name}, {method.text}", good, f"the objective falls from {before:.4f} to {after:.4f}")


def compare_all(run, searches):
    raised = 0  # by questions alone
    for network in (leaver, skipper, placer):
        for search in searches:
            name = f"{network.__name__}_{search[0]}"
            twin = Twin(network, run.weights[network.__name__], search)
            examples = run.data["test"]
            methods = search[-1] + (EXITS if network is leaver else [])
            compare_costs(run, name, twin, methods, examples)
            for number, text in enumerate(methods, 1):
                method = Method(text, twin.radius)
                points = run.points[f"{name}/{number}.{method.word}"]
                if method.word == "random":
                    compare_random(name, twin, points, examples)
                elif method.word == "blackbox":
                    raised += compare_blackbox(name, twin, points, examples)
                elif text in FREE:
                    compare_free(name, twin, method, points, examples)
                else:
                    far = distance(twin, method, run, points)
                    check(f"{name}, {text}", far < 2e-6, f"{far:.1e}")
    check("blackbox", raised > 0, f"{raised} points cost more in all searches")


def far_of_defences(run, network, search, wrong=""):
    """How far what is told of detectors is from the twin's, and of squeezers."""
    name = f"{network.__name__}_{search[0]}"
    twin = Twin(network, run.weights[network.__name__], search)
    methods = search[-1] + (EXITS if network is leaver else [])
    points = [run.points[f"{name}/{number}.{Method(text, 0).word}"] for number, text in enumerate(methods, 1)]
    detected, squeezed = ([row for row in run.rows[kind] if row["name"] == name] for kind in ("detected", "squeezed"))
    return (defences.far_of_areas(twin, detected, run.data["test"], points, wrong),
            defences.far_of_squeezed(twin, squeezed, run.data["test"], points, run.labels["test"], wrong))


def compare_defences(run):
    for network in (leaver, skipper, placer):
        for search in (one for one in SEARCHES if one[0] in DEFENDED):
            areas, costs = far_of_defences(run, network, search)
            check(f"{network.__name__}_{search[0]}, detectors", areas < 0.011, f"{areas:.1e}")
            check(f"{network.__name__}_{search[0]}, squeezers", costs < 1e-9, f"{costs:.1e}")
    for wrong in ("folds", "held out", "scale", "cost", "activation"):
        far, _ = far_of_defences(run, leaver, SEARCHES[0], wrong)
        check(f"detectors, seen with another {wrong}", far > 0.02, f"{far:.1e}")
    for wrong in ("levels", "window", "edges"):
        _, far = far_of_defences(run, leaver, SEARCHES[0], wrong)
        check(f"squeezers, seen with other {wrong}", far > 1e-3, f"{far:.1e}")


def distance(twin, method, run, points):
    """Of the points from the twin's, the largest of any number."""
    examples = run.data["test"]
    learns = method.word == "generator"
    theirs = twin.learn(method, examples, run.data["train"][:BATCH]) if learns else twin.search(method, examples)
    return (points - theirs).abs().max().item()


# What a twin may have wrong, and a search and a method in which that shows.
WRONG = [
    ("temperature", skipper, "l2", "gradient(steps: 4, look: 0)"),
    ("temperature", leaver, "linf", "gradient(steps: 4, look: 0)"),
    ("straight through", skipper, "l2", "gradient(steps: 4, look: 0)"),
    ("straight through", skipper, "linf", "ilfo(steps: 4)"),
    ("shares", leaver, "linf", "gradient(steps: 4, look: 0, objective: margins)"),
    ("on the way", leaver, "l2", "gradient(steps: 4, look: 0)"),
    ("last result", leaver, "linf", "deepsloth(steps: 4)"),
    ("projection", leaver, "l2", "gradient(steps: 3, look: 0, rate: 0.5)"),
    ("distance", leaver, "linf", "ilfo(steps: 5, look: 1, rate: 0.03, distance: 0.5)"),
    ("label", skipper, "kept", "gradient(steps: 4, look: 0)"),
    ("power", skipper, "l2", "gradmdm(steps: 4)"),
    ("open gates", skipper, "linf", "gradmdm(steps: 4)"),
    ("shares", skipper, "linf", LEARNS[0]),
    ("who comes", leaver, "l2", RELEASED[0]),
    ("dear side", skipper, "linf", RELEASED[0]),
    ("places", placer, "linf", "gradient(steps: 4, look: 0)"),
    ("places", placer, "l2", RELEASED[0]),
    ("place", leaver, "linf", LEARNS[-2]),
    ("adversarial", leaver, "linf", LEARNS[-1]),
    ("discriminator", leaver, "linf", LEARNS[-1]),
]


def compare_wrong(run):
    for wrong, network, name, text in WRONG:
        search = next(one for one in SEARCHES if one[0] == name)
        methods = search[-1] + (EXITS if network is leaver else [])
        twin, method = Twin(network, run.weights[network.__name__], search, wrong), Method(text, search[2])
        points = run.points[f"{network.__name__}_{name}/{methods.index(text) + 1}.{method.word}"]
        far = distance(twin, method, run, points)
        check(f"{network.__name__}_{name}, {text}, seen with another {wrong}", far > 1e-3, f"{far:.1e}")


def compare_single(run, searches):
    """f32: numbers that moved the other way, and how large their gradients are."""
    for network in (leaver, skipper, placer):
        for search in searches:
            twin = Twin(network, run.weights[network.__name__], search)
            for number, text in enumerate(search[-1], 1):
                method = Method(text, twin.radius)
                points = run.points[f"{network.__name__}_{search[0]}/{number}.{method.word}"]
                differ = (points - twin.search(method, run.data["test"])).abs() > 2e-6
                largest = twin.gradients.abs().flatten(1).amax(1)[:, None, None, None]
                apart = (twin.gradients.abs() / largest)[differ]
                worst = apart.max().item() if len(apart) else 0
                share = differ.double().mean().item()
                told = f"{differ.sum().item()} of {differ.numel()} numbers, with gradients up to {worst:.1e} of the largest"
                check(f"{network.__name__}_{search[0]} in f32, {text}", share < 1e-3 and worst < 1e-5, told)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tbemc", default=str(ROOT / "build/release/bin/tbemc"))
    options = parser.parse_args()
    torch.set_num_threads(1)  # tensors are small
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        double = Run(options.tbemc, folder / "double", program("dtype f64", SEARCHES), "ref")
        compare_all(double, SEARCHES)
        compare_defences(double)
        compare_wrong(double)
        steps = [("one", "linf", 0.1, BOX, False, ["gradient(steps: 1)", "gradient(steps: 1, objective: margins)"]),
                 ("one_l2", "l2", 0.8, BOX, False, ["gradient(steps: 1)"])]
        single = Run(options.tbemc, folder / "single", program("", steps), "cpu")
        compare_single(single, steps)
    if BAD:
        sys.exit(f"{len(BAD)} comparisons differ")
    print("all agree")


if __name__ == "__main__":
    main()
