// Expressions: uses of names, arguments of calls whose callee is known.
#include "compiler/sema/Suggest.h"
#include "compiler/sema/check/NameChecker.h"

#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Walk.h"
#include "compiler/sema/evaluate/Evaluator.h"

#include <algorithm>
#include <array>

namespace tbem::sema {

namespace {
constexpr std::array<std::string_view, 14> kElementwise = {"exp", "log", "sqrt",  "rsqrt",   "pow",     "tanh",   "erf",
                                                           "sin", "cos", "floor", "minimum", "maximum", "random", "coordinate"};

bool isPlainParameter(const ast::Type* type) {
  const auto* named = ast::dynCast<ast::NamedType>(type);
  if (named == nullptr) return type != nullptr && type->kind == ast::NodeKind::ListType;
  return named->name.text != "network" && named->name.text != "block" && named->name.text != "operator" &&
         named->name.text != "schedule";
}

std::string count(std::size_t n, const char* word) {
  return n == 0 ? std::string("no ") + word + "s" : std::to_string(n) + " " + word + (n == 1 ? "" : "s");
}
}  // namespace

void NameChecker::nameUse(const ast::Name& name) {
  if (Name* local = find(name.text)) {
    local->used = true;
    record(name.range, *local);
    return;
  }
  const Resolved found = program.resolve(module, name.text);
  noteUse(found, name.range);
  if (found) return found.decl != nullptr ? record(name.range, found) : recordModule(name, found);
  const bool own = name.text == "training" || name.text == "std" || isBuiltin(name.text) || dtypeIndex(name.text) >= 0;
  const bool ofElements = lenient && (name.text == "step" || name.text == "gradient_norm" ||
                                      std::find(kElementwise.begin(), kElementwise.end(), name.text) != kElementwise.end());
  if (own || ofElements) return record(name.range, {}, Kind::Builtin);
  if (gradients && name.text.size() > 1 && name.text[0] == 'd') {
    if (const Name* differentiated = find(std::string_view(name.text).substr(1)))
      return record({name.range.begin + 1, name.range.end}, *differentiated);
  }
  unknown(name);
}

void NameChecker::member(const ast::Member& node) {
  // A path of names that begins with a module: `vision.resnet`, `std.nn.relu`.
  std::vector<const ast::Name*> path{&node.member};
  const ast::Expr* object = node.object;
  while (const auto* outer = ast::dynCast<ast::Member>(object)) {
    path.push_back(&outer->member);
    object = outer->object;
  }
  const auto* root = ast::dynCast<ast::NameRef>(object);
  if (root == nullptr || find(root->name.text) != nullptr) {
    for (const ast::Name* part : path) record(part->range, {}, Kind::Elaborated);
    expr(object);
    return;
  }
  const Resolved found = program.resolve(module, root->name.text);
  std::reverse(path.begin(), path.end());
  const Module* target = nullptr;
  std::size_t at = 0;
  if (root->name.text == "std") {
    target = program.find("std." + path[0]->text);
    if (target == nullptr) {
      Diagnostic& d = sink.report(diag::unknown_module, path[0]->range, "std." + path[0]->text);
      d.note("if it is one of the library's, say `import std." + path[0]->text + "` first");
      return;
    }
    at = 1;
    record(root->name.range, {}, Kind::Builtin);
    record(path[0]->range, {nullptr, target});
  } else if (found && found.decl == nullptr) {
    target = found.module;
    recordModule(root->name, found);
  } else {
    expr(object);
    if (found.decl != nullptr && found.decl->kind != ast::NodeKind::Constant) {
      sink.report(diag::no_member, path[0]->range, "`" + root->name.text + "`", path[0]->text)
          .label(found.decl->name.range, "declared here");
    }
    return;
  }
  if (at >= path.size()) return;
  if (const Resolved inside = program.member(*target, path[at]->text, module)) {
    noteUse(inside, path[at]->range);
    record(path[at]->range, inside);
    return;
  }
  const auto hidden = target->own.find(path[at]->text);
  if (hidden != target->own.end()) {
    sink.report(diag::private_name, path[at]->range, path[at]->text, target->name);
    return;
  }
  std::vector<std::string> candidates;
  for (const auto& [name, decl] : target->own)
    if (!decl->isPrivate) candidates.push_back(name);
  Diagnostic& d = sink.report(diag::not_in_module, path[at]->range, target->name, path[at]->text);
  if (const std::string near = nearest(path[at]->text, candidates); !near.empty())
    d.note("did you mean `" + near + "`?").fix(path[at]->range, near);
}

void NameChecker::expr(const ast::Expr* node) {
  if (node == nullptr) return;
  switch (node->kind) {
    case ast::NodeKind::NameRef:
      nameUse(ast::cast<ast::NameRef>(*node).name);
      break;
    case ast::NodeKind::Member:
      member(ast::cast<ast::Member>(*node));
      break;
    case ast::NodeKind::Call:
      call(ast::cast<ast::Call>(*node), false);
      break;
    case ast::NodeKind::Old:
      nameUse(ast::cast<ast::Old>(*node).name);
      break;
    case ast::NodeKind::Pipe: {
      std::vector<const ast::Pipe*> chain{&ast::cast<ast::Pipe>(*node)};
      while (const auto* inner = ast::dynCast<ast::Pipe>(chain.back()->input)) chain.push_back(inner);
      expr(chain.back()->input);
      for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
        if (const auto* target = ast::dynCast<ast::Call>((*it)->target))
          call(*target, true);
        else
          expr((*it)->target);
      }
      break;
    }
    case ast::NodeKind::Binary: {
      std::vector<const ast::Binary*> chain{&ast::cast<ast::Binary>(*node)};
      while (const auto* inner = ast::dynCast<ast::Binary>(chain.back()->left)) chain.push_back(inner);
      expr(chain.back()->left);
      for (auto it = chain.rbegin(); it != chain.rend(); ++it) expr((*it)->right);
      break;
    }
    case ast::NodeKind::Comprehension: {
      const auto& made = ast::cast<ast::Comprehension>(*node);
      const std::size_t mark = names.size();
      for (const auto& generator : made.generators) {
        expr(generator.domain);
        define(generator.variable, Kind::Loop);
      }
      expr(made.element);
      leave(mark);
      break;
    }
    case ast::NodeKind::Quantifier: {
      const auto& made = ast::cast<ast::Quantifier>(*node);
      const std::size_t mark = names.size();
      for (const auto& variable : made.variables) {
        expr(variable.domain);
        define(variable.name, Kind::Loop);
      }
      expr(made.body);
      leave(mark);
      break;
    }
    case ast::NodeKind::Record:
      for (const auto& field : ast::cast<ast::Record>(*node).fields) {
        record(field.name.range, {}, Kind::Elaborated);
        expr(field.value);
      }
      break;
    default:
      forEachChild(*node, [&](const ast::Expr& child) { expr(&child); });
      break;
  }
}

void NameChecker::call(const ast::Call& node, bool piped) {
  recordArguments(node);
  for (const ast::Argument& argument : node.arguments) expr(argument.value);
  const auto* word = ast::dynCast<ast::NameRef>(node.callee);
  if (word == nullptr) {
    expr(node.callee);
    return;
  }
  if (Name* local = find(word->name.text)) {
    local->used = true;
    record(word->name.range, *local);
    const bool value = local->kind == Kind::Dimension || local->kind == Kind::Tensor || local->kind == Kind::Weight ||
                       (local->kind == Kind::Parameter && isPlainParameter(local->type) &&
                        (current->kind != ast::NodeKind::Process || local->type->kind != ast::NodeKind::ListType));
    if (!value) return;
    uncallable(*word, *local);
    return;
  }
  nameUse(word->name);
  if (lenient && std::find(kElementwise.begin(), kElementwise.end(), word->name.text) != kElementwise.end()) return;
  const Resolved found = program.resolve(module, word->name.text);
  // What a function and an operator are called alike, values decide; but functions have no named arguments.
  const bool isOperator =
      std::ranges::any_of(node.arguments, [](const ast::Argument& argument) { return !argument.name.empty(); });
  const bool mayBeFunction = isBuiltin(word->name.text) && found.decl != nullptr && found.module->isStandard && !isOperator;
  if (found.decl != nullptr && !mayBeFunction) arguments(node, *found.decl, piped);
}

/// A local that hides what is called: told once for each binding, with a change of all calls.
void NameChecker::uncallable(const ast::NameRef& word, const Name& local) {
  Diagnostic*& told = toldUncallable[local.range.begin];
  if (told == nullptr) {
    told = &sink.report(diag::not_callable, word.range, "the local `" + word.name.text + "`");
    told->label(local.range, "bound here");
  }
  const Resolved hidden = program.resolve(module, word.name.text);
  if (hidden.decl != nullptr && !hidden.module->name.empty())
    told->fix(word.range, hidden.module->name + "." + word.name.text, Applicability::Certain);
}

/// Told once for each callee: a parameter that was renamed is named by every call.
void NameChecker::unknownArgument(const ast::Name& name, const ast::Decl& callee,
                                  const std::vector<const ast::Parameter*>& parameters) {
  if (!toldArguments.emplace(&callee, name.text).second) return;
  std::vector<std::string> candidates;
  for (const ast::Parameter* p : parameters) candidates.push_back(p->name.text);
  Diagnostic& d = sink.report(diag::unknown_argument, name.range, callee.name.text, name.text);
  d.label(callee.name.range, "declared here");
  suggestParameter(d, name, candidates);
}

void NameChecker::arguments(const ast::Call& node, const ast::Decl& callee, bool piped) {
  std::vector<const ast::Parameter*> tensors, parameters;
  if (const auto* callable = ast::dynCast<ast::Callable>(&callee)) {
    for (const ast::Parameter& p : callable->tensors) tensors.push_back(&p);
    for (const ast::Parameter& p : callable->parameters) parameters.push_back(&p);
  } else if (const auto* function = ast::dynCast<ast::Function>(&callee)) {
    for (const ast::Parameter& p : function->parameters) parameters.push_back(&p);
  } else if (const auto* process = ast::dynCast<ast::Process>(&callee)) {
    for (const auto* side : {&process->inputs, &process->outputs})
      for (const auto& port : *side)
        for (const ast::Parameter& p : port) parameters.push_back(&p);
  } else {
    Diagnostic& d = sink.report(diag::not_callable, node.callee->range, "`" + callee.name.text + "`");
    d.label(callee.name.range, "declared here");
    return;
  }
  std::size_t byPosition = piped ? 1 : 0;
  bool rest = false;
  bool misnamed = false;
  std::vector<std::string_view> given;
  for (const ast::Argument& argument : node.arguments) {
    rest = rest || argument.rest;
    if (argument.rest) continue;
    if (argument.name.empty()) {
      ++byPosition;
      continue;
    }
    const auto named = [&](const ast::Parameter* p) { return p->name.text == argument.name.text; };
    if (std::none_of(parameters.begin(), parameters.end(), named) && std::none_of(tensors.begin(), tensors.end(), named)) {
      misnamed = true;
      unknownArgument(argument.name, callee, parameters);
    }
    if (std::find(given.begin(), given.end(), argument.name.text) != given.end())
      sink.report(diag::argument_twice, argument.range, argument.name.text);
    given.push_back(argument.name.text);
  }
  if (byPosition > tensors.size() + parameters.size()) {
    std::string takes = count(parameters.size(), "parameter");
    if (!tensors.empty()) takes = count(tensors.size(), "tensor") + " and " + takes;
    sink.report(diag::too_many_arguments, node.range, callee.name.text, takes).label(callee.name.range, "declared here");
    return;
  }
  if (rest || misnamed || inDesign) return;
  // Arguments by position fill tensors first; all that is sure is that parameters behind them all are not reached.
  const std::size_t reached = tensors.empty() ? byPosition : byPosition;
  std::size_t wanted = parameters.size();  // outputs of a process may be left out
  if (const auto* process = ast::dynCast<ast::Process>(&callee)) {
    wanted = 0;
    for (const auto& port : process->inputs) wanted += port.size();
  }
  for (std::size_t p = reached; p < wanted; ++p) {
    const ast::Parameter& parameter = *parameters[p];
    if (parameter.defaultValue != nullptr || std::find(given.begin(), given.end(), parameter.name.text) != given.end()) continue;
    sink.report(diag::missing_argument, node.range, callee.name.text, parameter.name.text)
        .label(parameter.range, "declared here without a default");
  }
}

}  // namespace tbem::sema
