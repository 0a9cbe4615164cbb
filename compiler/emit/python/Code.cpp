#include "compiler/emit/python/Code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace tbem::emit {

namespace {
// Marks are written with characters that no Python text of ours has: operand "\1ID:LEAST\2", hole "\3INDEX\2".
constexpr char kOperand = '\1', kEnd = '\2', kHole = '\3';

constexpr auto kKeywords = std::to_array<std::string_view>(
    {"and",    "as",      "assert", "async",  "await",  "break", "class",  "continue", "def",  "del",    "elif",     "else",
     "except", "finally", "for",    "from",   "global", "if",    "import", "in",       "is",   "lambda", "nonlocal", "not",
     "or",     "pass",    "raise",  "return", "try",    "while", "with",   "yield",    "None", "True",   "False",    "self"});
}  // namespace

Marked Scribe::operand(graph::TensorId tensor, Binding least) {
  return fmt::format("{}{}:{}{}", kOperand, graph::index(tensor), static_cast<int>(least), kEnd);
}

Marked Scribe::hole(std::string name, std::string text) {
  holes.push_back({std::move(name), std::move(text)});
  return fmt::format("{}{}{}", kHole, holes.size() - 1, kEnd);
}

std::vector<Mark> marksOf(const Marked& text) {
  std::vector<Mark> marks;
  for (std::size_t at = 0; (at = text.find_first_of(std::string{kOperand, kHole}, at)) != std::string::npos;) {
    Mark mark;
    mark.begin = at;
    mark.end = text.find(kEnd, at) + 1;
    const std::string inside = text.substr(at + 1, mark.end - at - 2);
    const auto number = static_cast<std::uint32_t>(std::stoul(inside));
    if (text[at] == kOperand) {
      mark.tensor = static_cast<graph::TensorId>(number);
      mark.least = static_cast<Binding>(std::stoi(inside.substr(inside.find(':') + 1)));
    } else {
      mark.hole = number;
    }
    at = mark.end;
    marks.push_back(mark);
  }
  return marks;
}

std::string className(std::string_view word) {
  std::string name;
  bool begins = true;
  for (const char c : word) {
    if (c == '_') {
      begins = true;
      continue;
    }
    name += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = false;
  }
  return name;
}

std::string pythonName(std::string_view word) {
  std::string name(word);
  if (std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end()) name += '_';
  return name;
}

std::string pythonText(std::int64_t number) { return std::to_string(number); }

std::string pythonText(const std::vector<std::int64_t>& numbers) {
  return numbers.size() == 1 ? fmt::format("({},)", numbers.front()) : fmt::format("({})", fmt::join(numbers, ", "));
}

std::string pythonReal(const Rational& number) {
  std::string text = fmt::format("{}", number.toDouble());
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string pythonText(bool flag) { return flag ? "True" : "False"; }

}  // namespace tbem::emit
