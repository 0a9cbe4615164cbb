#!/usr/bin/env python3
"""A program with the designs `plain` and `narrow`, equal but for `math tf32`: on a card the products of the second are rounded, and
on one that has no such products and on a processor nothing is.

usage: tf32.py TBEMC PROGRAM FOLDER
"""
import sys

import numpy as np

import saved_steps
from saved_steps import check, flat

tbemc, program, folder = sys.argv[1:]


def step(design, on, **variables):
    return saved_steps.step(tbemc, program, design, on, f"{folder}/{design}_{on}_{len(variables)}.npz", **variables)


def distance(one, other):
    a, b = flat(one, "gradient/"), flat(other, "gradient/")
    return np.linalg.norm(a - b) / np.linalg.norm(b)


exact, plain, rounded = step("plain", "ref"), step("plain", "cuda"), step("narrow", "cuda")
check("plain", distance(plain, exact) < 1e-5, "as near to ref as f32 is")
check("rounded", distance(rounded, exact) > 3e-5, "by more than f32 is")
check("near", distance(rounded, exact) < 2e-2, "within what TF32 rounds")
kept = [value for name, value in rounded.items() if name.split("/")[0] in ("weight", "gradient", "after")]
check("types", all(value.dtype == np.float32 for value in kept), "weights and gradients in f32")
for on, variables in (("cuda", {"TBEM_CARD_SM": "7.5"}), ("ref", {})):
    one, other = step("plain", on, **variables), step("narrow", on, **variables)
    same = all(np.array_equal(value, other[name], equal_nan=True) for name, value in one.items())
    check(f"exact on {on}", same, "the same bits with and without the clause")
saved_steps.end()
