"""What a neural network will cost before it runs, and its steps, in this process.

    import tbem
    print(tbem.estimate("resnet(depth: 50)", input={"image": (16, 3, 224, 224)}))

Neither NumPy nor PyTorch is imported: tensors come and go by DLPack (`__dlpack__`). A model of PyTorch is read where one is given:

    print(tbem.estimate("torchvision.models:resnet50", {"image": (16, 3, 224, 224)}, optimizer="adam", device="h100"))

See docs/embedding.md and docs/specifications_beside_code.md.
"""
from ._errors import EnvironmentProblem, Error, InternalError, ModelError, ProgramError, RunError, UsageError
from ._models import Model, import_model
from ._questions import estimate, fit, what_if
from ._results import Estimate, Findings, Fit, ModelEstimate, Result, WhatIf
from ._runtime import Specification, SpecificationError, spec
from ._session import Session, step
from ._step import Step, Tensor
from ._suites import Suite, check
from ._library import version as _version

__all__ = ["EnvironmentProblem", "Error", "Estimate", "Findings", "Fit", "InternalError", "Model", "ModelError", "ModelEstimate",
           "ProgramError", "Result", "RunError", "Session", "Specification", "SpecificationError", "Step", "Suite", "Tensor",
           "UsageError", "WhatIf", "check", "estimate", "fit", "import_model", "load_ipython_extension", "spec", "step", "what_if"]
__version__ = _version()


def load_ipython_extension(ipython):
    """`%load_ext tbem`: the cell magic `%%tbem` (tbem/notebook.py)."""
    from . import notebook
    notebook.load_ipython_extension(ipython)
