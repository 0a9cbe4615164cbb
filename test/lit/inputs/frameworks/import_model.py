"""The model that import_step.py asks for, as `tbemc import` finds it."""
import os

import import_step


def build():
    return import_step.build(os.environ["IMPORT_MODEL"], os.environ["IMPORT_ARGUMENTS"], os.environ["IMPORT_RESULTS"] == "all")
