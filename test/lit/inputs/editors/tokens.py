"""What the words and marks of a program are: the rules of grammar/TbemLexer.g4 and of the layout pass
(compiler/syntax/layout/Layout.cpp), written once more for texts without slips, so that the grammars of editors are held
against something that they are not made of."""
import re
from dataclasses import dataclass

_LEXER = re.compile(r"""
    (?P<BLANK>[ \t\f]+) | (?P<NEWLINE>\r?\n|\r) | (?P<COMMENT>//[^\r\n]*|/\*.*?\*/)
  | (?P<STRING>"(?:[^"\\\r\n]|\\[^\r\n])*")
  | (?P<NUMBER>[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9][0-9_]*)?)
  | (?P<ID>[A-Za-z_][A-Za-z0-9_]*) | (?P<ENUMERATOR><[A-Za-z_][A-Za-z0-9_]*>)
  | (?P<MARK>\.\.\.|\.\.=|\.\.|->|\|>|<=>|=>|<>|<=|>=|\*\*|[-()\[\]{},;:.|~=<>+*/])
  | (?P<SLIP>"(?:[^"\\\r\n]|\\[^\r\n])*\\?|'[^'\r\n]*'|\#[^\r\n]*|.)
""", re.VERBOSE | re.DOTALL)
_LINKS = {"rem", "inset", "notin"}  # infix operators that are soft words
_SIGNS = {"and", "or", "div", "cdiv", "mod", "<=>", "=>", "=", "<>", "<=", ">=", "<", ">", "**", "+", "-", "*", "/",
          "|>", "..", "..="}
_INFIX = _SIGNS | _LINKS
_WANTS = {",", ":", "->", "|", "then", "else", "when", "leaving", "in"}
_CONTINUES = {"->", "{", "then", "else", "when", "leaving", "|"}
_LITERAL = {"=", ":", ",", "in", "at", "return", "then", "|"}
_STATEMENTS = {"let", "var", "return", "exit", "for"}
_CLOSING = {")": "(", "]": "[", "}": "{"}


@dataclass
class Token:
    """`kind`: NAME, NUMBER, STRING, COMMENT, TEXT, ENUMERATOR, MARK, or the class of a word (`reserved`, `unit`)."""
    kind: str
    text: str
    begin: int
    end: int


def classes(path):
    """Of keywords.txt: word -> its classes."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, *words = line.split()
            for word in words:
                found.setdefault(word, set()).add(name)
    return found


class Layout:
    def __init__(self, text, words):
        self.text, self.words, self.at = text, words, 0
        self.raw = []
        while self.at < len(text):
            found = _LEXER.match(text, self.at)
            self.at = found.end()
            if found.lastgroup != "BLANK":
                self.raw.append(Token(found.lastgroup, found.group(), *found.span()))
        self.out, self.open = [], []  # of `open`: ( [ of brackets, { of literals, B of bodies
        self.last = self.before = None  # tokens; None at the beginning; END is one of its own
        self.clause = self.process = False

    def soft(self, token):
        return self.words.get(token.text, set()) - {"reserved", "unit"} if token.kind == "ID" else set()

    def following(self, at):
        return next((one for one in self.raw[at + 1:] if one.kind not in ("NEWLINE", "COMMENT")), Token("", "", 0, 0))

    # ---- Free text ----

    def fold(self):
        """The texts of `comment` clauses become one token each."""
        process, begins, depth, previous, at = False, True, 0, None, 0
        while at < len(self.raw):
            one = self.raw[at]
            if one.kind == "NEWLINE" or one.text == ";":
                begins = begins or depth == 0
            if one.kind not in ("NEWLINE", "COMMENT"):
                if begins and one.text == "process" and self.following(at).kind == "ID":
                    process, depth = True, 0
                elif one.text == "end_process":
                    process = False
                elif process and begins and one.text == "comment" and not (previous and self.wants(previous)) \
                        and self.following(at).text not in _SIGNS:
                    self.fold_at(at)
                if one.kind == "MARK":
                    depth = max(0, depth + (one.text in ("(", "[", "{")) - (one.text in _CLOSING))
                begins = one.text == ";" and depth == 0
                previous = one
            at += 1

    def fold_at(self, at):
        end = next((k for k in range(at + 1, len(self.raw)) if self.ends_text(at, k)), None)
        if end is None:
            end = next((k for k in range(at + 1, len(self.raw)) if self.raw[k].kind == "NEWLINE"), len(self.raw))
        self.raw[at].kind = "REMARK"
        inner = [one for one in self.raw[at + 1:end] if one.kind != "NEWLINE" and one.text != ";"]
        if inner:
            first, last = self.raw.index(inner[0]), self.raw.index(inner[-1])
            whole = Token("TEXT", self.text[inner[0].begin:inner[-1].end], inner[0].begin, inner[-1].end)
            self.raw[first:last + 1] = [whole]

    def ends_text(self, start, at):
        one, previous = self.raw[at], self.raw[at - 1]
        if one.kind != "ID" or at - 1 == start:
            return False
        line = previous.kind == "NEWLINE"
        if one.text == "end_process":
            return line or previous.text == ";"
        return line and one.text in ("ext", "pre", "post")

    # ---- Layout ----

    def wants(self, token):
        if token.kind == "connector":
            return True
        if token.kind in ("declaration", "header", "body", "anywhere"):
            return token.text not in ("end_process", "comment")
        return token.kind in ("MARK", "reserved") and token.text in _INFIX | _WANTS

    def clause_begins(self):
        return self.last is None or self.last.kind == "END" or self.opens_body() or \
            (self.last.kind == "declaration" and self.last.text == "private")

    def opens_body(self):
        return self.last is not None and self.last.kind == "MARK" and self.last.text == "{" and self.open[-1:] == ["B"]

    def ends_operand(self):
        last = self.last
        if last is None:
            return False
        return last.kind in ("NAME", "NUMBER", "unit", "STRING", "ENUMERATOR", "literal end") or \
            last.text in ("true", "false") or (last.kind == "MARK" and last.text in (")", "]"))

    def in_bracket(self):
        return bool(self.open) and self.open[-1] != "B"

    def push(self, token):
        self.clause = token.kind == "NAME" and self.clause_begins()
        self.before, self.last = self.last, token
        if token.kind == "declaration" or token.text == "end_process":
            self.process = token.text == "process"
        if token.kind != "END":
            self.out.append(token)

    def end_statement(self):
        if self.last is not None and self.last.kind != "END" and not self.opens_body():
            self.push(Token("END", "", self.last.end, self.last.end))

    def declares(self, at):
        one = self.raw[at]
        column = one.begin - (self.text.rfind("\n", 0, one.begin) + 1)
        if column != 0:
            return False
        return (one.text == "let" and not self.open) or ("declaration" in self.soft(one) and self.named(at))

    def named(self, at):
        """Whether a name follows."""
        following = self.following(at)
        return following.kind == "ID" and "reserved" not in self.words.get(following.text, ())

    def ends(self, at):
        one = self.raw[at]
        if one.kind == "ID" and one.text in _STATEMENTS:
            return not (self.last is not None and self.last.text in ("else", "private"))
        if self.declares(at):
            return True
        infix = one.text in _SIGNS
        continues = one.kind == "TEXT" or (one.kind in ("MARK", "ID") and (one.text in _CONTINUES or infix))
        return not (self.last is not None and self.wants(self.last)) and not continues

    def kind(self, at, newline):
        """Of a word, where it stands."""
        one = self.raw[at]
        listed = self.words.get(one.text, set())
        if "reserved" in listed:
            return "reserved"
        number = self.last is not None and self.last.kind == "NUMBER"
        product = self.process and number and one.begin == self.last.end and "connector" not in listed
        if number and not newline and not product and "unit" in listed:
            return "unit"
        soft = self.soft(one)
        if "connector" in soft:
            stands = self.ends_operand() and not product and (not self.clause or not self.open)
            return "connector" if stands else "NAME"
        following = self.following(at)
        indexed = following.text == "[" and following.begin == one.end
        if not soft or not self.clause_begins() or following.text in ("=", ":", ".") or indexed:
            return "NAME"
        name = next(iter(soft))
        inside = bool(self.open)
        if name != "anywhere" and (name == "body") != inside:
            return "NAME"
        if name == "declaration":
            is_name = self.named(at)
            if one.text == "tbem":
                is_name = following.kind == "NUMBER" and self.last is None
            elif one.text == "private":
                is_name = is_name or following.text == "let"
            if not is_name:
                return "NAME"
        return name

    def opening(self, one):
        if one.text != "{":
            return one.text
        last = self.last
        of = last is not None and last.text == "of" and last.kind == "connector" and self.process
        literal = self.in_bracket() or last is None or of or (last.kind in ("MARK", "reserved", "connector") and
                                                              last.text in _LITERAL | _INFIX)
        return "{" if literal else "B"

    def run(self):
        self.fold()
        newline = False
        for at, one in enumerate(self.raw):
            if one.kind == "NEWLINE":
                newline = True
            elif one.kind == "COMMENT":
                newline = newline or "\n" in one.text
                self.out.append(one)
            else:
                if newline and not self.in_bracket() and self.ends(at):
                    self.end_statement()
                self.take(at, newline)
                newline = False
        if self.open:
            raise ValueError("a bracket is open at the end")
        return self.out

    def take(self, at, newline):
        one = self.raw[at]
        kind = one.kind
        if kind == "ID":
            kind = self.kind(at, newline)
        elif kind == "REMARK":
            kind = "header"
        token = Token(kind, one.text, one.begin, one.end)
        if kind == "SLIP":
            raise ValueError(f"no token: {one.text}")
        if kind != "MARK":
            self.push(token)
        elif one.text == ";" and not self.in_bracket():
            self.end_statement()
        elif one.text in ("(", "[", "{"):
            kept = self.opening(one)
            self.push(token)
            self.open.append(kept)
        elif one.text in _CLOSING:
            if not self.open or self.open[-1] not in (_CLOSING[one.text], "B" if one.text == "}" else ""):
                raise ValueError(f"a {one.text} that closes nothing")
            if self.open[-1] == "B":
                self.end_statement()
            elif one.text == "}":
                token.kind = "literal end"
            self.open.pop()
            self.push(token)
        else:
            self.push(token)


def tokens(text, words):
    """All tokens with their comments, by place; ValueError for a text that is not well-formed."""
    return Layout(text, words).run()
