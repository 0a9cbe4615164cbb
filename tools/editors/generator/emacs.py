"""The word lists of the Emacs mode."""
import textwrap

from generator import groups


def text(words):
    lists = {
        "reserved": (words.of("reserved"), "Words that stand for themselves everywhere."),
        "constants": (list(groups.CONSTANTS), "Those of them that are values."),
        "declarations": (words.of("declaration"), "Words that begin a declaration, outside all braces."),
        "headers": (words.of("header"), "Words that begin a clause of a header, outside all braces."),
        "bodies": (words.of("body"), "Words that begin a clause inside braces."),
        "anywhere": (words.of("anywhere"), "Words that begin a clause inside and outside braces."),
        "connectors": (words.of("connector"), "Words right after an operand."),
        "units": (words.of("unit"), "Words after a number."),
        "settings": (words.clauses, "Words that begin a clause of an experiment or a training."),
        "callables": (list(groups.CALLABLES), "Declarations that can be applied."),
        "experiments": (list(groups.EXPERIMENTS), "Declarations whose bodies consist of settings."),
        "types": (list(dict.fromkeys(words.types + words.process_types + words.dtypes)), "Types of parameters."),
        "collections": (list(groups.COLLECTIONS), "Types before `of'."),
        "functions": (words.functions + words.elementwise, "The language's own functions."),
    }
    parts = [";;; tbem-words.el --- the words of tbem  -*- lexical-binding: t -*-\n\n"
             ";;; Commentary:\n\n"
             ";; Made by tools/editors/generate from grammar/keywords.txt and the compiler's tables.\n\n"
             ";;; Code:\n\n"]
    for name, (listed, meaning) in lists.items():
        quoted = textwrap.fill(" ".join(f'"{word}"' for word in listed), 100, initial_indent="  '(",
                               subsequent_indent="    ", break_on_hyphens=False)
        parts.append(f'(defconst tbem-words-{name}\n{quoted})\n  "{meaning}")\n\n')
    return "".join(parts) + "(provide 'tbem-words)\n;;; tbem-words.el ends here\n"
