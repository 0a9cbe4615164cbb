"""Sets of NIST's Statistical Reference Datasets by the door of rows that were measured elsewhere: each as a design of one factor, a
file of its numbers and a regression. Prints the correct digits of the coefficients in the factor's units, the least of a set; the
expected ones are exact rational solutions (test/unit/regress/data/exact.py), which agree with NIST's certified values.

strd.py TBEMC SOURCES FOLDER NAME:DEGREE...
"""
import json
import math
import pathlib
import subprocess
import sys

tbemc, sources, folder = sys.argv[1], pathlib.Path(sys.argv[2]) / "test/unit/regress/data", pathlib.Path(sys.argv[3])
for name, degree in (word.split(":") for word in sys.argv[4:]):
    rows = [line.split(",") for line in (sources / f"{name}.csv").read_text().split("\n") if line and line[0] not in "#y"]
    (folder / f"{name}.csv").write_text("x,latency,machine,versions\n" + "".join(f"{x},{y},NIST,StRD\n" for y, x in rows))
    (folder / f"{name}.tbem").write_text(
        f"design d {{\n  factor x: {', '.join(x for _, x in rows)}\n  full\n}}\n\n"
        f"regress g from \"{name}.csv\" {{\n  response latency\n  terms    poly(x; degree: {degree})\n}}\n")
    command = [tbemc, "regress", folder / f"{name}.tbem", "--json", "--out", folder / "out"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    fits = [each for each in map(json.loads, told.stdout.splitlines()) if each["kind"] == "regress"]
    if len(fits) != 1:
        sys.exit(f"{name}: {told.stdout}{told.stderr}")
    values = [term["coefficient"] for term in fits[0]["raw"]]
    exact = [float(line.split()[0]) for line in (sources / f"{name}.exact").read_text().splitlines()[:-1]]
    assert len(values) == len(exact), name
    wrong = max(abs(value - true) / abs(true) for value, true in zip(values, exact))
    print(f"{name}: {len(rows)} rows, {min(15, -math.log10(wrong)) if wrong else 15:.1f} digits")
