"""Compares what a shared library exports with the functions that a header declares."""
import re
import subprocess
import sys

library, header = sys.argv[1:]
listed = subprocess.run(["nm", "-D", "--defined-only", library], check=True, stdout=subprocess.PIPE, text=True).stdout
exported = {line.split()[-1] for line in listed.splitlines()}
text = re.sub(r"/\*.*?\*/", "", open(header, encoding="utf-8").read(), flags=re.DOTALL)
declared = set(re.findall(r"\b(tbem_\w+)\(", text))
if exported != declared:
    sys.exit(f"only exported: {sorted(exported - declared)}; only declared: {sorted(declared - exported)}")
print(len(declared), "functions are declared and exported, nothing else is")
