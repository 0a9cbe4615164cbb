"""Models of PyTorch as programs. torch is imported by whoever gives a module of it, or by a child that makes one."""
import inspect
import json
import os
import re
import subprocess
import sys
import weakref

from . import _errors
from ._optimizers import optimizer_text, optimizer_texts
from ._session import Session

_REFERENCE = re.compile(r"(?P<target>[\w./\\-]+:[A-Za-z_][\w.]*)\s*(?:\((?P<arguments>.*)\))?", re.DOTALL)
_TYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "bool": "bool"}
_OF_THE_MACHINE = ("python", "torch", "document")  # kinds of failures that are no fault of the model


def is_module(value):
    """Whether this is a torch.nn.Module; where torch was never imported there is none."""
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "nn") and isinstance(value, torch.nn.Module)


def is_model(value):
    """A module, "package.module:Name(arguments)", or the path of a program."""
    return is_module(value) or isinstance(value, os.PathLike) or (
        isinstance(value, str) and (is_program_path(value) or _REFERENCE.fullmatch(value) is not None))


def is_program_path(value):
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    return isinstance(text, str) and text.endswith(".tbem") and "\n" not in text


# ---- Inputs ----------------------------------------------------------------------------------------------------------------


def _is_shape(value):
    return isinstance(value, (tuple, list)) and all(isinstance(size, int) and not isinstance(size, bool) for size in value)


def _described(value):
    """Shape and type of a tensor, of (2, 3, 8, 8), of "4,128:i64", or of ((4, 128), "i64")."""
    kind = "f32"
    if isinstance(value, str):
        sizes, _, given = value.partition(":")
        kind = given or kind
        try:
            shape = [int(size) for size in sizes.split(",") if size.strip()]
        except ValueError:
            raise _errors.UsageError(f"`{value}` is no shape: \"4,128\" or \"4,128:i64\"") from None
    elif hasattr(value, "shape") and hasattr(value, "dtype"):
        shape, name = [int(size) for size in value.shape], str(value.dtype).rpartition(".")[2]
        if name not in _TYPES:
            raise _errors.UsageError(f"an input is {name}; an input is one of {', '.join(_TYPES)}")
        kind = _TYPES[name]
    elif _is_shape(value):
        shape = list(value)
    elif isinstance(value, (tuple, list)) and len(value) == 2 and _is_shape(value[0]) and isinstance(value[1], str):
        shape, kind = list(value[0]), value[1]
    else:
        raise _errors.UsageError(f"an input is {type(value).__name__}: give a tensor, a shape (2, 3, 8, 8), \"4,128:i64\", or "
                                 "((4, 128), \"i64\")")
    if kind not in _TYPES.values():
        raise _errors.UsageError(f"`{kind}` is no element type: {', '.join(_TYPES.values())}")
    return shape, kind


def _requested(inputs, names):
    """The inputs as the export takes them. `names`: of the parameters of `forward`, for inputs that have none; None: not known."""
    if inputs is None:
        raise _errors.UsageError("say what the model reads: inputs={\"image\": (16, 3, 224, 224)}, or tensors")
    if not isinstance(inputs, dict):
        alone = not isinstance(inputs, (tuple, list)) or _is_shape(inputs)
        several = (inputs,) if alone else tuple(inputs)
        if names is not None and len(several) > len(names):
            raise _errors.UsageError(f"there are {len(several)} inputs, and `forward` has {len(names)} parameters: {', '.join(names)}")
        inputs = {(names[at] if names is not None else "input" if at == 0 else f"input_{at + 1}"): value
                  for at, value in enumerate(several)}
    requested = []
    for name, value in inputs.items():
        shape, kind = _described(value)
        if any(size < 1 for size in shape):
            raise _errors.UsageError(f"the input `{name}` is {shape}: sizes are 1 or more")
        requested.append({"name": name, "shape": shape, "type": kind})
    return requested


# ---- Exports ---------------------------------------------------------------------------------------------------------------


def _failure(kind, message, place):
    if kind in _OF_THE_MACHINE:
        return _errors.EnvironmentProblem(message)
    return _errors.ModelError(message if not place else f"{message} ({place})", place)


def _of_module(model, request):
    from . import _export
    try:
        document = _export.document_of(model, request)
    except _export.Refused as refused:
        raise _failure(refused.kind, str(refused), refused.at) from refused
    return json.dumps(document)


def _of_reference(request, python, max_time, folder):
    """The document that a Python of its own writes, which has the model."""
    here = os.path.dirname(os.path.abspath(__file__))
    texts = {}
    for name in ("_export.py", "_export_graph.py"):
        with open(os.path.join(here, name), encoding="utf-8") as file:
            texts[name] = file.read()
    try:
        child = subprocess.run([python, "-c", texts["_export.py"], json.dumps(request), texts["_export_graph.py"]],
                               capture_output=True, text=True, timeout=max_time, check=False, cwd=folder)
    except subprocess.TimeoutExpired:
        raise _errors.EnvironmentProblem(f"`{python}` was stopped after {max_time} s (max_time)") from None
    except OSError as error:
        raise _errors.EnvironmentProblem(f"cannot start {python}: {error.strerror}") from error
    if child.returncode != 0:
        said = child.stderr.strip().splitlines()
        raise _errors.EnvironmentProblem(f"`{python}` ended with status {child.returncode}" + (f": {said[-1]}" if said else ""))
    problem = json.loads(child.stdout).get("error")
    if problem:
        raise _failure(problem["kind"], problem["message"], problem["at"])
    return child.stdout


def _places_of(document, folder):
    """The files of the model by the names that the program's comments have; those below `folder` have their paths from there."""
    places = (node.get("at") for node in json.loads(document)["nodes"])
    files = {place.rpartition(":")[0] for place in places if place}
    return {(os.path.basename(file) if os.path.isabs(file) else file): os.path.abspath(os.path.join(folder or ".", file)) for file in files}


# ---- Models ----------------------------------------------------------------------------------------------------------------


class Model:
    """A model as a program: `text`, with a network of the name `network`. `inputs`: by name, the shape that it was read for.

    Its questions take the options of the command of that name, and
      batch      in place of the first size of every input
      inputs     shapes in place of those that it was read for
      optimizer  "adamw(lr: 0.001)", or one of torch.optim with its parameter groups: a training step, in which weights that the
                 model freezes stay; without one, the forward pass alone
      loss       cross_entropy where nothing is said; "mse", ..
      device     "h100", ..: eager PyTorch on this GPU; "cpu": eager PyTorch on the processor
    """

    def __init__(self, session, network, inputs, files=None, notes="", dtype=None, frozen=(), module=None, paths=None):
        self.session, self.network, self.inputs, self.files, self.notes = session, network, inputs, files or {}, notes
        self.dtype = dtype  # of the weights; None: that of the program
        self.frozen = list(frozen)  # weights that the model does not train, as clause `freeze` names them
        self.paths = paths or {}  # of weights in the program, by the model's names
        self.module = weakref.ref(module) if module is not None else None  # whose parameters an optimiser of torch.optim has

    @property
    def text(self):
        return self.session.text

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<tbem.Model {self.network} of {', '.join(f'{name} {shape}' for name, shape in self.inputs.items())}>"

    def estimate(self, **options):
        """What a step takes in eager PyTorch, or with on="cpu" as tbem runs it: ModelEstimate."""
        answer = self.session.estimate(**self._question(options))
        answer.files = self.files
        return answer

    def fit(self, vary="batch", **options):
        """The largest batch that fits the memory `max` (by default that of the device): Fit. `vary` names another input's size,
        which then stands in `inputs` in the place of a number."""
        if options.get("device") and options["device"] != "cpu":
            options.setdefault("max", options["device"])
        options.setdefault("batch", vary)
        return self.session.fit(vary=vary, **self._question(options, names=True))

    def what_if(self, **options):
        """The GPUs that a step fits, and what single changes of it would save: WhatIf."""
        return self.session.what_if(**self._question(options))

    def check(self, **options):
        """Everything that can be known without running it: Findings."""
        return self._placed(self.session.check(**options))

    def spec(self, **options):
        """Proofs of its conditions for all sizes that are open in it: Findings; `verdict` is False where one is refuted."""
        return self._placed(self.session.spec(**options))

    def _frozen(self):
        """What a task leaves: what the module freezes now, where it is there; else what the model froze when it was read."""
        module = self.module() if self.module is not None else None
        if module is None:
            return self.frozen
        return [self.paths[name] for name, weight in module.named_parameters() if not weight.requires_grad and name in self.paths]

    def _placed(self, findings):
        findings.files = self.files
        return findings

    def _question(self, options, names=False):
        """The options of a command. `names`: a size may be the name of a factor."""
        options = dict(options)
        inputs, batch = options.pop("inputs", None), options.pop("batch", None)
        optimizer, loss = options.pop("optimizer", None), options.pop("loss", None)
        if loss is not None and optimizer is None:
            raise _errors.UsageError("a loss is of a training step: optimizer= says how it ends")
        if self.network is None:  # a program: its own designs, unless it is asked for others
            if inputs is not None or batch not in (None, "batch"):
                raise _errors.UsageError("a program has designs of its own: network= and input= ask for another one")
        else:
            shapes = dict(self.inputs)
            for name, value in (inputs or {}).items():
                if name not in shapes:
                    raise _errors.UsageError(f"there is no input `{name}`: {', '.join(shapes)}")
                shapes[name] = list(value) if names and isinstance(value, (tuple, list)) else _described(value)[0]
            if batch is not None and names is False and (not isinstance(batch, int) or batch < 1):
                raise _errors.UsageError(f"batch is {batch}: a number from 1 on")
            if batch is not None and not any(isinstance(size, str) for shape in shapes.values() for size in shape):
                shapes = {name: [batch, *shape[1:]] if shape else shape for name, shape in shapes.items()}
            options.update(network=self.network, input=shapes)
        if optimizer is not None:
            module = self.module() if self.module is not None and not isinstance(optimizer, str) else None
            if module is None:
                text = optimizer_text(optimizer)
            else:
                text, groups = optimizer_texts(optimizer, dict(module.named_parameters()), self.paths)
                options.update({"optimizer": groups} if groups else {})
            options["task"] = f"train(loss: {loss or 'cross_entropy'}, optimizer: {text})"
            frozen = self._frozen()
            if frozen:
                options.setdefault("freeze", frozen)
            group = getattr(optimizer, "param_groups", [{}])[0]
            update = "fused" if group.get("fused") else "loop" if group.get("foreach") is False else None
            if update and options.get("device") != "cpu" and options.get("on", "pytorch") == "pytorch":
                options.setdefault("update", update)
        if self.dtype:
            options.setdefault("dtype", self.dtype)
        if options.get("device") == "cpu":
            del options["device"]
            options.setdefault("on", "pytorch-cpu")
        options.setdefault("on", "pytorch")
        return options


def _name_of(model):
    return re.sub(r"\W", "_", type(model).__name__)


def _element_type(document):
    """That of the weights, as a program has one for all."""
    kinds = {weight["type"] for weight in json.loads(document)["weights"] if weight["learned"]}
    if kinds - {"float32", "float64"}:
        raise _errors.ModelError("the weights are " + ", ".join(sorted(kinds)) + "; steps are of f32 or f64: give model.float()")
    return "f64" if kinds == {"float64"} else None


def _asked_for(text):
    """The network of the design that ends a written program, the shapes of its inputs, and what the model does not train."""
    network, design = re.search(r"^design \w+ of (\w+) \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL).groups()
    inputs = re.findall(r"^ *input +(\w+): \[([^\]]*)\]", design, re.MULTILINE)
    frozen = re.search(r"^ *freeze +(.*)", design, re.MULTILINE | re.DOTALL)  # its last clause
    shapes = {name: [int(size) for size in sizes.split(",") if size.strip()] for name, sizes in inputs}
    return network, shapes, [place.strip() for place in frozen[1].split(",")] if frozen else []


def import_model(model, inputs=None, *, args="", name=None, sizes="batch", python=None, max_time=600, folder=None):
    """A model as a program: Model, whose `text` it is.

    model: a torch.nn.Module, which is exported in this process and afterwards as it was; "package.module:Name(arguments)" or
      "file.py:Name", which a Python of its own makes (`python`: another one than this, `max_time` seconds at most); or the path of
      a program (.tbem), which is read.
    inputs: of `forward`, by name or by position: tensors, shapes (16, 3, 224, 224), "4,128:i64".
    folder: in which Name is looked for, in place of the current one. args: arguments of Name, as Python reads them. name: of the
    network. sizes: which sizes stay open: "batch" (the first of each input), "all" that the model allows, "fixed" (none).
    Raises ModelError with the model's line.
    """
    if is_program_path(model):
        path = os.fspath(model)
        try:
            with open(path, encoding="utf-8") as file:
                return Model(Session(file.read(), path), None, {})
        except OSError as error:
            raise _errors.EnvironmentProblem(f"cannot read {path}: {error.strerror}") from error
    if sizes not in ("batch", "all", "fixed"):
        raise _errors.UsageError(f"sizes is `{sizes}`: \"batch\", \"all\" or \"fixed\"")
    if is_module(model):
        names = list(inspect.signature(model.forward).parameters)
        request = {"inputs": _requested(inputs, names), "sizes": sizes}
        document, network = _of_module(model, request), name or _name_of(model)
    else:
        found = _REFERENCE.fullmatch(model) if isinstance(model, str) else None
        if found is None:
            raise _errors.UsageError(f"{model!r} is no model: a torch.nn.Module, \"package.module:Name\", or a program's path")
        target, own = found["target"], found["arguments"]
        request = {"target": target, "arguments": own or args, "inputs": _requested(inputs, None), "sizes": sizes}
        document = _of_reference(request, python or sys.executable, max_time, folder)
        network = name or re.split(r"[:.]", target)[-1]
    session = Session()
    notes, paths = session.load_export(document, network)
    network, shapes, frozen = _asked_for(session.text)
    return Model(session, network, shapes, _places_of(document, folder), notes, _element_type(document), frozen,
                 model if is_module(model) else None, paths)
