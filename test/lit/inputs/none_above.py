"""`fit` says above which level nothing fits; `estimate` says of a level what it takes at least. The two are held against each other.

usage: none_above.py TBEMC LIMIT_BYTES ARGUMENT... (of both commands, without --max and --input; the input is image=BATCH,3,64,64)
"""
import json
import subprocess
import sys

tbemc, limit, *arguments = sys.argv[1:]


def asked(command, batch, *more):
    process = subprocess.run([tbemc, command, *arguments, "--input", f"image={batch},3,64,64", "--on", "pytorch", "--json", *more],
                             capture_output=True, text=True)
    return json.loads(process.stdout.splitlines()[0])


def at_least(batch):
    return asked("estimate", batch)["memory"]["bounds"]["lower"]["bytes"]


found = asked("fit", "batch", "--max", limit)
above = found["none_above"]
print("largest is at most none_above:", found["largest"] <= above)
print("none_above fits as far as is proved:", at_least(above) <= int(limit))
print("one more does not:", at_least(above + 1) > int(limit))
