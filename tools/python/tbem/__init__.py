"""What a neural network will cost before it runs, and its steps, in this process.

    import tbem
    print(tbem.estimate("resnet(depth: 50)", input={"image": (16, 3, 224, 224)}))

Neither NumPy nor PyTorch is imported: tensors come and go by DLPack (`__dlpack__`). See docs/embedding.md.
"""
from ._errors import EnvironmentProblem, Error, InternalError, ProgramError, RunError, UsageError
from ._results import Estimate, Findings, Fit, Result
from ._session import Session, check, estimate, fit, step
from ._step import Step, Tensor
from ._library import version as _version

__all__ = ["EnvironmentProblem", "Error", "Estimate", "Findings", "Fit", "InternalError", "ProgramError", "Result", "RunError",
           "Session", "Step", "Tensor", "UsageError", "check", "estimate", "fit", "step", "load_ipython_extension"]
__version__ = _version()


def load_ipython_extension(ipython):
    """`%load_ext tbem`: the cell magic `%%tbem` (tbem/notebook.py)."""
    from . import notebook
    notebook.load_ipython_extension(ipython)
