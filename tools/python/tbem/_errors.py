"""Outcomes of tbem.h as exceptions."""


class Error(Exception):
    """Why there is no answer. `result`: what there is to say beside it, or None."""

    def __init__(self, message, result=None):
        super().__init__(message)
        self.result = result


class ProgramError(Error):
    """The program has errors: `findings`."""

    def __init__(self, message, result):
        super().__init__(message, result)
        self.findings = result

    def _repr_html_(self):
        return self.findings._repr_html_()


class UsageError(Error, ValueError):
    """An option, a name or a tensor does not fit; the message says what does."""


class ModelError(UsageError):
    """A model of PyTorch cannot be a program. `place`: its line, "FILE.py:92", or None."""

    def __init__(self, message, place=None, result=None):
        super().__init__(message, result)
        self.place = place


class EnvironmentProblem(Error, OSError):
    """The machine lacks something: a file, a backend."""


class RunError(Error, RuntimeError):
    """A step failed; the message says where."""


class InternalError(Error, RuntimeError):
    """A bug of tbem's."""


DONE, PROGRAM_ERRORS, USAGE, ENVIRONMENT, RUN_FAILED, VERDICT_AGAINST = range(6)
NO_MEMORY, MISUSE, INTERNAL = 64, 65, 70
_KINDS = {USAGE: UsageError, ENVIRONMENT: EnvironmentProblem, RUN_FAILED: RunError, INTERNAL: InternalError}


def exception_of(outcome, message, result=None):
    """The exception of an outcome that is no answer."""
    if outcome == PROGRAM_ERRORS:
        return ProgramError(message or str(result), result)
    if outcome == NO_MEMORY:
        return MemoryError(message or "out of memory")
    return _KINDS.get(outcome, InternalError)(message or "no reason given", result)
