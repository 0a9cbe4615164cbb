#!/usr/bin/env python3
"""Imports the models of a list and holds them against PyTorch, for as long as it takes: what is known already is not asked
again, so that it can be ended and started at any time.

  import_campaign.py TBEMC RESULTS.json --programs FOLDER [--only pytorch|import|estimate|step] [--models TEXT] [--seconds 600]
  import_campaign.py RESULTS.json --take OTHER.json     puts in what another run knows
  import_campaign.py RESULTS.json --table               what is known, as a table of Markdown

campaign_models.txt beside this file has the models, one a line, as import_step.py reads them; each gets a row of RESULTS.json with
  pytorch   parameters; multiply-adds by FlopCounterMode; the peak of live tensors by MemTracker (campaign_truth.py)
  import    what `tbemc import` says, with nothing changed by hand
  estimate  what `tbemc estimate FILE.tbem --on pytorch` says of the same step, and its multiply-adds
campaign_steps.txt has models small enough for a step in f64 (import_step.py), each of which gets its largest differences.
Each stage of each model has a process of its own, which is ended after `--seconds`. With `--again TEXT`, what ended with an error
is done anew for models whose line has TEXT (`--again ''`: for all).
Needs torch built for CUDA, torchvision, transformers, timm, and g++ for the card that is not there.
"""
import argparse
import datetime
import gc
import importlib.metadata
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "pytorch" / "allocator"))
import compare_allocator  # noqa: E402

RATE = 0.01
STAGES = ("pytorch", "import", "estimate")
LISTS = {"rows": "campaign_models.txt", "steps": "campaign_steps.txt"}


def name_of(text):
    """torchvision.models:resnet18 is resnet18; timm:create_model is called by its first argument."""
    target, arguments = text.split("|")[:2]
    name = target.rpartition(":")[2]
    return arguments.split(",")[0].strip("'") if name == "create_model" else name


def program_of(folder, text):
    package = re.match(r"\w+", text).group()
    return folder / f"{package}_{network_of(text)}.tbem"


def trained_of(program):
    """The program of a model with several results that has the first alone."""
    return program.with_name(f"{program.stem}_first.tbem")


def network_of(text):
    return re.sub(r"\W", "_", name_of(text))


# ---- The stages of a row -------------------------------------------------------------------------------------------------


def pytorch(_, text):
    import campaign_truth
    target, arguments, *inputs = text.split("|")
    return campaign_truth.truth(target, arguments, inputs)


def run(command, seconds):
    start = time.monotonic()
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "STANDIN"))}
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False, env=plain)
    if done.returncode != 0:
        raise RuntimeError("\n".join(done.stderr.strip().splitlines()[-6:])[-1500:])
    return done, time.monotonic() - start


def exported(text):
    """What tools/runners/export.py writes, as `tbemc import` runs it, but in this process: torch is here already. Of a model with
    several results, also what it writes of the first alone, which a step's loss is of; else None."""
    runners = HERE.parents[3] / "tools" / "runners"
    sys.path.insert(0, str(runners))
    import export
    target, arguments, *inputs = text.split("|")
    parts = [(name, *sizes.partition(":")[::2]) for name, _, sizes in (one.partition("=") for one in inputs)]
    shapes = [{"name": name, "shape": [int(size) for size in sizes.split(",")], "type": kind or "f32"}
              for name, sizes, kind in parts]
    request = {"target": target, "arguments": arguments, "sizes": "batch", "inputs": shapes}
    sys.argv = ["export.py", "", (runners / "export_graph.py").read_text(encoding="utf-8")]
    model = export._model(request, export._torch())
    document, first = export.document_of(model, request), None
    if len(document["outputs"]) > 1:
        import import_step
        model.forward = import_step.first_alone(model.forward)
        first = export.document_of(model, request)
    return document, first


def written(options, text, document, program):
    record = program.with_suffix(".json")
    record.write_text(json.dumps(document), encoding="utf-8")
    command = [options.tbemc, "import", str(record), "--name", network_of(text), "-o", str(program)]
    told = run([*command, "--color", "never", "--width", "1000"], options.seconds)
    record.unlink()
    return told


def import_(options, text):
    program = program_of(options.programs, text)
    start = time.monotonic()
    whole, first_alone = exported(text)
    seconds = time.monotonic() - start
    done, more = written(options, text, whole, program)
    if first_alone is not None:
        written(options, text, first_alone, trained_of(program))
    first, *notes = [line.strip() for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    words = first.removeprefix(f"{program}: ").split()
    return {"parameters": int(words[words.index("parameters,") - 1]),
            "lines": len(program.read_text(encoding="utf-8").splitlines()),
            "notes": [line for line in notes if not line.startswith(str(program.with_suffix(".names")))],
            "seconds": {"export": round(seconds, 2), "program": round(more, 2)}}


def estimated(done):
    """The row's object; there may be others, of warnings."""
    return next(told for told in map(json.loads, done.stdout.splitlines()) if told["kind"] != "check")


def estimate(options, text):
    program = program_of(options.programs, text)
    program = trained_of(program) if trained_of(program).exists() else program
    inputs = [one.partition(":")[0] for one in text.split("|")[2:]]
    given = [option for one in inputs for option in ("--input", one)]
    command = [options.tbemc, "estimate", str(program), "-e", f"{network_of(text)}()", *given, "--task",
               f"train(loss: cross_entropy, optimizer: sgd(lr: {RATE}))", "--json", "--quiet"]
    done, _ = run(command, options.seconds)
    flops = estimated(done)["flops"]["by_operator"].values()
    done, seconds = run([*command, "--on", "pytorch"], options.seconds)
    memory = estimated(done)["memory"]
    place = {name: memory["peak_at"][name] for name in ("phase", "operator", "path")}
    return {"flops": {way: sum(operator[f"mac_flops_{way}"] for operator in flops) for way in ("forward", "backward")},
            "live": memory["live"], "kinds": memory["kinds"], "peak_at": place, "seconds": round(seconds, 3)}


def step(options, text):
    import import_step
    folder = options.programs / "steps"
    folder.mkdir(parents=True, exist_ok=True)
    return import_step.compare(options.tbemc, folder, text, False)


# ---- Processes, and what is kept -----------------------------------------------------------------------------------------


def answer(stage, options, text, pipe):
    os.setpgid(0, 0)
    try:
        pipe.send(stage(options, text))
    except BaseException as error:  # pylint: disable=broad-except - whatever it is, the row says so
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{pathlib.Path(last.filename).name}:{last.lineno}"
        pipe.send({"error": f"{type(error).__name__}: {str(error)[:1500]}", "at": place})


def asked(stage, options, text):
    """The stage's answer, from a process of its own."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=answer, args=(stage, options, text, theirs))
    process.start()
    theirs.close()
    try:
        told = ours.recv() if ours.poll(options.seconds) else {"error": f"was ended after {options.seconds} s"}
    except EOFError:
        told = {"error": "the process ended without an answer"}
    if process.is_alive() and "was ended" in told.get("error", ""):
        os.killpg(process.pid, 9)
    process.join()
    return told


class Results:
    def __init__(self, path):
        self.path = path
        self.data = {"rows": [], "steps": []} | (json.loads(path.read_text(encoding="utf-8")) if path.exists() else {})

    def row(self, part, text):
        for row in self.data[part]:
            if row["model"] == text:
                return row
        self.data[part].append({"name": name_of(text), "model": text})
        return self.data[part][-1]

    def take(self, other):
        """What the other knows of models of the lists, and this does not."""
        for part, name in LISTS.items():
            for text in listed(name):
                row = self.row(part, text)
                for stage, told in other.row(part, text).items():
                    if "error" in row.get(stage, {"error": ""}):
                        row[stage] = told
            order = listed(name)
            self.data[part] = sorted((row for row in self.data[part] if row["model"] in order and len(row) > 2),
                                     key=lambda row, order=order: order.index(row["model"]))

    def write(self):
        versions = {name: importlib.metadata.version(name) for name in ("torch", "torchvision", "transformers", "timm")}
        head = {"date": str(datetime.date.today()), "what": "models imported from PyTorch, compared with PyTorch", "versions": versions}
        text = json.dumps({**head, "rows": 0, "steps": 0}, indent=1)
        for part in LISTS:
            rows = ",\n".join("  " + json.dumps(row) for row in self.data[part])
            text = text.replace(f'"{part}": 0', f'"{part}": [\n{rows}\n ]')
        new = self.path.with_suffix(".new")
        new.write_text(text + "\n", encoding="utf-8")
        new.replace(self.path)


def listed(name):
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def campaign(options):
    results = Results(options.results)
    options.programs.mkdir(parents=True, exist_ok=True)
    stages = {"pytorch": pytorch, "import": import_, "estimate": estimate, "step": step}
    models = listed(LISTS["rows"])
    work = [("rows", stage, text) for text in models for stage in ("import", "estimate", "pytorch")]
    work += [("steps", "step", text) for text in listed(LISTS["steps"])]
    for part, stage, text in work:
        is_wanted = not options.models or any(word in text for word in options.models)
        if options.only and stage not in options.only or not is_wanted:
            continue
        row = results.row(part, text)
        known = row.get(stage)
        if known is not None and not ("error" in known and options.again is not None and options.again in text):
            continue
        if stage == "estimate" and "error" in row.get("import", {"error": ""}):
            continue
        start = time.monotonic()
        row[stage] = asked(stages[stage], options, text)
        results.write()
        print(f"{name_of(text)} {stage} {time.monotonic() - start:.1f} s: {json.dumps(row[stage])[:300]}", flush=True)


# ---- The table -----------------------------------------------------------------------------------------------------------


def verdicts(row):
    """What of a row agrees, in words; what is not known is empty."""
    theirs, made, ours = (row.get(stage, {"error": ""}) for stage in STAGES)
    words = {"imported": "no" if "error" in row.get("import", {}) else str(made.get("lines", ""))}
    if "error" not in theirs and "error" not in made:
        is_equal = made["parameters"] == theirs["parameters"]
        words["parameters"] = "equal" if is_equal else f"{made['parameters']} of {theirs['parameters']}"
    if "error" not in theirs and "error" not in ours:
        for way in ("forward", "backward"):
            part = ours["flops"][way] / theirs["flops"][way]
            words[way] = "equal" if part == 1 else f"{part:.4f}"
        words["peak"] = f"{(ours['live'] / theirs['peak'] - 1) * 100:+.3f} %"
    return words


def table(results):
    columns = ("imported", "parameters", "forward", "backward", "peak")
    print("| model | lines | parameters | FLOPs forward | backward | peak of live tensors |\n|---|---|---|---|---|---|")
    for row in results.data["rows"]:
        words = verdicts(row)
        print(f"| `{row['name']}` | " + " | ".join(words.get(column, "") for column in columns) + " |")
    print("\n| model | largest difference of a step in f64 |\n|---|---|")
    for row in results.data["steps"]:
        told = row.get("step", {})
        largest = told["error"].splitlines()[0][:100] if "error" in told else f"{max(told.values(), default=0):.1e}"
        print(f"| `{row['name']}` | {largest} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tbemc", nargs="?")
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("programs"))
    parser.add_argument("--only", action="append", choices=(*STAGES, "step"))
    parser.add_argument("--models", action="append", metavar="TEXT", help="those whose line has this text")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--again", metavar="TEXT")
    parser.add_argument("--take", type=pathlib.Path, metavar="OTHER.json")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        table(Results(options.results))
        return
    if options.take:
        results = Results(options.results)
        results.take(Results(options.take))
        results.write()
        return
    compare_allocator.on_standin(9)
    import torch  # once, for all processes that are forked
    import timm  # noqa: F401
    import torchvision  # noqa: F401
    import transformers  # noqa: F401
    torch.set_num_threads(1)
    gc.freeze()  # pages of what is there already stay shared
    campaign(options)


if __name__ == "__main__":
    main()
