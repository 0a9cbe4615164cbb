"""usage: library_cases.py TBEMC STDLIB

Elaborates every declaration of the standard library that has conditions at the cases that `spec --tests` makes of them. What meets
them has to be built with results of the declared shape; what does not is to be refused by them.
"""
import concurrent.futures
import json
import pathlib
import subprocess
import sys


def cases_of(tbemc, path):
    run = subprocess.run([tbemc, "spec", "--tests", path, "--json"], capture_output=True, text=True)
    if run.returncode not in (0, 5):
        sys.exit(f"{path}: exit {run.returncode}\n{run.stderr}")
    return [json.loads(line) for line in run.stdout.splitlines()], run.stderr


def main():
    tbemc, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    files = sorted(folder.glob("*/*.tbem"))
    failures, declarations, cases = [], 0, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for path, (objects, notes) in zip(files, pool.map(lambda one: cases_of(tbemc, one), files)):
            for one in objects:
                if one["kind"] == "spec_test" and one.get("verdict", "passed") != "passed":
                    failures.append(f"{path.name}: {one['process']} at {one['inputs']}: {one['reason']}")
                if one["kind"] == "spec_tests":
                    declarations += 1
                    cases += one.get("passed", 0) + one.get("failed", 0)
                    if one["cases"] == 0:
                        failures.append(f"{path.name}: {one['process']} has no case")
            for note in notes.splitlines():
                if " has no tests: " in note:
                    failures.append(f"{path.name}: {note}")
    print(f"{len(files)} files, {declarations} declarations, {cases} cases elaborated, {len(failures)} failures")
    print("\n".join(failures))
    return 1 if failures or declarations < 75 or cases < 6000 else 0


sys.exit(main())
