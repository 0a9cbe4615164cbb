#!/usr/bin/env python3
"""Runs a command while a process beside it keeps each processor busy."""
import multiprocessing
import os
import subprocess
import sys


def spin():
    while True:
        pass


neighbours = [multiprocessing.Process(target=spin, daemon=True) for _ in range(os.cpu_count())]
for neighbour in neighbours:
    neighbour.start()
status = subprocess.run(sys.argv[1:], check=False).returncode
for neighbour in neighbours:
    neighbour.terminate()
sys.exit(status)
