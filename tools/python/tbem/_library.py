"""libtbem.so.0 by ctypes: its functions with their types, and where it is."""
import ctypes
import os
from ctypes import POINTER, Structure, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p

_ABI = 1


class Settings(Structure):
    _fields_ = [("size", c_uint32), ("module_count", c_uint32), ("modules", POINTER(c_char_p)), ("stdlib", c_char_p),
                ("cache", c_char_p)]


class Option(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class TensorInfo(Structure):
    _fields_ = [("size", c_uint32), ("flags", c_uint32), ("name", c_char_p), ("dtype", c_char_p), ("shape", POINTER(c_int64)),
                ("rank", c_int32), ("bytes", c_uint64), ("copied_in", c_char_p), ("copied_out", c_char_p)]


class DLDevice(Structure):
    _fields_ = [("device_type", c_int32), ("device_id", c_int32)]


class DLDataType(Structure):
    _fields_ = [("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16)]


class DLTensor(Structure):
    _fields_ = [("data", c_void_p), ("device", DLDevice), ("ndim", c_int32), ("dtype", DLDataType), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


class DLManagedTensor(Structure):
    _fields_ = [("dl_tensor", DLTensor), ("manager_ctx", c_void_p), ("deleter", c_void_p)]


class DLManagedTensorVersioned(Structure):
    _fields_ = [("major", c_uint32), ("minor", c_uint32), ("manager_ctx", c_void_p), ("deleter", c_void_p), ("flags", c_uint64),
                ("dl_tensor", DLTensor)]


READ_ONLY = 1
SHARE, COPY = 0, 1
_DELETER = ctypes.CFUNCTYPE(None, c_void_p)


def release(pointer, kind):
    """Calls the deleter of the managed tensor at this address. `kind`: DLManagedTensor or DLManagedTensorVersioned."""
    deleter = kind.from_address(pointer).deleter
    if deleter:
        _DELETER(deleter)(pointer)


def _path():
    """Beside this file, where a wheel puts it; TBEM_LIBRARY names another."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libtbem.so.0")
    path = os.environ.get("TBEM_LIBRARY") or here
    if not os.path.exists(path):
        raise ImportError(f"there is no {path}: install a wheel of tbem (tools/python/build_wheel makes one), or let TBEM_LIBRARY "
                          "name libtbem.so.0 of a build (tools/build ci tbem makes build/ci/lib/libtbem.so.0)")
    return path


_QUESTION = [c_void_p, POINTER(Option), c_size_t, POINTER(c_void_p)]
_FUNCTIONS = {
    "tbem_abi": (c_uint32, []),
    "tbem_version": (c_char_p, []),
    "tbem_session_new": (c_int, [POINTER(Settings), POINTER(c_void_p)]),
    "tbem_session_free": (None, [c_void_p]),
    "tbem_session_error": (c_char_p, [c_void_p]),
    "tbem_load": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t]),
    "tbem_import": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t, POINTER(c_void_p)]),
    "tbem_session_text": (c_char_p, [c_void_p]),
    "tbem_check": (c_int, _QUESTION),
    "tbem_estimate": (c_int, _QUESTION),
    "tbem_fit": (c_int, _QUESTION),
    "tbem_what_if": (c_int, _QUESTION),
    "tbem_spec": (c_int, _QUESTION),
    "tbem_result_free": (None, [c_void_p]),
    "tbem_result_json": (c_char_p, [c_void_p]),
    "tbem_result_error": (c_char_p, [c_void_p]),
    "tbem_result_notes": (c_char_p, [c_void_p]),
    "tbem_step_new": (c_int, [c_void_p, POINTER(Option), c_size_t, POINTER(c_void_p), POINTER(c_void_p)]),
    "tbem_step_free": (None, [c_void_p]),
    "tbem_step_error": (c_char_p, [c_void_p]),
    "tbem_step_tensor_count": (c_size_t, [c_void_p]),
    "tbem_step_tensor": (c_int, [c_void_p, c_size_t, POINTER(TensorInfo)]),
    "tbem_step_set": (c_int, [c_void_p, c_char_p, c_void_p, c_int]),
    "tbem_step_set_versioned": (c_int, [c_void_p, c_char_p, c_void_p, c_int]),
    "tbem_step_get_versioned": (c_int, [c_void_p, c_char_p, c_int, POINTER(c_void_p)]),
    "tbem_share_tensor": (c_int, [c_void_p, POINTER(c_void_p)]),
    "tbem_share_tensor_versioned": (c_int, [c_void_p, POINTER(c_void_p)]),
    "tbem_step_run": (c_int, [c_void_p, c_uint32, POINTER(c_void_p)]),
}


def _load():
    library = ctypes.CDLL(_path())
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    if library.tbem_abi() != _ABI:
        raise ImportError(f"{_path()} has the interface {library.tbem_abi()}, this package is for {_ABI}: they are of one wheel or build")
    return library


c = _load()


def version():
    return c.tbem_version().decode()


def _text(value):
    if isinstance(value, (list, tuple)):
        return ",".join(str(each) for each in value)
    return str(value)


def _values(name, value):
    """The values of an option that is given as a Python value: one text each time that it stands on a command line."""
    if value is True:
        return [None]
    if value is None or value is False:
        return []
    if isinstance(value, dict):
        pairs = [f"{key}={_text(each)}" for key, each in value.items()]
        return pairs if name == "input" else [",".join(pairs)]
    if isinstance(value, (list, tuple)):
        return [str(each) for each in value]
    return [str(value)]


def options_of(keywords):
    """Keyword arguments as tbem_option: `keep_gradients=True`, `input={"x": (5, 3)}`, `at={"batch": 4}`."""
    pairs = [(word.replace("_", "-"), value) for word, given in keywords.items() for value in _values(word, given)]
    return (Option * len(pairs))(*[Option(name.encode(), None if value is None else value.encode()) for name, value in pairs])
