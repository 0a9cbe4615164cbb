"""Steps, and their tensors by DLPack."""
import ctypes
import json
from ctypes import byref, c_char_p, c_void_p, sizeof

from . import _errors
from ._library import (COPY, READ_ONLY, SHARE, DLManagedTensor, DLManagedTensorVersioned, TensorInfo, c, release)

# Names of capsules. The API keeps the pointers: they live as long as this module.
_PLAIN, _VERSIONED = c_char_p(b"dltensor"), c_char_p(b"dltensor_versioned")
_USED = {b"dltensor": c_char_p(b"used_dltensor"), b"dltensor_versioned": c_char_p(b"used_dltensor_versioned")}
_KINDS = {b"dltensor": DLManagedTensor, b"dltensor_versioned": DLManagedTensorVersioned}

_DESTRUCTOR = ctypes.CFUNCTYPE(None, c_void_p)


def _api(name, result, *arguments):
    """A function of Python's C API with types of its own: others use the same functions with theirs."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_new = _api("PyCapsule_New", ctypes.py_object, c_void_p, c_char_p, c_void_p)
_name = _api("PyCapsule_GetName", c_char_p, ctypes.py_object)
_pointer = _api("PyCapsule_GetPointer", c_void_p, ctypes.py_object, c_char_p)
_rename = _api("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, c_char_p)
# Of a capsule that is being destroyed, which must not be held again.
_dying_name = _api("PyCapsule_GetName", c_char_p, c_void_p)
_dying_pointer = _api("PyCapsule_GetPointer", c_void_p, c_void_p, c_char_p)


@_DESTRUCTOR
def _destroy(capsule):
    """Of a capsule that nobody took the tensor of."""
    name = _dying_name(capsule)
    if name in _KINDS:
        release(_dying_pointer(capsule, name), _KINDS[name])


def _capsule(pointer, name):
    return _new(pointer, name, ctypes.cast(_destroy, c_void_p))


_TYPES = {(2, 64): "f64", (2, 32): "f32", (2, 16): "f16", (4, 16): "bf16", (0, 64): "i64", (0, 32): "i32", (0, 8): "i8",
          (1, 8): "u8", (6, 8): "bool"}
_ARRAY_TYPES = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "i64": "<i8", "i32": "<i4", "i8": "|i1", "u8": "|u1", "bool": "|b1"}


class Tensor:
    """A tensor of a step: numpy.from_dlpack and torch.from_dlpack take it without a copy. It keeps its memory, also behind its
    step. `numpy.asarray` gives an array that can be written to with every NumPy."""

    def __init__(self, pointer):
        self._pointer = pointer
        managed = DLManagedTensorVersioned.from_address(pointer)
        tensor = managed.dl_tensor
        self.shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
        self.strides = tuple(tensor.strides[k] for k in range(tensor.ndim))  # in elements
        self.dtype = _TYPES[(tensor.dtype.code, tensor.dtype.bits)]
        self.itemsize = tensor.dtype.bits // 8
        self.pointer = (tensor.data or 0) + tensor.byte_offset
        self.readonly = bool(managed.flags & READ_ONLY)

    def __del__(self):
        if getattr(self, "_pointer", None):
            release(self._pointer, DLManagedTensorVersioned)
            self._pointer = None

    def __repr__(self):
        return f"<tbem.Tensor {self.dtype}{list(self.shape)}>"

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device not in (None, (1, 0)):
            raise BufferError(f"the tensor is on the CPU (1, 0), not on {dl_device}")
        if copy:
            raise BufferError("the tensor is given as it lies: `Step.get(name, copy=True)` copies")
        versioned = max_version is not None and max_version[0] >= 1
        share = c.tbem_share_tensor_versioned if versioned else c.tbem_share_tensor
        out = c_void_p()
        outcome = share(self._pointer, byref(out))
        if outcome == _errors.USAGE:
            raise BufferError("the tensor is read-only, which only DLPack's versioned tensors say")
        if outcome != _errors.DONE:
            raise _errors.exception_of(outcome, "the tensor cannot be given")
        return _capsule(out, _VERSIONED if versioned else _PLAIN)

    @property
    def __array_interface__(self):
        if self.dtype not in _ARRAY_TYPES:
            raise AttributeError(f"NumPy has no {self.dtype}")
        return {"version": 3, "shape": self.shape, "typestr": _ARRAY_TYPES[self.dtype], "data": (self.pointer, self.readonly),
                "strides": tuple(stride * self.itemsize for stride in self.strides)}

    def item(self):
        """The number of a tensor that has one."""
        if self.dtype not in ("f64", "f32", "i64", "i32") or any(size != 1 for size in self.shape):
            raise ValueError(f"{self!r} is not one number of a type that Python has")
        kind = {"f64": ctypes.c_double, "f32": ctypes.c_float, "i64": ctypes.c_int64, "i32": ctypes.c_int32}[self.dtype]
        return kind.from_address(self.pointer).value


class Step:
    """A row of a program, compiled. One thread at a time uses it."""

    def __init__(self, pointer, result):
        self._pointer = pointer
        self.notes = result.notes
        self.result = None  # of the last run: the object of kind `step`

    def __del__(self):
        if getattr(self, "_pointer", None):
            c.tbem_step_free(self._pointer)
            self._pointer = None

    def __repr__(self):
        return f"<tbem.Step of {len(self.names)} tensors>"

    def _infos(self):
        for number in range(c.tbem_step_tensor_count(self._pointer)):
            info = TensorInfo(size=sizeof(TensorInfo))
            self._look(c.tbem_step_tensor(self._pointer, number, byref(info)))
            yield info

    @property
    def names(self):
        """Of its tensors: input/x, target, weight/PATH, .., gradient/PATH, output, loss."""
        return [info.name.decode() for info in self._infos()]

    def describe(self):
        """Its tensors, each as a dict; `copied_in`, `copied_out`: why one cannot be shared, "" where it can."""
        return [{"name": info.name.decode(), "dtype": info.dtype.decode(), "shape": tuple(info.shape[: info.rank]),
                 "bytes": info.bytes, "begins": bool(info.flags & 1), "copied_in": info.copied_in.decode(),
                 "copied_out": info.copied_out.decode()} for info in self._infos()]

    def set(self, name, tensor, *, copy=False):
        """Begins with this tensor from now on: anything on the CPU with `__dlpack__`. It is read where it lies, in every run; or
        copied, with copy=True, which weights and buffers need. `name`: an input's own name is enough."""
        capsule = _given(tensor)
        kind = _name(capsule)
        if kind not in _KINDS:
            raise _errors.UsageError(f"`{name}`: __dlpack__ gave a capsule that is called {kind}, not dltensor")
        function = c.tbem_step_set if kind == b"dltensor" else c.tbem_step_set_versioned
        self._look(function(self._pointer, self._full(name), _pointer(capsule, kind), COPY if copy else SHARE), name)
        _rename(capsule, _USED[kind])  # the step has it

    def get(self, name, *, copy=False):
        """A Tensor: the step's own memory, which the next run changes, or with copy=True one of its own."""
        out = c_void_p()
        self._look(c.tbem_step_get_versioned(self._pointer, self._full(name), COPY if copy else SHARE, byref(out)), name)
        return Tensor(out.value)

    __getitem__ = get

    def run(self, steps=1):
        """Runs it so many times more. Returns what it came to: the object of kind `step` (loss, seconds, ..)."""
        result = c_void_p()
        outcome = c.tbem_step_run(self._pointer, steps, byref(result))
        line = c.tbem_result_json(result).decode() if result else ""
        if result:
            c.tbem_result_free(result)
        self._look(outcome)
        self.result = json.loads(line)
        return self.result

    def _full(self, name):
        names = self.names
        return (f"input/{name}" if name not in names and f"input/{name}" in names else name).encode()

    def _look(self, outcome, name=None):
        if outcome == _errors.DONE:
            return
        message = c.tbem_step_error(self._pointer).decode()
        if "a copy would be needed" in message:
            message += " (copy=True copies)"
        raise _errors.exception_of(outcome, message)


def _given(tensor):
    """Its capsule, of the newest version that both know."""
    if not hasattr(tensor, "__dlpack__"):
        raise _errors.UsageError(f"{type(tensor).__name__} has no __dlpack__: give a tensor of NumPy, PyTorch or another that has")
    try:
        return tensor.__dlpack__(max_version=(1, 0))
    except TypeError:  # from before the versions
        return tensor.__dlpack__()
