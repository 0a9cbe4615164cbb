#include "compiler/emit/python/Code.h"

#include <fmt/format.h>

#include <cctype>

namespace tbem::emit {

namespace {
// Marks are written with characters that no Python text of ours has: operand "\1ID:LEAST\2", hole "\3INDEX\2".
constexpr char kOperand = '\1', kEnd = '\2', kHole = '\3';

/// Words of Python, and what objects of torch.nn.Module have already: an attribute of that name would hide it.
constexpr std::string_view kReserved =
    "and as assert async await break class continue def del elif else except finally for from global if import "
    "in is lambda nonlocal not or pass raise return try while with yield None True False self T_destination "
    "add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval "
    "extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict "
    "modules mtia named_buffers named_children named_modules named_parameters parameters "
    "register_backward_hook register_buffer register_forward_hook register_forward_pre_hook "
    "register_full_backward_hook register_full_backward_pre_hook register_load_state_dict_post_hook "
    "register_load_state_dict_pre_hook register_module register_parameter register_state_dict_post_hook "
    "register_state_dict_pre_hook requires_grad_ set_extra_state set_submodule share_memory state_dict to "
    "to_empty train training type xpu zero_grad ";
/// What the functions of a program read by name.
constexpr std::string_view kReadByName =
    "F LambdaLR Tensor learning_rate loss main math model nn optimizer output parts print range scheduler step "
    "super torch total tuple zip ";

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
  std::string_view stem = word;
  while (stem.ends_with('_')) stem.remove_suffix(1);
  // What ends in an underscore already gets one more, so that no two words become one.
  if (isIn(kReserved, stem)) name += '_';
  if (name.starts_with("__")) name.insert(0, "x");  // Python writes the class before such a name
  return name;
}

std::string variableName(std::string_view word) {
  std::string name = pythonName(word);
  for (char& c : name) {
    if (c == '[') c = '_';
  }
  std::erase(name, ']');
  if (isIn(kReadByName, name)) name += '_';
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

std::string pythonText(bool flag) { return flag ? "True" : "False"; }

}  // namespace tbem::emit
