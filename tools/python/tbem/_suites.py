"""Specifications beside the code: programs whose networks call models of a repository, which pyproject.toml names.

    [tool.tbem.models.birdnet]          # what the program imports: `import birdnet: BirdNet`
    model = "birdcalls.model:BirdNet(classes=40)"
    inputs = { spectrogram = [2, 1, 64, 100] }
"""
import contextlib
import os
import re
import tempfile

from . import _errors
from ._models import Model, import_model, is_model, is_module
from ._results import placed
from ._session import Session

_KEYS = {"model", "inputs", "args", "sizes", "python", "name", "max_time"}
_LINE = re.compile(r"(?<=// )\S+:\d+$", re.MULTILINE)  # of the model, behind a statement
_IMPORT = re.compile(r"^import\s+([A-Za-z_]\w*)\s*(?::|$)", re.MULTILINE)


def read_text(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise _errors.EnvironmentProblem(f"cannot read {path}: {error.strerror}") from error


def _settings_file(path):
    """The nearest pyproject.toml at or above the folder of the program in which the tool tbem has a table, or None."""
    folder = os.path.dirname(os.path.abspath(path))
    while True:
        file = os.path.join(folder, "pyproject.toml")
        if os.path.isfile(file) and "tool.tbem" in read_text(file):
            return file
        if os.path.dirname(folder) == folder:
            return None
        folder = os.path.dirname(folder)


def settings(path):
    """(folder, models by module): what [tool.tbem.models] says for a program at this path. Errors: UsageError with the key."""
    file = _settings_file(path)
    if file is None:
        return os.path.dirname(os.path.abspath(path)), {}
    try:
        import tomllib
    except ImportError:  # before Python 3.11
        try:
            import tomli as tomllib
        except ImportError:
            raise _errors.EnvironmentProblem(f"{file} is read by tomllib (Python 3.11) or tomli: neither is here") from None
    try:
        models = tomllib.loads(read_text(file))["tool"]["tbem"].get("models", {})
    except (tomllib.TOMLDecodeError, KeyError, AttributeError) as error:
        raise _errors.UsageError(f"{file} cannot be read: {error}") from error
    for name, given in models.items():
        where = f"{file}: tool.tbem.models.{name}"
        if not isinstance(given, dict):
            raise _errors.UsageError(f"{where} is no table: `model` and `inputs`")
        unknown = sorted(set(given) - _KEYS)
        if unknown:
            raise _errors.UsageError(f"{where} has no key `{unknown[0]}`: {', '.join(sorted(_KEYS))}")
        for key in ("model", "inputs"):
            if key not in given:
                raise _errors.UsageError(f"{where} has no `{key}`")
    return os.path.dirname(file), models


def _module_names(path, text):
    """Modules that the program imports, and that are no files beside it."""
    folder = os.path.dirname(os.path.abspath(path))
    return [name for name in dict.fromkeys(_IMPORT.findall(text)) if not os.path.exists(os.path.join(folder, name + ".tbem"))
            and name != "std"]


def _given_models(model, models, inputs, names, path):
    """Models that were given beside the program, by module."""
    given = dict(models or {})
    if model is not None:
        open_names = [name for name in names if name not in given]
        if len(open_names) != 1:
            raise _errors.UsageError(f"{path} imports " + (", ".join(open_names) or "no model") + ": give models={\"MODULE\": model}")
        given[open_names[0]] = model
    for name, value in given.items():
        if not isinstance(value, Model):
            if not is_model(value):
                raise _errors.UsageError(f"`{name}` is {type(value).__name__}: a torch.nn.Module, \"package.module:Name\", or a Model")
            given[name] = import_model(value, inputs, sizes="all")
    return given


class Suite:
    """A program of specifications with its models: `models`, by module. `folder`: where models are imported from."""

    def __init__(self, path, model=None, models=None, inputs=None):
        self.path, self.text = os.fspath(path), read_text(path)
        names = _module_names(self.path, self.text)
        self.models = _given_models(model, models, inputs, names, self.path)
        self.folder, known = settings(self.path)
        for name in names:
            if name in self.models or name not in known:
                continue  # a module that nobody names is the compiler's to look for, or to miss
            given = dict(known[name])
            self.models[name] = import_model(given.pop("model"), given.pop("inputs"), **{"sizes": "all", **given}, folder=self.folder)

    @property
    def files(self):
        """Of all models, by the names that the programs' comments have."""
        return {name: path for model in self.models.values() for name, path in model.files.items()}

    @contextlib.contextmanager
    def modules(self):
        """A folder with the models as programs, as long as it is needed."""
        with tempfile.TemporaryDirectory(prefix="tbem-") as folder:
            for name, model in self.models.items():
                with open(os.path.join(folder, name + ".tbem"), "w", encoding="utf-8") as file:
                    file.write(_LINE.sub(lambda at, files=model.files: placed(at[0], files), model.text))
            yield folder

    def check(self, **options):
        """Errors of the program, and proofs of all that it declares: Findings."""
        with self.modules() as folder:
            findings = Session(self.text, self.path, modules=[folder]).spec(**options)
        findings.files = self.files
        return findings


def _specified(model, inputs):
    """A module whose `forward` has a specification: the program that says so."""
    specification = getattr(type(model).forward, "__tbem_specification__", None)
    if specification is None:
        raise _errors.UsageError(f"`forward` of {type(model).__name__} has no @tbem.spec: decorate it, or give the path of a program "
                                 "that specifies it")
    imported = import_model(model, inputs, sizes="all")
    known = {name: value for name, value in vars(model).items() if type(value) is int and name in specification.names}
    for formula in (specification.pre, specification.post):
        unknown = [name for name in formula.names if name in known] if formula else []
        if unknown:
            raise _errors.UsageError(f"`{unknown[0]}` in `{formula.text}` is an attribute of the module: a condition that is proved "
                                     "is of sizes")
    results = ", ".join(tensor.text(known) for tensor in specification.outputs)
    text = imported.text + "\n" + "\n".join([
        f"network {imported.network}_specified({', '.join(f'{t.name}: {t.text(known)}' for t in specification.inputs)})"
        f" -> {results if len(specification.outputs) == 1 else f'({results})'}",
        *(f"  {word} {formula.text}" for word, formula in (("pre", specification.pre), ("post", specification.post)) if formula),
        "{", f"  return {imported.network}({', '.join(imported.inputs)})  // {specification.place}", "}", ""])
    session = Session(text, f"{imported.network}.tbem")
    findings = session.spec()
    findings.files, findings.specified = imported.files, f"{imported.network}_specified"
    return findings


def check(program, name=None, *, model=None, models=None, inputs=None, **options):
    """Findings: what is wrong, without running anything.

    A text: what can be known of it (`name`: what messages call it). The path of a program (.tbem): the same, and proofs of what it
    declares for all sizes; the models that it imports are those that pyproject.toml names ([tool.tbem.models]), or `models`, by the
    module's name, or `model`, where it imports one; `inputs`: what that model is exported with. A torch.nn.Module whose `forward`
    has @tbem.spec: proofs of that for all sizes; `inputs` as for `import_model`.
    """
    if is_module(program):
        return _specified(program, inputs)
    if is_model(program) and os.fspath(program).endswith(".tbem"):
        return Suite(program, model, models, inputs).check(**options)
    if model is not None or models is not None or inputs is not None:
        raise _errors.UsageError("models are those that a program at a path imports: give its path")
    return Session(program, name).check(**options)


def tbemc_path():
    """The program `tbemc` of this wheel, or of the build that TBEM_LIBRARY names."""
    here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "tbemc")
    library = os.environ.get("TBEM_LIBRARY")
    path = here if not library else os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(library))), "bin", "tbemc")
    if not os.path.exists(path):
        raise _errors.EnvironmentProblem(f"there is no {path}: a wheel of tbem has it, or TBEM_LIBRARY of a build")
    return path
