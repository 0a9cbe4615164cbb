#include "compiler/emit/python/Wrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <vector>

namespace tbem::emit {

namespace {

constexpr std::size_t kWidth = 88;

/// Walks a text outside of its strings. `at` stands on a character that is no part of one.
std::size_t next(std::string_view text, std::size_t at) {
  if (text[at] != '"') return at + 1;
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at + 1;
}

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

struct Bracket {
  std::size_t open = 0, close = 0;
};

/// The outermost brackets, in order.
std::vector<Bracket> brackets(std::string_view text) {
  std::vector<Bracket> all;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); at = next(text, at)) {
    if (opens(text[at]) && depth++ == 0) all.push_back({at, at});
    if (closes(text[at]) && --depth == 0) all.back().close = at;
  }
  return all;
}

/// The parts of a text between separators that stand in no bracket; a separator that is a word or a sign begins the next part.
std::vector<std::string_view> parts(std::string_view body, const std::vector<std::string_view>& separators) {
  std::vector<std::string_view> all;
  std::size_t depth = 0, begin = 0;
  const auto add = [&](std::size_t end) {
    std::string_view part = body.substr(begin, end - begin);
    while (part.starts_with(' ')) part.remove_prefix(1);
    if (!part.empty()) all.push_back(part);
  };
  for (std::size_t at = 0; at < body.size(); at = next(body, at)) {
    if (opens(body[at])) ++depth;
    if (closes(body[at])) --depth;
    for (const std::string_view separator : separators) {
      if (depth != 0 || !body.substr(at).starts_with(separator)) continue;
      add(at);
      begin = separator == "," ? at + 1 : at;
    }
  }
  add(body.size());
  return all;
}

/// Where a text without commas is broken: before these, the first of which that it has.
const std::vector<std::vector<std::string_view>>& separators() {
  static const std::vector<std::vector<std::string_view>> table = {{" for "}, {" if ", " else "},      {" or "},
                                                                   {" and "}, {" == ", " < ", " <= "}, {" | "},
                                                                   {" & "},   {" + ", " - "},          {" * ", " / ", " @ "}};
  return table;
}

/// A list, a tuple or a subscript: its parts go on lines of their own where they do not fit.
bool isList(std::string_view line, const Bracket& bracket) {
  const char before = bracket.open == 0 ? ' ' : line[bracket.open - 1];
  return before == ' ' || opens(before) || before == '*' || before == '=';
}

bool isName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// `x ** 2` as x**2 where both sides are names, attributes or numbers.
std::string withPowers(std::string_view line) {
  constexpr std::string_view kPower = " ** ";
  std::string text(line);
  for (std::size_t at = 0; (at = text.find(kPower, at)) != std::string::npos; ++at) {
    std::size_t left = at, right = at + kPower.size();
    while (left > 0 && isName(text[left - 1])) --left;
    const bool isLeft = left < at && text[left] != '.' && (left == 0 || !closes(text[left - 1]));
    if (right < text.size() && text[right] == '-') ++right;
    const std::size_t begin = right;
    while (right < text.size() && isName(text[right])) ++right;
    const bool isRight = right > begin && (right == text.size() || !opens(text[right]));
    if (isLeft && isRight) text.replace(at, kPower.size(), "**");
  }
  return text;
}

/// Where the value of an assignment or a `return` begins; 0: the line is none.
std::size_t valueOf(std::string_view line) {
  if (line.starts_with("return ")) return 7;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < line.size(); at = next(line, at)) {
    if (opens(line[at])) ++depth;
    if (closes(line[at])) --depth;
    if (depth == 0 && line.substr(at).starts_with(" = ")) return at + 3;
  }
  return 0;
}

/// The links of a chain of calls, `f(x)` and `.reshape(...)` and `.permute(...)`: what a bracket closes before a dot.
std::vector<std::string_view> links(std::string_view value) {
  std::vector<std::string_view> all;
  std::size_t begin = 0;
  for (const Bracket& bracket : brackets(value)) {
    if (bracket.close + 1 >= value.size() || value[bracket.close + 1] != '.') continue;
    all.push_back(value.substr(begin, bracket.close + 1 - begin));
    begin = bracket.close + 1;
  }
  all.push_back(value.substr(begin));
  return all;
}

/// Whether Black puts the value into parentheses: where several signs of one kind part it, or one does and no bracket at an end
/// can take the line break, or no sign does and the value is a chain of several calls.
bool wantsParentheses(std::string_view value) {
  if (value.starts_with("lambda ")) return false;
  for (const std::vector<std::string_view>& signs : separators()) {
    const std::size_t count = parts(value, signs).size();
    if (count == 1) continue;
    return count > 2 || !(closes(value.back()) || opens(value.front()));
  }
  return links(value).size() > 2;
}

/// The bracket whose content goes on lines of its own: the last one before which the line fits, but only calls, members and
/// subscripts of its value stand between it and the end.
Bracket bracketToBreak(std::size_t indent, std::string_view line, const std::vector<Bracket>& all) {
  std::size_t chosen = all.size() - 1;
  while (chosen > 0 && indent + all[chosen].open + 1 > kWidth) {
    const std::size_t from = all[chosen - 1].close + 1;
    const std::string_view between = line.substr(from, all[chosen].open - from);
    if (!between.empty() && (between.front() != '.' || !std::all_of(between.begin(), between.end(), isName))) break;
    --chosen;
  }
  return all[chosen];
}

bool fitsInside(std::size_t indent, std::string_view body) { return indent + 4 + body.size() <= kWidth; }

/// The brackets of the type of a definition's result, `-> tuple[...]:`.
std::optional<Bracket> resultBracket(std::string_view text) {
  const std::size_t arrow = text.rfind(" -> ");
  const std::size_t open = arrow == std::string_view::npos ? arrow : text.find('[', arrow);
  if (open == std::string_view::npos) return std::nullopt;
  return Bracket{open, text.rfind(']')};
}

/// `isInside`: of brackets, so that it may be broken at a sign.
std::string broken(std::size_t indent, std::string_view line, bool isInside);
std::string withBrokenResult(std::size_t indent, std::string_view text, const Bracket& types);
std::string withBrokenTargets(std::size_t indent, const std::vector<std::string_view>& targets, std::string_view value);

}  // namespace

std::string wrapped(std::size_t indent, std::string_view line) { return broken(indent, withPowers(line), false); }

namespace {

std::string broken(std::size_t indent, std::string_view line, bool isInside) {
  const std::string space(indent, ' ');
  if (indent + line.size() <= kWidth) return space + std::string(line) + "\n";
  const std::size_t begin = valueOf(line);
  const bool isTuple = begin > 0 && parts(line.substr(begin), {","}).size() > 1;
  if (isTuple || (begin > 0 && wantsParentheses(line.substr(begin))))
    return broken(indent, fmt::format("{}({})", line.substr(0, begin), line.substr(begin)), false);
  // In brackets, signs are where a line breaks first; a comma behind it stays with the last part.
  std::vector<std::string_view> terms{line};
  for (const std::vector<std::string_view>& signs : separators()) {
    if (isInside && terms.size() == 1) terms = parts(line, signs);
  }
  if (isInside && terms.size() == 1 && parts(line, {","}).size() == 1 && links(line).size() > 2) terms = links(line);
  if (terms.size() > 1) {
    std::string text;
    for (const std::string_view term : terms) text += broken(indent, term, true);
    return text;
  }
  const std::vector<Bracket> all = brackets(line);
  if (all.empty()) return space + std::string(line) + "\n";
  if (begin > 0 && !line.starts_with("return ") && indent + all.back().open + 1 > kWidth) {
    const std::vector<std::string_view> targets = parts(line.substr(0, begin - 3), {","});
    if (targets.size() > 1) return withBrokenTargets(indent, targets, line.substr(begin));
  }
  const bool isDefinition = line.starts_with("def ");
  const std::optional<Bracket> result = isDefinition ? resultBracket(line) : std::nullopt;
  const bool isResultLong = result && !fitsInside(indent, line.substr(result->open + 1, result->close - result->open - 1));
  if (isResultLong && indent + result->open + 1 <= kWidth) return withBrokenResult(indent, line, *result);
  const Bracket bracket = isDefinition ? all.front() : bracketToBreak(indent, line, all);
  const std::string_view body = line.substr(bracket.open + 1, bracket.close - bracket.open - 1);
  std::vector<std::string_view> items = parts(body, {","});
  const bool hasCommas = items.size() > 1;
  std::string text = space + std::string(line.substr(0, bracket.open + 1)) + "\n";
  const bool fits = indent + 4 + body.size() <= kWidth && !(isList(line, bracket) && hasCommas);
  if (!fits && !hasCommas) {
    for (const std::vector<std::string_view>& signs : separators()) {
      if (items.size() == 1) items = parts(body, signs);
    }
  }
  if (fits || items.size() == 1) {
    text += broken(indent + 4, body, true);
  } else if (!hasCommas) {
    for (const std::string_view item : items) text += broken(indent + 4, item, true);
  } else {
    for (const std::string_view item : items) {
      text += broken(indent + 4, std::string(item) + ",", true);
    }
  }
  const std::string_view end = line.substr(bracket.close);
  const std::optional<Bracket> types = isDefinition ? resultBracket(end) : std::nullopt;
  if (types && indent + end.size() > kWidth) return text + withBrokenResult(indent, end, *types);
  return text + space + std::string(end) + "\n";
}

/// `a, b = f(x)` whose targets alone are too long: they stand in parentheses, one a line.
std::string withBrokenTargets(std::size_t indent, const std::vector<std::string_view>& targets, std::string_view value) {
  const std::string space(indent, ' ');
  std::string text = space + "(\n";
  for (const std::string_view target : targets) text += space + "    " + std::string(target) + ",\n";
  // Behind them the line goes on as that of one name would, whose place the closing parenthesis has.
  std::string rest = broken(indent, "x = " + std::string(value), false);
  rest[indent] = ')';
  return text + rest;
}

/// A text whose result type, `-> tuple[A, B]`, is broken: on a line of its own where it fits, else each part on one.
std::string withBrokenResult(std::size_t indent, std::string_view text, const Bracket& types) {
  const std::string_view body = text.substr(types.open + 1, types.close - types.open - 1);
  std::string broken = std::string(indent, ' ') + std::string(text.substr(0, types.open + 1)) + "\n";
  if (fitsInside(indent, body)) {
    broken += std::string(indent + 4, ' ') + std::string(body) + "\n";
  } else {
    for (const std::string_view type : parts(body, {","})) broken += wrapped(indent + 4, std::string(type) + ",");
  }
  return broken + std::string(indent, ' ') + std::string(text.substr(types.close)) + "\n";
}

}  // namespace
}  // namespace tbem::emit
