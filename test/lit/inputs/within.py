#!/usr/bin/env python3
"""Whether the arena stays within the growth that `--tune within P %` allows over the default algorithms' arena."""
import json
import os
import subprocess
import sys

tbemc, program, cache = sys.argv[1:]


def arena(tune):
    done = subprocess.run([tbemc, "estimate", program, "--json", "--tune", tune], stdout=subprocess.PIPE, text=True, check=True,
                          env=dict(os.environ, XDG_CACHE_HOME=cache))
    return json.loads(done.stdout.splitlines()[0])["memory"]["arena"]


off = arena("off")
print(f"on takes more than off: {arena('on') > off}")
for percent in (0, 5, 20, 1000):
    print(f"within {percent} %: {arena(f'within {percent} %') <= off * (1 + percent / 100)}")
