#!/usr/bin/env python3
"""Assembles PTX for cards of six compute capabilities: usage: assembled.py PTXAS FILE.ptx...

Prints for each capability how many kernels there are, and the most registers and bytes of shared memory that one takes; a kernel that
keeps registers in memory (spills) or that ptxas warns of fails. `--registers` prints each kernel's of all capabilities.
"""
import argparse
import concurrent.futures
import re
import subprocess
import sys

CAPABILITIES = [75, 80, 86, 89, 90, 100]
ENTRY = re.compile(r"Compiling entry function '(\S+)' for")
USED = re.compile(r"Used (\d+) registers")
SHARED = re.compile(r"(\d+) bytes smem")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")


def assemble(ptxas, path, capability):
    """Of each kernel: registers, bytes of shared memory, bytes of stack and spills."""
    done = subprocess.run([ptxas, f"-arch=sm_{capability}", "-v", path, "-o", "/dev/null"], capture_output=True, text=True)
    if done.returncode != 0 or "warning" in done.stderr:
        raise RuntimeError(f"{path} for sm_{capability}:\n{done.stderr}")
    kernels, name, stack = {}, None, None
    for line in done.stderr.splitlines():
        if entry := ENTRY.search(line):
            name = entry[1]
        elif spills := SPILLS.search(line):
            stack = sum(map(int, spills.groups()))
        elif used := USED.search(line):
            shared = SHARED.search(line)
            kernels[name] = int(used[1]), int(shared[1]) if shared else 0, stack
    return kernels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--registers", action="store_true")
    parser.add_argument("ptxas")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    tasks = [(path, capability) for capability in CAPABILITIES for path in options.files]
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        answers = list(workers.map(lambda task: assemble(options.ptxas, *task), tasks))
    bad, by_kernel = [], {}
    for capability in CAPABILITIES:
        kernels = {(path, name): used for (path, at), answer in zip(tasks, answers) if at == capability for name, used in answer.items()}
        for place, used in kernels.items():
            by_kernel.setdefault(place, {})[capability] = used[0]
            if used[2]:
                bad.append(f"{place[1]} of {place[0]} keeps {used[2]} bytes of registers in memory on sm_{capability}")
        if not kernels:
            bad.append(f"no kernel for sm_{capability}")
        registers, shared = (max(used[k] for used in kernels.values()) for k in (0, 1))
        print(f"sm_{capability}: {len(kernels)} kernels, at most {registers} registers and {shared} bytes of shared memory")
    if options.registers:
        for (path, name), used in by_kernel.items():
            print(path.rsplit("/", 1)[-1], name, *(used[capability] for capability in CAPABILITIES))
    print("\n".join(bad) or "no spills")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
