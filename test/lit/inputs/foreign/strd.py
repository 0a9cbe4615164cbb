"""NIST's Statistical Reference Datasets for linear regression by the door of rows that were measured elsewhere: each as a file of
its numbers and a regression, in a program without a design. Prints the correct digits of the coefficients in the factors' units
(the least of a set), of the residual standard deviation and of R^2, against NIST's certified values.

strd.py TBEMC SOURCES FOLDER
"""
import json
import math
import pathlib
import subprocess
import sys

# https://www.itl.nist.gov/div898/strd/lls/lls.shtml: terms, coefficients, residual standard deviation, R^2.
CERTIFIED = {
    "norris": ("x", [-0.262323073774029, 1.00211681802045], 0.884796396144373, 0.999993745883712),
    "pontius": ("poly(x; degree: 2)", [0.673565789473684e-03, 0.732059160401003e-06, -0.316081871345029e-14],
                0.205177424076185e-03, 0.999999900178537),
    "noint1": ("0 + x", [2.07438016528926], 3.56753034006338, 0.999365492298663),
    "noint2": ("0 + x", [0.727272727272727], 0.369274472937998, 0.993348115299335),
    "filip": ("poly(x; degree: 10)",
              [-1467.48961422980, -2772.17959193342, -2316.37108160893, -1127.97394098372, -354.478233703349, -75.1242017393757,
               -10.8753180355343, -1.06221498588947, -0.670191154593408e-01, -0.246781078275479e-02, -0.402962525080404e-04],
              0.334801051324544e-02, 0.996727416185620),
    "longley": ("x1 + x2 + x3 + x4 + x5 + x6",
                [-3482258.63459582, 15.0618722713733, -0.358191792925910e-01, -2.02022980381683, -1.03322686717359,
                 -0.511041056535807e-01, 1829.15146461355], 304.854073561965, 0.995479004577296),
    "wampler1": ("poly(x; degree: 5)", [1] * 6, 0, 1),
    "wampler2": ("poly(x; degree: 5)", [1, 0.1, 0.01, 0.001, 0.0001, 0.00001], 0, 1),
    "wampler3": ("poly(x; degree: 5)", [1] * 6, 2360.14502379268, 0.999995559025820),
    "wampler4": ("poly(x; degree: 5)", [1] * 6, 236014.502379268, 0.957478440825662),
    "wampler5": ("poly(x; degree: 5)", [1] * 6, 23601450.2379268, 0.224668921574940e-02),
}
# The certified standard deviations of the estimates of the sets whose fitted terms are in the factors' units.
ERRORS = {"noint1": 0.165289256198347e-01, "noint2": 0.420827318078432e-01}


def digits(value, certified):
    """Correct digits, at most 15. Where 0 is certified, those of the number beside 1."""
    wrong = abs(value - certified) / (abs(certified) or 1)
    return min(15.0, -math.log10(wrong)) if wrong else 15.0


tbemc, sources, folder = sys.argv[1], pathlib.Path(sys.argv[2]) / "test/unit/regress/data", pathlib.Path(sys.argv[3])
for name, (terms, coefficients, sd, r2) in CERTIFIED.items():
    lines = [line for line in (sources / f"{name}.csv").read_text().split("\n") if line]
    rows = [f"{line},{'machine,versions' if line[0] == 'y' else 'NIST,StRD'}" if line[0] != "#" else line for line in lines]
    (folder / f"{name}.csv").write_text("\n".join(rows) + "\n")
    program = folder / f"{name}.tbem"
    program.write_text(f'regress g from "{name}.csv" {{\n  response y\n  terms    {terms}\n}}\n')
    command = [tbemc, "regress", program, "--json", "--out", folder / "out"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    fits = [each for each in map(json.loads, told.stdout.splitlines()) if each["kind"] == "regress"]
    if len(fits) != 1:
        sys.exit(f"{name}: {told.stdout}{told.stderr}")
    fit = fits[0]
    values = [term["coefficient"] for term in fit["raw"]]
    assert len(values) == len(coefficients), (name, fit["raw"])
    right = min(map(digits, values, coefficients))
    text = f"{name}: {fit['rows']} rows, digits: coefficients {right:.1f}, sd {digits(fit['residual_sd'], sd):.1f}, R^2 {digits(fit['r2'], r2):.1f}"
    if name in ERRORS:
        interval = fit["terms"][0]["interval"]
        text += f", half width of {(interval[1] - interval[0]) / 2 / ERRORS[name]:.6f} errors"
    print(text)
