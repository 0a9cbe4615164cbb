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
import re
import sys

from assembled import assemble

THREADS = 256  # of a block (runtime/backends/cuda/Cuda.cpp)
BUSY = 1.5
# Bandwidth in bytes a second, multiprocessors, clock, most threads and blocks of a multiprocessor, cycles of idle memory.
CARDS = {
    75: ("T4", 320e9, 40, 1590e6, 1024, 16, 479),
    80: ("A100", 2039e9, 108, 1410e6, 2048, 32, 466),
    86: ("RTX 3090", 936e9, 82, 1695e6, 1536, 16, 466),
    89: ("RTX 4090", 1008e9, 128, 2520e6, 1536, 24, 542),
    90: ("H200", 4800e9, 132, 1980e6, 2048, 32, 479),
    100: ("B200", 7700e9, 148, 1965e6, 2048, 32, 479),
}
REGISTERS = 65536  # of a multiprocessor
LABEL = re.compile(r"^(\$L\w+):")
BRANCH = re.compile(r"\bbra(?:\.uni)?\s+(\$L\w+);")
ACCESS = re.compile(r"\b(ld|st)\.global(?:\.nc)?(?:\.(v[24]))?\.[a-z](\d+)")
DEAR = re.compile(r"\b(div|rcp|sqrt)\.rn\.f32|\b(div|rcp|sqrt|rsqrt)\.\w+\.f64|\b(div|rem)\.[us](32|64)")
CALL = 10  # instructions of what ptxas writes for one of those


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
    moved = {"ld": 0, "st": 0}
    accesses = [match for line in lines if (match := ACCESS.search(line))]
    vectors = any(match[2] for match in accesses)
    for match in accesses:
        # Where threads take vectors, what is read singly is one number for many of them, which is in the cache.
        if match[2] or not vectors:
            moved[match[1]] += int(match[3]) * int((match[2] or "v1")[1]) // 8
    instructions = sum(CALL if DEAR.search(line) else 1 for line in lines if line.endswith(";"))
    return moved["ld"], moved["st"], instructions, vectors


def resident(registers, most_threads, most_blocks):
    """Threads of a multiprocessor: a warp's registers are given in units of 256, and warps to four schedulers."""
    warp = (registers * 32 + 255) // 256 * 256
    warps = REGISTERS // warp // 4 * 4
    blocks = min(warps * 32 // THREADS, most_threads // THREADS, most_blocks)
    return blocks * THREADS


def reached(card, registers, read, written, instructions):
    """Shares of the bandwidth that bytes on their way and issued instructions allow."""
    _, bandwidth, multiprocessors, clock, most_threads, most_blocks, latency = card
    share = bandwidth / multiprocessors / clock  # bytes a cycle
    threads = resident(registers, most_threads, most_blocks)
    by_bytes = threads * (read + written) / (latency * BUSY) / share
    by_issue = 4 * 32 * (read + written) / instructions / share
    return by_bytes, by_issue


def main():
    ptxas, *files = sys.argv[1:]
    bad = []
    for capability, card in CARDS.items():
        fast = busy = single = 0
        for path in files:
            registers = assemble(ptxas, path, capability)
            with open(path, encoding="utf-8") as file:
                bodies = list(loops(file.read()))
            for name, lines in bodies:
                read, written, instructions, vectors = turn(lines)
                by_bytes, by_issue = reached(card, registers[name][0], read, written, instructions)
                fast += min(by_bytes, by_issue) >= 0.85
                busy += by_issue < 0.85 <= by_bytes
                single += by_bytes < 0.85
                if by_bytes < 0.85 and vectors:
                    bad.append(f"{name} of {path} has bytes for {by_bytes:.0%} of the bandwidth of {card[0]} on their way")
        print(f"{card[0]}: of {fast + busy + single} loops {fast} reach 85 % of the bandwidth, {busy} compute for longer, {single} wait "
              "for single numbers")
    print("\n".join(bad) or "no vector waits")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
