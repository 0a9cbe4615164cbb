"""Which words look alike. What is not named here has its class's look, so a new word of the tables is coloured too."""
from generator.words import Words

LOGICAL = ("and", "or", "not")
ARITHMETIC = ("div", "cdiv", "mod", "rem")
MEMBERSHIP = ("in", "inset", "notin")
QUANTIFIERS = ("forall", "exists")
CONSTANTS = ("true", "false")
VARIABLES = ("let", "var")
CALLABLES = ("operator", "block", "network", "function", "dataset")  # whose parameters stand in parentheses
EXPERIMENTS = ("design", "measure", "regress", "train", "mutate", "perturb")  # whose bodies are made of settings
MODIFIERS = ("private",)
COLLECTIONS = ("list", "seq", "set")  # before `of`
ACCESS = ("rd", "wr")  # of external variables
_NAMED = (LOGICAL, ARITHMETIC, MEMBERSHIP, QUANTIFIERS, CONSTANTS, VARIABLES, CALLABLES, EXPERIMENTS, MODIFIERS,
          ("tbem", "import", "process", "ext", "comment", "end_process"))


def check(words: Words):
    known = {word for listed in words.classes.values() for word in listed}
    lost = [word for group in _NAMED for word in group if word not in known]
    if lost:
        raise SystemExit(f"tools/editors/generate: {', '.join(lost)}: no longer in grammar/keywords.txt: take them out "
                         "of tools/editors/generator/groups.py")


def control(words: Words):
    """The reserved words that steer."""
    others = {*LOGICAL, *ARITHMETIC, *MEMBERSHIP, *QUANTIFIERS, *CONSTANTS, *VARIABLES}
    return [word for word in words.of("reserved") if word not in others]


def connectors(words: Words):
    """The words behind an operand that are no operators."""
    return [word for word in words.of("connector") if word not in (*ARITHMETIC, *MEMBERSHIP)]
