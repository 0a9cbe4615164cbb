"""Programs that are asked about."""
import json
import os
import re
from ctypes import byref, c_char_p, c_void_p, sizeof

from . import _errors
from ._library import Settings, c, options_of
from ._results import Estimate, Findings, Fit, ModelEstimate, Result, WhatIf
from ._step import Step


def take(outcome, result, kind, message=""):
    """The answer of this kind; an exception where there is none. Frees the result."""
    if not result:
        raise _errors.exception_of(outcome, message)
    try:
        lines, error, notes = (function(result).decode() for function in
                               (c.tbem_result_json, c.tbem_result_error, c.tbem_result_notes))
    finally:
        c.tbem_result_free(result)
    if outcome == _errors.PROGRAM_ERRORS:
        raise _errors.exception_of(outcome, error, Findings(lines, notes, error, False))
    answer = kind(lines, notes, error, outcome != _errors.VERDICT_AGAINST)
    if outcome in (_errors.DONE, _errors.VERDICT_AGAINST):
        return answer
    raise _errors.exception_of(outcome, error or message, answer)


class Session:
    """A program's text and where its modules are. One thread at a time uses a session; several may be used at the same time.

    modules: folders in which modules are looked for behind the program's own (TBEM_PATH of tbemc).
    stdlib: a folder in place of the embedded standard library. cache: a folder of the user's for compiled steps; None: none are
    kept. The environment is not read.
    """

    def __init__(self, text=None, name=None, *, modules=(), stdlib=None, cache=None):
        self._pointer = c_void_p()
        folders = [os.fsencode(folder) for folder in modules]
        array = (c_char_p * len(folders))(*folders)
        settings = Settings(sizeof(Settings), len(folders), array, stdlib and os.fsencode(stdlib), cache and os.fsencode(cache))
        outcome = c.tbem_session_new(byref(settings), byref(self._pointer))
        if outcome != _errors.DONE:
            raise _errors.exception_of(outcome, "the session cannot be made")
        if text is not None:
            self.load(text, name)

    def __del__(self):
        if getattr(self, "_pointer", None):
            c.tbem_session_free(self._pointer)
            self._pointer = None

    def load(self, text, name=None):
        """The program from now on: a text, or an expression of one network. `name`: what messages call it, and beside which its
        modules are looked for; an expression has none."""
        encoded = text.encode()
        outcome = c.tbem_load(self._pointer, None if name is None else os.fsencode(name), encoded, len(encoded))
        if outcome != _errors.DONE:
            raise _errors.exception_of(outcome, self._error())

    def load_export(self, document, network):
        """The program from now on: that of a model's export (tbem._export), with a network of this name. Returns what there is to
        say of it, and the paths of its weights by the model's names. Raises ModelError where the model has operators that the language lacks."""
        encoded, result = document.encode(), c_void_p()
        outcome = c.tbem_import(self._pointer, network.encode(), encoded, len(encoded), byref(result))
        try:
            answer = take(outcome, result, Result, self._error())
            imported = next(json.loads(line) for line in answer.json.splitlines() if '"kind":"imported"' in line)
            return answer.notes, {weight["model"]: weight["program"] for weight in imported["weights"]}
        except _errors.ProgramError as error:
            first = re.search(r"\bat (\S+:\d+)", str(error))
            raise _errors.ModelError(str(error), first and first[1], error.findings) from None

    @property
    def text(self):
        """The program that the session answers for, "" where there is none."""
        return c.tbem_session_text(self._pointer).decode()

    def check(self, **options):
        """Everything that can be known without running it: Findings, which are true where there is no error."""
        try:
            return self._ask(c.tbem_check, Findings, options)
        except _errors.ProgramError as found:
            return found.findings

    def estimate(self, **options):
        """Parameters, FLOPs and memory of each row: Estimate. Options are those of `tbemc estimate`."""
        return self._ask(c.tbem_estimate, ModelEstimate if options.get("on") in ("pytorch", "pytorch-cpu") else Estimate, options)

    def fit(self, **options):
        """The largest level of a factor that fits the memory `max`: Fit. Options are those of `tbemc fit`."""
        return self._ask(c.tbem_fit, Fit, options)

    def what_if(self, **options):
        """The GPUs that a step fits in eager PyTorch, and what single changes of it would save: WhatIf. Options are those of
        `tbemc what-if`."""
        return self._ask(c.tbem_what_if, WhatIf, options)

    def spec(self, **options):
        """Proofs of processes, of designs, and of networks for all sizes: Findings, whose `verdict` is False where a condition is
        refuted. Options are those of `tbemc spec`."""
        try:
            return self._ask(c.tbem_spec, Findings, options)
        except _errors.ProgramError as found:
            return found.findings

    def step(self, inputs=None, *, copy=False, run=True, **options):
        """The first row that the options choose, compiled: Step. `inputs`: tensors by name, anything with `__dlpack__`; they are
        read where they lie, or with copy=True copied. Then it runs once, but for run=False."""
        given, pointer, result = options_of(options), c_void_p(), c_void_p()
        outcome = c.tbem_step_new(self._pointer, given, len(given), byref(pointer), byref(result))
        made = take(outcome, result, Result, self._error())
        step = Step(pointer, made)
        for name, tensor in (inputs or {}).items():
            step.set(name, tensor, copy=copy)
        if run:
            step.run()
        return step

    def _error(self):
        return c.tbem_session_error(self._pointer).decode()

    def _ask(self, question, kind, options):
        given, result = options_of(options), c_void_p()
        outcome = question(self._pointer, given, len(given), byref(result))
        return take(outcome, result, kind, self._error())


def step(text, inputs=None, name=None, *, copy=False, run=True, **options):
    """`Session.step` of a text; the step outlives its session."""
    return Session(text, name).step(inputs, copy=copy, run=run, **options)
