"""The TextMate grammar.

A soft word is a word only where a clause begins or right after an operand (grammar/TbemLexer.g4). A grammar sees one
line at a time, so the places are told by what surrounds them: brackets, literals, bodies, bodies of settings and
processes are contexts of their own, and what a line that wants more (`and`, `,` at its end) goes on with is one too."""
from generator import groups
from generator.regexes import check_rules, one_of

NAME = "[A-Za-z_][A-Za-z0-9_]*"
NUMBER = r"[0-9][0-9_]*(?:\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9][0-9_]*)?"
START = r"(?:^|(?<=[;{])|(?<=\*/))\s*"  # where a clause begins
NO_NAME = r"(?!\s*(?:=(?![=>])|:|\.(?!\.))|\[)"  # behind a word that begins a clause: otherwise it is a name
OPERAND = r"(?<=[A-Za-z0-9_)\]}\">])"  # what a connecting word follows, right before the blanks between
SYMBOL = r"<=>|=>|->|<>|<=|>=|\*\*|\.\.\.|\.\.=?|\|>|[-=<>+*/|~]"

ARITHMETIC, MEMBERSHIP, LOGICAL = ("keyword.operator.arithmetic.tbem", "keyword.operator.membership.tbem",
                                   "keyword.operator.logical.tbem")
CONTROL, CONNECTOR, CLAUSE = "keyword.control.tbem", "keyword.other.connector.tbem", "keyword.other.clause.tbem"
SETTING, TYPE, DECLARATION = "keyword.other.setting.tbem", "support.type.tbem", "storage.type.tbem"
PARAMETER, FUNCTION, OPERATOR = "variable.parameter.tbem", "entity.name.function.tbem", "keyword.operator.tbem"
PIPE, BUILTIN = "keyword.operator.pipe.tbem", "support.function.builtin.tbem"
DECLARED, MODIFIER = "entity.name.type.tbem", "storage.modifier.tbem"
OPENS = "punctuation.section.brackets.begin.tbem"
CLOSES = "punctuation.section.brackets.end.tbem"


def _captures(scopes):
    return {str(number): {"name": scope} for number, scope in enumerate(scopes, 1) if scope}


def match(pattern, *scopes, name=None):
    rule = {"name": name} if name else {}
    rule["match"] = pattern
    if scopes:
        rule["captures"] = _captures(scopes)
    return rule


def span(begin, end, patterns, begins=(), ends=(), **names):
    rule = {**names, "begin": begin, "end": end}
    if begins:
        rule["beginCaptures"] = _captures(begins)
    if ends:
        rule["endCaptures"] = _captures(ends)
    return {**rule, "patterns": patterns}


def include(*names):
    return [{"include": "#" + name} for name in names]


class Grammar:
    """The rules, by name. Those of processes end in `-process`: in them a number multiplies what touches it."""

    def __init__(self, words):
        groups.check(words)
        self.words = words
        self.connecting = one_of(words.of("connector"))
        self.name = rf"(?!{one_of(words.of('reserved'))}\b){NAME}"  # of something declared
        declaring = [word for word in words.of("declaration") if word not in ("tbem", *groups.MODIFIERS)]
        self.declaring = one_of(declaring)
        self.types = one_of(words.types + words.dtypes + words.process_types)
        # A declaration at the beginning of a line ends whatever is still open.
        self.lost = rf"^(?=(?:private\s+)?{self.declaring}\s+{self.name})"
        self.private = rf"{START}(?:(private)\s+)?"

    def json(self):
        rules = {**self.texts(), **self.reserved(), **self.names(), **self.clauses(), **self.declarations()}
        for suffix in ("", "-process"):
            rules.update(self.expressions(suffix))
        rules.update(self.bodies())
        grammar = {
            "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
            "information_for_contributors": [
                "Made by tools/editors/generate from grammar/keywords.txt and the compiler's tables."],
            "name": "tbem",
            "scopeName": "source.tbem",
            "fileTypes": ["tbem"],
            "patterns": include("comments", "version", "import", "process", "experiment", "callable", "declaration",
                                "header", "anywhere", "body", "continued", "result", "typed", "expression"),
            "repository": dict(sorted(rules.items())),
        }
        check_rules(grammar)
        return grammar

    # ---- Words and marks ----

    def texts(self):
        escape = match(r"\\.", name="constant.character.escape.tbem")
        quote = ("punctuation.definition.string.begin.tbem",), ("punctuation.definition.string.end.tbem",)
        begins, ends = ("punctuation.definition.comment.begin.tbem",), ("punctuation.definition.comment.end.tbem",)
        mark = "punctuation.definition.comment.tbem"
        unit, number = one_of(self.words.of("unit")), "constant.numeric.tbem"
        return {
            "comments": {"patterns": [
                match("(///).*$", mark, name="comment.line.documentation.tbem"),
                match("(//).*$", mark, name="comment.line.double-slash.tbem"),
                span(r"(/\*)", r"(\*/)", [], begins, ends, name="comment.block.tbem"),
            ]},
            "strings": span('(")', '(")|$', [escape], *quote, name="string.quoted.double.tbem"),
            "enumerators": match(rf"(<){NAME}(>)", name="constant.other.enumerator.tbem"),
            "numbers": match(rf"{NUMBER}(?:\s*({unit})\b)?", "keyword.other.unit.tbem", name=number),
            "numbers-process": match(rf"{NUMBER}(?:\s+({unit})\b)?", "keyword.other.unit.tbem", name=number),
        }

    def reserved(self):
        after = rf"(?:\s+{self.connecting}\b)?"  # behind a word that is no operand a connecting word is a name

        def words(listed, scope, rest=after):
            return match(rf"\b({one_of(listed)})\b{rest}", scope)

        names = self.words.of("reserved")

        def those(group):
            return [word for word in group if word in names]

        def linked(group, scope):
            return match(rf"{OPERAND}\s+({one_of(group)})\b{after}", scope)

        soft = self.words.of("connector")
        arithmetic = [word for word in groups.ARITHMETIC if word in soft]
        membership = [word for word in groups.MEMBERSHIP if word in soft]
        initializer = match(rf"{OPERAND}\s+(init)\s+({one_of(self.words.initializers)})\b", CONNECTOR,
                            "support.function.initializer.tbem")
        return {
            "reserved": {"patterns": [
                words(groups.LOGICAL, LOGICAL), words(those(groups.ARITHMETIC), ARITHMETIC),
                words(those(groups.MEMBERSHIP), MEMBERSHIP),
                words(groups.QUANTIFIERS, "keyword.operator.quantifier.tbem"),
                words(groups.CONSTANTS, "constant.language.boolean.tbem", ""),
                words(groups.VARIABLES, "storage.type.variable.tbem"), words(groups.control(self.words), CONTROL),
            ]},
            "connectors": {"patterns": [
                initializer, linked(arithmetic, ARITHMETIC), linked(membership, MEMBERSHIP),
                linked(groups.connectors(self.words), CONNECTOR),
            ]},
            "operators": match(rf"({SYMBOL})(?:\s*{self.connecting}\b)?", OPERATOR),
        }

    def names(self):
        functions = one_of(self.words.functions + self.words.elementwise)
        return {
            "types": {"patterns": [
                match(rf"\b{one_of(groups.COLLECTIONS)}(?=\s+of\b)", name=TYPE),
                match(rf"(?<=\bof ){self.types}\b(?!\()", name=TYPE),
                match(rf"\b{one_of(self.words.dtypes)}\b(?!\s*[:(.])", name=TYPE),
            ]},
            "calls": {"patterns": [
                match(rf"(\|>)\s*({functions})\b(?![.\[])", PIPE, BUILTIN),
                match(rf"(\|>)\s*({NAME})\b(?![.\[])", PIPE, FUNCTION),
                match(rf"\b{functions}(?=\()", name=BUILTIN),
                match(rf"\b{NAME}(?=\()", name=FUNCTION),
            ]},
            "words": {"patterns": [
                match(rf"\b{NAME}(?=\s*:)", name=PARAMETER),
                match(rf"(?<!\.)(\.)\s*({NAME})(?!\()", "punctuation.accessor.tbem", "variable.other.member.tbem"),
                match(rf"(~)\s*({NAME})", "keyword.operator.before.tbem", "variable.other.tbem"),
                match(r"\btraining\b", name="variable.language.tbem"),
                match(rf"\b{NAME}\b"),
            ]},
            "typed": match(rf"(:)\s*({self.types})\b(?![(.])", "punctuation.separator.type.tbem", TYPE),
        }

    # ---- Expressions ----

    def expressions(self, suffix):
        literal = include("bracketed" + suffix)
        common = ["comments", "strings", "enumerators", "literals" + suffix, "types", "connectors", "reserved",
                  "numbers" + suffix, "calls", "words", "operators", "round" + suffix, "square" + suffix]
        if suffix:
            common.insert(0, "ports")

        def opened(begin, *scopes):
            return span(begin, rf"(\}})|{self.lost}", literal, (*scopes, OPENS), (CLOSES,))

        linked = rf"{OPERAND}\s+({self.connecting})\s+(\{{)"
        return {
            "expression" + suffix: {"patterns": include(*common)},
            "bracketed" + suffix: {"patterns": include("curly" + suffix, "line-in-brackets", "expression" + suffix)},
            "round" + suffix: span(r"(\()", rf"(\))|{self.lost}", literal, (OPENS,), (CLOSES,)),
            "square" + suffix: span(r"(\[)", rf"(\])|{self.lost}", literal, (OPENS,), (CLOSES,)),
            "curly" + suffix: opened(r"(\{)"),
            "literals" + suffix: {"patterns": [
                opened(r"(=>|[-=:,|+*/<>])\s*(\{)", OPERATOR),
                opened(r"\b(in)\s*(\{)", MEMBERSHIP),
                opened(r"\b(then|return)\s*(\{)", CONTROL),
                opened(linked, CONNECTOR),
            ]},
        }

    def clauses(self):
        words = self.words
        soft = one_of(words.soft)
        after = rf"(?:\s+{self.connecting}\b)?"
        header = [word for word in words.of("header") if word != "end_process"]
        wants = rf"(=>|<=>|\.\.=?|\|>|[-=+*/<>|])|\b({one_of(groups.LOGICAL)})\b" \
                rf"|\b({one_of([*groups.ARITHMETIC, 'in'])})\b|\b(then|when|leaving)\b|([,:])"
        linking = one_of([*groups.ARITHMETIC, *groups.MEMBERSHIP])
        more, rest = r"(?=\s*(?:$|//))", include("comments", "curly")
        goes_on = rf"^\s+{soft}\b(?!\s*:|\()|(?<=\}})|(?=[^\s/{{]|/[^/*])"
        return {
            "header": match(rf"{START}({one_of(header)})\b{NO_NAME}{after}", CLAUSE),
            "anywhere": match(rf"{START}({one_of(words.of('anywhere'))})\b{NO_NAME}", "storage.type.weight.tbem"),
            "inside": match(rf"{START}({one_of(words.of('body'))})\b{NO_NAME}{after}", CLAUSE),
            "setting": match(rf"{START}({one_of(words.clauses)})\b{NO_NAME}{after}", SETTING),
            # The first word of a statement is no operand of a connecting word.
            "statement": match(rf"{START}{self.name}\b(?!\s*[:(])\s+{self.connecting}\b"),
            "continued": {"patterns": [
                span(rf"(?:{wants}){more}", goes_on, rest,
                     (OPERATOR, LOGICAL, ARITHMETIC, CONTROL, "punctuation.separator.tbem")),
                span(rf"{OPERAND}\s+({self.connecting}){more}", goes_on, rest, (CONNECTOR,)),
            ]},
            # In brackets a newline means nothing: a connecting word may be the first of its line.
            "line-in-brackets": match(rf"^\s+({linking})\b(?=\s+[A-Za-z0-9_(~{{\[])", ARITHMETIC),
        }

    # ---- Declarations ----

    def declarations(self):
        words = self.words
        until = r"(?=[,;)\]}]|\|(?!>))|" + self.lost
        value = include("curly", "bracketed")
        types = rf"{self.types}\b|{one_of(groups.COLLECTIONS)}\s+of\b|\{{"
        infix = [word for word in (*groups.LOGICAL, *groups.ARITHMETIC) if word in words.of("reserved") and word != "not"]
        signs = rf"=>|<=|\*\*|\.\.(?!\.)|\|>|-(?!>)|/(?![/*])|[=<>+*]|{one_of(infix)}\b"
        callables, experiments = one_of(groups.CALLABLES), one_of(groups.EXPERIMENTS)
        ends = rf"(?<=\}})|^(?=\s*(?:private\s+)?{self.declaring}\s+{self.name})|^(?=\s*(?:private\s+)?let\b)"
        return {
            "version": match(r"^\s*(tbem)(?=\s+[0-9])", "keyword.other.version.tbem"),
            "import": match(rf"{self.private}(import)\s+({NAME}(?:\s*\.\s*{NAME})*)", MODIFIER,
                            "keyword.control.import.tbem", "entity.name.namespace.tbem"),
            "callable": {"patterns": [
                span(rf"{self.private}({callables})\s+({self.name})\s*(\()", rf"(\))|{self.lost}",
                     include("parameters"), (MODIFIER, DECLARATION, FUNCTION, OPENS), (CLOSES,)),
                match(rf"{self.private}({callables})\s+({self.name})", MODIFIER, DECLARATION, FUNCTION),
            ]},
            "declaration": {"patterns": [
                match(rf"{self.private}({self.declaring})\s+({self.name})", MODIFIER, DECLARATION, DECLARED),
                match(rf"{START}(private)(?=\s+let\b|\s*$)", MODIFIER),
            ]},
            "experiment": span(rf"{self.private}({experiments})\s+({self.name})", ends,
                               include("settings", "continued", "expression"), (MODIFIER, DECLARATION, DECLARED)),
            "result": {"patterns": [
                span(r"(->)\s*(\()", rf"(\))|{self.lost}", include("parameters"), (OPERATOR, OPENS), (CLOSES,)),
                match(rf"(->)\s*({self.types})\b", OPERATOR, TYPE),
            ]},
            "parameters": {"patterns": [
                *include("comments"),
                span("(:)", until, [
                    span(r"(=|\bin\b)", until, value, (OPERATOR,)),
                    match(rf"\b{self.types}\b(?!\()", name=TYPE), *value,
                ], ("punctuation.separator.type.tbem",)),
                match(rf"\b{NAME}\b", name=PARAMETER),
                *include("bracketed"),
            ]},
            "process": span(rf"{self.private}(process)\s+({self.name})", rf"\b(end_process)\b|{self.lost}",
                            include("comments", "remark", "external", "header", "continued", "expression-process"),
                            (MODIFIER, DECLARATION, DECLARED), (DECLARATION,), name="meta.process.tbem"),
            "ports": {"patterns": [
                match(rf"\b{NAME}(?=\s*(?:,\s*{NAME}\s*)*:\s*(?:{types}))", name=PARAMETER),
                *include("typed"),
            ]},
            "external": {"patterns": [
                match(rf"{START}(?:(ext)\s+)?({one_of(groups.ACCESS)})\b(?=\s+{NAME})", CLAUSE, MODIFIER),
                match(rf"(?<=,)\s*({one_of(groups.ACCESS)})\b(?=\s+{NAME})", MODIFIER),
            ]},
            # Free text, up to a line that begins with a clause.
            "remark": span(rf"{START}(comment)\b(?!\s*(?:{signs}))",
                           r"^(?=\s*(?:ext|pre|post|end_process)\b)|(?=;\s*end_process\b)", [], (CLAUSE,),
                           contentName="comment.block.text.tbem"),
        }

    def bodies(self):
        inside = ["comments", "inside", "anywhere", "continued", "statement", "body", "typed", "expression"]
        settings = ["comments", "inside", "setting", "anywhere", "continued", "statement", "expression"]
        return {
            "body": span(r"(\{)", rf"(\}})|{self.lost}", include(*inside), (OPENS,), (CLOSES,)),
            "settings": span(r"(\{)", rf"(\}})|{self.lost}", include(*settings), (OPENS,), (CLOSES,)),
        }
