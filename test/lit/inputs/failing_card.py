#!/usr/bin/env python3
"""Lets each call of a card's driver fail, one a run, and looks at what a step says of it.

usage: failing_card.py TBEMC PROGRAM FUNCTIONS.def OPTIONS...

A run of `tbemc step PROGRAM OPTIONS --on cuda --json` on the card of test/card has calls of many functions. Each of them fails in its
1st, 2nd, 3rd, 5th, 8th, .. call, with several errors, until the run has no such call. A run then ends in one of two ways: with the
numbers of a run in which nothing failed, or with the exit status of a failure and a message that names the error, or the library whose
call it was. It is never ended by a signal, and never by a limit of time. When it ends it has left no more on the card than a run in
which nothing failed, but where the failing call releases something or leaves a card that can no longer be used.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

from same_steps import numbers_of

# Errors that a driver answers: of memory, of what was asked, of a card that can no longer be used, of an unknown kind.
ERRORS = {2: "OUT_OF_MEMORY", 1: "INVALID_VALUE", 700: "ILLEGAL_ADDRESS", 999: "UNKNOWN"}
ASKED = {"cuGetErrorName", "cuGetErrorString"}  # of errors that others have
CALLS = [1, 2, 3, 5, 8, 13, 21, 34]
LIBRARY = re.compile(r"(cuDNN|cuBLASLt) refuses to run a (convolution|product): [A-Z_]+")  # whose own calls failed
STATUSES = {3, 4}  # the environment lacks something, a step failed
LASTING = {700, 999}  # no call succeeds behind these, so nothing can be released
RELEASING = {"cuMemFree_v2", "cuModuleUnload", "cuGraphDestroy", "cuGraphExecDestroy"}


def run(command, failing=None):
    """Exit status, both outputs, and what the card still had."""
    environment = {name: value for name, value in os.environ.items() if name != "TBEM_CARD_FAIL"}
    if failing:
        environment["TBEM_CARD_FAIL"] = failing
    with tempfile.NamedTemporaryFile("r", suffix=".json") as left:
        environment["TBEM_CARD_LEFT"] = left.name
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
        text = left.read()
    return done.returncode, done.stdout, done.stderr, json.loads(text) if text else None


def verdict(clean, usual, command, function, call, error):
    """What is wrong with a run in which that call failed ("": nothing), and whether it failed."""
    status, out, errors, left = run(command, f"{function}:{call}={error}")
    if left is None:
        return "what it left on the card is not known", True
    more = [name for name, count in left.items() if count > usual[name]]
    if more and error not in LASTING and function not in RELEASING:
        return f"left on the card: {left}, where usually {usual} are", True
    if status == 0:
        return "" if numbers_of(out.splitlines()) == clean else "other numbers", False
    told = out + errors
    if status not in STATUSES:
        return f"exit status {status}: {errors.strip()[-200:]}", True
    if f"CUDA_ERROR_{ERRORS[error]}" not in told and not LIBRARY.search(told):
        return f"no CUDA_ERROR_{ERRORS[error]} in: {told.strip()[-300:]}", True
    if len(told.strip().splitlines()) > 3:
        return f"many lines: {told.strip()[:300]}", True
    return "", True


def main():
    tbemc, program, functions, *options = sys.argv[1:]
    command = [tbemc, "step", program, *options, "--on", "cuda", "--json"]
    status, out, errors, usual = run(command)
    if status != 0 or not usual:
        sys.exit(f"without a failure: {errors}")
    clean = numbers_of(out.splitlines())
    with open(functions, encoding="utf-8") as file:
        names = [name for name in re.findall(r'TBEM_CUDA_FUNCTION\(\w+,\s*"(\w+)"', file.read()) if name not in ASKED]

    def sweep(task):
        function, error = task
        bad, failed, runs = [], 0, 0
        for call in CALLS:
            wrong, fails = verdict(clean, usual, command, function, call, error)
            runs += 1
            failed += fails
            if wrong:
                bad.append(f"{function}, call {call}, error {error}: {wrong}")
            elif not fails:
                break  # there is no such call, or nothing depends on it
        return bad, failed, runs

    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        answers = list(workers.map(sweep, [(name, error) for name in names for error in ERRORS]))
    bad = [line for lines, _, _ in answers for line in lines]
    print("\n".join(bad))
    print(f"usually left: {json.dumps(usual)}")
    print(f"{sum(failed for _, failed, _ in answers)} failures of {len(names)} functions, each told; {len(bad)} are not")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
