// What a walk over a declaration leaves behind in `Uses`, and the names that only editors ask for.
#include "compiler/sema/Trainings.h"
#include "compiler/sema/Walk.h"
#include "compiler/sema/check/NameChecker.h"

#include "runtime/include/tbem/primitives.h"

#include <algorithm>

namespace tbem::sema {

namespace {

/// The factor of this name, if all its levels are texts.
const ast::Factor* factorOfTexts(const ast::Design& design, std::string_view name) {
  const auto isText = [](const ast::Expr* level) { return ast::dynCast<ast::String>(level) != nullptr; };
  for (const ast::Factor& factor : design.factors)
    if (factor.name.text == name) return std::ranges::all_of(factor.levels, isText) ? &factor : nullptr;
  return nullptr;
}

}  // namespace

namespace {
NameKind kindOf(const ast::Decl& decl) {
  switch (decl.kind) {
    case ast::NodeKind::Constant:
      return NameKind::Constant;
    case ast::NodeKind::Function:
      return NameKind::Function;
    case ast::NodeKind::Callable:
      return NameKind::Callable;
    case ast::NodeKind::Process:
      return NameKind::Process;
    case ast::NodeKind::Design:
      return NameKind::Design;
    case ast::NodeKind::Regress:
      return NameKind::Regression;
    case ast::NodeKind::Train:
      return NameKind::Training;
    case ast::NodeKind::Dataset:
      return NameKind::Dataset;
    default:
      return NameKind::Declared;
  }
}

/// Calls `visit` for each name that may be given to the callee by name.
template <class Visit>
void forEachParameter(const ast::Decl& callee, const Visit& visit) {
  const auto all = [&](const std::vector<ast::Parameter>& list, NameKind kind) {
    for (const ast::Parameter& one : list) visit(one.name, kind);
  };
  if (const auto* callable = ast::dynCast<ast::Callable>(&callee)) {
    all(callable->tensors, NameKind::Tensor);
    all(callable->parameters, NameKind::Parameter);
  } else if (const auto* function = ast::dynCast<ast::Function>(&callee)) {
    all(function->parameters, NameKind::Parameter);
  } else if (const auto* process = ast::dynCast<ast::Process>(&callee)) {
    for (const auto* side : {&process->inputs, &process->outputs})
      for (const auto& port : *side) all(port, NameKind::Parameter);
  }
}
}  // namespace

void NameChecker::record(SrcRange range, SrcRange declaration, NameKind kind) {
  if (recorded != nullptr && range.valid()) recorded->push_back({range, declaration, kind});
}

void NameChecker::record(SrcRange range, const Name& local) { record(range, local.declared, local.kind); }

void NameChecker::record(SrcRange range, const Resolved& found) {
  if (recorded == nullptr) return;
  if (found.decl != nullptr) return record(range, found.decl->name.range, kindOf(*found.decl));
  const Loc begin = found.module->files.empty() ? 0 : found.module->files.front()->source->base;
  record(range, {begin, begin}, NameKind::Module);
}

/// A word at the beginning of an expression that means a module: its alias, if it has one.
void NameChecker::recordModule(const ast::Name& word, const Resolved& found) {
  if (recorded == nullptr) return;
  for (const auto& file : module.files) {
    for (const ast::Decl* decl : file->declarations) {
      const auto* import = ast::dynCast<ast::Import>(decl);
      if (import != nullptr && import->alias.text == word.text && !word.empty())
        return record(word.range, import->alias.range, NameKind::Module);
    }
  }
  record(word.range, found);
}

/// What an expression names at top level, without a word about mistakes.
Resolved NameChecker::calleeOf(const ast::Expr& expr) const {
  if (const auto* word = ast::dynCast<ast::NameRef>(&expr)) {
    const bool isLocal = std::any_of(names.begin(), names.end(), [&](const Name& one) { return one.text == word->name.text; });
    return isLocal ? Resolved{} : program.resolve(module, word->name.text);
  }
  const auto* path = ast::dynCast<ast::Member>(&expr);
  if (path == nullptr) return {};
  const auto* outer = ast::dynCast<ast::Member>(path->object);
  const auto* root = ast::dynCast<ast::NameRef>(outer != nullptr ? outer->object : path->object);
  const Module* target = nullptr;
  if (root != nullptr && outer != nullptr && root->name.text == "std") target = program.find("std." + outer->member.text);
  if (root != nullptr && outer == nullptr) {
    const Resolved found = calleeOf(*root);
    if (found && found.decl == nullptr) target = found.module;
  }
  return target != nullptr ? program.member(*target, path->member.text, module) : Resolved{};
}

/// The words before the colons of a call's arguments.
void NameChecker::recordArguments(const ast::Call& call) {
  if (recorded == nullptr) return;
  const Resolved callee = calleeOf(*call.callee);
  for (const ast::Argument& argument : call.arguments) {
    if (argument.rest && callee.decl != nullptr) recordHandedOn(call, *callee.decl);
    if (argument.name.empty()) continue;
    SrcRange declared;
    NameKind kind = NameKind::Elaborated;
    if (callee.decl != nullptr) {
      forEachParameter(*callee.decl, [&](const ast::Name& name, NameKind of) {
        if (name.text == argument.name.text) declared = name.range, kind = of;
      });
    }
    record(argument.name.range, declared, kind);
  }
}

/// `...` fills the callee's parameters that are not given from visible names: each of those is also a use of the parameter.
void NameChecker::recordHandedOn(const ast::Call& call, const ast::Decl& callee) {
  forEachParameter(callee, [&](const ast::Name& name, NameKind kind) {
    const bool given =
        std::ranges::any_of(call.arguments, [&](const ast::Argument& argument) { return argument.name.text == name.text; });
    if (given || kind != NameKind::Parameter) return;
    if (const Name* own = find(name.text); own != nullptr) record(own->declared, name.range, kind);
  });
}

/// The primitive and its attributes. One that is not given is read from the operator's parameter of that name.
void NameChecker::recordAttributes(const ast::Callable& decl) {
  const auto* word = ast::dynCast<ast::NameRef>(decl.native->callee);
  if (recorded == nullptr || word == nullptr) return;
  record(word->name.range, {}, NameKind::Builtin);
  for (const ast::Argument& argument : decl.native->arguments) record(argument.name.range, {}, NameKind::Builtin);
  const auto row = std::find_if(runtime::kSignatures.begin(), runtime::kSignatures.end(),
                                [&](const runtime::Signature& one) { return one.name == word->name.text; });
  if (row == runtime::kSignatures.end()) return;
  const std::string text = " " + std::string(row->attributes) + " " + std::string(row->scalars) + " ";
  for (const ast::Parameter& parameter : decl.parameters) {
    const bool read = text.find(" " + parameter.name.text + " ") != std::string::npos ||
                      text.find(" " + parameter.name.text + "[") != std::string::npos;
    const bool given = std::any_of(decl.native->arguments.begin(), decl.native->arguments.end(),
                                   [&](const ast::Argument& one) { return one.name.text == parameter.name.text; });
    if (read && !given) record(word->name.range, parameter.name.range, NameKind::Parameter);
  }
}

/// Factors and inputs fill parameters and tensors by name: those of every callable that the design names.
void NameChecker::recordFilled(const ast::Design& decl) {
  if (recorded == nullptr) return;
  std::vector<const ast::Decl*> callables;
  const auto collect = [&](const ast::Expr* expr) {
    if (expr == nullptr) return;
    forEachInside(*expr, [&](const ast::Expr& inner) {
      const Resolved found = calleeOf(inner);
      if (found.decl != nullptr && found.decl->kind == ast::NodeKind::Callable) callables.push_back(found.decl);
    });
  };
  collect(decl.of);
  collect(decl.task);
  for (const ast::Factor& factor : decl.factors)
    for (const ast::Expr* level : factor.levels) collect(level);
  for (const ast::Decl* callable : callables) {
    forEachParameter(*callable, [&](const ast::Name& name, NameKind kind) {
      for (const ast::Factor& factor : decl.factors)
        if (factor.name.text == name.text && kind == NameKind::Parameter) record(factor.name.range, name.range, kind);
      for (const ast::Input& input : decl.inputs)
        if (input.name.text == name.text && kind == NameKind::Tensor) record(input.name.range, name.range, kind);
    });
  }
  const auto under = [&](const ast::Name& parent, const ast::Expr* level) {
    recordFactor(parent, decl);
    recordFactors(level, nullptr);
  };
  for (const ast::Factor& factor : decl.factors) under(factor.parent, factor.parentLevel);
  for (const ast::Input& input : decl.inputs) under(input.parent, input.parentLevel);
  if (const auto* task = ast::dynCast<ast::Call>(decl.task))
    for (const ast::Argument& argument : task->arguments) record(argument.name.range, {}, NameKind::Builtin);
}

void NameChecker::recordFactor(const ast::Name& name, const ast::Design& design) {
  for (const ast::Factor& factor : design.factors) {
    if (factor.name.text == name.text) return record(name.range, factor.name.range, NameKind::Factor);
  }
}

/// Words of an expression that mean factors of the design, or something at top level.
void NameChecker::recordFactors(const ast::Expr* expr, const ast::Design* design) {
  if (expr == nullptr) return;
  forEachInside(*expr, [&](const ast::Expr& inner) {
    if (const auto* word = ast::dynCast<ast::NameRef>(&inner)) {
      const std::size_t before = recorded->size();
      if (design != nullptr) recordFactor(word->name, *design);
      if (recorded->size() != before) return;
      if (const Resolved found = program.resolve(module, word->name.text)) record(word->name.range, found);
    }
    if (const auto* call = ast::dynCast<ast::Call>(&inner)) recordArguments(*call);
    if (const auto* fields = ast::dynCast<ast::Record>(&inner); fields != nullptr && design != nullptr) {
      for (const auto& field : fields->fields) recordFactor(field.name, *design);
    }
  });
}

/// The declaration of that name, if there is one.
const ast::Decl* NameChecker::recordNamed(const ast::Name& name) {
  const Resolved found = program.resolve(module, name.text);
  if (found) record(name.range, found);
  return found.decl;
}

void NameChecker::recordImport(const ast::Import& decl) {
  std::string text;
  for (const ast::Name& part : decl.path) text += (text.empty() ? "" : ".") + part.text;
  const Module* imported = program.find(text);
  if (imported == nullptr) return;
  for (const ast::Name& part : decl.path) record(part.range, {nullptr, imported});
  if (!decl.alias.empty()) record(decl.alias.range, decl.alias.range, NameKind::Module);
  for (const ast::Name& name : decl.names) {
    if (const Resolved found = program.member(*imported, name.text, module)) record(name.range, found);
  }
}

/// Paths of a network's parts: what their names are, elaboration knows.
void NameChecker::recordPlaces(const ast::Expr* places) {
  if (places == nullptr) return;
  forEachInside(*places, [&](const ast::Expr& inner) {
    if (const auto* word = ast::dynCast<ast::NameRef>(&inner)) record(word->name.range, {}, NameKind::Elaborated);
    if (const auto* part = ast::dynCast<ast::Member>(&inner)) record(part->member.range, {}, NameKind::Elaborated);
  });
}

/// Those of a clause that has any.
void NameChecker::recordPlaces(const ast::Clause& clause) {
  recordPlaces(clause.on);
  if (clause.word.text != "freeze") return;
  for (const ast::Argument& item : clause.items) recordPlaces(item.value);
}

/// The data set of a clause `examples` and the trainings whose weights rows take, and what a clause `attack` has of the design's
/// factors.
void NameChecker::recordExamples(const ast::Measure& decl, const ast::Design* design) {
  for (const ast::Clause& clause : decl.others) {
    const bool isAttack = clause.word.text == "attack";
    if (!isAttack && clause.word.text != "examples") continue;
    for (const ast::Argument& item : clause.items) {
      const ast::Name* name = item.name.text == "weights" ? factorOfWeights(program, item.value) : nullptr;
      const ast::Factor* choosing = name != nullptr && design != nullptr ? factorOfTexts(*design, name->text) : nullptr;
      if (choosing != nullptr)
        recordTexts(*name, *choosing);
      else
        recordFactors(item.value, isAttack ? design : nullptr);
    }
  }
}

/// A factor of texts that name declarations: each text is such a name, without its quotes.
void NameChecker::recordTexts(const ast::Name& name, const ast::Factor& factor) {
  record(name.range, factor.name.range, NameKind::Factor);
  for (const ast::Expr* level : factor.levels) {
    const auto* text = ast::dynCast<ast::String>(level);
    const Resolved found = text != nullptr ? program.resolve(module, text->value) : Resolved{};
    if (found) record({text->range.begin + 1, text->range.end - 1}, found);
  }
}

/// Names in declarations that their own stages read.
void NameChecker::recordOthers(const ast::Decl& decl) {
  if (recorded == nullptr) return;
  if (isNamed(decl)) record(decl.name.range, decl.name.range, kindOf(decl));
  switch (decl.kind) {
    case ast::NodeKind::Import:
      return recordImport(ast::cast<ast::Import>(decl));
    case ast::NodeKind::Measure:
      recordExamples(ast::cast<ast::Measure>(decl), ast::dynCast<ast::Design>(recordNamed(decl.name)));
      break;
    case ast::NodeKind::Regress: {
      const auto& regress = ast::cast<ast::Regress>(decl);
      const auto* design = ast::dynCast<ast::Design>(recordNamed(regress.from));
      recordFactors(regress.terms, design);
      for (const ast::Clause& clause : regress.others)
        for (const ast::Argument& item : clause.items) recordFactors(item.value, design);
      break;
    }
    case ast::NodeKind::Predict: {
      const auto& predict = ast::cast<ast::Predict>(decl);
      const auto* regress = ast::dynCast<ast::Regress>(recordNamed(predict.regression));
      const Resolved from = regress != nullptr ? program.resolve(module, regress->from.text) : Resolved{};
      recordFactors(predict.at, ast::dynCast<ast::Design>(from.decl));
      break;
    }
    case ast::NodeKind::Fit: {
      const auto& fit = ast::cast<ast::Fit>(decl);
      const auto* design = ast::dynCast<ast::Design>(recordNamed(fit.design));
      recordFactors(fit.at, design);
      if (design != nullptr) recordFactor(fit.over, *design);
      break;
    }
    case ast::NodeKind::Train: {
      const auto& train = ast::cast<ast::Train>(decl);
      recordFactors(train.data, nullptr);
      for (const ast::Clause& clause : train.clauses) {  // whose weights it begins with
        if (clause.word.text != "weights" || clause.items.empty()) continue;
        if (const auto* other = ast::dynCast<ast::NameRef>(clause.items.front().value)) recordNamed(other->name);
      }
      for (const ast::Clause& clause : train.clauses) recordPlaces(clause);
      break;
    }
    case ast::NodeKind::Perturb:
      recordNamed(ast::cast<ast::Perturb>(decl).target);
      recordFactors(ast::cast<ast::Perturb>(decl).data, nullptr);
      break;
    case ast::NodeKind::Mutate: {
      const auto& mutate = ast::cast<ast::Mutate>(decl);
      recordNamed(mutate.base);
      for (const ast::Mutate::Operation& operation : mutate.operations) {
        record(operation.as.range, operation.as.range, NameKind::Parameter);
        recordPlaces(operation.path);
      }
      break;
    }
    case ast::NodeKind::Design:
      for (const ast::Clause& clause : ast::cast<ast::Design>(decl).groups) recordPlaces(clause);
      break;
    default:
      break;
  }
}

namespace {
void findIn(const Program& program, const Module& module, std::vector<Use>& found) {
  DiagnosticSink unheard;
  std::vector<FunctionUse> functions;
  for (const auto& file : module.files) {
    for (const ast::Decl* decl : file->declarations) {
      NameChecker checker(program, unheard, module, functions);
      checker.recorded = &found;
      checker.check(*decl);
    }
  }
}
}  // namespace

Uses findUses(const Program& program) {
  std::vector<Use> found;
  for (const auto& module : program.modules()) findIn(program, *module, found);
  return Uses(std::move(found));
}

Uses findUses(const Program& program, const Module& module) {
  std::vector<Use> found;
  findIn(program, module, found);
  return Uses(std::move(found));
}

}  // namespace tbem::sema
