"""The notation of shapes: `x: tensor[b, 3, h, w] -> tensor[b, classes]`, and conditions on sizes, as the language has them."""
import re

from ._errors import UsageError

_TOKEN = re.compile(r"\s*(?:(?P<number>\d+)|(?P<word>[A-Za-z_]\w*)|(?P<sign>\.\.|->|=>|<=|>=|<>|[-+*/()\[\],:;=<>]))")
# Element types of tensors. `tensor` is any floating-point type.
ELEMENTS = {"tensor": ("float32", "float64", "float16", "bfloat16"), "f32": ("float32",), "f64": ("float64",), "f16": ("float16",),
            "bf16": ("bfloat16",), "i64": ("int64",), "i32": ("int32",), "bool": ("bool",)}
# Words and signs of conditions, as Python has them. div and mod round down in both.
_PYTHON = {"div": "//", "mod": "%", "=": "==", "<>": "!=", "and": "and", "or": "or", "not": "not", "true": "True", "false": "False",
           "+": "+", "-": "-", "*": "*", "(": "(", ")": ")", "<": "<", ">": ">", "<=": "<=", ">=": ">="}


class Formula:
    """A size or a condition: its text, the names in it, and its value where they are known."""

    def __init__(self, tokens, what):
        self.text = _joined(tokens)
        self.names = [word for word in tokens if _is_name(word)]
        words = []
        for token in tokens:
            if not token.isdigit() and not _is_name(token) and token not in _PYTHON:
                raise UsageError(f"{what}: `{token}` is not part of `{self.text}`: numbers, names, + - * div mod, comparisons, and, "
                                 "or, not")
            words.append(_PYTHON.get(token, token))
        try:
            self._code = compile(" ".join(words), "<specification>", "eval")
        except SyntaxError:
            raise UsageError(f"{what}: `{self.text}` is no expression") from None
        self.is_name = len(tokens) == 1 and len(self.names) == 1
        self.number = int(tokens[0]) if len(tokens) == 1 and tokens[0].isdigit() else None

    def value(self, sizes):
        return eval(self._code, {"__builtins__": {}}, sizes)  # made of the tokens above alone


def _is_name(token):
    return re.fullmatch(r"[A-Za-z_]\w*", token) is not None and token not in _PYTHON


def _joined(tokens):
    """The tokens as one writes them."""
    text = ""
    for token in tokens:
        tight = token in ")],:" or text.endswith(("(", "[", "..")) or not text
        text += token if tight else " " + token
    return text


def _tokens(text, what):
    tokens, at = [], 0
    while text[at:].strip():
        found = _TOKEN.match(text, at)
        if found is None:
            raise UsageError(f"{what}: `{text[at:].strip()[0]}` in `{text}` is no part of a specification")
        tokens.append(found[found.lastgroup])
        at = found.end()
    return tokens


class Tensor:
    """One tensor of a signature. `dims`: Formulas; `rest`: at which of them `..name` stands, or None."""

    def __init__(self, name, element, dims, rest):
        self.name, self.element, self.dims, self.rest = name, element, dims, rest

    def __str__(self):
        return self.text()

    def text(self, known=()):
        """As the language has it, with numbers for names that are known."""
        if self.dims is None:
            return self.element
        sizes = [str(known[dim.text]) if dim.is_name and dim.text in known else dim.text for dim in self.dims]
        if self.rest is not None:
            sizes[self.rest] = ".." + self.dims[self.rest].text
        return f"{self.element}[{', '.join(sizes)}]"


class _Reader:
    def __init__(self, text):
        self.text, self.what = text, "the specification"
        self.tokens, self.at = _tokens(text, self.what), 0

    def next(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted=None):
        token = self.next()
        if not token or (wanted is not None and token != wanted):
            expected = f"`{wanted}`" if wanted else "more"
            raise UsageError(f"{self.what}: {expected} is expected in place of `{token or 'its end'}` in `{self.text}`")
        self.at += 1
        return token

    def signature(self):
        inputs = [self.named()]
        while self.next() == ",":
            self.take()
            inputs.append(self.named())
        self.take("->")
        outputs = self.results()
        if self.next():
            raise UsageError(f"{self.what}: `{self.next()}` is left over in `{self.text}`")
        return inputs, outputs

    def named(self):
        name = self.take()
        if not _is_name(name):
            raise UsageError(f"{self.what}: `{name}` is no name of an input in `{self.text}`")
        self.take(":")
        return self.tensor(name)

    def results(self):
        if self.next() != "(":
            return [self.tensor("")]
        self.take()
        results = [self.result()]
        while self.next() == ",":
            self.take()
            results.append(self.result())
        self.take(")")
        return results

    def result(self):
        named = self.at + 1 < len(self.tokens) and self.tokens[self.at + 1] == ":"
        return self.named() if named else self.tensor("")

    def tensor(self, name):
        element = self.take()
        if element not in ELEMENTS:
            raise UsageError(f"{self.what}: `{element}` is no type of tensors: {', '.join(ELEMENTS)}")
        if element == "tensor" and self.next() != "[":
            return Tensor(name, element, None, None)
        self.take("[")
        dims, rest = [], None
        while self.next() != "]":
            if dims:
                self.take(",")
            if self.next() == "..":
                if rest is not None:
                    raise UsageError(f"{self.what}: `..` stands twice in one shape of `{self.text}`")
                self.take()
                rest = len(dims)
            dims.append(self.size())
        self.take("]")
        return Tensor(name, element, dims, rest)

    def size(self):
        tokens, depth = [], 0
        while self.next() and (depth or self.next() not in (",", "]")):
            token = self.take()
            depth += {"(": 1, ")": -1}.get(token, 0)
            tokens.append(token)
        if not tokens:
            raise UsageError(f"{self.what}: a size is missing in `{self.text}`")
        return Formula(tokens, self.what)


def read_signature(text):
    """(inputs, outputs) of `x: tensor[b, 3] -> tensor[b]`, lists of Tensor."""
    return _Reader(text).signature()


def read_condition(text, what):
    """The Formula of `h mod 8 = 0 and w >= 32`."""
    return Formula(_tokens(text, what), what)
