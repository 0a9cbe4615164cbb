"""A PyTorch model as the graph that torch.export sees, as one JSON document for `tbemc import`.

A module of the package tbem (`tbem/_export.py`), whose `document_of` exports a model that is there; and a program of its own, in
the Python that has the model: python3 -c TEXT REQUEST, where REQUEST is a JSON object:
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
import warnings

# What depends on nothing is computed here as long as it is a table that a program can have; what is computed from such a table, and
# larger, stays an operator.
_MOST_VALUES = 8192
_DROPPED = ("_assert_tensor_metadata", "_assert_scalar", "_assert_async", "sym_constrain_range", "sym_constrain_range_for_size")


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
        positional, named = eval(f"(lambda *a, **k: (a, k))({request['arguments']})", dict(vars(module)))  # the user's own text
    except Exception as error:
        raise Refused("arguments", f"the arguments `{request['arguments']}` cannot be read: {_first_line(error)}") from error
    try:
        model = value(*positional, **named)
    except Exception as error:
        raise Refused("build", f"`{name}` cannot be called: {_first_line(error)}", _place(error)) from error
    if not isinstance(model, torch.nn.Module):
        raise Refused("name", f"`{name}` gives {type(model).__name__}, and no torch.nn.Module")
    return model


_TYPES = {"f32": "float32", "f64": "float64", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32",
          "bool": "bool"}


def _inputs(request, model, torch):
    """The arguments of `forward`, by position and by name, with the names of all of them."""
    parameters = inspect.signature(model.forward).parameters
    positional, named = [], {}
    for given in request["inputs"]:
        tensor = torch.zeros(given["shape"], dtype=getattr(torch, _TYPES[given["type"]]))
        known = parameters.get(given["name"])
        if known is not None and known.kind is not inspect.Parameter.VAR_POSITIONAL:
            named[given["name"]] = tensor
        elif named:
            raise Refused("inputs", f"`forward` has no parameter `{given['name']}`; it has " + ", ".join(parameters))
        else:
            positional.append(tensor)
    return positional, named


@contextlib.contextmanager
def _evaluating(model, torch):
    """The model as it is exported: it does not train, and modules that leave out whole samples, which do nothing then, say where they
    stand. Afterwards it is as it was."""
    training = [module for module in model.modules() if module.training]
    rates = {module: float(getattr(module, "p", getattr(module, "drop_prob", None)) or 0) for module in model.modules()
             if type(module).__name__ in ("StochasticDepth", "DropPath") and "forward" not in vars(module)}
    if any(rates.values()) and not hasattr(torch.ops.tbem, "stochastic_depth"):
        made = torch.library.custom_op("tbem::stochastic_depth", lambda x, p: x.clone(), mutates_args=(),
                                       schema="(Tensor x, float p) -> Tensor")
        made.register_fake(lambda x, p: torch.empty_like(x))
    model.eval()
    try:
        for module, rate in rates.items() if any(rates.values()) else ():
            module.forward = lambda x, rate=rate: torch.ops.tbem.stochastic_depth(x, rate)
        yield
    finally:
        for module in training:
            module.training = True
        for module in rates:
            vars(module).pop("forward", None)


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


# ---- The graph -----------------------------------------------------------------------------------------------------------


def _size(number, torch):
    """A number; of what depends on the inputs' sizes what it is in this graph, and how it depends."""
    if isinstance(number, torch.SymInt):
        return {"size": int(number.node.hint), "of": str(number.node.expr)}
    return int(number)


def _tensor_facts(value, torch):
    return {"shape": [_size(d, torch) for d in value.shape], "type": str(value.dtype).removeprefix("torch.")}


def _pattern(values, torch):
    """What the elements of a constant are, in the fewest words; None: its values say it."""
    flat = values.flatten()
    if flat.numel() == 0:
        return None
    if bool((flat == flat[0]).all()):
        return {"fill": flat[0].item()}
    for axis in range(values.dim()):
        line = values.select(axis, 0).flatten() if values.dim() > 1 else None
        other = [0 if a != axis else slice(None) for a in range(values.dim())]
        along = values[tuple(other)]
        if values.dtype is not torch.bool and line is not None and not bool((line == line[0]).all()):
            continue
        shape = [1] * values.dim()
        shape[axis] = -1
        if values.dtype is torch.bool or not bool((values == along.reshape(shape)).all()):
            continue
        steps = along[1:] - along[:-1]
        if bool((steps == steps[0]).all()):
            return {"axis": axis, "start": along[0].item(), "step": steps[0].item()}
    if values.dim() >= 2 and values.dtype is torch.bool:
        rows, columns = values.shape[-2:]
        for name, diagonal in ((name, diagonal) for name in ("tril", "triu") for diagonal in (-1, 0, 1)):
            if bool((values == getattr(torch, name)(torch.ones(rows, columns, dtype=torch.bool), diagonal)).all()):
                return {name: diagonal}
    return None


def _constant(values, torch):
    values = values.detach()
    facts = _tensor_facts(values, torch)
    pattern = _pattern(values, torch)
    if pattern is not None:
        facts["pattern"] = pattern
    elif values.numel() <= _MOST_VALUES:
        facts["values"] = values.flatten().tolist()
    return facts


def _own_place(trace):
    """The innermost line of a node's stack that is not PyTorch's."""
    place = None
    for line in (trace or "").splitlines():
        file, _, rest = line.strip().removeprefix('File "').partition('"')
        if not line.strip().startswith('File "') or f"{os.sep}torch{os.sep}" in file:
            continue
        place = f"{file.removeprefix(os.getcwd() + os.sep)}:{rest.split('line ')[1].split(',')[0]}"
    return place


class _Writer:
    """The nodes of an exported program as plain data, those that depend on nothing as their values."""

    def __init__(self, program, model, torch):
        self.program, self.torch = program, torch
        self.known = {}  # by node: its value, where no input and no weight matters
        self.weights, self.inputs, self.state = [], [], list(model.state_dict())
        self._read_placeholders(model)

    def _read_placeholders(self, model):
        kinds = self.torch.export.graph_signature.InputKind
        owned = {**dict(model.named_parameters(remove_duplicate=False)), **dict(model.named_buffers(remove_duplicate=False))}
        first = {}  # by tensor: the name that it is known by; tied weights are one
        for name, value in owned.items():
            first.setdefault(id(value), name)
        nodes = {node.name: node for node in self.program.graph.nodes if node.op == "placeholder"}
        changed = set(self.program.graph_signature.buffers_to_mutate.values())
        statistics = self._statistics()
        for spec in self.program.graph_signature.input_specs:
            node = nodes.get(getattr(spec.arg, "name", None))
            if spec.kind is kinds.USER_INPUT:
                if node is not None and isinstance(node.meta.get("val"), self.torch.Tensor):
                    self.inputs.append({"node": node.name, **_tensor_facts(node.meta["val"], self.torch)})
                continue
            if spec.kind is kinds.PARAMETER or spec.target in changed or spec.target in statistics:
                value = owned[spec.target]
                name = first[id(value)]
                names = [other for other, tensor in owned.items() if tensor is value and other != name]
                self.weights.append({"node": node.name, "name": name, "also": names, "learned": spec.kind is kinds.PARAMETER,
                                     **_tensor_facts(value, self.torch)})
            elif spec.kind in (kinds.BUFFER, kinds.CONSTANT_TENSOR):
                value = self.program.constants.get(spec.target)
                if value is None:
                    value = self.program.state_dict[spec.target]
                self.known[node] = value

    def _statistics(self):
        """Buffers that a normalisation keeps."""
        targets = self.program.graph_signature.inputs_to_buffers
        return {targets[a.name] for node in self.program.graph.nodes if "batch_norm" in str(node.target) or
                "instance_norm" in str(node.target) for a in node.args[3:5] if getattr(a, "name", None) in targets}

    def _fold(self, node):
        """Finds the value of a node all of whose operands are known. One that changes its operand in place changes what was known."""
        if self._fill(node):
            return True
        if any(operand not in self.known for operand in node.all_input_nodes) or self.torch.Tag.nondeterministic_seeded in getattr(
                node.target, "tags", ()):
            return False
        value = node.meta.get("val")
        if isinstance(value, self.torch.Tensor) and value.numel() > _MOST_VALUES and node.all_input_nodes:
            return False
        arguments, named = self.torch.fx.node.map_arg((node.args, node.kwargs), self.known.__getitem__)
        self.known[node] = node.target(*arguments, **named)
        return True

    def _fill(self, node):
        """Finds the value of a node that reads a tensor for its type or its shape alone, where that shape is known."""
        word = str(node.target).removeprefix("aten.").partition(".")[0]
        value = node.meta.get("val")
        if word not in ("new_zeros", "new_ones", "zeros_like", "ones_like") or any(
                isinstance(size, self.torch.SymInt) for size in value.shape):
            return False
        make = self.torch.zeros if "zeros" in word else self.torch.ones
        self.known[node] = make(tuple(value.shape), dtype=value.dtype)
        return True

    def _argument(self, value, needed):
        torch = self.torch
        if isinstance(value, torch.fx.Node):
            if value in self.known:
                known = self.known[value]
                if not isinstance(known, torch.Tensor):
                    return self._argument(known, needed)
                needed.setdefault(value, None)
            elif isinstance(value.meta.get("val"), torch.SymInt):
                return _size(value.meta["val"], torch)
            return {"node": value.name}
        if isinstance(value, (list, tuple)):
            return [self._argument(item, needed) for item in value]
        if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
            return value
        if isinstance(value, float):
            return value if value - value == 0 else {"number": repr(value)}
        if isinstance(value, torch.SymInt):
            return _size(value, torch)
        if isinstance(value, torch.dtype):
            return {"type": str(value).removeprefix("torch.")}
        return {"other": str(value)}

    def document(self):
        torch = self.torch
        nodes, needed, outputs = [], {}, []
        for node in self.program.graph.nodes:
            if node.op == "output":
                outputs = self._outputs(node, needed)
            if node.op != "call_function":
                continue
            target = str(node.target) if hasattr(node.target, "overloadpacket") else getattr(node.target, "__name__", str(node.target))
            if any(word in target for word in _DROPPED) or self._fold(node):
                continue
            value = node.meta.get("val")
            if isinstance(value, (int, torch.SymInt, torch.SymBool, torch.SymFloat)):
                continue  # what reads it says how it depends on sizes
            entry = {"name": node.name, "op": target, "args": [self._argument(a, needed) for a in node.args],
                     "named": {k: self._argument(v, needed) for k, v in node.kwargs.items()},
                     "modules": [[key, path, kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"]
                                 for key, (path, kind) in node.meta.get("nn_module_stack", {}).items() if not key.startswith("_empty")],
                     "at": _own_place(node.meta.get("stack_trace"))}
            if isinstance(value, torch.Tensor):
                entry.update(_tensor_facts(value, torch))
            elif isinstance(value, (list, tuple)):
                entry["parts"] = [_tensor_facts(part, torch) if isinstance(part, torch.Tensor) else None for part in value]
            nodes.append(entry)
        constants = [{"node": node.name, "name": self._buffer_name(node), **_constant(self.known[node], torch)} for node in needed]
        return {"torch": torch.__version__, "inputs": self.inputs, "weights": self.weights, "constants": constants,
                "nodes": nodes, "outputs": outputs, "state": self.state}

    def _buffer_name(self, node):
        signature = self.program.graph_signature
        return {**signature.inputs_to_buffers, **signature.inputs_to_lifted_tensor_constants}.get(node.name)

    def _outputs(self, node, needed):
        """The tensors that the model gives, with the keys of a dictionary as names."""
        keys = getattr(self.program.call_spec.out_spec, "context", None)
        names = [key for key in keys if isinstance(key, str)] if isinstance(keys, (list, tuple)) else []
        flat = self.torch.utils._pytree.tree_leaves(node.args[0])
        outputs = []
        for position, value in enumerate(flat):
            if isinstance(value, self.torch.fx.Node) and isinstance(value.meta.get("val"), self.torch.Tensor):
                entry = self._argument(value, needed)
                entry["name"] = names[position] if len(names) == len(flat) else None
                outputs.append(entry)
        return outputs


def _torch():
    try:
        import torch
    except Exception as error:
        raise Refused("torch", f"{sys.executable} has no PyTorch: {_first_line(error)}") from error
    if importlib.util.find_spec("torch.export") is None:
        raise Refused("torch", f"{sys.executable} has PyTorch {torch.__version__}, which has no torch.export: 2.6 or later has")
    importlib.import_module("torch.export")
    return torch


def document_of(model, request):
    """The graph of a torch.nn.Module, which is afterwards as it was. Raises Refused."""
    torch = _torch()
    with warnings.catch_warnings(), _evaluating(model, torch):
        warnings.simplefilter("ignore")
        document = _Writer(_exported(request, model, torch), model, torch).document()
    nodes = {entry["node"] for entry in document["inputs"]}
    others = iter([given["name"] for given in request["inputs"] if given["name"] not in nodes])
    for entry in document["inputs"]:  # a parameter of `forward` keeps its name, the others have those that they were given, in order
        named = any(given["name"] == entry["node"] for given in request["inputs"])
        entry["name"] = entry["node"] if named else next(others, entry["node"])
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
    except SystemExit as error:
        document = {"error": {"kind": "build", "message": "the model ended Python (sys.exit)", "at": _place(error)}}
    with result:
        json.dump(document, result)


if __name__ == "__main__":
    main()
