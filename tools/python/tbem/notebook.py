"""The cell magic `%%tbem`: a program in a cell, checked or estimated where it stands.

    %load_ext tbem

    %%tbem estimate --input image=16,3,224,224
    resnet(depth: 50)

The first word is check, estimate (where there is none) or fit; options are those of `tbemc`. `--into NAME` keeps the answer in a
variable. A cell of one expression needs no name; `--name FILE` says beside which file modules are looked for.
"""
import shlex

from . import _errors
from ._session import Session

_QUESTIONS = ("check", "estimate", "fit")


def _options(words):
    """`--name value`, `--name=value`, and flags, as keyword arguments; an option that is given twice is a list."""
    options, at = {}, 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("--"):
            raise _errors.UsageError(f"%%tbem: `{word}` is neither {', '.join(_QUESTIONS)} nor an option")
        name, equals, value = word[2:].partition("=")
        if not equals and at < len(words) and not words[at].startswith("--"):
            value, equals = words[at], "="
            at += 1
        given = value if equals else True
        options[name] = [*options[name], given] if isinstance(options.get(name), list) else \
            [options[name], given] if name in options else given
    return options


def run(line, cell, variables=None):
    """What the magic does: the answer, which a notebook shows. Of a program with errors: what is wrong with it."""
    words = shlex.split(line)
    question = words.pop(0) if words and words[0] in _QUESTIONS else "estimate"
    options = _options(words)
    into, name = options.pop("into", None), options.pop("name", None)
    try:
        answer = getattr(Session(cell, name), question)(**options)
    except _errors.ProgramError as error:
        answer = error.findings
    if into is not None and variables is not None:
        variables[into] = answer
    return answer


def load_ipython_extension(ipython):
    """Called by `%load_ext tbem`."""
    def magic(line, cell):
        return run(line, cell, ipython.user_ns)
    magic.__doc__ = __doc__
    ipython.register_magic_function(magic, magic_kind="cell", magic_name="tbem")
