#include "compiler/serve/Signature.h"

#include "compiler/serve/CallText.h"
#include "compiler/show/reference/DocText.h"
#include "compiler/support/Trim.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace tbem::serve {

namespace {

/// What is called where a parenthesis opens, and whether something is piped to it.
struct Callee {
  std::string_view module;  ///< "" where none is named
  std::string_view name;
  bool piped = false;
};

Callee calleeBefore(std::string_view text, std::size_t open) {
  Callee callee;
  callee.name = wordBefore(text, open);
  if (callee.name.empty()) return callee;
  auto begin = static_cast<std::size_t>(callee.name.data() - text.data());
  if (begin > 0 && text[begin - 1] == '.') {
    callee.module = wordBefore(text, begin - 1);
    begin = static_cast<std::size_t>(callee.module.data() - text.data());
  }
  callee.piped = trimmed(text.substr(0, begin)).ends_with("|>");
  return callee;
}

const ast::Decl* declarationOf(const Reading& reading, const Callee& callee) {
  const sema::Module& main = reading.program().main();
  if (callee.module.empty()) return reading.program().resolve(main, callee.name).decl;
  const sema::Resolved module = reading.program().resolve(main, callee.module);
  if (!module || module.decl != nullptr) return nullptr;
  return reading.program().member(*module.module, callee.name, main).decl;
}

/// An argument as far as it is written, and whether it stands behind a `;`.
struct Given {
  std::string_view text;
  bool behind = false;
};

/// The last one is that which is being written.
std::vector<Given> split(std::string_view arguments) {
  std::vector<Given> list;
  int depth = 0;
  std::size_t begin = 0;
  bool behind = false, quoted = false;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const char c = arguments[at];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (depth != 0 || (c != ',' && c != ';')) continue;
    const std::string_view one = trimmed(arguments.substr(begin, at - begin));
    if (!one.empty() || c == ',') list.push_back({one, behind});
    behind = behind || c == ';';
    begin = at + 1;
  }
  list.push_back({trimmed(arguments.substr(begin)), behind});
  return list;
}

/// "kernel" of "kernel: 3"; "" of an argument by position.
std::string_view nameOf(std::string_view argument) {
  std::size_t end = 0;
  while (end < argument.size() && wordBegin(argument, end + 1) == 0) ++end;
  const std::string_view behind = trimmed(argument.substr(end));
  return end > 0 && behind.starts_with(':') ? argument.substr(0, end) : std::string_view();
}

bool isNoTensor(std::string_view argument) {
  if (argument.empty()) return false;
  const char first = argument.front();
  return (first >= '0' && first <= '9') || first == '[' || first == '"' || first == '-' || argument == "true" ||
         argument == "false";
}

/// A declaration's parameters in one list, tensors first.
struct Parameters {
  std::vector<const ast::Parameter*> list;
  std::size_t tensors = 0;
};

Parameters parametersOf(const ast::Decl& decl) {
  Parameters parameters;
  const auto add = [&](const std::vector<ast::Parameter>& some) {
    for (const ast::Parameter& one : some) parameters.list.push_back(&one);
  };
  if (const auto* callable = ast::dynCast<ast::Callable>(&decl)) {
    add(callable->tensors);
    parameters.tensors = parameters.list.size();
    add(callable->parameters);
  } else {
    add(ast::cast<ast::Function>(decl).parameters);
  }
  return parameters;
}

/// Which parameter the last of the arguments is.
std::optional<std::size_t> activeOf(const Parameters& parameters, const std::vector<Given>& given, bool piped) {
  std::size_t next = piped ? 1 : 0;  // by position
  for (std::size_t i = 0; i < given.size(); ++i) {
    const bool isLast = i + 1 == given.size();
    if (const std::string_view name = nameOf(given[i].text); !name.empty()) {
      if (!isLast) continue;
      const auto named = std::ranges::find_if(parameters.list, [&](const auto* one) { return one->name.text == name; });
      return named == parameters.list.end() ? std::nullopt
                                            : std::optional(static_cast<std::size_t>(named - parameters.list.begin()));
    }
    if (next < parameters.tensors && (given[i].behind || isNoTensor(given[i].text))) next = parameters.tensors;
    if (isLast) break;
    ++next;
  }
  return next < parameters.list.size() ? std::optional(next) : std::nullopt;
}

/// The head of a declaration, in which each parameter has its place.
SignatureHelp headOf(const Reading& reading, const ast::Decl& decl, const Parameters& parameters) {
  SignatureHelp help;
  help.text = decl.name.text + "(";
  for (std::size_t i = 0; i < parameters.list.size(); ++i) {
    if (i > 0) help.text += i == parameters.tensors ? "; " : ", ";
    const std::size_t begin = help.text.size();
    help.text += sourceText(reading.sources(), parameters.list[i]->range);
    help.parameters.push_back({begin, help.text.size()});
  }
  help.text += ")";
  if (const auto* callable = ast::dynCast<ast::Callable>(&decl)) {
    // What stands behind the parameters in the declaration's own head.
    const std::string head = driver::signature(reading.workspace.session, *callable);
    if (const std::size_t arrow = head.rfind("-> "); arrow != std::string::npos) help.text += " " + head.substr(arrow);
  }
  const auto* function = ast::dynCast<ast::Function>(&decl);
  if (function != nullptr && function->result != nullptr)
    help.text += " -> " + sourceText(reading.sources(), function->result->range);
  help.documentation = decl.documentation;
  return help;
}

}  // namespace

std::optional<SignatureHelp> signatureAt(const Reading& reading, std::size_t place) {
  const std::string_view text = reading.source.text;
  place = std::min(place, text.size());
  if (isWritten(reading, place)) return std::nullopt;
  const std::size_t open = openCall(text, place);
  if (open == std::string_view::npos) return std::nullopt;
  const Callee callee = calleeBefore(text, open);
  const ast::Decl* const decl = callee.name.empty() ? nullptr : declarationOf(reading, callee);
  // The head of a declaration is no call of it.
  const bool declares = decl != nullptr && reading.sources().text(decl->name.range).data() == callee.name.data();
  if (decl == nullptr || declares || (decl->kind != ast::NodeKind::Callable && decl->kind != ast::NodeKind::Function))
    return std::nullopt;
  const Parameters parameters = parametersOf(*decl);
  SignatureHelp help = headOf(reading, *decl, parameters);
  help.active = activeOf(parameters, split(text.substr(open + 1, place - open - 1)), callee.piped);
  return help;
}

}  // namespace tbem::serve
