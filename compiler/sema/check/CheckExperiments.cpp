// Names in designs, mutations, trainings and perturbations.
#include "compiler/sema/check/NameChecker.h"

#include <algorithm>
#include <iterator>

namespace tbem::sema {

/// Places are looked for where the base's body is elaborated.
void NameChecker::checkMutation(const ast::Mutate& decl) {
  inDesign = true;  // what is swapped in takes its parameters from what it replaces
  for (const ast::Mutate::Operation& operation : decl.operations) {
    expr(operation.inserted);
    for (const ast::Expr* level : operation.levels) expr(level);
  }
  inDesign = false;
}

void NameChecker::checkDesign(const ast::Design& decl) {
  inDesign = true;
  inWords = decl.of == nullptr;
  for (const ast::Factor& factor : decl.factors) {
    for (const ast::Expr* level : factor.levels) expr(level);
  }
  inWords = false;
  for (const ast::Factor& factor : decl.factors) {
    if (find(factor.name.text) != nullptr) continue;
    record(factor.name.range, factor.name.range, Kind::Factor);
    names.push_back({factor.name.text, factor.name.range, factor.name.range, Kind::Factor, nullptr, false, true});
  }
  recordFilled(decl);
  expr(decl.of);
  std::vector<ast::Input> always;  // those that exist under some levels alone are compared where levels are known
  std::copy_if(decl.inputs.begin(), decl.inputs.end(), std::back_inserter(always),
               [](const auto& one) { return one.parent.empty(); });
  once(always);
  inShapes = true;
  for (const ast::Input& input : decl.inputs) expr(input.shape);
  inShapes = false;
  for (const ast::Expr* condition : decl.where) expr(condition);
  for (const ast::Budget& budget : decl.budgets) {  // quantities and places are words
    if (const auto* limit = ast::dynCast<ast::Binary>(budget.limit)) expr(limit->right);
    const auto* place = ast::dynCast<ast::Call>(budget.on);
    for (const ast::Argument& device : place != nullptr ? place->arguments : std::vector<ast::Argument>{}) {
      const auto* word = ast::dynCast<ast::NameRef>(device.value);  // a record of the program, or a word
      if (word == nullptr) continue;
      if (const sema::Resolved own = program.resolve(module, word->name.text)) record(word->name.range, own);
    }
  }
  for (const ast::Clause& clause : decl.groups) {  // what is frozen, and what an optimiser moves, are places
    if (clause.word.text != "optimizer") continue;
    for (const ast::Argument& item : clause.items) expr(item.value);
  }
  if (const auto* task = ast::dynCast<ast::Call>(decl.task)) {
    for (const ast::Argument& argument : task->arguments) {
      if (argument.name.text == "gates")
        gateMode(argument.value);
      else
        expr(argument.value);
    }
  }
  inDesign = false;
}

/// Methods and norms are words where they stand; what methods are given are values.
void NameChecker::checkPerturb(const ast::Perturb& decl) {
  for (const ast::Clause& clause : decl.clauses) {
    if (clause.word.text != "by") continue;
    for (const ast::Argument& item : clause.items) {
      const auto* call = ast::dynCast<ast::Call>(item.value);
      if (call == nullptr) continue;
      for (const ast::Argument& given : call->arguments) {
        if (given.name.text != "objective" && given.name.text != "place") expr(given.value);
      }
    }
  }
}

/// Words of `schedule`, `augment` and `gates`, and the dataset's split, are read where they mean something, and so are places.
void NameChecker::checkTrain(const ast::Train& decl) {
  expr(decl.network);
  for (const ast::Clause& clause : decl.clauses) {
    const std::string& word = clause.word.text;
    for (const ast::Argument& item : clause.items) {
      if (word == "gates")
        gateMode(item.value);
      else if (word == "optimizer" || word == "loss" || word == "exits" || (word == "turn" && !item.name.empty()))
        expr(item.value);
    }
  }
}

/// How gates are trained is a word, and so is a reward's baseline; what else it is given are values.
void NameChecker::gateMode(const ast::Expr* mode) {
  const auto* call = ast::dynCast<ast::Call>(mode);
  for (const ast::Argument& given : call != nullptr ? call->arguments : std::vector<ast::Argument>{}) {
    if (given.name.text != "baseline") expr(given.value);
  }
}

}  // namespace tbem::sema
