"""`@tbem.spec(..)`: the shapes of a function's tensors are looked at while it runs."""
import functools
import inspect
import os
import sys

from ._errors import Error, UsageError
from ._shapes import ELEMENTS, read_condition, read_signature

_HERE = os.path.abspath(__file__)
# Combinations of shapes that are remembered for one function; then it begins anew.
_MOST_KNOWN = 1 << 12
_NOWHERE = sys.maxsize  # of a parameter that has no position


class SpecificationError(Error, ValueError):
    """A tensor is not as it was specified. `name`: of the tensor, or "pre", "post"; `sizes`: by name, as they were known;
    `specified`, `called`: places, "model.py:92"."""

    def __init__(self, message, name, sizes, specified, called):
        super().__init__(message)
        self.name, self.sizes, self.specified, self.called = name, sizes, specified, called


def _place(frame):
    path = os.path.relpath(frame.f_code.co_filename) if os.path.isabs(frame.f_code.co_filename) else frame.f_code.co_filename
    return f"{frame.f_code.co_filename if path.startswith('..') else path}:{frame.f_lineno}"


def _calling_frame():
    """The innermost frame that is neither of this file nor PyTorch's."""
    frame = sys._getframe(1)
    torch = sys.modules.get("torch")
    folder = os.path.dirname(torch.__file__) + os.sep if torch is not None else None
    while frame.f_back is not None and (frame.f_code.co_filename == _HERE or frame.f_code.co_filename == __file__ or (
            folder and frame.f_code.co_filename.startswith(folder))):
        frame = frame.f_back
    return frame


def _shape_text(tensor):
    return f"[{', '.join(map(str, tensor.shape))}]"


def _element_of(tensor):
    return str(tensor.dtype).rpartition(".")[2]


class _Violation(Exception):
    def __init__(self, name, why):
        super().__init__(why)
        self.name = name


class Specification:
    """What a decorator says: `inputs` and `outputs` (tbem._shapes.Tensor), `pre` and `post`, and `place`, its line."""

    def __init__(self, text, pre, post, place):
        self.text, self.place = " ".join(text.split()), place
        self.inputs, self.outputs = read_signature(text)
        self.pre = read_condition(pre, "pre") if pre else None
        self.post = read_condition(post, "post") if post else None
        bound = {dim.text for tensor in self.inputs + self.outputs for dim in tensor.dims or () if dim.is_name}
        used = {name for tensor in self.inputs + self.outputs for dim in tensor.dims or () for name in dim.names}
        self.names = sorted(used | {name for formula in (self.pre, self.post) if formula for name in formula.names})
        self.free = [name for name in self.names if name not in bound]  # have their values from the object, or from arguments

    def look_at(self, tensor, given, sizes):
        """One tensor. Finds the sizes that its names stand for."""
        shown = f"`{tensor.name}`" if tensor.name else "the result"
        if not hasattr(given, "shape") or not hasattr(given, "dtype"):
            raise _Violation(tensor.name, f"{shown} is {type(given).__name__}, and is specified as {tensor}")
        if _element_of(given) not in ELEMENTS[tensor.element]:
            raise _Violation(tensor.name, f"{shown} has the type {_element_of(given)}, and is specified as {tensor}")
        if tensor.dims is None:
            return
        shape, dims = tuple(given.shape), list(tensor.dims)
        begins = f"{shown} is {_shape_text(given)}, and is specified as {tensor}"
        if tensor.rest is not None:
            rest = len(shape) - (len(dims) - 1)
            if rest < 0:
                raise _Violation(tensor.name, f"{begins}: it has too few dimensions")
            middle = shape[tensor.rest:tensor.rest + rest]
            name = ".." + dims[tensor.rest].text
            if sizes.setdefault(name, middle) != middle:
                raise _Violation(tensor.name, f"{begins}: `{name}` is {list(middle)} here, and was {list(sizes[name])}")
            del dims[tensor.rest]
            shape = shape[:tensor.rest] + shape[tensor.rest + rest:]
        if len(shape) != len(dims):
            raise _Violation(tensor.name, f"{begins}: it has {len(shape)} dimensions, not {len(dims)}")
        for axis, (size, dim) in enumerate(zip(shape, dims)):
            if dim.is_name and dim.text not in sizes:
                sizes[dim.text] = size
                continue
            missing = [name for name in dim.names if name not in sizes]
            if missing:
                raise UsageError(f"`{missing[0]}` in `{dim.text}` is not known ({self.place}): a name has its size from an earlier "
                                 "dimension, from an attribute of the module, or from an argument")
            try:
                value = dim.value(sizes)
            except ZeroDivisionError:
                raise _Violation(tensor.name, f"{begins}: {dim.text} divides by 0") from None
            if value != size:
                said = f"{dim.text} is {value}" if dim.number is None else f"{value} is specified"
                raise _Violation(tensor.name, f"{begins}: dimension {axis} is {size}, and {said}")

    def look_at_condition(self, word, formula, sizes):
        missing = [name for name in formula.names if name not in sizes]
        if missing:
            raise UsageError(f"`{missing[0]}` in `{word} {formula.text}` is not known ({self.place})")
        try:
            holds = formula.value(sizes)
        except ZeroDivisionError:
            raise _Violation(word, f"`{word} {formula.text}` divides by 0") from None
        if not holds:
            raise _Violation(word, f"`{word} {formula.text}` does not hold")


def _no():
    return False


def _compiling():
    """What says whether PyTorch traces: then sizes are no numbers, and nothing is looked at."""
    torch = sys.modules.get("torch")
    return torch.compiler.is_compiling if torch is not None else _no


class _Checked:
    """A function with its specification, and what was found right before."""

    def __init__(self, function, specification):
        self.function, self.specification = function, specification
        declared = inspect.signature(function).parameters
        parameters = list(declared)
        unknown = [tensor.name for tensor in specification.inputs if tensor.name not in parameters]
        if unknown:
            raise UsageError(f"`{function.__qualname__}` has no parameter `{unknown[0]}` ({specification.place}); it has "
                             + ", ".join(parameters))
        self.defaults = {name: parameter.default for name, parameter in declared.items()}
        by_name = {name for name, parameter in declared.items() if parameter.kind is inspect.Parameter.KEYWORD_ONLY}
        place = {name: _NOWHERE if name in by_name else at for at, name in enumerate(parameters)}
        self.at = [(place[tensor.name], tensor.name) for tensor in specification.inputs]
        self.has_object = bool(parameters) and parameters[0] not in [tensor.name for tensor in specification.inputs]
        self.arguments = [(place[name], name) for name in specification.names if name in parameters]
        self.known = {}  # by shapes and types of the inputs: those of the results

    def given(self, args, kwargs, places):
        return [args[at] if at < len(args) else kwargs.get(name, self.defaults[name]) for at, name in places]

    def numbers(self, args, kwargs):
        """Values of names that no shape has: attributes of the object, and arguments."""
        numbers = {}
        own = getattr(args[0], "__dict__", None) if self.has_object and args else None
        if own is not None:
            kind = type(args[0])
            values = ((name, own[name] if name in own else getattr(kind, name, None)) for name in self.specification.names)
            numbers = {name: value for name, value in values if type(value) is int}
        for (_, name), value in zip(self.arguments, self.given(args, kwargs, self.arguments)):
            if type(value) is int:
                numbers[name] = value
        return numbers

    def call(self, args, kwargs):
        tensors = self.given(args, kwargs, self.at)
        try:
            key = (*[(tensor.shape, tensor.dtype) for tensor in tensors], *self.numbers(args, kwargs).items())
            results = self.known.get(key)
        except (AttributeError, TypeError):  # no tensors, or sizes that are no numbers
            key = results = None
        if results is None:
            sizes = self.look_at_inputs(tensors, args, kwargs)
        out = self.function(*args, **kwargs)
        several = out if type(out) is tuple else (out,)
        try:
            made = tuple([(tensor.shape, tensor.dtype) for tensor in several])
            if results is not None and made in results:
                return out
        except (AttributeError, TypeError):
            made = None
        if results is not None:
            sizes = self.look_at_inputs(tensors, args, kwargs)
        self.look_at_outputs(out, sizes)
        if key is not None and made is not None:
            if len(self.known) >= _MOST_KNOWN:
                self.known.clear()
            self.known.setdefault(key, set()).add(made)
        return out

    def look_at_inputs(self, tensors, args, kwargs):
        sizes = self.numbers(args, kwargs)
        try:
            for tensor, given in zip(self.specification.inputs, tensors):
                self.specification.look_at(tensor, given, sizes)
            if self.specification.pre is not None:
                self.specification.look_at_condition("pre", self.specification.pre, sizes)
        except _Violation as violation:
            raise self.error(violation, sizes) from None
        return sizes

    def look_at_outputs(self, out, sizes):
        wanted = self.specification.outputs
        try:
            several = out if isinstance(out, (tuple, list)) and len(wanted) > 1 else (out,)
            if len(several) != len(wanted):
                raise _Violation("", f"there is {len(several)} result, and {len(wanted)} are specified")
            for tensor, given in zip(wanted, several):
                self.specification.look_at(tensor, given, sizes)
            if self.specification.post is not None:
                self.specification.look_at_condition("post", self.specification.post, sizes)
        except _Violation as violation:
            raise self.error(violation, sizes) from None

    def error(self, violation, sizes):
        specification, called = self.specification, _place(_calling_frame())
        known = ", ".join(f"{name} = {list(size) if isinstance(size, tuple) else size}" for name, size in sizes.items())
        message = (f"{self.function.__qualname__}: {violation}" + (f" (with {known})" if known else "")
                   + f"\n  called at {called}\n  specified at {specification.place}: {specification.text}")
        return SpecificationError(message, violation.name, dict(sizes), specification.place, called)


def spec(text, *, pre=None, post=None):
    """Decorates `forward` of a module, or a function: its tensors have the shapes of `text`, in the notation of the language.

        @tbem.spec("image: tensor[b, 3, h, w] -> tensor[b, classes]", pre="h mod 32 = 0 and w mod 32 = 0")
        def forward(self, image): ..

    A name stands for one size in all of a call. One that is an attribute of `self`, or an argument, with a whole number has that
    value. `pre` is of the inputs, `post` of the results too. What is not as it should be raises SpecificationError. Under
    `python -O`, and while PyTorch traces (torch.compile, torch.export), nothing is looked at.
    """
    place = _place(sys._getframe(1))
    specification = Specification(text, pre, post, place)

    def decorate(function):
        checked = _Checked(function, specification)
        if not __debug__:
            function.__tbem_specification__ = specification
            return function
        call, compiling = checked.call, None

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            nonlocal compiling
            if compiling is None or compiling is _no:
                compiling = _compiling()
            if compiling():
                return function(*args, **kwargs)
            return call(args, kwargs)

        wrapper.__tbem_specification__ = specification
        return wrapper

    return decorate
