"""Lines of `estimate --explain gradients --json` and of `estimate --keep-gradients --json` of one row: do they agree?"""
import json
import sys

lines = [json.loads(line) for line in sys.stdin]
said = next(line for line in lines if line["kind"] == "gradients")
freed, kept = (line["memory"]["arena"] for line in lines if line["kind"] == "estimate")
assert not said["kept"] and freed == said["arena"] < kept == said["arena_kept"], (said, freed, kept)
print("the arena is what --explain said it would be")
