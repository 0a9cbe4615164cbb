#!/usr/bin/env python3
"""Kernels that a card is asked for in one step, on the card of test/card: those of a second step are what a run of two steps
launches more than a run of one.

usage: launches.py COMMAND...        where COMMAND is `tbemc step PROGRAM ..` without --steps
"""
import json
import os
import subprocess
import sys
import tempfile


def launches(steps):
    with tempfile.NamedTemporaryFile("r", suffix=".json") as calls:
        environment = os.environ | {"TBEM_CARD_CALLS": calls.name}
        subprocess.run([*sys.argv[1:], "--steps", str(steps)], check=True, stdout=subprocess.DEVNULL, env=environment)
        return json.load(calls)["cuLaunchKernel"]


print(f"{launches(2) - launches(1)} launches")
