#include "compiler/emit/python/Code.h"

#include <fmt/format.h>

#include <cctype>

namespace tbem::emit {

namespace {
// Marks are written with characters that no Python text of ours has: operand "\1ID:LEAST\2", hole "\3INDEX\2".
constexpr char kOperand = '\1', kEnd = '\2', kHole = '\3';

/// Words of Python itself, and the name of the object in a method.
constexpr std::string_view kReserved =
    "and as assert async await break class continue def del elif else except finally for from global if import "
    "in is lambda nonlocal not or pass raise return try while with yield None True False self ";

bool isIn(std::string_view words, std::string_view word) {
  for (std::size_t at = 0; (at = words.find(word, at)) != std::string_view::npos; ++at) {
    const bool isWhole = (at == 0 || words[at - 1] == ' ') && words[at + word.size()] == ' ';
    if (isWhole && !word.empty()) return true;
  }
  return false;
}
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

std::string filled(const Marked& text, const Filling& filling) {
  std::string whole;
  std::size_t at = 0;
  for (const Mark& mark : marksOf(text)) {
    whole += text.substr(at, mark.begin - at) + filling(mark);
    at = mark.end;
  }
  return whole + text.substr(at);
}

std::string filled(const CallText& call, const Filling& filling) {
  std::string arguments;
  for (const Argument& argument : call.arguments) {
    const std::string value = filled(argument.text, filling);
    if (!argument.standard.empty() && value == filled(argument.standard, filling)) continue;
    arguments += (arguments.empty() ? "" : ", ") + (argument.keyword.empty() ? "" : argument.keyword + "=") + value;
  }
  return call.callee + "(" + arguments + ")";
}

std::string expressionText(const Code& code, const std::function<std::pair<std::string, Binding>(graph::TensorId)>& operand,
                           const std::vector<std::string>& holes) {
  const auto filling = [&](const Mark& mark) {
    if (!mark.tensor) return holes[mark.hole];
    const auto [name, binding] = operand(*mark.tensor);
    return binding < mark.least ? "(" + name + ")" : name;
  };
  return code.text.empty() ? filled(code.call, filling) : filled(code.text, filling);
}

Sides sidesOf(Binding binding) {
  const auto more = static_cast<Binding>(static_cast<int>(binding) + 1);
  const bool mayFollowItself = binding != Binding::Compare && binding != Binding::Power;
  return {mayFollowItself ? binding : more, more};
}

std::string freshName(std::set<std::string>& taken, const std::string& wanted) {
  std::string name = wanted;
  for (int number = 2; !taken.insert(name).second; ++number) name = fmt::format("{}{}", wanted, number);
  return name;
}

std::set<std::string> wordsOf(std::string_view list) {
  std::set<std::string> words;
  for (std::size_t at = 0, end = 0; (end = list.find(' ', at)) != std::string_view::npos; at = end + 1) {
    if (end > at) words.emplace(list.substr(at, end - at));
  }
  return words;
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

std::string pythonName(std::string_view word, const TakenWords& taken) {
  std::string name(word);
  std::string_view stem = word;
  while (stem.ends_with('_')) stem.remove_suffix(1);
  // What ends in an underscore already gets one more, so that no two words become one.
  if (isIn(kReserved, stem) || isIn(taken.attributes, stem)) name += '_';
  if (name.starts_with("__")) name.insert(0, "x");  // Python writes the class before such a name
  return name;
}

std::string variableName(std::string_view word, const TakenWords& taken) {
  std::string name = pythonName(word, taken);
  for (char& c : name) {
    if (c == '[') c = '_';
  }
  std::erase(name, ']');
  if (isIn(taken.variables, name)) name += '_';
  return name;
}

std::string pythonText(std::int64_t number) { return std::to_string(number); }

std::string pythonText(const std::vector<std::int64_t>& numbers) {
  return numbers.size() == 1 ? fmt::format("({},)", numbers.front()) : fmt::format("({})", fmt::join(numbers, ", "));
}

std::string pythonReal(const Rational& number) {
  std::string text = fmt::format("{}", number.toDouble());
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  if (const std::size_t plus = text.find("e+"); plus != std::string::npos) text.erase(plus + 1, 1);
  return text;
}

std::string pythonRest(const Rational& number) {
  const std::optional<Rational> exact = sub(Rational::of(1), number);
  return exact ? pythonReal(*exact) : fmt::format("{}", 1 - number.toDouble());
}

std::string pythonText(bool flag) { return flag ? "True" : "False"; }

}  // namespace tbem::emit
