"""The programs that a wheel brings: `tbemc`, and beside it the worker that measures."""
import os
import sys


def tbemc():
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tbemc")
    os.execv(program, [program, *sys.argv[1:]])
