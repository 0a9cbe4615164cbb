"""Questions in one call: of a text, or of a model."""
from . import _errors
from ._models import import_model, is_model
from ._session import Session

_IMPORT = ("args", "sizes", "python", "max_time")


def _asked(question, subject, inputs, name, options):
    """The answer of a session of its own."""
    if is_model(subject):
        given = {word: options.pop(word) for word in _IMPORT if word in options}
        return getattr(import_model(subject, inputs, name=name, **given), question)(**options)
    if not isinstance(subject, str):
        raise _errors.UsageError(f"{type(subject).__name__} is no program and no model: a text, a torch.nn.Module, "
                                 "\"package.module:Name\", or a program's path")
    if inputs is not None:
        raise _errors.UsageError("a program's inputs are the option `input`; `inputs` are a model's")
    return getattr(Session(subject, name), question)(**options)


def estimate(model, inputs=None, *, name=None, **options):
    """What a step takes.

    Of a model (`import_model` says what is one): in eager PyTorch, by default; the options of `Model`, of `import_model`, and of
    `tbemc estimate`. Of a text: `Session.estimate`."""
    return _asked("estimate", model, inputs, name, options)


def fit(model, inputs=None, *, name=None, **options):
    """The largest batch, or level of another factor, that fits. Of a model: `Model.fit`; of a text: `Session.fit`."""
    return _asked("fit", model, inputs, name, options)


def what_if(model, inputs=None, *, name=None, **options):
    """The GPUs that a step fits in eager PyTorch, and what changes would save. Of a model: `Model.what_if`; of a text:
    `Session.what_if`."""
    return _asked("what_if", model, inputs, name, options)
