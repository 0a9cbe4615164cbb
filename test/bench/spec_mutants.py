#!/usr/bin/env python3
"""How many mutants of specifications the cases of `tbemc spec --tests` kill.

usage: test/bench/spec_mutants.py --bin build/release/bin [--mutants 500] [--out docs/measurements/DATE-mutants.json]

A mutant changes one place of a condition that the standard library declares (`pre`, `post`, `requires` of networks, blocks and
operators) or of the processes of test/lit/inputs/tested.tbem: a relation, an operator, a constant by one, a variable, a conjunct that is dropped.
Mutants that no case kills and that are proved to be equivalent are counted apart. Needs prop_spec (tools/build ci prop_spec).
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True, help="folder of tbemc and prop_spec")
    parser.add_argument("--mutants", type=int, default=500)
    parser.add_argument("--out", type=pathlib.Path)
    given = parser.parse_args()
    version = subprocess.run([given.bin / "tbemc", "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
    with tempfile.TemporaryDirectory() as folder:
        figures = pathlib.Path(folder, "figures.json")
        environment = {**os.environ, "TBEM_MUTANTS": str(given.mutants), "TBEM_MUTANTS_OUT": str(figures)}
        result = subprocess.run([given.bin / "prop_spec", "--gtest_filter=Mutants.TestsKillThem"], env=environment,
                                capture_output=True, text=True)
        if not figures.exists():
            sys.exit(result.stdout + result.stderr)
        measured = json.loads(figures.read_text(encoding="utf-8"))
    record = {"date": datetime.date.today().isoformat(),
              "what": "mutants of the standard library's conditions and of some processes, killed by the cases of spec --tests",
              "tbemc": version, "z3": "4.8.12", **measured}
    text = json.dumps(record, indent=1) + "\n"
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    print(text, end="")
    return 0 if measured["score"] >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
