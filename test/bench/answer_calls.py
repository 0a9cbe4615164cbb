"""The calls of same_answers.py: programs of this checkout times the commands that have something to say of them."""
import dataclasses
import os
import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STAGES = ["load", "names", "design", "graph", "lower", "code"]
TASK = "train(loss: cross_entropy, optimizer: sgd(lr: 0.01, momentum: 0.9))"
REPLAY = "test/lit/inputs/replay"
PLANS = "test/lit/inputs/plans"

# Left out, with the reason; a call is named by how its line begins.
LEFT_OUT = {
    f"plan {PLANS}/J.csv --quiet": "the complete search takes 20 s; it stays with less effort",
    f"plan {PLANS}/D.csv --quiet": "8 s, the same way",
    "fit --max 8GiB --on pytorch-cpu -e 'skipnet()'": "more than a minute; other calls have skipnet too",
    "fit --max 8GiB --on pytorch-cpu --json -e 'skipnet()'": "the same",
}
# Programs of which every stage is shown, and whose steps are run and saved: small ones, of each kind of network.
STAGED = ["test/lit/inputs/small.tbem", "test/pytorch/lenet5.tbem", "test/lit/inputs/branches.tbem",
          "test/lit/inputs/eager.tbem", "test/lit/mutate.tbem", "test/lit/inputs/train.tbem"]
STEPPED = [*STAGED[:5], "test/pytorch/mlp.tbem", "test/pytorch/mlp_silu.tbem",
           *(f"test/lit/{name}.tbem" for name in (
               "attention_in_place", "axes_from_the_end", "constant_table", "integer_inputs", "loss_parameters",
               "value_of_two_gates", "view_results", "inputs/eager_batch", "inputs/mixed", "inputs/nested",
               "inputs/two_designs"))]
# What is measured, on `fake` and on `ref`.
MEASURED = ["test/lit/inputs/small.tbem", "test/lit/inputs/kill.tbem", "test/lit/inputs/eager_batch.tbem"]
FAKES = ["oom_at=134000B", "oom_at=1KiB", "fail=dense:2", "fail=step:2", "unsupported=dense", "wrong=dense:2",
         "crash=dense:2", "probe=fail", "nothing=1"]
EXPRESSIONS = ["lenet5()", "resnet(depth: 18)", "mobilenet_v2()", "vgg(depth: 11)", "vit()", "convnext()",
               "skipnet()", "squeezenet()", "densenet(depth: 121)", "absent()", "resnet(depth: 17)"]


@dataclasses.dataclass(frozen=True)
class Call:
    """Words behind `tbemc`, and what they find: files of this checkout at their places, variables, standard input (one
    of the files), and what the calls of `given` leave, which the binary from before makes for both sides."""
    words: tuple
    files: tuple = ()
    environment: tuple = ()
    input: str = ""
    given: tuple = ()

    def __str__(self):
        variables = "".join(f"{name}={shlex.quote(value)} " for name, value in self.environment)
        redirected = f" < {self.input}" if self.input else ""
        first = "".join(f"{call}; " for call in self.given)
        return f"{first}{variables}tbemc {shlex.join(self.words)}{redirected}"

    def has_clock(self):
        """Whether an array is searched `within` a time: in counted steps, but a clock ends it where they are slow."""
        return any(re.search(r"^ *within ", text_of(file), re.M) for file in self.files if file.endswith(".tbem"))

    def left_out(self):
        line = shlex.join(self.words)
        return any(line.startswith(start) for start in LEFT_OUT)


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


def below(pattern):
    return sorted(str(path.relative_to(ROOT)) for path in ROOT.glob(pattern))


def with_companions(program):
    """A program and what it names that stands beside it: modules and files of arrays."""
    folder = (ROOT / program).parent
    text = text_of(program)
    names = [f"{name}.tbem" for name in re.findall(r"^import (\w+):", text, re.M)]
    names += re.findall(r'"([\w/]+\.csv)"', text) + re.findall(r"^import (\w+)\.", text, re.M)
    found = [program]
    for name in names:
        place = folder / name
        files = [place] if place.is_file() else sorted(place.glob("*.tbem"))
        found += [str(file.relative_to(ROOT)) for file in files]
    return tuple(dict.fromkeys(found))


def of_program(program, *lines):
    """A call for each line, in which {} is the program."""
    files = with_companions(program)
    return [Call(tuple(program if word == "{}" else word for word in shlex.split(line)), files) for line in lines]


def both(*lines):
    return [line + form for line in lines for form in ("", " --json")]


def good_programs():
    patterns = ["examples/*/*.tbem", "test/lit/*.tbem", "test/lit/inputs/*.tbem", "test/lit/inputs/*/*.tbem",
                "test/pytorch/*.tbem", "test/prop/syntax/programs/*.tbem"]
    return [program for pattern in patterns for program in below(pattern)]


def calls_of_good():
    """Commands that only look; of programs without a design those that need none. Examples and the programs that
    PyTorch runs too are shown in every form, the others in one or two of each command."""
    for program in good_programs():
        text = text_of(program)
        yield from of_program(program, *both("check {}"), "spec {}", "fmt {}")
        if not re.search(r"^design ", text, re.M):
            continue
        yield from of_program(
            program, *both("design {}", "estimate {}"), "estimate {} --on none --json",
            "estimate {} --on pytorch --cudnn none", "estimate {} --explain workspace --cudnn none --json",
            "estimate {} --roofline a100", "screen {} --json", "what-if {} --cudnn none", "fit {} --max 1GiB --on ref",
            "weights {}", "emit {} --as json", "emit {} --as dot", "report {} --device h200 --cudnn none --out page")
        if re.search(r"^measure ", text, re.M):
            yield from of_program(program, *both("measure {} --dry-run"), "regress {}", "predict {}")
        if program.startswith(("examples/", "test/pytorch/")):
            yield from of_program(
                program, "check {} --sarif", "spec {} --json", "design {} --csv", "estimate {} --on none",
                "estimate {} --on pytorch --cudnn none --json", "estimate {} --explain workspace --cudnn none",
                "estimate {} --roofline a100 --json", "estimate {} --verbose --out plots", "screen {}",
                "what-if {} --cudnn none --json", "fit {} --max 1GiB --on ref --json",
                *both("fit {} --max h100 --on pytorch --cudnn none"), "weights {} --json", "emit {} --as json --json",
                *both("plan {} --quiet"), "report {} --on ref --out page")


def calls_of_bad():
    """Every wrong program by its own command; and all of a folder at once as JSON and SARIF, mended, and formatted."""
    folders = {}
    for program in below("test/bad/*/*.tbem"):
        folders.setdefault(str(pathlib.PurePosixPath(program).parent), []).append(program)
        match = re.match(r"// ARGS: (.*)", text_of(program).split("\n", 1)[0])
        yield from of_program(program, *(both(match.group(1)) if match else ["check {}"]))
    for programs in folders.values():
        files = tuple(dict.fromkeys(file for program in programs for file in with_companions(program)))
        for words in (["check", "--json"], ["check", "--sarif"], ["check", "--fix"], ["fmt"], ["fmt", "--check"]):
            yield Call((*words, *programs), files)


def calls_of_library():
    for program in below("stdlib/*/*.tbem"):
        module = "std." + ".".join(pathlib.PurePosixPath(program).with_suffix("").parts[1:])
        yield from of_program(program, *both("check {}", f"doc {module}"), "fmt {}", "spec {} --json")
        for name in re.findall(r"^(?:operator|network|block|function|let) (\w+)", text_of(program), re.M):
            yield Call(("doc", name))
    for line in both("doc --operators", "doc --devices", "doc std.nn", "doc conv2x", "doc resnet", "doc conv2d", "doc"):
        yield Call(tuple(shlex.split(line)))


def calls_of_codes():
    codes = [pathlib.PurePosixPath(page).stem for page in below("docs/errors/*.md")]
    yield from (Call(("explain", code)) for code in [*codes, "e0101", "E9999"])
    yield from (Call(("explain", code, "--json")) for code in [*codes[::20], "E9999"])


def calls_of_stages():
    for program in STAGED:
        for stage in STAGES:
            yield from of_program(program, f"estimate {{}} --emit {stage}", f"estimate {{}} --print-after {stage}",
                                  f"check {{}} --print-after {stage}")
        yield from of_program(
            program, "emit {} --as llvm", "emit {} --as llvm --on ref", "estimate {} --emit lower --threads 1",
            "estimate {} --on ref --dtype f64", "estimate {} --tune on --json", "emit {} --as json --on pytorch",
            "check {} --color always", "estimate {} --color always", "estimate {} --quiet",
            "design {} --print-after graph")


def calls_of_files():
    for file in below(f"{PLANS}/*.csv"):
        yield from of_program(file, "plan {} --quiet", "plan {} --capacity 1MiB --effort 100000 --json",
                              "plan {} --verify")
    default, expandable = f"{REPLAY}/default.pickle", f"{REPLAY}/expandable.pickle"
    for file in (default, expandable):
        yield from of_program(file, *both(
            "replay {}", "replay {} --alloc-conf expandable_segments:True --alloc-conf roundup_power2_divisions:4",
            "replay {} --alloc-conf backend:native", "replay {} --capacity 100MiB", "replay {} --torch 2.9",
            "replay {} --alloc-conf max_split_size_mb:10", "replay {} --torch new", "replay {} --trace other"))
    yield Call(("plan", "--diff", f"{PLANS}/A.csv", f"{PLANS}/B.csv"), (f"{PLANS}/A.csv", f"{PLANS}/B.csv"))


def calls_of_steps():
    """A step's files are compared too. Weights are loaded from a file that one side made for both."""
    for program in STEPPED:
        yield from of_program(program, "step {} --on ref --save s.npz", "step {} --save s.safetensors --json",
                              "step {} --seed 7 --steps 3 --json", "step {} --on ref --dtype f64 --save s.npz --quiet")
        saved = of_program(program, "step {} --on ref --save w.safetensors")
        for call in of_program(program, "step {} --load w.safetensors --save s.npz", *both("weights w.safetensors"),
                               "step {} --load w.safetensors --names torchvision"):
            yield dataclasses.replace(call, given=tuple(saved))
    for script in FAKES:
        for call in of_program(STEPPED[0], "step {} --on fake --json", "measure {} --on fake --json --quiet"):
            yield dataclasses.replace(call, environment=(("TBEM_FAKE", script),))


def calls_of_measurements():
    """What is read from a store is of the same store on both sides, so that its times and bytes are the same; so are
    checkpoints."""
    for program in MEASURED:
        for backend in ("fake", "ref"):
            on = f"--on {backend} --repeat 1"
            yield from of_program(program, f"measure {{}} {on} --json", f"run {{}} {on} --json --quiet --no-plots")
            store = of_program(program, f"measure {{}} {on} --json --quiet")
            lines = both(f"measure {{}} {on}", f"run {{}} {on}", f"measure {{}} {on} --dry-run",
                         f"regress {{}} --on {backend}", f"predict {{}} --on {backend}")
            lines += [f"report {{}} --on {backend}", f"run {{}} {on} --verbose --no-plots", "regress {}",
                      f"regress {{}} --on {backend} --out plots", f"regress {{}} --on {backend} --threads 1"]
            yield from (dataclasses.replace(call, given=tuple(store)) for call in of_program(program, *lines))
    for program in ("test/lit/inputs/train.tbem", "test/lit/inputs/own_losses.tbem"):
        yield from of_program(program, *both("train {}", "run {}", "train {} --on ref --seed 5"))
        trained = of_program(program, "train {} --out kept")
        again = [*both("train {} --out kept", "run {} --out kept"), "train {} --out kept --fresh"]
        for call in of_program(program, *again):
            yield dataclasses.replace(call, given=tuple(trained))


def calls_of_words():
    """Programs on the command line and on standard input, help, and words that are no command."""
    commands = "run check design estimate fit what-if screen spec step weights measure train perturb regress predict report"
    for command in [*commands.split(), "emit", "plan", "replay", "fmt", "explain", "doc", "doctor"]:
        yield from (Call((command, *more)) for more in (["--help"], ["--nothing"], ["absent.tbem"]))
        if command != "doctor":  # which tells of the machine
            yield Call((command,))
    lines = ["--help", "--version", "", "watch x.tbem", "estmate", "estimate --max 1Kib -e 'a()'", "step --seed -1"]
    yield from (Call(tuple(shlex.split(line))) for line in lines)
    for text in EXPRESSIONS:
        shape = "image=batch,1,28,28" if text == "lenet5()" else "image=batch,3,224,224"
        row = "--at batch=4"
        for line in both(f"estimate {row}", f"estimate {row} --on none", f"estimate {row} --on pytorch --cudnn none",
                         f"weights {row}", f"what-if {row} --cudnn none", "fit --max 8GiB --on pytorch-cpu"):
            yield Call((*line.split(), "-e", text, "--input", shape, "--task", TASK))
    for program in STAGED:
        for command in ("check", "estimate", "fmt", "spec", "design"):
            yield Call((command, "-"), (program,), input=program)


def calls_of_lit():
    """The calls of lit tests that need nothing made before and measure nothing: options that somebody thought about."""
    looking = "check design estimate fit what-if screen spec step weights emit plan replay fmt doc".split()
    measuring = {"--profile", "--repeat", "--tune"}
    for test in [*below("test/lit/*.t*"), *below("test/lit/train/*.test")]:
        folder = str(pathlib.PurePosixPath(test).parent)
        for line in re.findall(r"RUN: (.*)", text_of(test)):
            line = line.replace("%S", folder).replace("%s", test).replace("%root/", "")
            for words in re.findall(r"%tbemc ([^|;&<>$`%]*)(?=[|;&>]|$)", line):
                try:
                    parts = shlex.split(re.sub(r" 2$", "", words))  # of `2> file`
                except ValueError:  # a quotation with one of these characters inside
                    continue
                parts = [os.path.normpath(part) if (ROOT / part).is_file() else part for part in parts]
                if parts and parts[0] in looking and not measuring.intersection(parts):
                    paths = [part for part in parts if not part.startswith("/") and (ROOT / part).is_file()]
                    yield Call(tuple(parts), tuple(file for path in paths for file in with_companions(path)))


def corpus():
    """Every call once, in a fixed order."""
    parts = [calls_of_good, calls_of_bad, calls_of_library, calls_of_codes, calls_of_stages, calls_of_files,
             calls_of_steps, calls_of_measurements, calls_of_words, calls_of_lit]
    return list(dict.fromkeys(call for part in parts for call in part() if not call.left_out()))
