#!/usr/bin/env python3
"""Every command of `tbemc --help`: arguments with which it has something to say, and what it makes. For tests that go through all."""
import os
import re
import shutil
import subprocess

NETWORK = "network tiny(x: tensor[n, c]) -> tensor[n, 2] { return dense(x, 2) }\n"
PROGRAM = NETWORK + """
design d of tiny() {
  factor batch: 2, 4
  input  x: [batch, 3]
  task   train(loss: cross_entropy, optimizer: sgd(lr: 0.1))
  full
}
measure d { on fake; repeat 1 }
regress growth from d { response arena; terms batch }
predict growth at {batch: 8}
"""
TRAINED = NETWORK + """
dataset points = synthetic(shape: [3], classes: 2, train: 8, test: 4)
train net = tiny() on points.train { epochs 1; batch 4; optimizer sgd(lr: 0.1) }
"""
SLOWED = """
network gated(x: tensor[n, c]) -> tensor[n, 2] {
  let y = dense(x, 2)
  exit y when y |> softmax(axis: 1) |> max(axis: 1) > 0.6
  return x |> dense(8) |> relu |> dense(2)
}
dataset points = synthetic(shape: [3], classes: 2, train: 8, test: 4)
train net = gated() on points.train { epochs 1; batch 4; optimizer sgd(lr: 0.1) }
perturb slow of net on points.test { norm linf(0.5); by random, gradient(steps: 2); box [-9, 9]; batch 2 }
"""
HISTORY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "replay", "default.pickle")
EXPORT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "frameworks", "classifier.json")
# Of each command: its arguments, and the file that it makes or None. P is the program, N its network alone, T has a training, S a perturbation.
COMMANDS = {
    "run": (["P", "--no-plots"], "P.tbemdb"),
    "check": (["P"], None),
    "design": (["P"], None),
    "estimate": (["P", "--on", "none"], None),
    "fit": (["N", "-e", "tiny()", "--input", "x=batch,3", "--on", "pytorch-cpu", "--max", "1KiB"], None),
    "what-if": (["N", "-e", "tiny()", "--input", "x=batch,3", "--task",
                 "train(loss: cross_entropy, optimizer: sgd(lr: 0.1))", "--cudnn", "none", "--device", "h100"], None),
    "screen": (["P"], None),
    "spec": (["P"], None),
    "step": (["P", "--on", "ref", "--save", "s.npz"], "s.npz"),
    "weights": (["P"], None),
    "measure": (["P"], "P.tbemdb"),
    "train": (["T", "--on", "ref"], "T.out/net.safetensors"),
    "perturb": (["S", "--on", "ref"], "S.tbemdb"),
    "regress": (["P", "--out", "plots"], None),
    "predict": (["P"], None),
    "report": (["P", "--on", "ref"], "P.out/P.html"),
    "emit": (["P", "--as", "json"], None),
    "import": ([EXPORT], None),
    "plan": (["P", "--at", "batch=2"], None),
    "replay": ([HISTORY], None),
    "new": (["fresh"], "fresh/fresh.tbem"),
    "fmt": (["P"], None),
    "explain": (["E0101"], None),
    "doc": (["conv2d"], None),
    "doctor": ([], None),
    "lsp": ([], None),
    "repl": (["P"], None),
    "completion": (["bash"], None),
}
ENDS = {"lsp": 1}  # where nothing is asked of it; the others end with 0
UNMEASURED = {"regress", "predict"}  # read a store


def listed(tbemc):
    """The commands that `--help` lists: all of them are here."""
    text = subprocess.run([tbemc, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    names = re.findall(r"^  ([a-z-]+) {2,}\S", text.partition("SUBCOMMANDS:")[2] or text.partition("Subcommands:")[2],
                       re.MULTILINE)
    if set(names) != set(COMMANDS):
        raise SystemExit(f"not tried here, or gone: {sorted(set(names) ^ set(COMMANDS))}")
    return names


class Place:
    """A folder with the programs, as they are before each run."""

    def __init__(self, folder, tbemc, program=PROGRAM, name=b"p"):
        self.folder, self.tbemc = os.fsencode(folder), tbemc
        self.names = {b"P": name, b"N": b"n", b"T": b"t", b"S": b"s"}
        for key, text in [(b"P", program), (b"T", TRAINED), (b"S", SLOWED), (b"N", NETWORK)]:
            with open(self.path(key + b".tbem"), "wb") as file:
                file.write(text.encode())
        self.run("measure")
        os.rename(self.path(b"P.tbemdb"), self.path(b"kept"))

    def path(self, name):
        """Of a file of COMMANDS."""
        for key, value in self.names.items():
            name = re.sub(rb"\b" + key + rb"(?=\.)", lambda _: value, name)
        return os.path.join(self.folder, name)

    def run(self, command, *more, prepare=None):
        """Status, output and errors; and whether what the command makes is there."""
        arguments, made = COMMANDS[command]
        for name in (b"P.tbemdb", b"s.npz", b"T.out", b"S.out", b"S.tbemdb", b"P.out", b"fresh"):
            if os.path.isdir(self.path(name)):
                shutil.rmtree(self.path(name))
            elif os.path.exists(self.path(name)):
                os.remove(self.path(name))
        if command in UNMEASURED:
            shutil.copy(self.path(b"kept"), self.path(b"P.tbemdb"))
        words = [self.names[word.encode()] + b".tbem" if word.encode() in self.names else word for word in arguments]
        done = subprocess.run([self.tbemc, command, *words, *more], cwd=self.folder, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare, check=False)
        if made is not None and not os.path.exists(self.path(made.encode())):
            raise SystemExit(f"{command} {more}: {made} was not made: {done}")
        return done.returncode, done.stdout, done.stderr
