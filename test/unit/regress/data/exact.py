#!/usr/bin/env python3
"""Solves the linear sets of NIST's Statistical Reference Datasets exactly: rational normal equations, then 40 digits.

Writes NAME.exact beside each NAME.csv: one line `coefficient standard_error` a term (decimals of 20 digits), then `residual_sd r2`.
The certified values on https://www.itl.nist.gov/div898/strd/lls/lls.shtml are these, rounded to 15 digits. Needs only Python.
"""
import csv, decimal, fractions, os

decimal.getcontext().prec = 60
SETS = {"norris": 1, "pontius": 2, "noint1": 0, "noint2": 0, "filip": 10, "longley": -1,
        "wampler1": 5, "wampler2": 5, "wampler3": 5, "wampler4": 5, "wampler5": 5}
F = fractions.Fraction


def real(x):
    return decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)


def text(d):
    return f"{d:.20e}"


def solve(a, columns):
    """Gauss-Jordan: a is p x (p + columns)."""
    p = len(a)
    for i in range(p):
        pivot = next(r for r in range(i, p) if a[r][i] != 0)
        a[i], a[pivot] = a[pivot], a[i]
        a[i] = [v / a[i][i] for v in a[i]]
        for r in range(p):
            if r != i and a[r][i] != 0:
                f = a[r][i]
                a[r] = [u - f * v for u, v in zip(a[r], a[i])]
    return [row[p:] for row in a]


here = os.path.dirname(os.path.abspath(__file__))
for name, degree in SETS.items():
    rows = [r for r in csv.reader(line for line in open(f"{here}/{name}.csv") if not line.startswith("#"))][1:]
    y = [F(r[0]) for r in rows]
    if degree == -1:
        x = [[F(1)] + [F(v) for v in r[1:]] for r in rows]
    elif degree == 0:
        x = [[F(r[1])] for r in rows]
    else:
        x = [[F(r[1]) ** d for d in range(degree + 1)] for r in rows]
    n, p = len(x), len(x[0])
    system = [[sum(x[r][i] * x[r][j] for r in range(n)) for j in range(p)] + [sum(x[r][i] * y[r] for r in range(n))]
              + [F(int(i == j)) for j in range(p)] for i in range(p)]
    solved = solve(system, p + 1)
    b = [row[0] for row in solved]
    rss = sum((y[r] - sum(x[r][j] * b[j] for j in range(p))) ** 2 for r in range(n))
    mean = sum(y) / n
    tss = sum(v * v for v in y) if degree == 0 else sum((v - mean) ** 2 for v in y)
    variance = rss / (n - p)
    with open(f"{here}/{name}.exact", "w") as out:
        for j in range(p):
            out.write(f"{text(real(b[j]))} {text(real(variance * solved[j][1 + j]).sqrt())}\n")
        out.write(f"{text(real(variance).sqrt())} {text(1 - real(rss / tss))}\n")
