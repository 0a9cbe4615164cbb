"""TextMate's rules as VS Code runs them, line by line, for what our grammar uses: match, begin and end, captures with a
name, include, name and contentName. What it does not know it refuses."""
import re

_KEYS = {"name", "contentName", "match", "captures", "begin", "beginCaptures", "end", "endCaptures", "patterns",
         "include"}


class Rule:
    def __init__(self, number, source):
        unknown = set(source) - _KEYS
        if unknown:
            raise ValueError(f"the engine knows no {', '.join(sorted(unknown))}")
        self.number, self.source = number, source
        self.name, self.content = source.get("name"), source.get("contentName")
        start = source.get("match", source.get("begin"))
        self.start = re.compile(start) if start is not None else None
        self.end = re.compile(source["end"]) if "end" in source else None
        self.captures = self.scopes(source.get("captures", source.get("beginCaptures", {})))
        self.end_captures = self.scopes(source.get("endCaptures", source.get("captures", {})))
        self.inner = None  # what may begin in it, in order

    @staticmethod
    def scopes(captures):
        for capture in captures.values():
            if set(capture) != {"name"}:
                raise ValueError("the engine knows names of captures only")
        return {int(number): capture["name"] for number, capture in captures.items()}


class Grammar:
    def __init__(self, source):
        self.repository, self.rules = source["repository"], {}
        self.top = self.rule({"patterns": source["patterns"]})
        self.used = set()  # numbers of the rules that matched

    def rule(self, source):
        if id(source) not in self.rules:
            self.rules[id(source)] = Rule(len(self.rules), source)
        return self.rules[id(source)]

    def inner(self, rule):
        if rule.inner is None:
            rule.inner = self.flat(rule.source.get("patterns", []), ())
        return rule.inner

    def flat(self, patterns, on_the_way):
        found = []
        for one in patterns:
            if "include" in one:
                name = one["include"]
                if not name.startswith("#"):
                    raise ValueError(f"the engine knows no include of {name}")
                if name not in on_the_way:
                    found += self.flat([self.repository[name[1:]]], (*on_the_way, name))
            elif "match" in one or "begin" in one:
                found.append(self.rule(one))
            else:
                found += self.flat(one["patterns"], on_the_way)
        return found

    def tokenize(self, text):
        """The scopes of each character, a tuple of names."""
        stack, scopes = [(self.top, ())], []
        for line in text.splitlines(keepends=True):
            scopes += _Line(self, line, stack).run()
        return scopes


class _Line:
    def __init__(self, grammar, line, stack):
        self.grammar, self.line, self.stack = grammar, line, stack
        self.scopes = [None] * len(line)
        self.found = {}  # of each expression, its next match

    def search(self, key, pattern, at):
        """The next match from `at`; one that was found from further left still is if it begins at `at` or later."""
        if key in self.found and (self.found[key] is None or self.found[key].start() >= at):
            return self.found[key]
        self.found[key] = pattern.search(self.line, at)
        return self.found[key]

    def paint(self, begin, end, scopes):
        self.scopes[begin:end] = [scopes] * (end - begin)

    def mark(self, found, base, captures):
        self.paint(found.start(), found.end(), base)
        for number, name in sorted(captures.items()):
            if found[number] is not None:
                begin, end = found.span(number)
                for at in range(begin, end):
                    self.scopes[at] += (name,)

    @staticmethod
    def named(scopes, name):
        return (*scopes, name) if name else scopes

    def next(self, at):
        """(match, rule or None at the end of the open one), the leftmost; of several the first."""
        top = self.stack[-1][0]
        best, best_rule = (self.search((top.number, "end"), top.end, at), None) if top.end else (None, None)
        if best is not None and best.start() == at:
            return best, best_rule
        for rule in self.grammar.inner(top):
            found = self.search(rule.number, rule.start, at)
            if found is not None and (best is None or found.start() < best.start()):
                best, best_rule = found, rule
                if found.start() == at:
                    break
        return best, best_rule

    def run(self):
        at, empty = 0, 0
        while True:
            found, rule = self.next(at)
            content = self.named(self.stack[-1][1], self.stack[-1][0].content)
            if found is None:
                self.paint(at, len(self.line), content)
                return self.scopes
            self.paint(at, found.start(), content)
            if rule is None:
                closed, outer = self.stack.pop()
                self.mark(found, outer, closed.end_captures)
            else:
                self.grammar.used.add(rule.number)
                outer = self.named(content, rule.name)
                self.mark(found, outer, rule.captures)
                if rule.end is not None:
                    self.stack.append((rule, outer))
            empty = empty + 1 if found.end() == at else 0
            if empty > 100:
                raise ValueError(f"the grammar does not get on at {at} of {self.line!r}")
            at = found.end()
