"""Programs as HTML: a lexer made from the language's tables of words, and links from names to their declarations."""
import html
import re
import sys

from pygments import lex
from pygments.lexer import RegexLexer, bygroups, words
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Token

# What a class in the page stands for; the colours are in assets/site.css. The first that contains a token's type counts.
CLASSES = [(Comment, "c"), (String, "s"), (Number, "n"), (Keyword.Type, "t"), (Name.Builtin, "b"), (Name.Function, "d"),
           (Name.Class, "d"), (Keyword, "k"), (Operator.Word, "k"), (Token.Generic.Prompt, "p")]
NAME = r"[A-Za-z_][A-Za-z0-9_]*"


def lexer_of(table):
    """A lexer for programs; `table` is what tools/editors reads from grammar/keywords.txt and the compiler's tables."""
    declaring = "|".join(word for word in table.classes["declaration"] if word not in ("tbem", "private", "import"))
    soft = sorted(set(table.of("declaration", "header", "body", "anywhere") + table.clauses))
    clause = rf"(?:{'|'.join(soft)})\b(?!\s*[=:.,)(\[])"

    class TbemLexer(RegexLexer):
        name, aliases, filenames, flags = "tbem", ["tbem"], ["*.tbem"], re.MULTILINE
        tokens = {"root": [
            (r"//[^\n]*", Comment.Single),
            (r"/\*(?:.|\n)*?\*/", Comment.Multiline),
            (r'"(?:\\.|[^"\\\n])*"', String),
            (rf"(^[ \t]*)(private\s+)?({declaring})(\s+)({NAME})",
             bygroups(Token.Text, Keyword, Keyword.Declaration, Token.Text, Name.Class)),
            (rf"(^[ \t]*|(?<=[;{{])[ \t]*)({clause})", bygroups(Token.Text, Keyword)),
            (rf"[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?(?:\s?(?:{'|'.join(table.of('unit'))})\b)?", Number),
            (words(table.of("reserved"), prefix=r"\b", suffix=r"\b"), Keyword.Reserved),
            (rf"(?<=[\w)\]}}\">])([ \t]+)({'|'.join(table.of('connector'))})\b(?!\s*[:=])",
             bygroups(Token.Text, Operator.Word)),
            (words(table.types + table.dtypes + table.process_types, prefix=r"\b", suffix=r"\b"), Keyword.Type),
            (words(table.functions + table.elementwise + table.initializers, prefix=r"\b", suffix=r"\b(?=\s*\()"),
             Name.Builtin),
            (NAME, Name),
            (r"\n|[ \t]+", Token.Text.Whitespace),  # not both at once: a clause begins behind the blanks of its line
            (r".", Token.Operator),
        ]}

    return TbemLexer()


def _class(kind):
    return next((short for known, short in CLASSES if kind in known), "")


class Highlighter:
    def __init__(self, root):
        sys.path.insert(0, str(root / "tools/editors"))
        from generator import words as tables  # what editors' grammars are made from: one reader of these tables
        table = tables.read(root)
        self.lexer = lexer_of(table)
        declaring = [word for word in table.classes["declaration"] if word != "perturb"]
        self.program = re.compile(rf"\s*(?:(?://[^\n]*)\n\s*)*(?:private\s+)?(?:{'|'.join(declaring)})\s+[A-Za-z_0-9]")

    def is_program(self, text):
        """Whether a block without a language is a program, or a part of one: it begins with a declaration."""
        return bool(self.program.match(text))

    def tbem(self, text, links):
        """`links`: from the name of a declaration to where it is described. Names that the text declares have none."""
        tokens = [(kind, value) for kind, value in lex(text, self.lexer) if value]
        declared = {value for kind, value in tokens if kind is Name.Class}
        return self._spans(tokens, {name: link for name, link in links.items() if name not in declared})

    def other(self, text, language):
        return self._spans(list(lex(text, get_lexer_by_name(language))), {})

    @staticmethod
    def console(text):
        """Commands stand out from what they print."""
        lines = []
        for line in text.split("\n"):
            escaped = html.escape(line, quote=False)
            lines.append(f'<span class="p">$ </span><span class="i">{escaped[2:]}</span>' if line.startswith("$ ") else escaped)
        return "\n".join(lines)

    @staticmethod
    def _spans(tokens, links):
        out = []
        for at, (kind, value) in enumerate(tokens):
            escaped = html.escape(value, quote=False)
            short = _class(kind)
            if kind is Name and value in links and _applied(tokens, at):
                out.append(f'<a href="{html.escape(links[value])}">{escaped}</a>')
            elif short and value.strip():
                out.append(f'<span class="{short}">{escaped}</span>')
            else:
                out.append(escaped)
        return "".join(out).rstrip("\n")


def _applied(tokens, at):
    """Whether a name is that of a declaration and not of a value or a parameter: it is called, or stands behind `|>`, `of`, or
    `loss:`."""
    before = [value.strip() for _, value in tokens[max(0, at - 5):at] if value.strip()]
    after = next((value for _, value in tokens[at + 1:at + 3] if value.strip()), "")
    return after == "(" or before[-2:] == ["|", ">"] or before[-1:] == ["of"] or before[-2:] == ["loss", ":"]
