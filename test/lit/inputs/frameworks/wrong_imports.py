#!/usr/bin/env python3
"""Imports models that cannot be imported: wrong_imports.py TBEMC FOLDER [NAME...]

Every case says how `tbemc import` ends and what it says, with its code, and the line of the model where there is one. Nothing may be written, neither
on standard output nor as a file, and nobody may see how Python failed inside tbemc (a traceback). Two cases run at a time. Prints a line a
wrong case, and how many are right.
"""
import concurrent.futures
import dataclasses
import pathlib
import re
import resource
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
MODELS = "wrong_models.py"
# How it ends, and the code of the diagnostic: "" where the command line or the machine is at fault, and not the model.
USAGE, ENVIRONMENT = (2, ""), (3, "")
NOT_FOUND, NOT_MADE, INPUTS, NOT_EXPORTED, NO_FORM = (2, "E0801"), (2, "E0802"), (2, "E0803"), (2, "E0804"), (1, "E0805")
DAMAGED, NO_TORCH, ENDED = (3, "E0810"), (3, "E0820"), (3, "E0821")
# Files beside the models: their names and texts.
FILES = {
    "syntax.py": "import torch\n\ndef net(:\n    return 1\n",
    "indent.py": "import torch\n\ndef net():\n    a = 1\n      b = 2\n",
    "latin.py": b"name = '\xe9'\n",
    "zero.py": b"a = 1\n\0\n",
    "lacks_package.py": "import torch\nimport no_such_package\n",
    "fails.py": "import torch\n\nsizes = {}\nwidth = sizes['width']\n",
    "leaves.py": "import sys\n\nsys.exit('not today')\n",
    "leaves_at_once.py": "import os\n\nos._exit(9)\n",
    "notes.txt": "no Python\n",
    "damaged.json": '{"torch": "2.15.0", "inputs": [',
    "other.json": '{"weights": 3}\n',
    "old/torch/__init__.py": '__version__ = "1.13.1"\n',
    "before/torch/__init__.py": 'from torch import export\n\n__version__ = "2.3.0"\n',
    "before/torch/export/__init__.py": "class Dim:\n    pass\n",
    "broken/torch/__init__.py": 'raise OSError("libtorch_cpu.so: cannot open shared object file")\n',
    "no_answer": "#!/bin/sh\nexit 0\n",
    "other_answer": "#!/bin/sh\necho hello\n",
    "half_answer": "#!/bin/sh\nprintf '{\"torch\": \"2.15.0\", \"inp'\n",
    "bare": '#!/bin/sh\nexec @PYTHON@ -S "$@"\n',
    "with_old": '#!/bin/sh\nPYTHONPATH=old exec @PYTHON@ "$@"\n',
    "with_before": '#!/bin/sh\nPYTHONPATH=before exec @PYTHON@ "$@"\n',
    "with_broken": '#!/bin/sh\nPYTHONPATH=broken exec @PYTHON@ "$@"\n',
    "not_executable": "#!/bin/sh\n",
}


@dataclasses.dataclass
class Case:
    name: str
    target: str
    ends: tuple
    said: str  # a regular expression, as the next
    at: str = ""
    inputs: tuple = ("x=2,3",)
    more: tuple = ()
    python: str = ""
    output: str = ""  # the program's file; "": one of its own
    memory: int = 0  # bytes of address space; 0: no limit


def line_of(text):
    """The line of the models' file where this stands, and a number behind it: "Depends+2" is the second line below `class Depends`."""
    name, _, behind = text.partition("+")
    lines = (HERE / MODELS).read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines, 1) if re.match(rf"(class|def) {name}\b", line))
    return first + int(behind or 0)


def model(name, ends, said, at="", **more):
    return Case(name, f"{MODELS}:{name}", ends, said, rf"{{models}}:{line_of(at)}" if at else "", **more)


CASES = [
    # What is no model
    Case("no colon", "wrong_models", USAGE, "`wrong_models` is no model: package.module:Name, file.py:name or FILE.onnx"),
    Case("no file", "none.py:Net", NOT_FOUND, "there is no file `none.py`$"),
    Case("a folder", "./old:Net", NOT_FOUND, "there is no file `./old`$"),
    Case("no Python", "./notes.txt:Net", NOT_FOUND, "`./notes.txt` is no Python file$"),
    Case("no package", "no_such_package.models:Net", NOT_FOUND,
         r"the module `no_such_package.models` cannot be imported: ModuleNotFoundError: No module named 'no_such_package'"),
    Case("no name", f"{MODELS}:Missing", NOT_FOUND, "`wrong_models.py` has no `Missing`$"),
    model("constant", NOT_FOUND, "`constant` of `wrong_models.py` is neither a module nor something that makes one$"),
    model("number", NOT_FOUND, "`number` gives int, and no torch.nn.Module$"),
    model("Plain", NOT_FOUND, "`Plain` gives Plain, and no torch.nn.Module$"),
    # Files that cannot be imported
    Case("syntax", "syntax.py:net", NOT_FOUND, r"`syntax.py` cannot be imported: SyntaxError: .*", at=r"syntax.py:3"),
    Case("indentation", "indent.py:net", NOT_FOUND, r"`indent.py` cannot be imported: IndentationError: .*", at=r"indent.py:5"),
    Case("not UTF-8", "latin.py:net", NOT_FOUND, "`latin.py` cannot be imported: SyntaxError: .*utf-8"),
    Case("zero bytes", "zero.py:net", NOT_FOUND, "`zero.py` cannot be imported: (SyntaxError|ValueError): .*null bytes"),
    Case("missing package", "lacks_package.py:net", NOT_FOUND,
         r"`lacks_package.py` cannot be imported: ModuleNotFoundError: No module named 'no_such_package'", at=r"\S*lacks_package.py:2"),
    Case("fails", "fails.py:net", NOT_FOUND, r"`fails.py` cannot be imported: KeyError: 'width'", at=r"\S*fails.py:4"),
    Case("leaves in import", "leaves.py:net", NOT_MADE, r"the model ended Python \(sys.exit\)", at=r"\S*leaves.py:3"),
    Case("leaves at once", "leaves_at_once.py:net", ENDED, "`.*` ended with status 9$"),
    # Arguments
    model("Raises", NOT_MADE, "`Raises` cannot be called: ValueError: no weights are there", "Raises+3"),
    model("Sized", NOT_MADE, "`Sized` cannot be called: TypeError: .*missing 1 required positional argument: 'width'$"),
    Case("text of arguments", f"{MODELS}:Sized", NOT_MADE, "the arguments `width==` cannot be read: SyntaxError: ", more=("--args", "width==")),
    Case("unknown argument", f"{MODELS}:Sized", NOT_MADE, "`Sized` cannot be called: TypeError: .* 'colour'", more=("--args", "4, colour=1")),
    Case("unknown value", f"{MODELS}:Sized", NOT_MADE, "the arguments `width=deep` cannot be read: NameError: name 'deep' is not defined$",
         more=("--args", "width=deep")),
    # Inputs
    Case("no input", f"{MODELS}:Two", USAGE, "say what the model reads: --input image=16,3,224,224", inputs=()),
    Case("no sizes", f"{MODELS}:Two", USAGE, "--input: `x` is no input: NAME=16,3,224,224", inputs=("x",)),
    Case("size of zero", f"{MODELS}:Two", USAGE, "--input: `0` is no size of a dimension in `x=2,0`", inputs=("x=2,0",)),
    Case("no number", f"{MODELS}:Two", USAGE, "--input: `a` is no size of a dimension in `x=2,a`", inputs=("x=2,a",)),
    Case("unknown type", f"{MODELS}:Two", USAGE, "--input: `f31` is no element type: f32, f64, f16, bf16, i64, i32, bool", inputs=("x=2,3:f31",)),
    Case("unknown parameter", f"{MODELS}:Two", INPUTS, "`forward` has no parameter `z`; it has x, y$", inputs=("x=2,3", "z=2,3")),
    Case("too few", f"{MODELS}:Two", INPUTS, "the inputs are not those of `forward`: missing a required argument: 'y'$", inputs=("x=2,3",)),
    Case("too many", f"{MODELS}:WrongShape", INPUTS, "the inputs are not those of `forward`: too many positional arguments$", inputs=("a=2,3", "b=2,3")),
    Case("twice", f"{MODELS}:Two", USAGE, "the input `x` is given twice$", inputs=("x=2,3", "x=2,3")),
    model("WrongShape", NOT_EXPORTED, "torch.export: .*", "WrongShape+2"),
    Case("real tokens", f"{MODELS}:Words", NOT_EXPORTED, "torch.export: .*", at=rf"{{models}}:{line_of('Words+6')}", inputs=("tokens=2,3",)),
    # Tracing
    model("Depends", NOT_EXPORTED, "torch.export: GuardOnDataDependentSymNode: .*", "Depends+2"),
    model("Waits", NOT_EXPORTED, "torch.export: GuardOnDataDependentSymNode: .*", "Waits+2"),
    model("Counts", NOT_EXPORTED, "torch.export: GuardOnDataDependentSymNode: .*", "Counts+2"),
    model("Selects", NOT_EXPORTED, "`aten.index.Tensor` has a size or a number that depends on values, or is a fraction of sizes", "Selects+2"),
    model("Lists", NOT_EXPORTED, "`aten.mul.Tensor` has a size or a number that depends on values, or is a fraction of sizes", "Lists+2"),
    model("Fraction", NOT_EXPORTED, "`aten.mul.Tensor` has a size or a number that depends on values, or is a fraction of sizes", "Fraction+2"),
    model("Numpy", NOT_EXPORTED, "torch.export: .*", "Numpy+2"),
    model("Recurs", NOT_EXPORTED, "torch.export: RecursionError: .*", "Recurs+2"),
    model("Untraced", NOT_FOUND, "`Untraced` has no `forward`$"),
    model("Lazy", NOT_EXPORTED, "torch.export: .*"),
    # No form in the language
    model("Lacks", NO_FORM, "`aten.cumprod.default` has no form in the language yet$", "Lacks+2", more=("--strict",)),
    Case("Lacks a second", f"{MODELS}:Lacks", NO_FORM, "`aten.fft_fft.default` has no form in the language yet$",
         at=rf"{{models}}:{line_of('Lacks+2')}", more=("--strict",)),
    Case("calls it twice", f"{MODELS}:Lacks", NO_FORM, "= note: it is called 2 times$", more=("--strict",)),
    model("WritesPart", NO_FORM, "`in-place aten.fill_.Scalar` has no form in the language yet$", "WritesPart+3", more=("--strict",)),
    model("Draws", NO_FORM, "`aten.bernoulli.default` has no form in the language yet$", "Draws+2", more=("--strict",)),
    model("Numbers", NOT_EXPORTED, "the model gives no tensor$"),
    # What ends Python, or does not
    model("leaves", NOT_MADE, r"the model ended Python \(sys.exit\)", "leaves+1"),
    model("interrupts", NOT_MADE, r"the model ended Python \(KeyboardInterrupt\)", "interrupts+1"),
    model("crashes", ENDED, "`.*` was ended by signal 6"),
    model("reads_nowhere", ENDED, "`.*` was ended by signal 11"),
    model("eats_memory", NOT_MADE, "`eats_memory` cannot be called: RuntimeError: .*allocate memory.*", "eats_memory+1", memory=8 << 30),
    model("hangs", ENDED, "`.*` was stopped after 20 s: --max-time gives it more$", more=("--max-time", "20")),
    model("HangsInForward", ENDED, "`.*` was stopped after 20 s: --max-time gives it more$", more=("--max-time", "20")),
    # The Python
    Case("absent Python", f"{MODELS}:Two", ENDED, "cannot start ./none: No such file or directory", python="./none"),
    Case("Python that may not run", f"{MODELS}:Two", ENDED, "cannot start ./not_executable: Permission denied$", python="./not_executable"),
    Case("no torch", f"{MODELS}:Two", NO_TORCH, r"\S+ has no PyTorch: ModuleNotFoundError: No module named 'torch'$", python="./bare"),
    Case("broken torch", f"{MODELS}:Two", NO_TORCH, r"\S+ has no PyTorch: OSError: libtorch_cpu.so: cannot open", python="./with_broken"),
    Case("torch of 2022", f"{MODELS}:Two", NO_TORCH, r"\S+ has PyTorch 1.13.1, and this needs torch.export as 2.6 or later has it$", python="./with_old"),
    Case("torch of 2024", f"{MODELS}:Two", NO_TORCH, r"\S+ has PyTorch 2.3.0, and this needs torch.export as 2.6 or later has it$",
         python="./with_before"),
    Case("no answer", f"{MODELS}:Two", NO_TORCH, "`./no_answer` ended without an answer: it is no Python that has PyTorch$", python="./no_answer"),
    Case("another answer", f"{MODELS}:Two", DAMAGED, "the exported graph cannot be read: ", python="./other_answer"),
    Case("half an answer", f"{MODELS}:Two", DAMAGED, "the exported graph cannot be read: ", python="./half_answer"),
    # Recorded exports, and where the program goes
    Case("no record", "none.json", ENVIRONMENT, "none.json: No such file or directory", inputs=()),
    Case("damaged record", "damaged.json", DAMAGED, "the exported graph cannot be read: ", inputs=()),
    Case("another record", "other.json", DAMAGED, "the exported graph cannot be read: ", inputs=()),
    Case("no folder", f"{MODELS}:prints", ENVIRONMENT, "none/net.tbem: .*No such file or directory", inputs=("x=2,3",), output="none/net.tbem"),
    Case("input of a record", "other.json", USAGE, "--input is of a model: an export that was recorded is as it is", inputs=("x=2,3",)),
]


def prepare(folder, python):
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.replace("@PYTHON@", python).encode())
        if "." not in name and name != "not_executable":
            path.chmod(0o755)
    shutil.copy(HERE / MODELS, folder)


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts}


def judged(tbemc, folder, case, number):
    """What is wrong with how the import of the case ended, or ""."""
    command = [tbemc, "import", case.target, *[word for one in case.inputs for word in ("--input", one)], *case.more,
               "-o", case.output or f"out_{number}.tbem"]
    if case.inputs and not case.target.endswith(".json"):
        command += ["--python", case.python or sys.executable]
    limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (case.memory, case.memory))) if case.memory else None
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          preexec_fn=limit, timeout=600)
    status, code = case.ends
    wrong = []
    if done.returncode != status:
        wrong.append(f"ends with {done.returncode}, and not {status}")
    parts = [*([rf"^error\[{code}\]: "] if code else []), case.said, *([rf"(--> | at ){case.at}(:|$)"] if case.at else [])]
    for part in [part.replace("{models}", r"\S*wrong_models\.py") for part in parts]:
        if not re.search(part, done.stderr, re.MULTILINE):
            wrong.append(f"does not say `{part}`")
    if "Traceback" in done.stderr:
        wrong.append("shows a traceback")
    if done.stdout:
        wrong.append("writes on standard output")
    return f"{case.name}: {'; '.join(wrong)}\n{done.stdout}{done.stderr}" if wrong else ""


def main():
    tbemc, folder, *names = sys.argv[1:]
    folder = pathlib.Path(folder).absolute()
    prepare(folder, sys.executable)
    before = files(folder)
    cases = [case for case in CASES if not names or case.name in names]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for verdict in filter(None, pool.map(lambda pair: judged(tbemc, folder, pair[1], pair[0]), enumerate(cases))):
            print(verdict, flush=True)
            bad += 1
    for name in sorted(files(folder) - before):
        print(f"{name} was written")
    bad += len(files(folder) - before)
    print(f"{len(cases)} wrong imports: each is told" if bad == 0 else f"{bad} of {len(cases)} are wrong")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
