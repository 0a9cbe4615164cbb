#!/usr/bin/env python3
"""closed.py TBEMC FOLDER PROGRAM COMMAND...: runs each command on the program; none may open the library that leaves FOLDER/mark, nor
fail. %: where the program stands, if not at the end."""
import os
import subprocess
import sys

tbemc, folder, program, commands = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
mark = os.path.join(folder, "mark")
for command in commands:
    words = command.split()
    words = [program if word == "%" else word for word in words] if "%" in words else words + [program]
    done = subprocess.run([tbemc, *words], cwd=folder, capture_output=True, text=True)
    if os.path.exists(mark):
        sys.exit(f"{command}: it ran code of the library")
    if done.returncode != 0:
        sys.exit(f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
print(f"{len(commands)} commands, the library stayed closed")
