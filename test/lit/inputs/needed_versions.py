"""What programs that are carried to other machines need of the system there: at most what Ubuntu 22.04 has.

usage: needed_versions.py FOLDER, of the programs; with the libraries that are carried with them
"""
import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
MOST = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13)}


def gpu_tool():
    loader = importlib.machinery.SourceFileLoader("gpu_tool", str(ROOT / "tools" / "gpu"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_tool", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def needed(binary):
    """(library, version) of the symbols that it takes from elsewhere."""
    symbols = subprocess.run(["objdump", "-T", binary], check=True, capture_output=True, text=True).stdout
    for name, version in set(re.findall(r"\*UND\*.*\((\w+?)_([0-9.]+)\)", symbols)):
        yield name, tuple(map(int, version.split(".")))


def main():
    tool, folder = gpu_tool(), pathlib.Path(sys.argv[1])
    programs = [folder / name for name in tool.PROGRAMS if (folder / name).exists()]
    binaries = {*programs, *(library for program in programs for library in tool.libraries_of(program))}
    newer = sorted((str(binary), name, version) for binary in binaries for name, version in needed(binary)
                   if version > MOST.get(name, version))
    for binary, name, version in newer:
        print(f"{binary} needs {name} {'.'.join(map(str, version))}")
    print(f"{len(programs)} programs and {len(binaries) - len(programs)} libraries, {len(newer)} need something newer")
    sys.exit(1 if newer else 0)


if __name__ == "__main__":
    main()
