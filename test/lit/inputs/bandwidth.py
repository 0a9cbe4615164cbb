#!/usr/bin/env python3
"""How near fused loops come to a card's bandwidth, by a model: usage: bandwidth.py PTXAS FILE.ptx...

Beside each FILE.ptx, the kernels of a step, lies the step itself as FILE.ll, which says with how many channels a kernel that takes
channels (compiler/jit/nvptx/ChannelKernel.h) is launched: one that takes many elements of each counts once for each number of channels.

A kernel's threads go through its places in one loop; those of one that takes channels through several, each of which counts. A
multiprocessor's share of the bandwidth is reached where

- enough bytes are on their way (Little's law): those that the resident threads read and write in one turn, over the time until an
  answer comes. Resident are as many blocks of 256 threads, or of as many as the kernel says, as the registers that ptxas gives it leave
  room for; a kernel that takes many elements of each channel has no more blocks than channels;
- its four schedulers, one instruction of a warp a cycle each, issue the turn's instructions in time. PTX's are counted for those of
  the card, and a call of a division or a root for CALL of them. Of f64 a multiprocessor computes and converts fewer a cycle
  (CUDA C++ Programming Guide, table "Throughput of Native Arithmetic Instructions"), which takes as many turns as that is less.

Latencies are those of idle memory that Luo et al. measured (2024, "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture",
arXiv 2402.13499: 466 cycles on A100, 479 on H100, 542 on RTX 4090), taken half as long again for memory that is not idle; limits of
multiprocessors are those of std.devices. Prints for each card how many loops reach 85 % of its bandwidth, and why the others do
not, and how many sums over channels do, which are of f64. Fails where one that reads vectors lacks bytes on their way: for 85 %, or
where there are fewer blocks than multiprocessors for two thirds, since images are read from memory twice instead of three times then.
(What one that reads single numbers has on its way is less: rows that do not lie at multiples of 16 bytes, as 7 x 7 images.)
"""
import pathlib
import re
import sys

from assembled import assemble

THREADS = 256  # of a block (runtime/backends/cuda/Cuda.cpp), where the kernel does not say
BUSY = 1.5
MOST_THREADS = 1024  # of a block that takes many elements of a channel (ChannelWork.cpp)
DEVICES = pathlib.Path(__file__).resolve().parents[3] / "stdlib/devices"
# A card of each capability, by its record in std.devices: the cycles of its idle memory, results of f64 and conversions from and to f64
# of a multiprocessor a cycle.
CARDS = {"t4": (479, 2, 2), "a100": (466, 32, 16), "rtx3090": (466, 2, 2), "rtx4090": (542, 2, 2), "h200": (479, 64, 16),
         "b200": (479, 64, 16)}
LABEL = re.compile(r"^(\$L\w+):")
SAID = re.compile(r"\.reqntid (\d+)")
LAUNCH = re.compile(r"@tbem_rt_launch\(ptr [^,]+, i32 (\d+), ptr [^,]+, i32 \d+, i64 (\d+), i32 (\d+)\)")
BRANCH = re.compile(r"\bbra(?:\.uni)?\s+(\$L\w+);")
ACCESS = re.compile(r"\b(?:ld|st)\.global(?:\.nc)?(?:\.(v[24]))?\.[a-z](\d+)")
DEAR = re.compile(r"\b(div|rcp|sqrt)\.rn\.f32|\b(div|rcp|sqrt|rsqrt)\.\w+\.f64|\b(div|rem)\.[us](32|64)")
CONVERSION = re.compile(r"\bcvt\.(?:\w+\.)?(f64\.|\w+\.f64\b)")
WIDE = re.compile(r"\b(add|sub|mul|fma)\.(rn\.)?f64")
ISSUED = 4 * 32  # results of a multiprocessor's four schedulers a cycle
CALL = 10  # instructions of what ptxas writes for one of those


def fields(record):
    """The fields of a record of std.devices that are numbers or names, by name."""
    text = "".join(path.read_text(encoding="utf-8") for path in DEVICES.glob("*.tbem"))
    body = re.search(rf"^let {record} = {{(.*?)^}}", text, re.MULTILINE | re.DOTALL)[1]
    return dict(re.findall(r"(\w+): ([\w.]+)", body))


def cards():
    """Of each card: the capability, and what the model takes."""
    for name, (latency, wide, converted) in CARDS.items():
        card = fields(name)
        of_all = fields(card["architecture"])
        yield card["architecture"].removeprefix("sm_"), {
            "name": name.upper(), "multiprocessors": int(card["multiprocessors"]), "clock": int(card["clock"]) * 1e6,
            "bandwidth": int(card["bandwidth"]) * 1e9, "threads": int(of_all["threads_per_sm"]),
            "blocks": int(of_all["blocks_per_sm"]), "registers": int(of_all["registers_per_sm"]), "latency": latency,
            "wide": ISSUED // wide, "converted": ISSUED // converted}


def launched(path):
    """Of kernels that say how many threads a block has, by number: with how many blocks the step launches them, where that counts."""
    with open(path, encoding="utf-8") as file:
        launches = [tuple(map(int, found)) for found in LAUNCH.findall(file.read())]
    counts = {}
    for kernel, items, threads in launches:
        if threads:
            counts.setdefault(kernel, set()).add(items // threads if threads == MOST_THREADS else None)
    return counts


def loops(text, channels):
    """Of each kernel of PTX: None and the lines of its longest loop, of which there is one. Of one that takes channels, for each number of
    them that counts: (threads of a block, channels), and the lines of each of its innermost loops that read or write."""
    for part in text.split(".visible .entry ")[1:]:
        name = part.split("(")[0].strip()
        lines = [line.strip() for line in part.splitlines()]
        places = {match[1]: i for i, line in enumerate(lines) if (match := LABEL.match(line))}
        spans = [(places[match[1]], i) for i, line in enumerate(lines)
                 if (match := BRANCH.search(line)) and places.get(match[1], i) < i]
        said = SAID.search(part)
        if not said:
            begin, end = max(spans, key=lambda span: span[1] - span[0])
            yield name, None, lines[begin:end + 1]
            continue
        moving = [(begin, end) for begin, end in spans if any(ACCESS.search(line) for line in lines[begin:end + 1])]
        for begin, end in moving:
            body = lines[begin:end + 1]
            if not any(begin <= a and b <= end and (a, b) != (begin, end) for a, b in moving):
                for number in channels[int(name.rsplit("_", 1)[1])]:
                    yield name, (int(said[1]), number), body


def turn(lines):
    """Of a turn of a loop: bytes that a thread reads and writes beside its neighbours, instructions, those of f64 among them, conversions
    from and to it, and whether it takes vectors."""
    accesses = [match for line in lines if (match := ACCESS.search(line))]
    vectors = any(match[1] for match in accesses)
    # Where threads take vectors, what is read singly is one number for many of them, which is in the cache.
    moved = sum(int(match[2]) * int((match[1] or "v1")[1]) // 8 for match in accesses if match[1] or not vectors)
    instructions = sum(CALL if DEAR.search(line) else 1 for line in lines if line.endswith(";"))
    counted = [sum(bool(kind.search(line)) for line in lines) for kind in (WIDE, CONVERSION)]
    return moved, instructions, *counted, vectors


def resident(card, registers, threads):
    """Threads of a multiprocessor: a warp's registers are given in units of 256, and warps to four schedulers."""
    warp = (registers * 32 + 255) // 256 * 256
    warps = card["registers"] // warp // 4 * 4
    return min(warps * 32 // threads, card["threads"] // threads, card["blocks"]) * threads


def reached(card, registers, says, moved, cycles):
    """Shares of the bandwidth that bytes on their way and issued instructions allow, and the least that the former must."""
    threads, channels = says or (THREADS, None)
    share = card["bandwidth"] / card["multiprocessors"] / card["clock"]  # bytes a cycle
    at_once, used = resident(card, registers, threads), 1
    if threads == MOST_THREADS:
        at_once = min(at_once, channels * threads / card["multiprocessors"])
        used = min(channels / card["multiprocessors"], 1)
    by_bytes = at_once * moved / (card["latency"] * BUSY) / share
    by_issue = used * ISSUED * moved / cycles / share
    return by_bytes, by_issue, 0.85 if used == 1 else 2 / 3


def main():
    ptxas, *files = sys.argv[1:]
    bad = []
    for capability, card in cards():
        fast = busy = single = sums = fast_sums = 0
        for path in files:
            registers = assemble(ptxas, path, capability)
            with open(path, encoding="utf-8") as file:
                bodies = list(loops(file.read(), launched(pathlib.Path(path).with_suffix(".ll"))))
            for name, says, lines in bodies:
                moved, instructions, wide, conversions, vectors = turn(lines)
                cycles = instructions + wide * (card["wide"] - 1) + conversions * (card["converted"] - 1)
                by_bytes, by_issue, least = reached(card, registers[name][0], says, moved, cycles)
                if says and wide:
                    sums += 1
                    fast_sums += min(by_bytes, by_issue) >= 0.85
                else:
                    fast += min(by_bytes, by_issue) >= 0.85
                    busy += by_issue < 0.85 <= by_bytes
                    single += by_bytes < 0.85
                if by_bytes < least and vectors:
                    bad.append(f"{name} of {path} has bytes for {by_bytes:.0%} of the bandwidth of {card['name']} on their way")
        print(f"{card['name']}: of {fast + busy + single} loops {fast} reach 85 % of the bandwidth, {busy} compute for longer, {single} "
              f"wait for single numbers; of {sums} sums over channels {fast_sums} reach it")
    print("\n".join(bad) or "no vector waits")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
