"""PyTorch's own caching allocator under random histories, without a card: its counters, and its snapshots, against ours.

  compare_allocator.py COUNT [--seed N] [--histories FILE] [--snapshots FOLDER] [--check prop_allocator] [--tbemc tbemc]
  compare_allocator.py 0 --steps FILE --out SNAPSHOT [--options TEXT] [--capacity BYTES]

Needs a Python with torch built for CUDA (its nvidia packages bring the headers) and g++. standin.cpp plays the card. Histories are
those of test/prop/allocator/traces.py; FILE gets them with the counters after each event, in the form of model.py there, and
`--check` runs the program that compares them with ours. FOLDER gets a snapshot a history, as _dump_snapshot writes it; `--tbemc`
replays each: the verdict must be `equal`. The second form makes a snapshot of a network's steps (record_step.py), with the Python
frames of this file.
"""
import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "prop" / "allocator"))
import traces  # noqa: E402

KEPT = []  # allocators: the process ends before its pools are taken down, which PyTorch minds while they are in use
BASE = 0x7f0000000000  # the stand-in's first address; 1 << 40 in the histories


def build(folder):
    import torch
    nvidia = pathlib.Path(torch.__file__).resolve().parents[1] / "nvidia"  # packages of CUDA 13 share a folder; of CUDA 12 each has its own
    include = [f"-I{folder}" for folder in sorted(nvidia.glob("*/include"))]
    library = pathlib.Path(folder) / "libstandin.so"
    subprocess.run(["g++", "-O1", "-std=c++20", "-shared", "-fPIC", *include, str(HERE / "standin.cpp"), str(HERE / "standin_compute.cpp"), "-o", str(library)], check=True)
    for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
        (pathlib.Path(folder) / name).symlink_to(library)
    return {**os.environ, "PYTHONWARNINGS": "ignore", "LD_PRELOAD": str(library), "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}


def on_standin(capability):
    """Goes on beside a card that is not there, of this major compute capability: where this process does not, it ends with the status of
    one that does, of the same program."""
    if "STANDIN_MAJOR" in os.environ:
        return
    with tempfile.TemporaryDirectory() as folder:
        status = subprocess.run([sys.executable, *sys.argv], env={**build(folder), "STANDIN_MAJOR": str(capability)}).returncode
    sys.exit(status)


class Allocator:
    """PyTorch's allocator on the stand-in, in this process."""

    def __init__(self, options, capacity, total, history=False, reuse=False, frames=False):
        import torch
        self.torch, self.card = torch, ctypes.CDLL(None)
        os.environ["STANDIN_TOTAL"] = str(total)
        self.card.standin_set.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int]
        self.card.standin_set(capacity, total, int(reuse))
        torch._C._accelerator_setAllocatorSettings(options)
        torch.cuda.init()
        if history:
            torch.cuda.memory._record_memory_history(enabled="all", context="all" if frames else None, stacks="python", max_entries=1_000_000)
        self.streams = [torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
        self.pools, self.alive, self.pending, self.done = {}, {}, [], []

    def empty(self, count, pool):
        if not pool:
            return self.torch.empty(count, dtype=self.torch.uint8, device="cuda")
        if pool not in self.pools:
            self.pools[pool] = self.torch.cuda.MemPool()
        with self.torch.cuda.use_mem_pool(self.pools[pool]):
            return self.torch.empty(count, dtype=self.torch.uint8, device="cuda")

    def allocate(self, ident, count, stream, pool):
        try:
            with self.torch.cuda.stream(self.streams[stream]):
                self.alive[ident] = self.empty(count, pool)
            return self.alive[ident].data_ptr() - BASE + (1 << 40)
        except self.torch.OutOfMemoryError:
            return 0

    def line(self, address):
        s = self.torch.cuda.memory_stats()
        gauges = " ".join(f"{s[k + '.all.current']} {s[k + '.all.peak']}" for k in ("requested_bytes", "allocated_bytes", "active_bytes", "reserved_bytes", "segment"))
        return f"= {gauges} {s['num_device_alloc']} {s['num_device_free']} {s['num_alloc_retries']} {s['num_ooms']} {address}"

    def run(self, events):
        """The lines of model.py."""
        for event in events:
            if event[0] == "A":  # only now does the allocator look whether other streams are done
                yield from (f"D {ident}" for ident in self.done)
                self.done = []
                yield "A " + " ".join(map(str, event[1:]))
                yield self.line(self.allocate(*event[1:]))
            elif event[0] == "D":
                self.card.standin_complete()
                self.done += self.pending
                self.pending = []
            elif event[0] == "E":
                self.torch.cuda.empty_cache()
                self.done, self.pending = [], []
                yield "E"
                yield self.line(0)
            elif event[1] in self.alive:
                tensor = self.alive.pop(event[1])
                if event[0] == "R":
                    tensor.record_stream(self.streams[event[2]])
                    self.pending.append(event[1])
                del tensor
                yield f"{event[0]} {event[1]}"
                yield self.line(0)


def in_child(work):
    """Each history begins with a fresh process."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        os._exit(status)
    status = os.waitpid(child, 0)[1]
    if status:
        sys.exit(f"a history failed: wait status {status}")


def record(number, histories, snapshots):
    options, capacity, total, events = traces.trace(number, pools=not snapshots)
    allocator = Allocator(options, capacity, total, history=bool(snapshots), reuse=bool(snapshots))
    KEPT.append(allocator)
    lines = [f"T {capacity} {total} {options or '-'}", *allocator.run(events)]
    if histories:
        with open(histories, "a") as file:
            file.write("\n".join(lines) + "\n")
    if snapshots:
        allocator.torch.cuda.memory._dump_snapshot(os.path.join(snapshots, f"{number}.pickle"))
        with open(os.path.join(snapshots, f"{number}.json"), "w") as file:
            json.dump({"capacity": capacity, "total": total, "last": lines[-1]}, file)


def record_steps(steps, options, capacity, out):
    allocator = Allocator(options, capacity, capacity, history=True, reuse=True, frames=True)
    KEPT.append(allocator)
    made = 0
    for line in pathlib.Path(steps).read_text().splitlines():
        if line[0] == "+":
            allocator.allocate(made, int(line), 0, 0)
            made += 1
        else:
            allocator.alive.pop(-int(line), None)
    allocator.torch.cuda.memory._dump_snapshot(out)


def replay(tbemc, snapshots):
    counts = {}
    for path in sorted(pathlib.Path(snapshots).glob("*.pickle")):
        about = json.loads(path.with_suffix(".json").read_text())
        done = subprocess.run([tbemc, "replay", str(path), "--json", "--quiet", "--capacity", str(about["capacity"]), "--card", str(about["total"])],
                              capture_output=True, text=True)
        try:
            check = json.loads(done.stdout.splitlines()[0])["check"]
        except (ValueError, IndexError):
            check = {"verdict": f"status {done.returncode}: {done.stderr.strip()}"}
        counts[check["verdict"]] = counts.get(check["verdict"], 0) + 1
        if check["verdict"] != "equal":
            print(path, json.dumps(check))
    print(f"{sum(counts.values())} snapshots:", counts)
    return set(counts) == {"equal"}


def main():
    ask = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ask.add_argument("count", type=int)
    ask.add_argument("--seed", type=int, default=1)
    ask.add_argument("--histories")
    ask.add_argument("--snapshots")
    ask.add_argument("--check")
    ask.add_argument("--tbemc")
    ask.add_argument("--steps")
    ask.add_argument("--options", default="")
    ask.add_argument("--capacity", type=int, default=1 << 36)
    ask.add_argument("--out")
    ask.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    a = ask.parse_args()
    if a.inside:
        import torch  # noqa: F401  before the forks
        if a.steps:
            in_child(lambda: record_steps(a.steps, a.options, a.capacity, a.out))
        for number in range(a.seed, a.seed + a.count):
            in_child(lambda: record(number, a.histories, a.snapshots))
        return
    with tempfile.TemporaryDirectory() as folder:
        histories = a.histories or os.path.join(folder, "histories.txt")
        pathlib.Path(histories).unlink(missing_ok=True)
        snapshots = a.snapshots or (os.path.join(folder, "snapshots") if a.tbemc else None)
        if snapshots:
            os.makedirs(snapshots, exist_ok=True)
        command = [sys.executable, __file__, "--inside", *sys.argv[1:], "--histories", histories]
        subprocess.run(command + (["--snapshots", snapshots] if snapshots else []), env=build(folder), check=True)
        good = True
        if a.check:
            good = subprocess.run([a.check, "--gtest_filter=PyTorch.*"], env={**os.environ, "TBEM_ALLOCATOR_HISTORIES": histories}).returncode == 0
        if a.tbemc:
            good = replay(a.tbemc, snapshots) and good
        sys.exit(not good)


if __name__ == "__main__":
    main()
