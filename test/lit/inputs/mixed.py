#!/usr/bin/env python3
"""A program with the designs `plain` and `narrow`, equal but for `mixed bf16`: losses near each other, a smaller plan that is what is
touched, weights and gradients in f32 on the backend and on ref.

usage: mixed.py TBEMC PROGRAM FOLDER BACKEND
"""
import json
import subprocess
import sys

import numpy as np

import saved_steps
from saved_steps import check, flat

tbemc, program, folder, backend = sys.argv[1:]


def lines(*arguments):
    done = subprocess.run([tbemc, *arguments, "--json", "--threads", "2"], stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def step(design, on):
    return saved_steps.step(tbemc, program, design, on, f"{folder}/{design}_{on}.npz")


plain, narrow, ref = step("plain", backend), step("narrow", backend), step("narrow", "ref")
difference = abs(float(narrow["loss"]) - float(plain["loss"])) / abs(float(plain["loss"]))
check("loss", 0 < difference < 0.02, "within 2 % of f32, and another number")
gradients = {name: flat(arrays, "gradient/") for name, arrays in [("plain", plain), ("narrow", narrow), ("ref", ref)]}
whole = np.linalg.norm(gradients["plain"])
check("gradient", np.linalg.norm(gradients["narrow"] - gradients["plain"]) < 0.1 * whole, "within 10 % of f32")
check("backends", np.linalg.norm(gradients["narrow"] - gradients["ref"]) < 0.1 * whole, f"{backend} and ref within 10 %")
kept = [value for name, value in narrow.items() if name.split("/")[0] in ("weight", "gradient", "after")]
check("types", all(value.dtype == np.float32 for value in kept), "weights and gradients in f32")
coarse = flat(narrow, "after/").astype(np.float32).view(np.uint32) & 0xFFFF
check("weights", np.count_nonzero(coarse) > 0.9 * coarse.size, "updated in f32, not in bf16")
arena = {design: lines("estimate", program, "--design", design, "--on", backend)[0]["memory"]["arena"] for design in ("plain", "narrow")}
check("estimate", arena["narrow"] < arena["plain"], "smaller")
for on in (backend, "ref"):
    rows = [row for row in lines("measure", program, "--design", "narrow", "--on", on, "--fresh", "--quiet") if row["kind"] == "measure"]
    good = [row["status"] == "ok" and row["arena_peak"] == row["arena_planned"] for row in rows]
    check(f"measured on {on}", good and all(good), "arena planned = touched")
saved_steps.end()
