"""What the comparisons of emitted programs with our own steps share: emitting, saving our step, distances, a line a network."""
import ast
import importlib.util
import keyword as words
import math
import re
import pathlib
import subprocess
import sys

import numpy as np

MOST = 1e-9
RESERVED = {*words.kwlist, "self"}


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **options)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def far(ours, theirs):
    """The largest difference of two arrays, as a part of the largest number in ours."""
    ours, theirs = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    assert ours.shape == theirs.shape, (ours.shape, theirs.shape)
    if ours.size == 0:
        return 0.0
    assert np.isfinite(theirs).all(), theirs
    return float(np.abs(ours - theirs).max() / max(np.abs(ours).max(), 1e-30))


def group(arrays, word):
    return {name[len(word) + 1:]: arrays[name] for name in arrays if name.startswith(word + "/")}


def farthest(ours, theirs):
    """Over a group of arrays: the largest difference, as a part of the largest number of the whole group."""
    largest = max((float(np.abs(one).max()) for one in ours.values() if one.size), default=0.0)
    assert all(np.isfinite(one).all() for one in theirs.values()), theirs
    assert all(ours[name].shape == theirs[name].shape for name in ours), [(name, ours[name].shape, theirs[name].shape) for name in ours]
    worst = max((float(np.abs(ours[name] - theirs[name]).max()) for name in ours if ours[name].size), default=0.0)
    return worst / max(largest, 1e-30)


def assigned(text, name, names):
    """What the program's main assigns to the name."""
    main = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == "main")
    value = next(node.value for node in main.body if isinstance(node, ast.Assign) and node.targets[0].id == name)
    return eval(ast.unparse(value), names)  # pylint: disable=eval-used


def keyword(text, function, name, names):
    """What the program's main gives a call of the function by this name."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    call = next(node for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr == function)
    value = next(one.value for one in call.keywords if one.arg == name)
    return eval(ast.unparse(value), names)  # pylint: disable=eval-used


def parts(text):
    """The micro-batches of a program's step."""
    number = re.search(r"ops\.split\(target, (\d+)\)", text)
    return int(number.group(1)) if number else 1


def emitted(tbemc, folder, name, options, number, framework):
    """The program's text and file, as Black and Ruff want it, and the arrays of our step. The name is as main's."""
    program, _, network = name.split("|")[0].rpartition("@")
    arguments = [name] if "|" not in name else ([program] if program else []) + ["-e", network]
    for given in name.split("|")[1:]:
        arguments += ["--input", given]
    text = run([tbemc, "emit", *arguments, *options, "--as", framework, "--quiet"])
    path = folder / f"network_{number}.py"
    path.write_text(text, encoding="utf-8")
    tools = pathlib.Path(sys.executable).parent
    run([str(tools / "black"), "--check", "--quiet", str(path)])
    run([str(tools / "ruff"), "check", "--quiet", "--no-cache", str(path)])
    saved = folder / f"network_{number}.npz"
    run([tbemc, "step", *arguments, *options, "--on", "ref", "--dtype", "f64", "--save", str(saved), "--quiet"])
    return text, path, dict(np.load(saved))


def imported(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def trains(arrays):
    return "loss" in arrays and any(key.startswith("gradient/") for key in arrays)


def report(name, differences, count, text):
    assert all(math.isfinite(one) and one <= MOST for one in differences.values()), (name, differences)
    network = name.split("|")[0].rpartition("@")[2]
    print(f"{network or name}: {count} parameters, {len(text.splitlines())} lines, {', '.join(differences)} within 1e-9", flush=True)


def groups_of(words):
    """Names with the options behind their `--step`, by `--then`."""
    while words:
        end = words.index("--then") if "--then" in words else len(words)
        group, words = words[:end], words[end + 1:]
        split = group.index("--step") if "--step" in group else len(group)
        yield group[:split], group[split + 1:]


def main(compare):
    """TBEMC FOLDER NAME... [--step OPTION...] [--then NAME...]: NAME is a program, or a network with its inputs as the command line
    has it, of the standard library or of a program: `resnet(depth: 18)|image=2,3,64,64`, `own.tbem@net|x=2,3`."""
    tbemc, folder, *rest = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for names, options in groups_of(rest):
        for name in names:
            compare(tbemc, folder, name, options, count)
            count += 1
    print(f"{count} networks: the same steps")
