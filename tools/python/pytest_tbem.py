"""A plugin of pytest: the declarations of specification files are tests.

    pytest                      programs below the tested folders whose name is or ends in "spec" or "specs"
    pytest --tbem FILE.tbem     another program too
    pytest FILE.tbem::NAME      one declaration

The setting `tbem_files` has other patterns. tbem itself is imported when the first such file is found.
"""
import fnmatch
import os
import re

import pytest

_DECLARATION = re.compile(r"^(network|process|design|block|operator)\s+([A-Za-z_]\w*)", re.MULTILINE)
_ERRORS = "errors"
_BROKEN_BUDGET = "E0480"


def pytest_addoption(parser):
    parser.getgroup("tbem").addoption("--tbem", action="append", default=[], metavar="FILE",
                                      help="prove the declarations of this program too")
    parser.addini("tbem_files", "patterns of the names of specification files", type="args",
                  default=["spec.tbem", "specs.tbem", "*_spec.tbem", "*_specs.tbem"])


def pytest_configure(config):
    missing = [path for path in config.getoption("tbem") if not os.path.isfile(path)]
    if missing:
        raise pytest.UsageError(f"--tbem: there is no file {missing[0]}")
    config.args.extend(path for path in config.getoption("tbem") if path not in config.args)


def pytest_collect_file(file_path, parent):
    if file_path.suffix != ".tbem":
        return None
    named = any(os.path.realpath(argument.partition("::")[0]) == os.path.realpath(file_path) for argument in parent.config.args)
    if named or any(fnmatch.fnmatch(file_path.name, pattern) for pattern in parent.config.getini("tbem_files")):
        return SpecificationFile.from_parent(parent, path=file_path)
    return None


class SpecificationFile(pytest.File):
    """A program. It is asked about once, for all of its tests."""
    _answer = None

    def collect(self):
        yield Declaration.from_parent(self, name=_ERRORS, kind="program")
        for kind, name in _DECLARATION.findall(self.path.read_text(encoding="utf-8")):
            yield Declaration.from_parent(self, name=name, kind=kind)

    def answer(self):
        """Findings, or the exception that was raised in their place."""
        if self._answer is None:
            import tbem
            try:
                self._answer = tbem.check(os.path.relpath(self.path))
            except tbem.Error as error:
                self._answer = error
        return self._answer


class Refuted(Exception):
    """A declaration, and the lines that say what is wrong with it."""


class Declaration(pytest.Item):
    """Of a program: that it has no errors. Of a declaration: that its conditions hold for all sizes, and that it keeps its budgets."""

    def __init__(self, *, kind, **given):
        super().__init__(**given)
        self.kind = kind

    def runtest(self):
        answer = self.parent.answer()
        if isinstance(answer, Exception):
            raise answer
        # A broken budget is the design's.
        wrong = [row for row in answer if row["kind"] == "check" and row["severity"] == "error" and row["code"] != _BROKEN_BUDGET]
        if self.kind == "program":
            if wrong:
                raise Refuted(str(answer))
            return
        if wrong:
            pytest.skip("the program has errors")
        own = [row for row in answer if _declaration_of(row) == (self.kind, self.name)]
        if not own:
            pytest.skip(f"nothing is proved of a {self.kind} by itself")
        verdicts = {verdict for row in own for verdict in _verdicts(row)}
        if verdicts & {"refuted", "broken"}:
            raise Refuted("\n".join(dict.fromkeys(line for row in own for line in _lines(row, self.name, answer))))
        if "residual" in verdicts:
            pytest.skip("some conditions are neither proved nor refuted: they are looked at when it runs")

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, Refuted):
            return str(excinfo.value)
        if type(excinfo.value).__module__.startswith("tbem."):
            return f"{self.path.name}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, f"{self.kind} {self.name}"


def _declaration_of(row):
    """("network", its name) of a line of `tbemc spec --json` that is of one declaration."""
    names = {"network": ("network", "network"), "levels": ("design", "design"), "budget": ("design", "design"),
             "spec": ("process", "process")}
    kind, field = names.get(row["kind"], (None, None))
    return kind, row.get(field)


def _verdicts(row):
    if row["kind"] == "budget":
        return ["proved" if row["holds"] else "broken"]
    return [finding["verdict"] for finding in row["findings"]] if row["kind"] == "spec" else [row["verdict"]]


def _assigned(values):
    return ", ".join(f"{name} = {value}" for name, value in (values or {}).items())


def _lines(row, name, answer):
    """What is refuted and at which values; then the messages about it, with the lines of the model and of the program."""
    if row["kind"] == "budget":
        yield from () if row["holds"] else _broken(row, answer)
        return
    for breach in row.get("breaches", []):
        values = _assigned(breach.get("values", breach.get("nearest")))
        yield f"`{breach['subject']}`: `{breach['condition']}` breaks at {values}"
    for finding in row.get("findings", []):
        if finding["verdict"] == "refuted":
            yield f"{finding['claim']}: refuted at {_assigned(finding.get('values'))}"
    for finding in answer:
        if finding["kind"] == "check" and f"`{name}`" in finding["message"]:
            yield f"{answer.place_of(finding)}: {finding['message']}"


def _broken(budget, answer):
    """What a broken budget is of, what takes most, and the lines of the model that make it."""
    for finding in answer:
        if finding["kind"] != "check" or finding["code"] != _BROKEN_BUDGET:
            continue
        if (finding["file"], finding["line"]) != (budget["file"], budget["line"]):
            continue
        yield f"{finding['file']}:{finding['line']}: {finding['message']}"
        yield from (f"  {note}" for note in finding["notes"])
        yield from (f"  {answer.place_of(label)}: {label['text']}" for label in finding["labels"])
