#!/usr/bin/env python3
"""How processor time grows as a program doubles: usage: growth.py TBEMC [NAME,NAME...] [--seconds S]

Each case is a kind of program with a size: unknown names, elements of a list on one line (`check` and `fmt`), factors of a covering array,
rows of a full factorial, factors of a polynomial, copies of a mutation, processes whose conditions no rule decides. Sizes double until
a program takes more than S seconds (10) of processor time, user and system together, or there are no larger ones. A line of JSON a case:
the sizes, the seconds of each, how the command ended, and the exponent of growth, the slope of log seconds over log size between the last sizes that are longer than 0.1 s."""
import json
import math
import os
import resource
import subprocess
import sys
import tempfile


def unknown_names(size):
    return "".join(f"let a{i} = unknown{i} + 1\n" for i in range(size))


def list_elements(size):
    return "let a = [" + ", ".join(str(i) for i in range(size)) + "]\n"


def covering(strength, levels):
    def program(size):
        list_of = ", ".join(str(i) for i in range(1, levels + 1))
        return "design d {\n" + "".join(f"  factor f{i}: {list_of}\n" for i in range(size)) + f"  covering {strength}\n}}\n"
    return program


def full_rows(size):
    """So many rows: factors of two levels, and one of what is left."""
    rows, factors = size, []
    while rows > 1000:
        factors.append(2)
        rows //= 2
    factors.append(rows)
    return "design d {\n" + "".join(f"  factor f{i}: {', '.join(str(k) for k in range(1, s + 1))}\n"
                                    for i, s in enumerate(factors)) + "  full\n}\n"


def poly_terms(size):
    """All squares and products of so many factors, and so about half as many terms as their square: more than the rows can tell apart."""
    names = [f"f{i}" for i in range(size)]
    factors = "".join(f"  factor {name}: 1, 2, 3\n" for name in names)
    total = " + ".join(names)
    network = (f"network n(x: tensor[k, 4]; {', '.join(names)}: int = 1) -> tensor[k, {total}] {{\n"
               f"  return x |> dense({total})\n}}\n")
    return (network + "design e of n {\n" + factors + "  input x: [2, 4]\n  strength 2\n}\nmeasure e {\n  on cpu\n  metric latency\n}\n"
            f"regress r from e {{\n  response latency\n  terms poly({', '.join(names)}; degree: 2)\n}}\n")


def mutation_repeat(size):
    return ("import std.vision: small_vgg\nmutate m of small_vgg {\n  repeat stage[2].conv2d as convs: 1, " + str(size) + "\n}\n"
            "design d of m(depth: 11) {\n  factor convs\n  input image: [4, 3, 32, 32]\n}\n")


def conditions(size):
    """Processes whose conditions no rule of the prover decides."""
    return "".join(f"process P{i}(x: int, y: int, z: int) w: int\npre x > {i + 3} and y > 2 and z > 2\n"
                   f"post (x ** 3 + y ** 3 = z ** 3 and w = 1) or (x ** 3 + y ** 3 <> z ** 3 and w = 0)\nend_process\n"
                   for i in range(size))


# name: (command, program of a size, sizes)
DOUBLING = [2 ** i for i in range(30)]
CASES = {
    "unknown names": ("check", unknown_names, DOUBLING[8:16]),
    "list elements": ("check", list_elements, DOUBLING[12:19]),
    "list elements, fmt": ("fmt", list_elements, DOUBLING[12:19]),
    "covering 2, factors of 3 levels": ("design", covering(2, 3), DOUBLING[3:11]),
    "covering 3, factors of 3 levels": ("design", covering(3, 3), DOUBLING[3:8]),
    "covering 4, factors of 3 levels": ("design", covering(4, 3), DOUBLING[3:7]),
    "covering 4, factors of 2 levels": ("design", covering(4, 2), DOUBLING[3:7]),
    "full factorial, rows": ("check", full_rows, DOUBLING[10:20]),
    "poly of degree 2, factors": ("check", poly_terms, DOUBLING[0:7]),
    "mutation, copies": ("spec", mutation_repeat, DOUBLING[4:21]),
    "conditions, processes": ("spec", conditions, DOUBLING[0:11]),
}


def seconds_of(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, status


def exponent(sizes, times):
    """Of the last two sizes that are long enough to be measured; null where there are none."""
    long = [(size, time) for size, time in zip(sizes, times) if time > 0.1]
    if len(long) < 2:
        return None
    (small, first), (large, last) = long[-2:]
    return round(math.log(last / first) / math.log(large / small), 2)


def main():
    arguments = sys.argv[1:]
    most = 10.0
    if "--seconds" in arguments:
        at = arguments.index("--seconds")
        most = float(arguments[at + 1])
        del arguments[at:at + 2]
    if not arguments or len(arguments) > 2:
        sys.exit(__doc__)
    names = arguments[1].split(",") if len(arguments) == 2 else None
    for name, (command, program, sizes) in CASES.items():
        if names and not any(name.startswith(one) for one in names):
            continue
        tried, times, ends = [], [], []
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "grown.tbem")
            for size in sizes:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(program(size))
                taken, status = seconds_of([arguments[0], command, path])
                tried.append(size)
                times.append(round(taken, 3))
                ends.append(status)
                if taken > most:
                    break
        print(json.dumps({"case": name, "command": command, "sizes": tried, "seconds": times, "exits": ends,
                          "exponent": exponent(tried, times), "longest": max(times)}), flush=True)


if __name__ == "__main__":
    main()
