"""What clipping by the norm costs in memory: clip_memory.py PLAIN.json CLIPPED.json, two outputs of `tbemc estimate --json`.

All gradients live at once: as many bytes as the weights have, and without clipping half of that at most.
"""
import json
import sys

plain, clipped = [json.loads(open(path).readlines()[0]) for path in sys.argv[1:]]
weights = 4 * plain["parameters"]
kinds = plain["memory"]["kinds"]["gradients"], clipped["memory"]["kinds"]["gradients"]
more = clipped["memory"]["arena"] - plain["memory"]["arena"]
print(f"gradients at the peak: {kinds[0]} and {kinds[1]} of {weights}")
# Gradients of biases and of the smallest layer may be made after the peak.
good = kinds[0] < 0.5 * weights and 0.98 * weights < kinds[1] < 1.01 * weights and 0 < more <= weights
print("as promised" if good else f"BAD: the arena grew by {more}")
sys.exit(0 if good else 1)
