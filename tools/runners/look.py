"""What this Python has, for tbemc: frameworks by the versions of their packages, without importing them, and the allocator.

`look.py PACKAGE...` prints {"version", "packages", "allocator"}; `look.py --card FRAMEWORK` imports a framework and prints
{"card", "why"}: the name of the CUDA device that it sees, or why it sees none.
"""
import json
import os
import platform
import sys

# A package that is installed under one of several names, according to what it computes on.
SAME = {"tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-rocm", "tf-nightly", "tf-nightly-cpu")}
# What changes how memory is taken, beside the C library itself.
SETTINGS = ("LD_PRELOAD", "MALLOC_ARENA_MAX", "MALLOC_CONF", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_TRIM_THRESHOLD_",
            "GLIBC_TUNABLES", "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "XLA_PYTHON_CLIENT_ALLOCATOR",
            "XLA_FLAGS", "TF_XLA_FLAGS", "TF_ENABLE_ONEDNN_OPTS", "TF_CPU_ALLOCATOR_USE_BFC")


def packages(names):
    from importlib import metadata
    found = {}
    for name in names:
        for called in SAME.get(name, (name,)):
            try:
                found[name] = metadata.version(called)
                break
            except metadata.PackageNotFoundError:
                continue
    return found


def allocator():
    parts = [" ".join(part for part in platform.libc_ver() if part) or "an unknown C library"]
    parts += [f"{name}={os.environ[name]}" for name in SETTINGS if os.environ.get(name)]
    return ", ".join(parts)


def card(framework):
    if framework != "pytorch":
        return {"card": "", "why": f"nothing is known here of cards in {framework}"}
    try:
        import torch
    except ImportError as error:
        return {"card": "", "why": str(error)}
    if torch.version.cuda is None:
        return {"card": "", "why": f"torch {torch.__version__} is built without CUDA"}
    if not torch.cuda.is_available():
        return {"card": "", "why": f"torch {torch.__version__} sees no CUDA device"}
    return {"card": torch.cuda.get_device_name(), "why": ""}


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--card"]:
        told = card(arguments[1])
    else:
        told = {"version": platform.python_version(), "packages": packages(arguments), "allocator": allocator()}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
