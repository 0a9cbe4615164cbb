// A design as its rows need it: task, clauses, whether all factors are used.
#include "compiler/graph/elaborate/Elaborate.h"

#include "compiler/diagnostics/tables/Design.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/clauses/ClauseReader.h"
#include "compiler/graph/clauses/ReadGates.h"
#include "compiler/graph/clauses/ReadGroups.h"
#include "compiler/graph/read/ReadFactors.h"
#include "compiler/sema/Trainings.h"
#include "compiler/sema/Walk.h"
#include "compiler/support/Units.h"

#include <algorithm>
#include <set>

namespace tbem::graph {

using sema::Value;
using sema::ValueKind;

namespace {

const sema::Module& moduleOf(const sema::Program& program, const ast::Design& design) {
  for (const auto& module : program.modules()) {
    for (const auto& file : module->files) {
      for (const ast::Decl* decl : file->declarations) {
        if (decl == &design) return *module;
      }
    }
  }
  return program.main();
}

/// What the clauses of its measurements may have of its factors: `attack` what moves the examples of rows, `examples` whose
/// weights rows have, where that is no training.
std::vector<const ast::Expr*> clausesOn(const sema::Program& program, const sema::Module& module, const ast::Design& design) {
  std::vector<const ast::Expr*> values;
  const auto mayName = [&](const ast::Clause& clause, const ast::Argument& item) {
    if (clause.word.text == "attack") return true;
    return clause.word.text == "examples" && item.name.text == "weights" && sema::factorOfWeights(program, item.value) != nullptr;
  };
  for (const auto& file : module.files) {
    for (const ast::Decl* decl : file->declarations) {
      const auto* measure = ast::dynCast<ast::Measure>(decl);
      if (measure == nullptr || measure->name.text != design.name.text) continue;
      for (const ast::Clause& clause : measure->others) {
        for (const ast::Argument& item : clause.items)
          if (mayName(clause, item)) values.push_back(item.value);
      }
    }
  }
  return values;
}

class DesignReader {
public:
  DesignReader(Session& session, const sema::Program& program, const ast::Design& design, DesignSpec& spec)
      : e(session, program, moduleOf(program, design), *spec.pool), factors(e, design, spec), design(design), spec(spec) {}

  bool run() {
    const std::size_t errors = e.sink.errorCount();
    spec.name = design.name.text;
    spec.range = design.name.range;
    spec.decl = &design;
    spec.of = design.of;
    spec.module = &e.module;
    factors.read();
    readTask();
    readClauses();
    if (e.sink.errorCount() == errors) checkUse();
    return e.sink.errorCount() == errors;
  }

private:
  void unknownOfTrain(const ast::Argument& argument) {
    const std::string what = argument.name.empty() ? e.text(argument.range) : argument.name.text;
    e.sink.report(diag::unknown_argument, argument.range, "train", what)
        .note("its parameters are named: `train(loss: cross_entropy, optimizer: sgd(lr: 0.01))`");
  }

  void readTask() {
    if (design.task == nullptr) return;
    const auto* call = ast::dynCast<ast::Call>(design.task);
    const auto* word = ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : design.task);
    if (word != nullptr && word->name.text == "infer" && (call == nullptr || call->arguments.empty())) return;
    if (word == nullptr || word->name.text != "train") {
      e.fail(diag::bad_task, design.task->range, "`" + e.text(*design.task) + "`");
      return;
    }
    spec.task = Task::Train;
    for (const ast::Argument& argument : call != nullptr ? call->arguments : std::vector<ast::Argument>{}) {
      if (argument.name.text == "loss")
        spec.loss = argument.value;
      else if (argument.name.text == "optimizer")
        spec.optimizer = argument.value;
      else if (argument.name.text == "gates" && argument.value != nullptr)
        readGateMode(e, *argument.value, spec.gates);
      else if (argument.name.text == "exits" && argument.value != nullptr)
        readExitWeights(e, *argument.value, spec.gates);
      else
        return unknownOfTrain(argument);
    }
    if (spec.loss == nullptr) e.fail(diag::missing_argument, design.task->range, "train", "loss");
    if (spec.optimizer == nullptr) e.fail(diag::missing_argument, design.task->range, "train", "optimizer");
  }

  std::optional<std::int64_t> whole(const char* clause, const ast::Expr* expr, std::int64_t least) {
    if (expr == nullptr) return std::nullopt;
    const Value found = e.value(*expr);
    const auto number = found.is(ValueKind::Number) ? e.pool.constantValue(found.expr) : std::nullopt;
    if (number && number->isInt() && number->num >= least) return number->num;
    if (!found.isPoison())
      e.fail(diag::design_clause_value, expr->range, clause, "a whole number from " + std::to_string(least),
             sema::print(e.pool, found));
    return std::nullopt;
  }

  void readClauses() {
    if (const auto strength = whole("strength", design.strength, 1)) {
      spec.strength = static_cast<int>(std::min<std::int64_t>(*strength, 1'000));
      spec.strengthGiven = true;
    }
    spec.covering = whole("covering", design.covering, 1);
    spec.rows = whole("rows", design.rows, 1);
    if (const auto seed = whole("seed", design.seed, 0)) spec.seed = static_cast<std::uint64_t>(*seed);
    spec.full = design.full;
    spec.where = design.where;
    if (design.array != nullptr) {
      const Value name = e.value(*design.array);
      if (name.is(ValueKind::String))
        spec.array = name.text();
      else if (!name.isPoison())
        e.fail(diag::design_clause_value, design.array->range, "array", "a string such as \"L36\"", kindName(name));
    }
    if (design.within != nullptr) {
      const Value limit = e.value(*design.within);
      const auto seconds = limit.is(ValueKind::Number) ? e.pool.constantValue(limit.expr) : std::nullopt;
      const bool isTime = seconds && limit.unit == sema::UnitPowers{0, 1, 0, 0};
      if (isTime && seconds->num > 0)
        spec.within = seconds->toDouble();
      else if (!limit.isPoison())
        e.fail(diag::design_clause_value, design.within->range, "within", isTime ? "a time above 0 s" : "a time such as `30 s`",
               isTime ? e.text(*design.within) : kindName(limit));
      if (spec.within && !spec.covering && design.where.empty())
        e.fail(diag::design_clause_value, design.within->range, "within", "a search to be limited, by `covering` or `where`",
               "none");
    }
    if (design.dtype != nullptr) readDtype();
    if (design.math != nullptr) spec.tf32 = readMath(e.sink, e.session.sources, *design.math, spec.dtype);
    spec.accumulate = design.accumulate;
    if (design.accumulate != nullptr) onlyOfTraining("accumulate", design.accumulate->range);
    if (design.checkpoint != nullptr) readCheckpointClause();
    readGroups();
    if (design.mixed == nullptr) return;
    spec.mixed = mixedType(e.sink, e.pool, e.value(*design.mixed), design.mixed->range, spec.dtype);
    spec.mixedRange = design.mixed->range;
  }

  void readCheckpointClause() {
    spec.checkpoint = readCheckpoint(e.session, e.program, e.module, e.pool, *design.checkpoint);
    onlyOfTraining("checkpoint", design.checkpoint->range);
  }

  void readGroups() {
    for (const ast::Clause& clause : design.groups) {
      if (clause.word.text == "freeze") {  // of a design that does not train, it says what a task would leave
        readFreeze(e, clause, spec.groups);
        continue;
      }
      onlyOfTraining("optimizer", clause.range);
      if (clause.on != nullptr)
        readGroup(e, clause, spec.groups);
      else
        e.sink.report(diag::design_clause_value, clause.range, "optimizer", "`on` and the weights that it moves", "none")
            .note("the optimiser of all other weights stands in `task train(loss: .., optimizer: ..)`");
    }
  }

  void onlyOfTraining(const char* clause, SrcRange range) {
    if (spec.task == Task::Train) return;
    e.fail(diag::design_clause_value, range, clause, "a design whose task is `train(...)`", "one that has no backward pass");
  }

  void readDtype() {
    const auto* name = ast::dynCast<ast::NameRef>(design.dtype);
    if (name != nullptr) spec.dtypeFactor = spec.find(name->name.text);
    if (spec.dtypeFactor) return;
    const Value type = e.value(*design.dtype);
    if (type.is(ValueKind::DType) && tbem_is_floating(static_cast<std::int32_t>(type.id)))
      spec.dtype = static_cast<tbem_dtype>(type.id);
    else if (!type.isPoison())
      e.fail(diag::design_clause_value, design.dtype->range, "dtype", "a floating element type", sema::print(e.pool, type));
  }

  /// A factor that neither the network nor any clause uses is an error.
  void checkUse() {
    std::set<std::string> used;
    const auto collect = [&](const ast::Expr* expr) {
      if (expr == nullptr) return;
      sema::forEachInside(*expr, [&](const ast::Expr& inner) {
        if (const auto* name = ast::dynCast<ast::NameRef>(&inner)) used.insert(name->name.text);
      });
    };
    collect(design.of);
    collect(design.task);
    collect(design.dtype);
    collect(design.accumulate);
    for (const ParameterGroup& group : spec.groups.groups) collect(group.optimizer);
    for (const ast::Input& input : design.inputs) {
      collect(input.shape);
      used.insert(input.parent.text);
    }
    for (const ast::Expr* condition : design.where) collect(condition);
    for (const ast::Factor& factor : design.factors) {
      for (const ast::Expr* level : factor.levels) collect(level);
      used.insert(factor.parent.text);
    }
    for (const ast::Expr* value : clausesOn(e.program, e.module, design)) collect(value);
    std::set<std::string> given;
    for (const ast::Input& input : design.inputs) {
      if (input.parent.empty()) given.insert(input.name.text);
    }
    for (const ast::Callable* network : factors.networks) {
      for (const ast::Parameter& tensor : network->tensors) {
        if (given.count(tensor.name.text) != 0) continue;
        if (const auto* type = ast::dynCast<ast::TensorType>(tensor.type))
          for (const ast::Expr* dim : type->dims) collect(dim);
      }
    }
    if (design.of == nullptr) return;  // an array for any experiment
    for (const FactorSpec& factor : spec.factors) {
      if (factor.binds || used.count(factor.name) != 0) continue;
      Diagnostic& d = e.sink.report(diag::unused_factor, factor.range, factor.name);
      std::vector<std::string> names;
      for (const ast::Callable* network : factors.networks)
        for (const ast::Parameter& p : network->parameters) names.push_back(p.name.text);
      if (const std::string near = nearest(factor.name, names); !near.empty())
        d.note("did you mean the parameter `" + near + "`?").fix(factor.range, near);
      else
        d.note(
            "no parameter of the network bears its name, and neither `input`, `task`, `where` nor the `examples` or `attack` of "
            "a measurement mentions it");
    }
  }

  ClauseReader e;
  FactorReader factors;
  const ast::Design& design;
  DesignSpec& spec;
};

}  // namespace

std::optional<DesignSpec> readDesign(Session& session, const sema::Program& program, const ast::Design& design) {
  DesignSpec spec;
  spec.pool = std::make_unique<sema::ExprPool>();
  return DesignReader(session, program, design, spec).run() ? std::optional<DesignSpec>(std::move(spec)) : std::nullopt;
}

}  // namespace tbem::graph
