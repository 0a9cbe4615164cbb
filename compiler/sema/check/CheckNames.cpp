// Declarations: where names begin and end.
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Suggest.h"
#include "compiler/sema/Value.h"
#include "compiler/sema/Walk.h"
#include "compiler/sema/check/NameChecker.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::sema {

namespace {
constexpr std::array<std::string_view, 13> kTypes = {"int",   "real",    "bool",  "string",   "pair",   "pads",    "axes",
                                                     "dtype", "network", "block", "operator", "tensor", "schedule"};
constexpr std::size_t kMostSuggested = 200;  // each is looked for among all names
}  // namespace

bool checkNames(const Program& program, DiagnosticSink& sink) {
  const std::size_t errors = sink.errorCount();
  std::vector<FunctionUse> uses;
  for (const auto& module : program.modules()) {
    if (module->isStandard) continue;
    for (const auto& file : module->files) {
      for (const ast::Decl* decl : file->declarations) NameChecker(program, sink, *module, uses).check(*decl);
    }
  }
  if (sink.errorCount() == errors) checkRecursion(uses, sink);
  if (sink.errorCount() == errors) checkConstants(program, sink);
  if (sink.errorCount() == errors) checkDomains(program, sink);
  return sink.errorCount() == errors;
}

// ---- Names ------------------------------------------------------------------------------------------------------------

NameChecker::Name* NameChecker::find(std::string_view text) {
  for (auto it = names.rbegin(); it != names.rend(); ++it) {
    if (it->text == text) return &*it;
  }
  return nullptr;
}

void NameChecker::define(const ast::Name& name, Kind kind, const ast::Type* type, bool mayBeUnused) {
  if (name.empty()) return;
  record(name.range, name.range, kind);
  if (Name* outer = find(name.text); outer != nullptr && outer->range.begin != name.range.begin) {
    sink.report(diag::shadowed_name, name.range, name.text).label(outer->range, "bound here");
    outer->kind = kind;  // what follows means the inner one
    outer->type = type;
    return;
  }
  names.push_back({name.text, name.range, name.range, kind, type, false, mayBeUnused});
}

void NameChecker::leave(std::size_t mark) {
  for (std::size_t i = mark; i < names.size(); ++i) {
    const Name& name = names[i];
    if (name.used || name.mayBeUnused) continue;
    sink.report(diag::unused_value, name.range, name.text);
  }
  names.resize(mark);
}

void NameChecker::noteUse(const Resolved& found, SrcRange range) {
  if (const auto* function = ast::dynCast<ast::Function>(found.decl)) uses.push_back({current, function, range});
}

void NameChecker::unknown(const ast::Name& name) {
  if (!toldUnknown.insert(name.text).second) return;
  Diagnostic& report = sink.report(diag::unknown_name, name.range, name.text);
  if (sink.errorCount() > kMostSuggested) return;
  std::vector<std::string> candidates = program.names(module);
  std::vector<std::string> own = ownNames(module);
  for (const Name& one : names) {
    candidates.emplace_back(one.text);
    own.emplace_back(one.text);
  }
  if (inWords) {
    report.note("a level that is a word stands in quotes").fix(name.range, "\"" + name.text + "\"");
  } else {
    suggest(report, name, candidates, own);
    if (inShapes && report.notes.empty()) report.note("a factor gives it levels: `factor " + std::string(name.text) + ": 8, 16`");
  }
}

// ---- Declarations -----------------------------------------------------------------------------------------------------

void NameChecker::check(const ast::Decl& decl) {
  current = &decl;
  recordOthers(decl);
  switch (decl.kind) {
    case ast::NodeKind::Constant:
      expr(static_cast<const ast::Constant&>(decl).value);
      break;
    case ast::NodeKind::Function:
      checkFunction(static_cast<const ast::Function&>(decl));
      break;
    case ast::NodeKind::Callable:
      checkCallable(static_cast<const ast::Callable&>(decl));
      break;
    case ast::NodeKind::Process:
      checkProcess(static_cast<const ast::Process&>(decl));
      break;
    case ast::NodeKind::Mutate:
      checkMutation(static_cast<const ast::Mutate&>(decl));
      break;
    case ast::NodeKind::Design:
      checkDesign(static_cast<const ast::Design&>(decl));
      break;
    case ast::NodeKind::Dataset:
      expr(static_cast<const ast::Dataset&>(decl).value);
      break;
    case ast::NodeKind::Train:
      checkTrain(static_cast<const ast::Train&>(decl));
      break;
    case ast::NodeKind::Perturb:
      checkPerturb(static_cast<const ast::Perturb&>(decl));
      break;
    default:
      break;  // read by their own stages
  }
}

void NameChecker::parameters(const std::vector<ast::Parameter>& list, Kind kind) {
  for (const ast::Parameter& parameter : list) {
    if (const Name* other = find(parameter.name.text); other != nullptr && other->kind != Kind::Dimension) {
      sink.report(diag::duplicate_name, parameter.name.range, parameter.name.text).label(other->range, "declared here first");
      continue;
    }
    if (kind == Kind::Parameter) type(parameter.type, false);
    expr(parameter.domain);
    expr(parameter.defaultValue);
    define(parameter.name, kind, parameter.type);
  }
}

void NameChecker::dimension(const ast::Expr& dim, bool binds) {
  const ast::Expr& inner = dim.kind == ast::NodeKind::Splice ? *ast::cast<ast::Splice>(dim).value : dim;
  const auto* name = ast::dynCast<ast::NameRef>(&inner);
  if (binds && name != nullptr && find(name->name.text) == nullptr) {
    record(name->name.range, name->name.range, Kind::Dimension);
    names.push_back({name->name.text, name->name.range, name->name.range, Kind::Dimension, nullptr, false, true});
    return;
  }
  expr(&inner);
}

void NameChecker::type(const ast::Type* type, bool bindsDimensions) {
  if (type == nullptr) return;
  const bool isProcess = current->kind == ast::NodeKind::Process;
  if (const auto* list = ast::dynCast<ast::ListType>(type)) {
    if (list->list != ast::ListKind::List && !isProcess)
      return onlyInProcess(type->range, list->list == ast::ListKind::Set ? "set of" : "seq of");
    return this->type(list->element, bindsDimensions);
  }
  if (type->kind == ast::NodeKind::EnumType) {
    if (!isProcess) onlyInProcess(type->range, "{<a>, <b>}");
    return;
  }
  if (const auto* named = ast::dynCast<ast::NamedType>(type)) {
    const std::string& word = named->name.text;
    if (std::find(kTypes.begin(), kTypes.end(), word) != kTypes.end()) return;
    const bool ofProcesses = word == "nat" || word == "nat0" || word == "char";
    if (ofProcesses && !isProcess) return onlyInProcess(type->range, word);
    if (ofProcesses) return;
    Diagnostic& d = sink.report(diag::unknown_type, named->name.range, word);
    const std::string near = nearestType(word, {kTypes.begin(), kTypes.end()});
    if (!near.empty())
      d.note("did you mean `" + near + "`?").fix(named->name.range, near);
    else
      d.note(fmt::format("types of parameters: `{}`, `list of int`", fmt::join(kTypes, "`, `")));
    return;
  }
  if (const auto* tensor = ast::dynCast<ast::TensorType>(type)) {
    elementType(tensor->dtype);
    for (const ast::Expr* dim : tensor->dims) dimension(*dim, bindsDimensions);
  }
}

/// A type of specifications alone.
void NameChecker::onlyInProcess(SrcRange range, const std::string& word) {
  Diagnostic& d = sink.report(diag::unknown_type, range, word);
  d.note("processes have it; parameters of networks, blocks, operators and functions are numbers, texts, truth values and lists");
}

void NameChecker::elementType(const ast::Name& name) {
  if (name.empty()) return;
  if (const Name* local = find(name.text)) return record(name.range, *local);
  if (dtypeIndex(name.text) >= 0) return record(name.range, {}, Kind::Builtin);
  Diagnostic& d = sink.report(diag::unknown_type, name.range, name.text);
  const std::string near = nearestElementType(name.text);
  if (!near.empty())
    d.note("did you mean `" + near + "`?").fix(name.range, near);
  else
    d.note(fmt::format("types of elements: `{}`; `tensor` takes the program's", fmt::join(kDTypeNames, "`, `")));
}

void NameChecker::weight(const ast::WeightStmt& weight) {
  type(weight.type, false);
  expr(weight.condition);
  if (const auto* word = ast::dynCast<ast::NameRef>(weight.init)) record(word->name.range, {}, Kind::Builtin);
  if (const auto* call = ast::dynCast<ast::Call>(weight.init)) {
    record(call->callee->range, {}, Kind::Builtin);
    for (const ast::Argument& argument : call->arguments) expr(argument.value);
  }
  define(weight.name, weight.isBuffer ? Kind::Buffer : Kind::Weight, weight.type);
}

/// `elementwise`, `backward`, `updates`: each part bears the name of a result, or of a tensor, weight or buffer.
void NameChecker::parts(const std::vector<ast::Part>& list, bool needsNames) {
  once(list);
  for (const ast::Part& part : list) {
    const Name* local = find(part.name.text);
    if (needsNames && local == nullptr) unknown(part.name);
    if (!needsNames) record(part.name.range, {}, Kind::Builtin);
    if (needsNames && local != nullptr) record(part.name.range, *local);
    expr(part.value);
  }
}

/// `updates`: a part may also name a new value, which a part below must use.
void NameChecker::updates(const std::vector<ast::Part>& list) {
  const std::size_t mark = names.size();
  for (std::size_t i = 0; i < list.size(); ++i) {
    const ast::Name& name = list[i].name;
    bool usedBelow = false;
    for (std::size_t k = i + 1; k < list.size(); ++k) {
      forEachInside(*list[k].value, [&](const ast::Expr& inner) {
        const auto* word = ast::dynCast<ast::NameRef>(&inner);
        usedBelow = usedBelow || (word != nullptr && word->name.text == name.text);
      });
    }
    const Name* local = find(name.text);
    const bool known = local != nullptr;
    if (known) record(name.range, *local);
    if (!known && !usedBelow) unknown(name);
    expr(list[i].value);
    if (!known && usedBelow) define(name, Kind::Let);
  }
  leave(mark);
}

void NameChecker::checkCallable(const ast::Callable& decl) {
  const int bodies = static_cast<int>(decl.hasBody) + static_cast<int>(!decl.elementwise.empty()) +
                     static_cast<int>(decl.native != nullptr || decl.nativeSymbol != nullptr) +
                     static_cast<int>(!decl.updates.empty());
  if (bodies > 1) sink.report(diag::second_body, decl.name.range, decl.name.text, std::to_string(bodies));
  parameters(decl.parameters, Kind::Parameter);
  for (const ast::Parameter& tensor : decl.tensors) type(tensor.type, true);
  parameters(decl.tensors, Kind::Tensor);
  for (const ast::WeightStmt* one : decl.weights) weight(*one);
  for (const ast::Expr* condition : decl.pre) expr(condition);
  const std::size_t beforeResults = names.size();
  for (const ast::Result& result : decl.results) type(result.type, true);
  const std::size_t behindResults = names.size();
  for (const ast::Result& result : decl.results) {
    const std::string_view text = result.name.empty() ? std::string_view("result") : std::string_view(result.name.text);
    if (find(text) != nullptr) continue;
    const SrcRange word = result.name.empty() ? SrcRange{result.range.begin, result.range.begin} : result.name.range;
    record(result.name.range, word, Kind::Result);
    names.push_back({text, result.range, word, Kind::Result, nullptr, true, true});
  }
  for (const ast::Expr* requirement : decl.requirements) expr(requirement);
  names.resize(behindResults);
  for (const ast::Expr* condition : decl.post) expr(condition);
  if (decl.hasBody) {
    std::vector<Name> dims(names.begin() + static_cast<std::ptrdiff_t>(beforeResults), names.end());
    names.resize(beforeResults);
    const std::size_t mark = names.size();
    block(decl.body);
    leave(mark);
    names.insert(names.end(), dims.begin(), dims.end());
  }
  for (const ast::Result& result : decl.results) {
    if (!result.name.empty() && find(result.name.text) == nullptr) define(result.name, Kind::Result, result.type);
  }
  if (decl.native != nullptr) {
    recordAttributes(decl);
    for (const ast::Argument& argument : decl.native->arguments) expr(argument.value);
  }
  parts(decl.flops, false);
  record(decl.fallback.range, {}, Kind::Builtin);
  if (decl.workspace != nullptr) {
    const auto* native = decl.native != nullptr ? ast::dynCast<ast::NameRef>(decl.native->callee) : nullptr;
    const bool opaque = native != nullptr && native->name.text == "opaque";
    if (decl.nativeSymbol == nullptr && !opaque) sink.report(diag::workspace_without_code, decl.workspace->range, decl.name.text);
    expr(decl.workspace);
  }
  lenient = true;
  parts(decl.elementwise, true);
  updates(decl.updates);
  gradients = true;
  parts(decl.backward, true);
  gradients = false;
  lenient = false;
}

void NameChecker::checkFunction(const ast::Function& decl) {
  parameters(decl.parameters, Kind::Parameter);
  type(decl.result, false);
  const std::size_t mark = names.size();
  block(decl.body);
  leave(mark);
}

void NameChecker::checkProcess(const ast::Process& decl) {
  for (const auto& port : decl.inputs) parameters(port, Kind::Parameter);
  for (const auto& port : decl.outputs) parameters(port, Kind::Parameter);
  for (const ast::Process::External& external : decl.externals) {
    type(external.type, false);
    define(external.name, Kind::Parameter, external.type);
  }
  expr(decl.pre);
  expr(decl.post);
}

}  // namespace tbem::sema
