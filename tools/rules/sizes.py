"""Sizes of functions and classes. What is read is laid out by clang-format: a definition's last line before its body
ends in `{`, and the body ends at the first `}` of the same column."""
import re

FUNCTION = 80    # lines, with its head
PARAMETERS = 6
CLASS = 200      # lines; a longer one says why it is one, in the comment above it: "One class"
_REASON = "One class"
# Statements that are laid out as a definition would be.
_NO_FUNCTION = re.compile(r"(?:namespace|enum|if|for|while|switch|else|do|try|return|case|default|extern)\b|[}#]")
_LAMBDA = re.compile(r"\]\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*(?:mutable\s*)?(?:->\s*[\w:<>]+\s*)?\{$|\]\s*\{$")
_CLASS = re.compile(r"(?:template\s*<.*?>\s*)?(?:class|struct|union)\s+(?:\w+::)*(\w+)")


def _definitions(lines):
    """(first line, last line, head as one line) of each block at the first two levels of a file."""
    for at, line in enumerate(lines):
        if not line.endswith("{"):
            continue
        first = at
        while first > 0 and lines[first - 1].strip() and not re.match(r"\s*#|.*[;{}:]$", lines[first - 1]):
            first -= 1
        indent = re.match(" *", lines[first])[0]
        if len(indent) > 2:
            continue
        end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith(indent + "}")), at)
        yield first, end, " ".join(part.strip() for part in lines[first:at + 1])


def parameters_of(head):
    """How many parameters the head of a function has."""
    head = re.sub(r"\boperator\(\)", "operator", head)
    start = head.find("(")
    depth, count, empty = 0, 1, True
    for place, letter in enumerate(head[start:], start):
        if letter in "([{<":
            depth += 1
        elif letter in ")]}" or (letter == ">" and head[place - 1] != "-"):
            depth -= 1
            if depth == 0:
                return 0 if empty else count
        elif letter == "," and depth == 1:
            count += 1
        if depth >= 1 and letter not in "( ":
            empty = False
    return count


def _check_function(path, first, end, head):
    if _NO_FUNCTION.match(head) or "(" not in head or _LAMBDA.search(head):
        return []
    errors, lines, parameters = [], end - first + 1, parameters_of(head)
    if lines > FUNCTION:
        errors.append(f"{path}:{first + 1}: a function of {lines} lines, at most {FUNCTION}: give its parts names")
    if parameters > PARAMETERS:
        errors.append(f"{path}:{first + 1}: {parameters} parameters, at most {PARAMETERS}: those that belong together "
                      "are a struct")
    return errors


def check(tree):
    errors = []
    for path in tree.code("compiler", "runtime", "tools"):
        code, comments = (text.split("\n") for text in tree.split(path))
        for first, end, head in _definitions(code):
            named = _CLASS.match(head)
            if not named:
                errors += _check_function(path, first, end, head)
            elif end - first + 1 > CLASS:
                above = first
                while above > 0 and comments[above - 1].strip():
                    above -= 1
                if _REASON not in re.sub(r"[\s/]+", " ", "\n".join(comments[above:first])):
                    errors.append(f"{path}:{first + 1}: `{named[1]}` has {end - first + 1} lines, more than {CLASS}: part "
                                  f"it by what it does, or say above it why it is one (`{_REASON}: ..`)")
    return errors
