"""What programs that are carried to other machines need of the system there: at most what Ubuntu 22.04 has. And that one which is put
beside its libraries starts there, from whichever folder.

usage: carried.py PROGRAMS FOLDER: the folder of the programs, and one to carry them to
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
MOST = {"GLIBC": (2, 35), "GLIBCXX": (3, 4, 30), "CXXABI": (1, 3, 13)}


def gpu_tool():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("gpu_tool", str(ROOT / "tools" / "gpu"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_tool", loader))
    loader.exec_module(module)
    return module


def headers(binary):
    return subprocess.run(["objdump", "-p", binary], check=True, capture_output=True, text=True).stdout


def needed(binary):
    """The versions that it asks of the system's libraries, those too that no symbol bears."""
    references = headers(binary).partition("Version References:")[2]
    return set(re.findall(r"^ +0x[0-9a-f]+ 0x[0-9a-f]+ +[0-9]+ (\S+)", references, re.MULTILINE))


def is_newer(version):
    name, _, number = version.partition("_")
    if name not in MOST:
        return False
    return not re.fullmatch(r"[0-9.]+", number) or tuple(map(int, number.split("."))) > MOST[name]


def start(tool, program, folder):
    """Carries a program, and says its version there, with nothing of this machine's but the system's libraries."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "lib").mkdir(parents=True)
    for library in tool.libraries_of(program):
        shutil.copy(library.resolve(), folder / "lib" / library.name)
    carried = folder / program.name
    shutil.copy(program, carried)
    tool.end_path(carried)
    paths = re.findall(r"^ +R(?:UN)?PATH +(.*)$", headers(carried), re.MULTILINE)
    assert paths == ["$ORIGIN/lib"], paths
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LD_")}
    loaded = subprocess.run(["ldd", carried], check=True, capture_output=True, text=True, cwd="/", env=environment).stdout
    for library in (folder / "lib").iterdir():
        assert f"=> {library}" in loaded, (library, loaded)
    return subprocess.run([carried, "--version"], check=True, capture_output=True, text=True, cwd="/", env=environment).stdout


def main():
    tool, folder = gpu_tool(), pathlib.Path(sys.argv[1])
    programs = [folder / name for name in tool.PROGRAMS if (folder / name).exists()]
    binaries = {*programs, *(library for program in programs for library in tool.libraries_of(program))}
    newer = sorted((str(binary), version) for binary in binaries for version in needed(binary) if is_newer(version))
    for binary, version in newer:
        print(f"{binary} needs {version}")
    assert all(any(version.startswith("GLIBC_") for version in needed(program)) for program in programs)
    print(f"{len(programs)} programs and {len(binaries) - len(programs)} libraries, {len(newer)} need something newer")
    print("carried:", start(tool, folder / "tbemc", pathlib.Path(sys.argv[2])), end="")
    shutil.rmtree(sys.argv[2])
    sys.exit(1 if newer else 0)


if __name__ == "__main__":
    main()
