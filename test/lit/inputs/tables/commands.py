"""The commands that are compared, and the programs that they get."""

import os
import pathlib
import re
from dataclasses import dataclass, field
from typing import Callable

import texts

INPUTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


@dataclass
class Run:
    """A command with its program, and the tables and lines that it prints: IN, TMP and PYTHON stand for the inputs of
    the tests, a folder and the interpreter."""

    arguments: str
    tables: list = field(default_factory=list)
    sentences: list = field(default_factory=list)
    unshown: tuple = ()  # kinds of its JSON that it has no table of
    also: str = ""  # arguments without --json alone
    alone: str = ""  # titles, or first columns, of tables that JSON has nothing of
    codes: tuple = (0,)  # the exit statuses that it may end with
    environment: dict = field(default_factory=dict)
    read: Callable = texts.text_tables
    page: str = ""  # the file that has the tables
    json_of: list = field(default_factory=list)  # the commands whose JSON is that of a page


RESNET = "-e 'resnet(depth: 18)' --input image=2,3,32,32 --task 'train(loss: cross_entropy, optimizer: sgd(lr: 0.01))'"
LARGE = "-e 'mlp(widths: [3000])' --input x=4,1000 --task 'train(loss: cross_entropy, optimizer: adam())'"
LOSES_ROWS = {"TBEM_FAKE": "oom_at=132500B"}
RUNS = [
    Run("design IN/covering.tbem --design even", ["design"]),
    Run("design IN/nested.tbem", ["design"]),
    Run("design IN/filtered.tbem", ["design"]),
    Run("design IN/screen.tbem --design all", ["design, CSV"], also="--csv", read=texts.csv_tables),
    Run("estimate TMP/small.tbem --on ref --explain gradients", ["estimate", "kinds"], ["gradients"], also="--verbose"),
    Run("estimate TMP/small.tbem --on none", ["estimate", "kinds"], also="--verbose"),
    Run("estimate IN/gate_memory.tbem --on ref --gates 0.3", ["estimate", "kinds"], ["paths"], also="--verbose"),
    Run("estimate TMP/again.tbem --on ref", ["estimate", "kinds", "recomputed"], ["recomputation"], also="--verbose"),
    Run("estimate TMP/under.tbem --on ref", ["estimate", "kinds", "recomputed"], ["recomputation"], also="--verbose"),
    Run("estimate TMP/train.tbem --on ref", ["estimate", "kinds"], ["training"], also="--verbose"),
    Run(
        "estimate IN/roofline.tbem --on ref --roofline round:tf32", ["estimate", "kinds", "roofline"], also="--verbose"
    ),
    Run(f"estimate {RESNET} --on cpu --roofline a100", ["estimate", "kinds", "roofline"], also="--verbose"),
    Run("estimate IN/eager_batch.tbem --on pytorch", ["pytorch", "waterfall"]),
    Run(f"estimate {LARGE} --on pytorch", ["pytorch", "waterfall"]),
    Run("estimate IN/eager_batch.tbem --on pytorch-cpu", ["pytorch", "waterfall"]),
    Run("estimate IN/eager.tbem --on pytorch --device h100 --cudnn none", ["pytorch", "waterfall"]),
    Run("estimate IN/measured_device.tbem --on pytorch --device mine --cudnn none", ["pytorch", "waterfall"]),
    Run(f"estimate {RESNET} --explain workspace --cudnn none --workspace-limit 1MiB", ["workspaces", "trade"]),
    Run("estimate -e 'alexnet()' --input image=32,3,224,224 --explain workspace --cudnn none", ["workspaces", "trade"]),
    Run("fit IN/eager_batch.tbem --on pytorch-cpu --max 100000", ["fit"]),
    Run("fit IN/eager_batch.tbem --on ref --max 1MiB", ["fit"]),
    Run("fit IN/fit_device.tbem --on pytorch --max mine:upper --reserve 20MiB --cudnn none", ["fit"]),
    Run("fit IN/eager_batch.tbem --on pytorch-cpu --max 1KiB", ["fit"], codes=(5,)),
    Run(
        "what-if IN/fit_device.tbem --cudnn none --device mine --reserve 1MiB", ["what-if, devices", "what-if, changes"]
    ),
    Run("what-if IN/eager_batch.tbem --cudnn none --at width=4", ["what-if, devices", "what-if, changes"]),
    Run("screen IN/screen.tbem --design part --grid 0 --on ref", ["effects", "operators"]),
    Run("screen IN/screen.tbem --design all --roofline a100 --on ref", ["effects", "operators"]),
    Run("measure TMP/small.tbem --on ref --repeat 2 --dry-run", [], ["outlook"]),
    Run("measure TMP/small.tbem --on ref --repeat 2", ["measured"]),
    Run("measure TMP/lost.tbem --on fake", ["measured"], environment=LOSES_ROWS),
    Run(
        "run TMP/small.tbem --on ref --no-plots",
        ["run", "terms"],
        ["fit of a regression", "leave-one-out error", "prediction"],
        ("design", "estimate"),
    ),
    Run("run IN/gate_memory.tbem --on ref --store TMP/gates.tbemdb --no-plots", ["run"], [], ("design", "estimate")),
    Run(
        "run TMP/lost.tbem --on fake --no-plots",
        ["run", "terms"],
        ["prediction"],
        ("design", "estimate"),
        environment=LOSES_ROWS,
    ),
    Run(
        "run TMP/small.tbem --on ref --no-plots",
        ["design", "estimate", "kinds", "measured", "terms", "raw terms"],
        ["fit of a regression", "leave-one-out error", "prediction"],
        also="--verbose",
    ),
    Run(
        "regress TMP/small.tbem --on ref --out TMP/plots",
        ["terms", "raw terms"],
        ["fit of a regression", "leave-one-out error"],
    ),
    Run("predict TMP/small.tbem --on ref", [], ["prediction"]),
    Run("step TMP/small.tbem --on ref", [], ["step"]),
    Run("step IN/gate_memory.tbem --on ref --profile", ["profile, by kind", "profile, one by one"], [], ("step",)),
    Run("train TMP/train.tbem --on ref --fresh --out TMP/first", [], ["epoch", "test"]),
    Run(
        "perturb IN/perturb.tbem --on ref --out TMP/slowed --store TMP/slowed.tbemdb",
        ["cost of perturbations", "change of perturbations", "time of perturbations"],
        ["perturbation", "bounds of a perturbation"],
        ("train", "trained"),
    ),
    Run(
        "perturb IN/perturb.tbem --on ref --out TMP/slowed --store TMP/slowed.tbemdb --points",
        ["cost of perturbations", "change of perturbations", "time of perturbations", "points"],
        ["perturbation", "bounds of a perturbation"],
        ("trained",),
    ),
    Run(
        "perturb TMP/defended.tbem --on ref --out TMP/slowed --store TMP/slowed.tbemdb",
        [
            "cost of perturbations",
            "change of perturbations",
            "time of perturbations",
            "points told from examples",
            "squeezed inputs",
        ],
        ["perturbation", "bounds of a perturbation"],
        ("trained",),
    ),
    Run("weights TMP/small.tbem", ["weights"]),
    Run("weights TMP/first/net.safetensors", ["weights"]),
    Run(
        "weights TMP/train.tbem -e 'tiny(width: 6)' --input image=1,2,6,6 --against TMP/first/net.safetensors",
        ["against"],
        codes=(5,),
    ),
    Run(
        "report TMP/train.tbem --on ref --out TMP/second",
        ["epochs", "estimate", "kinds"],
        [],
        ("training", "trained"),
        alone="what raises it: .+",
        read=texts.page_tables,
        page="TMP/second/train.html",
        json_of=["train TMP/train.tbem --on ref --out TMP/second", "estimate TMP/train.tbem --on ref"],
    ),
    Run("spec IN/screen.tbem", [], ["design proof", "network proof"], codes=(5,)),
    Run("spec TMP/budgets.tbem", [], ["design proof", "network proof", "budget"], codes=(1,)),
    Run("spec --tests IN/tested.tbem Take", ["cases"], ["cases in all"]),
    Run(
        "spec --tests IN/tested.tbem Postage --cases 8 --run 'PYTHON IN/spec_program.py strict'",
        ["cases"],
        ["cases in all"],
        codes=(5,),
    ),
    Run("spec --tests IN/tested.tbem Take", ["cases, CSV"], [], ("spec_tests",), also="--csv", read=texts.csv_tables),
    Run("spec --tests IN/filtered.tbem net", ["cases"], ["cases in all"], codes=(5,)),
    Run(
        "spec --tests IN/filtered.tbem net",
        ["cases, CSV"],
        [],
        ("spec_tests",),
        codes=(5,),
        also="--csv",
        read=texts.csv_tables,
    ),
    Run("plan IN/plans/A.csv", ["plan, CSV"], ["plan"], read=texts.csv_tables),
    Run("plan --diff TMP/one.csv TMP/two.csv", [], ["plans"], codes=(5,)),
    Run("replay IN/replay/default.pickle --alloc-conf expandable_segments:True", ["replay"]),
    Run(
        "replay IN/replay/default.pickle --capacity 200MiB --alloc-conf roundup_power2_divisions:4",
        ["replay"],
        codes=(0, 5),
    ),
    Run("doc --devices", ["devices"], alone="field of .+", read=texts.markdown_tables),
    Run("doc --operators", ["operators of std.nn", "blocks of std.nn"], read=texts.markdown_tables),
]


def program(name, *changes):
    """One of the inputs, with changes."""
    text = pathlib.Path(INPUTS, name).read_text(encoding="utf-8")
    for pattern, other in changes:
        text = re.sub(pattern, other, text)
    return text


SMALL = program("small.tbem")
AGAIN = """import std.vision
design d of vision.small_vgg(depth: 11, width: 4) {{
  factor batch: 2, 4
  input  image: [batch, 3, 32, 32]
  task   train(loss: cross_entropy, optimizer: sgd(lr: 0.1))
  checkpoint {}
}}
"""
BUDGETS = """network net(x: tensor[n, 100]) -> tensor[n, 50] { return dense(x, 50) }
design d of net {
  factor batch: 4, 16
  input  x: [batch, 100]
  budget memory <= 29800 B
  budget activations <= 1000 B
  budget memory <= 1 MiB on cpu
  full
}
"""
PROGRAMS = {
    "budgets.tbem": BUDGETS,
    "small.tbem": SMALL,
    "lost.tbem": SMALL,
    "again.tbem": AGAIN.format("all"),
    "one.csv": "id,lower,upper,size,offset\na,0,2,4096,0\nb,1,3,1000,4096\n",
    "two.csv": "id,lower,upper,size,offset\na,0,2,4096,1024\nb,1,3,1000,0\n",
    "under.tbem": AGAIN.format("auto(under: 500 KiB)"),
    "train.tbem": program("train.tbem", ("epochs .*", "epochs 3")),
    "defended.tbem": program("perturb.tbem", (r"(?s)\nperturb .*", "\n")) + program("defences.txt"),
}
RARE = {  # where a machine counts it
    *((table, "energy") for table in ("run", "measured", "points", "energy of perturbations")),
    *((table, "energy before") for table in ("points", "energy of perturbations")),
    *(("energy of perturbations", column) for column in ("method", "examples", "I-energy mean", "I-energy max", "correlation with FLOPs")),
    ("energy of perturbations", "battery"),
}
