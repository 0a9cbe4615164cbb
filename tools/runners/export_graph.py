"""The graph of an exported program as plain data: what export.py's document has of it."""
import os

# Elements of a table that a program can have: what depends on nothing is computed here; what is larger stays an operator.
_MOST_VALUES = 8192
_MOST_NUMBERS = 1 << 18  # of a buffer, which has no other form
_MOST_SIZED = 1 << 24  # elements of what depends on sizes alone, which is tried with two of them
_DROPPED = ("_assert_tensor_metadata", "_assert_scalar", "_assert_async", "sym_constrain_range", "sym_constrain_range_for_size")


def _size(number, torch):
    """A number; of what depends on the inputs' sizes what it is in this graph, and how it depends; None where it depends on values."""
    if isinstance(number, (torch.SymInt, torch.SymFloat)):
        known = isinstance(number, torch.SymInt) and number.node.hint is not None
        return {"size": int(number.node.hint) if known else None, "of": str(number.node.expr)}
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
        for name, triangle in (("tril", torch.tril), ("triu", torch.triu)):
            for diagonal in (-1, 0, 1):
                mask = triangle(torch.ones(rows, columns, dtype=torch.bool), diagonal)
                if bool((values == mask).all()):
                    return {name: diagonal}
    return None


def _number(value):
    """A number as JSON has it, which has no infinity."""
    return value if value - value == 0 else {"number": repr(float(value))}


def _constant(values, torch):
    values = values.detach().cpu()
    facts = _tensor_facts(values, torch)
    pattern = _pattern(values, torch)
    if pattern is not None:
        facts["pattern"] = {key: _number(number) for key, number in pattern.items()}
    elif values.numel() <= _MOST_NUMBERS:
        facts["values"] = [_number(value) for value in values.flatten().tolist()]
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


def _take_regions_apart(module, torch):
    """Puts the nodes of regions that gradients or autocast are switched for (`with torch.no_grad()`) in the place of the regions."""
    graph = module.graph
    for node in list(graph.nodes):
        if node.op != "call_function" or getattr(node.target, "__name__", "") not in ("wrap_with_set_grad_enabled", "wrap_with_autocast"):
            continue
        at = next(k for k, argument in enumerate(node.args) if isinstance(argument, torch.fx.Node) and argument.op == "get_attr")
        inner = getattr(module, node.args[at].target)
        _take_regions_apart(inner, torch)
        given, known, results = iter(node.args[at + 1:]), {}, ()
        with graph.inserting_before(node):
            for part in inner.graph.nodes:
                if part.op == "placeholder":
                    known[part] = next(given)
                elif part.op == "output":
                    results = torch.fx.node.map_arg(part.args[0], known.__getitem__)
                else:
                    known[part] = graph.node_copy(part, known.__getitem__)
        for user in list(node.users):  # each is `operator.getitem`
            result = results[user.args[1]]
            if node.args[0] is False and isinstance(result.meta.get("val"), torch.Tensor):  # no gradient goes into the region
                with graph.inserting_before(node):
                    before, result = result, graph.call_function(torch.ops.aten.detach.default, (result,))
                result.meta = dict(before.meta)
            user.replace_all_uses_with(result)
            graph.erase_node(user)
        graph.erase_node(node)


def _may_be_view(node):
    """Whether the node's result may lie in its first operand's memory."""
    schema = getattr(node.target, "_schema", None)
    word = str(node.target).removeprefix("aten.").partition(".")[0]
    returns = schema.returns if schema is not None else ()
    return word in ("reshape", "contiguous", "flatten", "to", "getitem") or any(one.alias_info is not None for one in returns)


class _Writer:
    """The nodes of an exported program as plain data, those that depend on nothing as their values."""

    def __init__(self, program, model, torch):
        self.program, self.torch = program, torch
        _take_regions_apart(program.graph_module, torch)
        self.known = {}  # by node: its value, where no input and no weight matters
        self.sized = {}  # by node: its values for two sizes of the inputs, where these sizes alone matter
        self.sizes = self._two_sizes()
        self.nodes, self.written, self.constants = {}, set(), {}
        self.filled_later = self._filled_later()
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
                first_number = value.detach().flatten()[:1]
                is_even = value.numel() > 1 and bool((value == first_number).all())
                fill = {"fill": first_number.item()} if is_even or value.numel() == 1 and first_number.item() in (0, 1) else {}
                self.weights.append({"node": node.name, "name": name, "also": names, "frozen": not value.requires_grad,
                                     "learned": spec.kind is kinds.PARAMETER, **fill, **_tensor_facts(value, self.torch)})
            elif spec.kind in (kinds.BUFFER, kinds.CONSTANT_TENSOR):
                value = self.program.constants.get(spec.target)
                if value is None:
                    value = self.program.state_dict[spec.target]
                self.known[node] = value.detach().clone()  # what is computed here may write into it

    def _statistics(self):
        """Buffers that a normalisation keeps."""
        targets = self.program.graph_signature.inputs_to_buffers
        return {targets[a.name] for node in self.program.graph.nodes if "batch_norm" in str(node.target) or
                "instance_norm" in str(node.target) for a in node.args[3:5] if getattr(a, "name", None) in targets}

    def _two_sizes(self):
        """The symbols in the sizes of inputs, as they are in this graph, and each larger by 1."""
        given = {}
        for node in self.program.graph.nodes:
            value = node.meta.get("val")
            if node.op == "placeholder" and isinstance(value, self.torch.Tensor):
                given.update({size.node.expr: int(size.node.hint) for size in value.shape if isinstance(size, self.torch.SymInt) and
                              size.node.expr.is_symbol})
        return given, {symbol: size + 1 for symbol, size in given.items()}

    def _filled_later(self):
        """Nodes into whose tensors something is written that is not known: they, and views of them, have no value of their own."""
        unknown, later = set(), set()
        for node in self.program.graph.nodes:
            is_size = isinstance(node.meta.get("val"), (int, self.torch.SymInt))
            if node.op == "placeholder" and node not in self.known or not is_size and any(one in unknown for one in node.all_input_nodes):
                unknown.add(node)
            arguments = node.target._schema.arguments if hasattr(node.target, "_schema") else ()
            writes = arguments and arguments[0].alias_info is not None and arguments[0].alias_info.is_write
            if writes and node in unknown:
                into = node.args[0]
                while into.op == "call_function" and into.args and isinstance(into.args[0], self.torch.fx.Node) and _may_be_view(into):
                    into = into.args[0]
                later.add(into)
        return later

    def _fold(self, node):
        """Finds the value of a node all of whose operands are known. One that changes its operand in place changes what was known."""
        if node in self.filled_later:
            return False
        if self._fill(node):
            return True
        if self.torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            return False
        value = node.meta.get("val")
        if any(operand not in self.known for operand in node.all_input_nodes):
            return self._fold_sized(node)
        is_large = isinstance(value, self.torch.Tensor) and value.numel() > _MOST_VALUES
        if is_large and node.all_input_nodes and getattr(node.target, "__name__", "") != "getitem":
            return False
        arguments, named = self.torch.fx.node.map_arg((node.args, node.kwargs), self.known.__getitem__)
        self.known[node] = node.target(*arguments, **named)
        return True

    def _fold_sized(self, node):
        """Finds the values of a node that depends on nothing but sizes of inputs. What reads it decides what it is in the document."""
        torch = self.torch
        if not isinstance(node.meta.get("val"), torch.Tensor) or any(
                operand not in self.known and operand not in self.sized and not isinstance(operand.meta.get("val"), torch.SymInt)
                for operand in node.all_input_nodes) or node.meta["val"].numel() > _MOST_SIZED:  # a number: nothing depends on values
            return False
        values = []
        for k, sizes in enumerate(self.sizes):
            def known(operand, k=k, sizes=sizes):
                if isinstance(operand.meta.get("val"), torch.SymInt):
                    return self._under(operand.meta["val"], sizes)
                return self.known[operand] if operand in self.known else self.sized[operand][k]

            arguments, named = torch.fx.node.map_arg((node.args, node.kwargs), known)
            try:
                values.append(node.target(*arguments, **named))
            except (RuntimeError, TypeError):  # a size that the model is not made for
                return False
        self.sized[node] = values
        return True

    def _sized_constant(self, node):
        """The elements of a value that depends on sizes alone, where they are the same at all places of the axes that do."""
        shape = node.meta["val"].shape
        tables = []
        for value in self.sized[node]:
            for axis, size in enumerate(shape):
                if isinstance(size, self.torch.SymInt):
                    first = value.narrow(axis, 0, 1)
                    if not bool((value == first).all()):
                        return None
                    value = first
            tables.append(value)
        if tables[0].shape != tables[1].shape or not bool((tables[0] == tables[1]).all()):
            return None
        return tables[0].clone()

    def _write_sized(self, node):
        """Writes a value that depends on sizes alone: as a constant, repeated along the axes that do, or else as it is computed."""
        if node in self.written:
            return
        self.written.add(node)
        table = self._sized_constant(node)
        facts = None if table is None else _constant(table, self.torch)
        if facts is None or not ("pattern" in facts or "values" in facts):
            self._write(node)
            return
        own = _tensor_facts(node.meta["val"], self.torch)
        if "fill" in facts.get("pattern", {}) or facts["shape"] == own["shape"]:
            self.constants[node.name] = {"name": None, **facts, **own}
            return
        self.constants[node.name + "_table"] = {"name": None, **facts}
        self.nodes[node] = [{"name": node.name, "op": "aten.expand.default", "args": [{"node": node.name + "_table"}, own["shape"]],
                             "named": {}, **self._origin(node), **own}]

    def _fill(self, node):
        """Finds the value of a node that is one number everywhere, whatever it reads: zeros of another's shape, rows of a table
        that is even."""
        word = str(node.target).removeprefix("aten.").partition(".")[0]
        number = None
        if word in ("new_zeros", "new_ones", "zeros_like", "ones_like"):
            number = 0 if "zeros" in word else 1
        elif word in ("gather", "index_select", "index"):
            table = self.known.get(node.args[0], self.sized.get(node.args[0], [None])[0])
            if table is not None and table.numel() > 0 and bool((table == table.flatten()[0]).all()):
                number = table.flatten()[0].item()
        if number is None:
            return False
        value = node.meta["val"]
        tables = [self.torch.full([self._under(size, sizes) for size in value.shape], number, dtype=value.dtype) for sizes in self.sizes]
        if any(isinstance(size, self.torch.SymInt) for size in value.shape):
            self.sized[node] = tables
        else:
            self.known[node] = tables[0]
        return True

    def _under(self, size, sizes):
        return int(size.node.expr.subs(sizes)) if isinstance(size, self.torch.SymInt) else int(size)

    def _argument(self, value):
        torch = self.torch
        if isinstance(value, torch.fx.Node):
            if value in self.known:
                known = self.known[value]
                if not isinstance(known, torch.Tensor):
                    return self._argument(known)
                if value.name not in self.constants and value not in self.nodes:
                    self._write_known(value, known.detach())
            elif isinstance(value.meta.get("val"), (torch.SymInt, torch.SymFloat)):
                return _size(value.meta["val"], torch)
            elif value in self.sized:
                self._write_sized(value)
            return {"node": value.name}
        if isinstance(value, (list, tuple)):
            return [self._argument(item) for item in value]
        if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
            return value
        if isinstance(value, float):
            return _number(value)
        if isinstance(value, torch.SymInt):
            return _size(value, torch)
        if isinstance(value, torch.dtype):
            return {"type": str(value).removeprefix("torch.")}
        return {"other": str(value)}

    def _write_known(self, node, table):
        """Writes a value that depends on nothing: as it is, or, where most of a large one is repeated, as the rows that it has
        along each axis and the number of each place's row."""
        torch = self.torch
        rest, places = table, []
        if table.numel() > _MOST_VALUES and _pattern(table, torch) is None:
            for axis in range(table.dim()):
                rows, places_along = torch.unique(rest, return_inverse=True, dim=axis)
                if rows.shape[axis] < rest.shape[axis]:
                    rest = rows
                    places.append((axis, places_along))
        name, buffer = node.name, self._buffer_name(node)
        if not places or rest.numel() + sum(len(one) for _, one in places) > _MOST_VALUES:
            self.constants[name] = {"name": buffer, **_constant(table, torch)}
            return
        self.constants[name + "_rows"] = {"name": buffer, **_constant(rest, torch)}
        entries, operand = [], name + "_rows"
        for axis, one in reversed(places):
            result = name if axis == places[0][0] else f"{name}_along_{axis}"
            self.constants[f"{name}_places_{axis}"] = {"name": None, **_constant(one, torch)}
            rest = rest.index_select(axis, one)
            entries.append({"name": result, "op": "aten.index_select.default",
                            "args": [{"node": operand}, axis, {"node": f"{name}_places_{axis}"}], "named": {},
                            **self._origin(node), **_tensor_facts(rest, torch)})
            operand = result
        self.nodes[node] = entries

    @staticmethod
    def _origin(node):
        """The modules that a node was called in, the model first, and its line."""
        return {"modules": [[key, path, kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"]
                            for key, (path, kind) in node.meta.get("nn_module_stack", {}).items() if not key.startswith("_empty")],
                "at": _own_place(node.meta.get("stack_trace"))}

    def _write(self, node):
        torch = self.torch
        value = node.meta.get("val")
        target = str(node.target) if hasattr(node.target, "overloadpacket") else getattr(node.target, "__name__", str(node.target))
        entry = {"name": node.name, "op": target, "args": [self._argument(a) for a in node.args],
                 "named": {k: self._argument(v) for k, v in node.kwargs.items()}, **self._origin(node)}
        if isinstance(value, torch.Tensor):
            entry.update(_tensor_facts(value, torch))
        elif isinstance(value, (list, tuple)):
            entry["parts"] = [_tensor_facts(part, torch) if isinstance(part, torch.Tensor) else None for part in value]
        self.nodes[node] = [entry]

    def document(self):
        torch = self.torch
        outputs = []
        for node in self.program.graph.nodes:
            if node.op == "output":
                outputs = self._outputs(node)
            if node.op != "call_function" or any(word in str(node.target) for word in _DROPPED):
                continue
            if isinstance(node.meta.get("val"), (int, torch.SymInt, torch.SymBool, torch.SymFloat)):
                continue  # what reads it says how it depends on sizes
            if not self._fold(node):
                self._write(node)
        constants = [{"node": name, **constant} for name, constant in self.constants.items()]
        nodes = [entry for node in self.program.graph.nodes for entry in self.nodes.get(node, ())]  # calls of modules stay together
        return {"torch": torch.__version__, "inputs": self.inputs, "weights": self.weights, "constants": constants,
                "nodes": nodes, "outputs": outputs, "state": self.state}

    def _buffer_name(self, node):
        signature = self.program.graph_signature
        return {**signature.inputs_to_buffers, **signature.inputs_to_lifted_tensor_constants}.get(node.name)

    def _outputs(self, node):
        """The tensors that the model gives, with the keys of a dictionary as names."""
        context = getattr(self.program.call_spec.out_spec, "context", None)
        names = [key for key in context if isinstance(key, str)] if isinstance(context, (list, tuple)) else []
        flat = [value for value in self.torch.utils._pytree.tree_leaves(node.args[0])]
        outputs = []
        for position, value in enumerate(flat):
            if isinstance(value, self.torch.fx.Node) and isinstance(value.meta.get("val"), self.torch.Tensor):
                entry = self._argument(value)
                entry["name"] = names[position] if len(names) == len(flat) else None
                outputs.append(entry)
        return outputs


def document_of(program, model, torch):
    """The graph of torch.export.ExportedProgram `program`, of `model`, as a JSON document."""
    return _Writer(program, model, torch).document()
