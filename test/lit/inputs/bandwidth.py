#!/usr/bin/env python3
"""How near fused loops come to a card's bandwidth, by a model: usage: bandwidth.py PTXAS FILE.ptx...

A kernel's threads go through its places in one loop. A multiprocessor's share of the bandwidth is reached where

- enough bytes are on their way (Little's law): those that the resident threads read and write in one turn, over the time until an
  answer comes. Resident are as many blocks of 256 threads as the registers that ptxas gives the kernel leave room for;
- its four schedulers, one instruction of a warp a cycle each, issue the turn's instructions in time. PTX's are counted for those of
  the card, and a call of a division or a root for kCall of them.

Latencies are those of idle memory that Luo et al. measured (2024, "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture",
arXiv 2402.13499: 466 cycles on A100, 479 on H100, 542 on RTX 4090), taken half as long again for memory that is not idle; limits of
multiprocessors are those of std.devices. Prints for each card how many loops reach 85 % of its bandwidth, and why the others do
not. Fails where one that reads vectors lacks bytes on their way. (What one that reads single numbers has on its way is less: rows
that do not lie at multiples of 16 bytes, as 7 x 7 images.)
"""
import pathlib
import re
import sys

from assembled import assemble

THREADS = 256  # of a block (runtime/backends/cuda/Cuda.cpp)
BUSY = 1.5
DEVICES = pathlib.Path(__file__).resolve().parents[3] / "stdlib/devices"
# A card of each capability, by its record in std.devices, and the cycles of its idle memory.
CARDS = {"t4": 479, "a100": 466, "rtx3090": 466, "rtx4090": 542, "h200": 479, "b200": 479}
LABEL = re.compile(r"^(\$L\w+):")
BRANCH = re.compile(r"\bbra(?:\.uni)?\s+(\$L\w+);")
ACCESS = re.compile(r"\b(?:ld|st)\.global(?:\.nc)?(?:\.(v[24]))?\.[a-z](\d+)")
DEAR = re.compile(r"\b(div|rcp|sqrt)\.rn\.f32|\b(div|rcp|sqrt|rsqrt)\.\w+\.f64|\b(div|rem)\.[us](32|64)")
CALL = 10  # instructions of what ptxas writes for one of those


def fields(record):
    """The fields of a record of std.devices that are numbers or names, by name."""
    text = "".join(path.read_text(encoding="utf-8") for path in DEVICES.glob("*.tbem"))
    body = re.search(rf"^let {record} = {{(.*?)^}}", text, re.MULTILINE | re.DOTALL)[1]
    return dict(re.findall(r"(\w+): ([\w.]+)", body))


def cards():
    """Of each card: the capability, and what the model takes."""
    for name, latency in CARDS.items():
        card = fields(name)
        of_all = fields(card["architecture"])
        yield card["architecture"].removeprefix("sm_"), {
            "name": name.upper(), "multiprocessors": int(card["multiprocessors"]), "clock": int(card["clock"]) * 1e6,
            "bandwidth": int(card["bandwidth"]) * 1e9, "threads": int(of_all["threads_per_sm"]),
            "blocks": int(of_all["blocks_per_sm"]), "registers": int(of_all["registers_per_sm"]), "latency": latency}


def loops(text):
    """Of each kernel of PTX: the lines of its longest loop, of which there is one."""
    for part in text.split(".visible .entry ")[1:]:
        name = part.split("(")[0].strip()
        lines = [line.strip() for line in part.splitlines()]
        places = {match[1]: i for i, line in enumerate(lines) if (match := LABEL.match(line))}
        spans = [(places[match[1]], i) for i, line in enumerate(lines)
                 if (match := BRANCH.search(line)) and places.get(match[1], i) < i]
        begin, end = max(spans, key=lambda span: span[1] - span[0])
        yield name, lines[begin:end + 1]


def turn(lines):
    """Of a turn of a loop: bytes that a thread reads and writes beside its neighbours, instructions, whether it takes vectors."""
    accesses = [match for line in lines if (match := ACCESS.search(line))]
    vectors = any(match[1] for match in accesses)
    # Where threads take vectors, what is read singly is one number for many of them, which is in the cache.
    moved = sum(int(match[2]) * int((match[1] or "v1")[1]) // 8 for match in accesses if match[1] or not vectors)
    instructions = sum(CALL if DEAR.search(line) else 1 for line in lines if line.endswith(";"))
    return moved, instructions, vectors


def resident(card, registers):
    """Threads of a multiprocessor: a warp's registers are given in units of 256, and warps to four schedulers."""
    warp = (registers * 32 + 255) // 256 * 256
    warps = card["registers"] // warp // 4 * 4
    return min(warps * 32 // THREADS, card["threads"] // THREADS, card["blocks"]) * THREADS


def reached(card, registers, moved, instructions):
    """Shares of the bandwidth that bytes on their way and issued instructions allow."""
    share = card["bandwidth"] / card["multiprocessors"] / card["clock"]  # bytes a cycle
    by_bytes = resident(card, registers) * moved / (card["latency"] * BUSY) / share
    by_issue = 4 * 32 * moved / instructions / share
    return by_bytes, by_issue


def main():
    ptxas, *files = sys.argv[1:]
    bad = []
    for capability, card in cards():
        fast = busy = single = 0
        for path in files:
            registers = assemble(ptxas, path, capability)
            with open(path, encoding="utf-8") as file:
                bodies = list(loops(file.read()))
            for name, lines in bodies:
                moved, instructions, vectors = turn(lines)
                by_bytes, by_issue = reached(card, registers[name][0], moved, instructions)
                fast += min(by_bytes, by_issue) >= 0.85
                busy += by_issue < 0.85 <= by_bytes
                single += by_bytes < 0.85
                if by_bytes < 0.85 and vectors:
                    bad.append(f"{name} of {path} has bytes for {by_bytes:.0%} of the bandwidth of {card['name']} on their way")
        print(f"{card['name']}: of {fast + busy + single} loops {fast} reach 85 % of the bandwidth, {busy} compute for longer, {single} wait "
              "for single numbers")
    print("\n".join(bad) or "no vector waits")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
