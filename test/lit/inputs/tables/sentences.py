"""Lines that say the fields of an object, and the kinds of `--json` of which neither a table nor a line is read."""

from form import DESIGN, LEVELS, Table
from units import (
    Bytes,
    Fixed,
    Flag,
    Flops,
    General,
    Grouped,
    Levels,
    Ordinal,
    Percent,
    ResponseBytes,
    Seconds,
    Significant,
    Text,
    Whole,
    WholeBytes,
)

# Each matches a line in full. A unit that depends on the program is that of the programs in commands.py.
SENTENCES = {
    "design proof": Table(
        "levels",
        r"design (?P<design>\S+): (?P<verdict>\w+) for (?P<combinations>\d+) combinations? of levels "
        r"\((?P<structures>\d+) structures?, (?P<conditions>\d+) conditions, (?P<by_intervals>\d+) by intervals, "
        r"(?P<points>\d+) values computed\)",
        {
            **{
                name: (name, Whole()) for name in ("combinations", "structures", "conditions", "by_intervals", "points")
            },
            **DESIGN,
            "verdict": ("verdict", Text()),
        },
    ),
    "network proof": Table(
        "network",
        r"network (?P<network>.+?)(?: with (?P<at>.+))?: (?P<verdict>\w+) for all (?P<sizes>.+) "
        r"\((?P<conditions>\d+) conditions?\)",
        {
            **{name: (name, Text()) for name in ("network", "at", "verdict", "sizes")},
            "conditions": ("conditions", Whole()),
        },
    ),
    "budget": Table(
        "budget",
        r"budget of (?P<design>\S+): (?P<budget>[^:]+): (?:(?P<kept>kept)|broken): (?P<value>\S+ \S+)"
        r"(?: in row (?P<row>\d+), which takes most)?; .+ (?:left|too much) \(.+\)",
        {
            **DESIGN,
            "budget": ("budget", Text()),
            "kept": ("holds", Flag()),
            "value": ("value", ResponseBytes()),
            "row": ("row", Ordinal()),
        },
    ),
    "cases in all": Table(
        "spec_tests",
        r"(?P<process>\S+): (?P<cases>\d+) cases, (?P<to_refuse>\d+) of them to be refused \(seed (?P<seed>\d+)\)",
        {
            "process": ("process", Text()),
            **{name: (name, Whole()) for name in ("cases", "to_refuse", "seed")},
        },
    ),
    "paths": Table(
        "estimate",
        r"paths of (?P<levels>.+): FLOPs forward from (?P<flops_min>.+) to (?P<flops_max>.+?)(?:, "
        r"(?P<flops_expected>.+) expected)?, "
        r"static memory from (?P<memory_min>.+) to (?P<memory_max>.+), arena from (?P<arena_min>.+) to "
        r"(?P<arena_max>.+?)"
        r"(?:, (?P<arena_expected>.+) expected)?",
        {
            **LEVELS,
            **{"flops_" + which: ("paths.flops_" + which, Flops()) for which in ("min", "max", "expected")},
            **{
                name: ("paths." + name, Bytes())
                for name in ("memory_min", "memory_max", "arena_min", "arena_max", "arena_expected")
            },
        },
    ),
    "recomputation": Table(
        "estimate",
        r"recomputation: (?P<flops>.+), (?P<share>.+) of the step without it; arena (?P<arena_kept>.+) where "
        r"everything is kept, (?P<arena>.+?) with it(?: \(limit (?P<limit>.+)\))?",
        {
            "flops": ("checkpoint.flops", Flops()),
            "share": ("checkpoint.share", Percent()),
            **{name: ("checkpoint." + name, Bytes()) for name in ("arena_kept", "arena", "limit")},
        },
        each=False,
    ),
    "gradients": Table(
        "gradients",
        r"gradients of (?P<levels>.+): (?:freed with the update of their weights|kept to the end of the step, .+): "
        r"at most (?P<live>.+) of (?P<bytes>.+) live at once, arena (?P<arena>[^;]+)"
        r"(?:; kept to the end of the step it would be (?P<arena_kept>.+))?",
        {
            **LEVELS,
            **{name: (name, Bytes()) for name in ("live", "bytes", "arena", "arena_kept")},
        },
    ),
    "training": Table(
        "training",
        r"train (?P<name>\S+): (?P<examples>\S+) examples?, (?P<steps_per_epoch>\S+) steps? of (?P<batch>\d+) an "
        r"epoch, "
        r"(?P<steps>\S+) in all; (?P<validation>\S+) for validation; (?P<test>\S+) for the test; (?P<flops>.+) "
        r"without validation and test",
        {
            "name": ("name", Text()),
            "batch": ("batch", Whole()),
            "flops": ("flops", Flops()),
            **{name: (name, Grouped()) for name in ("examples", "steps_per_epoch", "steps", "validation", "test")},
        },
    ),
    "outlook": Table(
        "dry_run",
        r"(?P<cases>\d+) runs \((?P<skipped>\d+) skipped\), about (?P<seconds>.+) at 50 GFLOP/s, up to "
        r"(?P<memory>.+) of memory "
        r"beside the program itself, about (?P<disk>.+) in (?P<store>.+)",
        {
            "cases": ("cases", Whole()),
            "skipped": ("skipped", Whole()),
            "seconds": ("seconds", Seconds()),
            "memory": ("memory", Bytes()),
            "disk": ("disk", Bytes()),
            "store": ("store", Text()),
        },
    ),
    "fit of a regression": Table(
        "regress",
        r"(?P<rows>\d+) rows, (?P<parameters>\d+) parameters, R² (?P<r2>.+) \(adjusted (?P<adjusted>.+)\), residual "
        r"sd (?P<sd>.+)",
        {
            "rows": ("rows", Whole()),
            "parameters": ("parameters", Whole()),
            "r2": ("r2", Fixed(6, described=("share",))),
            "adjusted": ("adjusted_r2", Fixed(6, described=("share",))),
            "sd": ("residual_sd", ResponseBytes()),
        },
    ),
    "leave-one-out error": Table(
        "regress",
        r"leave-one-out error (?P<rmse>.+), (?P<share>.+) of the mean response",
        {
            "rmse": ("loo_rmse", ResponseBytes()),
            "share": ("loo_relative_error", Percent()),
        },
    ),
    "prediction": Table(
        "predict",
        r"predict (?P<name>\S+) at \{(?P<at>.+)\} on (?P<backend>\S+): (?P<value>.+?)"
        r"(?: \(95 % of new rows between (?P<low>.+) and (?P<high>.+)\))?(?P<outside>, outside the measured region)?",
        {
            "name": ("name", Text()),
            "backend": ("backend", Text()),
            "at": ("levels", Levels(": ", ", ")),
            "outside": ("inside", Flag(False)),
            "value": ("value", ResponseBytes()),
            "low": ("interval.0", ResponseBytes()),
            "high": ("interval.1", ResponseBytes()),
        },
    ),
    "step": Table(
        "step",
        r"(?P<network>\S+) \((?P<levels>.+)\) on (?P<backend>\S+): loss (?P<loss>\S+), .+",
        {
            **LEVELS,
            "network": ("network", Text()),
            "backend": ("backend", Text()),
            "loss": ("loss", General(9)),
        },
    ),
    "epoch": Table(
        "train",
        r"epoch +(?P<epoch>\d+): loss (?P<loss>\S+), accuracy (?P<accuracy>.+?); validation loss "
        r"(?P<validation_loss>\S+), "
        r"accuracy (?P<validation_accuracy>\S+ %)(?P<best> \(best\))?; lr (?P<rate>\S+); .+, .+/s",
        {
            "epoch": ("epoch", Whole()),
            "loss": ("loss", Fixed(4)),
            "validation_loss": ("validation_loss", Fixed(4)),
            "rate": ("learning_rate", General(4)),
            "best": ("best", Flag()),
            **{name: (name, Fixed(2, " %", 100, described=("share",))) for name in ("accuracy", "validation_accuracy")},
        },
    ),
    "test": Table(
        "trained",
        r"test: loss (?P<loss>\S+), accuracy (?P<accuracy>.+)",
        {
            "loss": ("test_loss", Fixed(4)),
            "accuracy": ("test_accuracy", Fixed(2, " %", 100, described=("share",))),
        },
    ),
    "perturbation": Table(
        "perturbation",
        r"perturb (?P<name>\S+): (?P<network>.+) of (?P<training>\S+), near (?P<examples>\S+) examples? of "
        r"(?P<data>\S+), within (?P<norm>\S+) (?P<radius>\S+) of each, in \[(?P<low>.+), (?P<high>.+)\]"
        r"(?P<keep>, with the prediction of each)?",
        {
            "name": ("name", Text()),
            "network": ("network", Text()),
            "training": ("training", Text()),
            "examples": ("examples", Grouped()),
            "data": ("data", Text()),
            "norm": ("norm", Text()),
            "radius": ("radius", Significant(4)),
            "low": ("low", Significant(4)),
            "high": ("high", Significant(4)),
            "keep": ("keep_label", Flag()),
        },
    ),
    "bounds of a perturbation": Table(
        "perturbation",
        r"an example takes (?P<least>.+) at least and (?P<most>.+) at most",
        {
            "least": ("flops_least", Flops()),
            "most": ("flops_most", Flops()),
        },
    ),
    "plan": Table(
        "plan",
        r"(?P<buffers>\d+) buffers in (?P<peak>.+) \((?P<exact>\d+) B\)[,;].*",
        {
            "buffers": ("buffers", Whole()),
            "peak": ("peak", Bytes()),
            "exact": ("peak", WholeBytes()),
        },
    ),
    "plans": Table(
        "plan_diff",
        r"\d+ of \d+ and \d+ buffers differ; (?P<before>.+) \((?P<exactly>\d+) B\) -> (?P<after>.+) "
        r"\((?P<exact>\d+) B\)",
        {
            "before": ("before", Bytes()),
            "exactly": ("before", WholeBytes()),
            "after": ("after", Bytes()),
            "exact": ("after", WholeBytes()),
        },
    ),
}

# Kinds of which no table and no line is read here.
SILENT = {
    "imported": "what tbem_import gives, and no command prints",
    "check": "a diagnostic, which is rendered with its source",
    "library": "a note",
    "measure": "a repeat: the table has the medians of a row's repeats",
    "compare": "cells of a number with its interval: test/lit/foreign_elsewhere.test has both forms",
    "train_step": "a note",
    "certified": "a sentence with means: test/lit/certify.test holds them against the certificates",
    "certificate": "shown in JSON alone",
    "spec": "words and conditions",
    "import": "notes on what was written: test/lit/import_onnx.test has both forms",
    "residual": "words, and only where something is left",
    **dict.fromkeys(
        ("entry", "declared", "value", "call", "tensor", "call_operator", "call_flops", "session_program", "shown_text"),
        "an answer of a dialogue, which reads standard input: test/lit/repl.test has both forms",
    ),
    **dict.fromkeys(("doc", "explain", "doctor", "fmt", "emit", "graph", "json_schema"), "text, or no text at all"),
}
