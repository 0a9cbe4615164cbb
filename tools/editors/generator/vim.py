"""The Vim syntax, for Vim and Neovim. A soft word is coloured where a line or a statement begins, in the brackets where
it can be one, or right after an operand. Patterns are "very magic": there `<` and `>` are the ends of words."""
from generator import groups

_HEAD = """\
" Syntax of tbem. Made by tools/editors/generate from grammar/keywords.txt and the compiler's tables.
if exists('b:current_syntax')
  finish
endif
syntax case match
syntax sync fromstart
"""
_LINKS = {
    "Comment": ("Comment", "FreeText"), "SpecialComment": ("Documentation",), "String": ("String",),
    "SpecialChar": ("Escape",), "Number": ("Number", "Factor"), "Constant": ("Enumerator",), "Boolean": ("Boolean",),
    "Statement": ("Control", "Clause", "Inside", "Setting", "Connector"), "Operator": ("Word",),
    "StorageClass": ("Variable", "Weight", "Modifier"), "Structure": ("Declaration",),
    "Function": ("Function", "Builtin"), "Type": ("Type",), "Identifier": ("Parameter",),
}
_START = r"%(%(^|[;{]|\*\/)\s*)@<="
_NO_NAME = r">%(\s*%(\=[=>]@!|:|\.\.@!)|\[)@!"
_OPERAND = r'%([A-Za-z0-9_)\]}">]\s+)@<='
_NUMBER = r"<\d[0-9_]*%(\.\d[0-9_]*)?%([eE][+-]?\d[0-9_]*)?"
_EVERYWHERE = ("Comment Documentation String Enumerator Number Word Control Variable Boolean Connector Name Type "
               "Function Builtin Parameter Round Square").split()


def _or(words):
    return "%(" + "|".join(words) + ")"


def _match(name, pattern, options=""):
    return f"syntax match tbem{name} /\\v{pattern}/{options}\n"


def _contains(*names):
    return "contains=" + ",".join("tbem" + name for name in names)


def _keywords(words):
    reserved = words.of("reserved")
    operators = [word for group in (groups.LOGICAL, groups.ARITHMETIC, groups.MEMBERSHIP, groups.QUANTIFIERS)
                 for word in group if word in reserved]
    return [
        f"syntax keyword tbemControl {' '.join(groups.control(words))}\n",
        f"syntax keyword tbemVariable {' '.join(groups.VARIABLES)}\n",
        f"syntax keyword tbemBoolean {' '.join(groups.CONSTANTS)}\n",
        f"syntax keyword tbemWord {' '.join(operators)}\n",
    ]


def _names(words):
    connectors = _or(words.of("connector"))
    types = _or(dict.fromkeys(words.types + words.process_types + words.dtypes))
    before = _or(word for word in words.of("reserved", "declaration") if word not in groups.CONSTANTS)
    unit = _or(words.of("unit"))
    return [
        _match("Function", r"<\h\w*\ze\("),
        _match("Builtin", rf"<{_or(words.functions + words.elementwise)}\ze\("),
        _match("Parameter", r"<\h\w*\ze\s*:"),
        _match("Type", rf"%(:\s*|<of )@<={types}>[(.]@!"),
        _match("Type", rf"<{_or(groups.COLLECTIONS)}\ze\s+of>"),
        _match("Type", rf"<{_or(words.dtypes)}>%(\s*[:(.])@!"),
        _match("Connector", rf"{_OPERAND}{connectors}>"),
        _match("Name", rf"%(<{before}\s+|[-=<>+*|~]\s*)@<={connectors}>"),
        _match("Number", rf"{_NUMBER}%(\s*{unit}>)?"),
        _match("Factor", rf"{_NUMBER}%(\s+{unit}>)?", " contained"),
        _match("Enumerator", r"\<\h\w*\>"),
    ]


def _clauses(words):
    headers = [word for word in words.of("header") if word != "comment"]
    begins = rf"{_START}%(private\s+)?{_or(words.of('declaration'))}\ze\s+\w"
    return [
        _match("Declaration", begins, " contains=tbemModifier"),
        "syntax keyword tbemModifier private contained\n",
        _match("Clause", rf"{_START}{_or(headers)}{_NO_NAME}"),
        _match("Weight", rf"{_START}{_or(words.of('anywhere'))}{_NO_NAME}"),
        _match("Inside", rf"{_START}{_or(words.of('body'))}{_NO_NAME}", " contained"),
        _match("Setting", rf"{_START}{_or(words.clauses)}{_NO_NAME}", " contained"),
        _match("Modifier", rf"%(<ext\s+|,\s*|^\s*)@<={_or(groups.ACCESS)}\ze\s+\h", " contained"),
    ]


def _regions():
    process = [name for name in _EVERYWHERE if name != "Number"]
    return [
        f"syntax region tbemRound start=/(/ end=/)/ transparent {_contains(*_EVERYWHERE)}\n",
        f"syntax region tbemSquare start=/\\[/ end=/\\]/ transparent {_contains(*_EVERYWHERE)}\n",
        "syntax region tbemBody start=/{/ end=/}/ transparent fold "
        f"{_contains(*_EVERYWHERE, 'Body', 'Inside', 'Setting', 'Weight')}\n",
        "syntax region tbemProcess start=/\\v^\\s*%(private\\s+)?process\\s+\\h/ end=/\\v<end_process>/ "
        f"transparent fold keepend {_contains(*process, 'Factor', 'Declaration', 'Clause', 'FreeText', 'Modifier')}\n",
        "syntax region tbemFreeText matchgroup=tbemClause start=/\\v%(^|;)\\s*\\zscomment>/ matchgroup=NONE "
        "end=/\\v^\\ze\\s*%(ext|pre|post|end_process)>/ end=/\\v\\ze;\\s*end_process>/ contained\n",
        "syntax match tbemEscape /\\\\./ contained\n",
        'syntax region tbemString start=/"/ skip=/\\\\./ end=/"/ oneline contains=tbemEscape\n',
        _match("Comment", r"\/\/.*$"),
        _match("Documentation", r"\/\/\/.*$"),
        "syntax region tbemComment start=/\\/\\*/ end=/\\*\\//\n",
    ]


def text(words):
    links = [f"highlight default link tbem{name} {group}\n" for group, names in _LINKS.items() for name in names]
    parts = [_HEAD, *_names(words), *_keywords(words), *_clauses(words), *_regions(), *links]
    return "".join(parts) + "let b:current_syntax = 'tbem'\n"
