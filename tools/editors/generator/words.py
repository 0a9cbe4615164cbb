"""The words of the language, read where they are defined: `grammar/keywords.txt` and the compiler's own tables. A table
that is no longer found ends the generation with the pattern that found nothing."""
import re
from dataclasses import dataclass

_WORD = re.compile(r'"([A-Za-z_]\w*)"')


@dataclass(frozen=True)
class Words:
    """Each list in the order of its source."""
    classes: dict  # of keywords.txt: class -> words
    dtypes: list  # element types: `f32`
    types: list  # of parameters: `int`, `tensor`
    process_types: list  # of processes alone: `nat0`
    functions: list  # of elaboration time and of processes: `len`, `card`
    elementwise: list  # of element-wise expressions alone: `tanh`
    initializers: list  # of weights: `he_normal`
    clauses: list  # of designs, measurements, regressions, trainings and mutations: `task`, `epochs`

    def of(self, *classes):
        return [word for name in classes for word in self.classes[name]]

    @property
    def soft(self):
        """Words only where a clause begins, or right after an operand."""
        return self.of("declaration", "header", "body", "anywhere", "connector")


def _keywords(root):
    classes = {}
    for line in (root / "grammar/keywords.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, *listed = line.split()
            classes[name] = listed
    return classes


def _tables(root, path, *patterns):
    """The words in quotes in what the first group of each pattern matches, every place of it."""
    text, found = (root / path).read_text(encoding="utf-8"), []
    for pattern in patterns:
        places = re.findall(pattern, text, re.DOTALL)
        words = [word for place in places for word in _WORD.findall(place)]
        if not words:
            raise SystemExit(f"tools/editors/generate: {path} has no table that matches {pattern!r}: say in "
                             "tools/editors/generator/words.py where its words are now")
        found += words
    return list(dict.fromkeys(found))


def read(root):
    types = _tables(root, "compiler/sema/check/CheckNames.cpp", r"kTypes = \{(.*?)\};")
    functions = _tables(root, "compiler/sema/evaluate/EvaluateBuiltins.cpp", r"Builtin kBuiltins\[\] = \{(.*?)\n  \};")
    design = _tables(root, "compiler/syntax/parse/BuildDesign.cpp", r"kSlots\[\] = \{(.*?)\n\};",
                     r"std::string> list\{(.*?)\}")
    experiment = _tables(root, "compiler/syntax/parse/BuildExperiment.cpp", r'known\(each, "[^"]*", \{(.*?)\}',
                         r'each, "[^"]*",\s*\{(.*?)\}', r'config\(\), "[^"]*",\s*\{(.*?)\}')
    classes = _keywords(root)
    return Words(
        classes=classes,
        dtypes=_tables(root, "runtime/include/tbem/dtypes.def", r"\nTBEM_DTYPE\(([^)\n]*)\)"),
        types=types,
        process_types=[word for word in _tables(root, "compiler/spec/process/ReadVariables.cpp",
                                                r"kTypes\[\] = \{(.*?)\};") if word not in types],
        functions=functions,
        elementwise=[word for word in _tables(root, "compiler/sema/check/CheckCalls.cpp", r"kElementwise = \{(.*?)\};")
                     if word not in functions],
        initializers=_tables(root, "compiler/graph/elaborate/ElaborateWeights.cpp", r"kInits = \{\{(.*?)\}\};"),
        clauses=[word for word in dict.fromkeys(design + experiment) if word not in classes["body"]],
    )
