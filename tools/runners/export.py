"""A PyTorch model as the graph that torch.export sees, as one JSON document for `tbemc import`.

A module of the package tbem (`tbem/_export.py`), whose `document_of` exports a model that is there; and a program of its own, in
the Python that has the model: python3 -c TEXT REQUEST GRAPH, where GRAPH is the text of export_graph.py and REQUEST is a JSON object:
  target     "package.module:name" or "path/to/file.py:name": a module, a class or a function that makes one
  arguments  text of the arguments that it is called with, as Python would read them between its parentheses
  inputs     [{"name", "shape", "type"}]: those of `forward`, by name where it has a parameter of that name, else by position
  sizes      "batch": the first dimension of inputs may be any; "all": every dimension that the model allows; "fixed"
The document, on standard output, has either "error" or the graph. What the model prints goes to standard error.
"""
import contextlib
import importlib.util
import inspect
import json
import os
import sys
import traceback
import types
import warnings


class Refused(Exception):
    """What the document says instead of a graph: a kind, which the reader has a text for, and a message."""

    def __init__(self, kind, message, at=None):
        super().__init__(message)
        self.kind, self.at = kind, at


def _place(error):
    """The innermost line of the traceback that is not of a library: "file.py:12"."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "site-packages" not in f.filename and not f.filename.startswith("<") and
           "/lib/python" not in f.filename]
    return f"{own[-1].filename}:{own[-1].lineno}" if own else None


def _first_line(error):
    text = str(error).strip()
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__


# ---- The model -----------------------------------------------------------------------------------------------------------


def _module_of(place):
    if not (place.endswith(".py") or os.sep in place):
        sys.path.insert(0, os.getcwd())
        try:
            return importlib.import_module(place)
        except Exception as error:
            raise Refused("import", f"the module `{place}` cannot be imported: {_first_line(error)}", _place(error)) from error
    if not os.path.isfile(place):
        raise Refused("import", f"there is no file `{place}`")
    sys.path.insert(0, os.path.dirname(os.path.abspath(place)))
    name = os.path.splitext(os.path.basename(place))[0]
    spec = importlib.util.spec_from_file_location(name, place)
    if spec is None:
        raise Refused("import", f"`{place}` is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        at = f"{place}:{error.lineno}" if isinstance(error, SyntaxError) else _place(error)
        raise Refused("import", f"`{place}` cannot be imported: {_first_line(error)}", at) from error
    return module


class _Names(dict):
    """What a module has, and what it makes when it is asked for it, as transformers does."""

    def __init__(self, module):
        super().__init__(vars(module))
        self.module = module

    def __missing__(self, name):
        try:
            return getattr(self.module, name)
        except AttributeError:
            raise KeyError(name) from None


def _model(request, torch):
    place, _, name = request["target"].rpartition(":")
    module = _module_of(place)
    value = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise Refused("name", f"`{place}` has no `{name}`")
        value = getattr(value, part)
    if isinstance(value, torch.nn.Module):
        return value
    if not callable(value):
        raise Refused("name", f"`{name}` of `{place}` is neither a module nor something that makes one")
    try:
        positional, named = eval(f"(lambda *a, **k: (a, k))({request['arguments']})", _Names(module))  # the user's own text
    except Exception as error:
        raise Refused("arguments", f"the arguments `{request['arguments']}` cannot be read: {_first_line(error)}") from error
    try:
        model = value(*positional, **named)
    except Exception as error:
        raise Refused("build", f"`{name}` cannot be called: {_first_line(error)}", _place(error)) from error
    if not isinstance(model, torch.nn.Module):
        raise Refused("name", f"`{name}` gives {type(model).__name__}, and no torch.nn.Module")
    if getattr(model.forward, "__func__", None) is torch.nn.Module.forward:
        raise Refused("name", f"`{name}` has no `forward`")
    return model


_TYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
          "bool": "bool"}


def _inputs(request, model, torch):
    """The arguments of `forward`, by position and by name, with the names of all of them."""
    signature = inspect.signature(model.forward)
    parameters = signature.parameters
    positional, named = [], {}
    device = next((parameter.device for parameter in model.parameters()), "cpu")
    for given in request["inputs"]:
        tensor = torch.zeros(given["shape"], device=device, dtype=getattr(torch, _TYPES[given["type"]]))
        known = parameters.get(given["name"])
        if known is not None and known.kind is not inspect.Parameter.VAR_POSITIONAL:
            named[given["name"]] = tensor
        elif named:
            raise Refused("inputs", f"`forward` has no parameter `{given['name']}`; it has " + ", ".join(parameters))
        else:
            positional.append(tensor)
    try:
        signature.bind(*positional, **named)
    except TypeError as error:
        raise Refused("inputs", f"the inputs are not those of `forward`: {error}") from error
    return positional, named


@contextlib.contextmanager
def _evaluating(model, torch):
    """The model as it is exported: it does not train, and modules that leave out whole samples, which do nothing then, say where they
    stand. Models of transformers give, beside their result, what they keep for their next call: not here. Afterwards all is as it was."""
    kept = [(module, dict(vars(module)), dict(module._buffers),
             {name: value.clone() for name, value in vars(module).items() if isinstance(value, torch.Tensor)})
            for module in model.modules()]
    rates = {module: float(getattr(module, "p", getattr(module, "drop_prob", None)) or 0) for module in model.modules()
             if type(module).__name__ in ("StochasticDepth", "DropPath") and "forward" not in vars(module)}
    if any(rates.values()) and not hasattr(torch.ops.tbem, "stochastic_depth"):
        made = torch.library.custom_op("tbem::stochastic_depth", lambda x, p: x.clone(), mutates_args=(),
                                       schema="(Tensor x, float p) -> Tensor")
        made.register_fake(lambda x, p: torch.empty_like(x))
    configurations = [module.config for module in model.modules() if getattr(getattr(module, "config", None), "use_cache", None) is True]
    model.eval()
    try:
        for configuration in configurations:
            configuration.use_cache = False
        for module, rate in rates.items() if any(rates.values()) else ():
            module.forward = lambda x, rate=rate: torch.ops.tbem.stochastic_depth(x, rate)
        yield
    finally:
        for configuration in configurations:
            configuration.use_cache = True
        for module, attributes, buffers, tensors in kept:  # a trace leaves its own tensors in attributes that `forward` sets
            vars(module).clear()
            vars(module).update(attributes)
            module._buffers.clear()
            module._buffers.update(buffers)
            for name, value in tensors.items():
                attributes[name].data.copy_(value)


def _exported(request, model, torch):
    positional, named = _inputs(request, model, torch)

    def dynamic(tensor):
        count = tensor.dim() if request["sizes"] == "all" else min(tensor.dim(), 1)
        return {axis: torch.export.Dim.AUTO for axis in range(count)} or None

    names = list(inspect.signature(model.forward).parameters)
    given = {names[at] if at < len(names) else str(at): tensor for at, tensor in enumerate(positional)} | named
    shapes = None if request["sizes"] == "fixed" else {name: dynamic(tensor) for name, tensor in given.items()}
    try:
        return torch.export.export(model, tuple(positional), named, dynamic_shapes=shapes, strict=False)
    except Exception as error:
        raise Refused("export", f"torch.export: {_first_line(error)}", _place(error)) from error


def _unseen_rates(model, nodes):
    """Rates of dropout that modules keep as numbers, where no operator of theirs drops anything: their code may leave it out when the
    model does not train, as `dropout_p=self.rate if self.training else 0` does. Modules of one class are told once."""
    first, drops = {}, set()
    for node in nodes:
        path = node["modules"][-1][1] if node["modules"] else ""
        first.setdefault(path, node["at"])
        if "dropout" in node["op"] or "stochastic_depth" in node["op"]:
            drops.add(path)
        if "attention" in node["op"]:  # the place where a rate would stand
            first[path] = node["at"]
    rates = {}
    for path, module in model.named_modules():
        for name, rate in vars(module).items():
            if "drop" in name.lower() and isinstance(rate, float) and 0 < rate < 1 and path in first and path not in drops:
                entry = rates.setdefault((type(module).__name__, name, rate), {"kind": type(module).__name__, "name": name, "rate": rate,
                                                                               "at": first[path], "count": 0})
                entry["count"] += 1
    return list(rates.values())


def _graph_writer():
    """export_graph.py: a module beside this one in the package; of a program, the text that it was given."""
    if __package__:
        return importlib.import_module("._export_graph", __package__)
    graph = types.ModuleType("export_graph")
    exec(compile(sys.argv[2], "export_graph.py", "exec"), vars(graph))  # noqa: S102 - a file of ours, which reaches this process as text
    return graph


def _torch():
    try:
        import torch
    except Exception as error:
        raise Refused("torch", f"{sys.executable} has no PyTorch: {_first_line(error)}") from error
    if not hasattr(getattr(getattr(torch, "export", None), "Dim", None), "AUTO"):
        raise Refused("torch", f"{sys.executable} has PyTorch {torch.__version__}, and this needs torch.export as 2.6 or later has it")
    return torch


def document_of(model, request):
    """The graph of a torch.nn.Module, which is afterwards as it was. Raises Refused."""
    torch = _torch()
    with warnings.catch_warnings(), _evaluating(model, torch):
        warnings.simplefilter("ignore")
        document = _graph_writer().document_of(_exported(request, model, torch), model, torch)
    nodes = {entry["node"] for entry in document["inputs"]}
    others = iter([given["name"] for given in request["inputs"] if given["name"] not in nodes])
    for entry in document["inputs"]:  # a parameter of `forward` keeps its name, the others have those that they were given, in order
        named = any(given["name"] == entry["node"] for given in request["inputs"])
        entry["name"] = entry["node"] if named else next(others, entry["node"])
    document["rates"] = _unseen_rates(model, document["nodes"])
    document["python"], document["kind"] = sys.executable, f"{type(model).__module__}.{type(model).__qualname__}"
    return document


def main():
    request = json.loads(sys.argv[1])
    result = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a model prints, by whatever means, is not in the document
    try:
        warnings.filterwarnings("ignore")
        document = document_of(_model(request, _torch()), request)
    except Refused as refused:
        document = {"error": {"kind": refused.kind, "message": str(refused), "at": refused.at}}
    except (SystemExit, KeyboardInterrupt) as error:
        what = "sys.exit" if isinstance(error, SystemExit) else type(error).__name__
        document = {"error": {"kind": "build", "message": f"the model ended Python ({what})", "at": _place(error)}}
    with result:
        json.dump(document, result)


if __name__ == "__main__":
    main()
