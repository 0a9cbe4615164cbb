"""Reads the estimate of one convolution in PyTorch and the explanation of its workspace: the bytes at the peak are the engine's."""
import json
import sys

estimate, explained = map(json.loads, sys.stdin)
convolution = explained["convolutions"][0]
first = convolution["engines"][convolution["first"]]["workspace"]
blocks = -(-first // 512) * 512
found = estimate["memory"]["kinds"]["cuDNN workspaces"]
if found != blocks:
    sys.exit(f"{found} bytes of workspace at the peak, the engine takes {first}")
print(f"{found} bytes at the peak are the first engine's")
