"""One type, one definition: two types of one name in one namespace are undefined behaviour that no linker reports."""
import re

from rules.source import blank, line_of

_WORD = re.compile(r'[A-Za-z_]\w*|::|\S')
_MARK = re.compile(r'[{};]')
_BRACE = re.compile(r'[{}]')
_PREPROCESSOR = re.compile(r'^[ \t]*#(?:\\\n|[^\n])*', re.MULTILINE)
_FRIEND = re.compile(r'\bfriend\s+(?:class|struct)\s+(\w+)\s*;')
_KEYS = ("struct", "class", "enum", "union")


def _after(code, place):
    """Past the brace that closes the one at `place`."""
    depth = 0
    for match in _BRACE.finditer(code, place):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.end()
    return len(code)


def _without_template(words):
    """Words after `template <...>` and before the base classes, without attributes."""
    while words and words[0] == "template":
        depth = 0
        for index, word in enumerate(words[1:], 1):
            depth += (word == "<") - (word == ">")
            if depth == 0:
                words = words[index + 1:]
                break
        else:
            return []
    plain, depth = [], 0
    for word in words:
        depth += word == "["
        if depth == 0:
            plain.append(word)
        depth -= word == "]"
    return plain


def _type_name(words):
    """The name that `struct A::B<C> final : D` defines or declares; None where the words are of something else."""
    words = _without_template(words)
    while words and words[0] in ("static", "inline", "constexpr", "const", "extern", "friend", "typedef"):
        words = words[1:]
    if not words or words[0] not in _KEYS or "(" in words or "=" in words:
        return None
    words = words[2:] if words[0] == "enum" and words[1:2] and words[1] in ("class", "struct") else words[1:]
    name = ""
    for word in words:
        if word in (":", "final") or (name and re.match(r"\w", word) and re.search(r"\w$", name)):
            break
        name += word
    return name or None


def types_of(code):
    """(defined, declared): lists of (place, namespace, name) at namespace scope; `(anonymous)` is a namespace too."""
    code = _PREPROCESSOR.sub(lambda match: blank(match.group()), code)
    defined, declared, scopes, place = [], [], [], 0
    while match := _MARK.search(code, place):
        start, place, mark = place, match.end(), match.group()
        if mark == "}":
            scopes = scopes[:-1]
            continue
        words = _WORD.findall(code, start, match.start())
        if mark == "{" and "namespace" in words:
            names = [word for word in words[words.index("namespace") + 1:] if re.match(r"\w", word)]
            scopes.append(names or ["(anonymous)"])
            continue
        name = _type_name(words)
        if name:
            space = "::".join(part for scope in scopes for part in scope)
            (defined if mark == "{" else declared).append((match.start(), space, name))
        if mark == "{" and words[:1] == ["extern"] and len(words) == 2:  # extern "C"
            scopes.append([])
        elif mark == "{":
            place = _after(code, match.start())
    return defined, declared


def _program_of(path):
    """Tests and tools are programs of their own: their types meet those of the libraries, not each other's."""
    parts = path.split("/")
    if parts[0] == "test":
        return "/".join(parts[:3])
    return "/".join(parts[:2]) if parts[0] == "tools" else ""


def check(tree):
    errors, first, in_sources, in_headers, friends = [], {}, [], set(), set()
    for path in tree.code("compiler", "runtime", "tools", "test"):
        code, _ = tree.split(path)
        defined, declared = types_of(code)
        header = not path.endswith(".cpp")
        if header:
            in_headers.update((space, name) for _, space, name in declared)
            friends.update(_FRIEND.findall(code))
        for place, space, name in defined:
            if "(anonymous)" in space:
                continue
            line = line_of(code, place)
            if not header and "::" not in name and "<" not in name:
                in_sources.append((path, line, space, name))
            for other, other_line in first.setdefault((space, name), []):
                programs = {_program_of(path), _program_of(other)}
                if other != path and (len(programs) == 1 or "" in programs):
                    errors.append(f"{path}:{line}: type `{space}::{name}` is also defined in {other}:{other_line}: "
                                  "rename one, or put what one file alone uses into an anonymous namespace")
            first[space, name].append((path, line))
    for path, line, space, name in in_sources:
        if (space, name) not in in_headers and name not in friends:
            errors.append(f"{path}:{line}: type `{name}` of a .cpp file is outside an anonymous namespace: "
                          "put it into one, or declare it in a header")
    return errors
