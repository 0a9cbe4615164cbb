// A design as its rows need it: factors with their levels, clauses, task.
#include "compiler/graph/elaborate/Elaborate.h"

#include "compiler/diagnostics/tables/Design.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/sema/Walk.h"
#include "compiler/sema/evaluate/Evaluator.h"
#include "compiler/support/Units.h"

#include <algorithm>
#include <set>

namespace tbem::graph {

using sema::Value;
using sema::ValueKind;

namespace {

class Reader : public sema::Evaluator {
public:
  Reader(Session& session, const sema::Program& program, const ast::Design& design, DesignSpec& spec)
      : Evaluator(program, *spec.pool, session.sink), session(session), design(design), spec(spec) {}

  bool run() {
    const std::size_t errors = sink.errorCount();
    spec.name = design.name.text;
    spec.range = design.name.range;
    spec.decl = &design;
    spec.of = design.of;
    spec.module = moduleOf();
    readNetworks();
    for (const ast::Factor& factor : design.factors) readFactor(factor);
    for (std::size_t i = 0; i < design.factors.size() && i < spec.factors.size(); ++i)
      readParent(design.factors[i], spec.factors[i].parent, spec.factors[i].parentLevels);
    for (const ast::Input& input : design.inputs) readInput(input);
    if (sink.errorCount() == errors) nest();
    readTask();
    readClauses();
    if (sink.errorCount() == errors) checkUse();
    return sink.errorCount() == errors;
  }

private:
  const sema::Module* moduleOf() const {
    for (const auto& module : program.modules()) {
      for (const auto& file : module->files) {
        for (const ast::Decl* decl : file->declarations) {
          if (decl == &design) return module.get();
        }
      }
    }
    return &program.main();
  }

  Value value(const ast::Expr& expr) {
    std::vector<sema::Local> names;
    return evaluateIn(*spec.module, expr, std::move(names));
  }

  bool mentionsFactor(const ast::Expr& expr) const {
    bool found = false;
    sema::forEachInside(expr, [&](const ast::Expr& inner) {
      const auto* name = ast::dynCast<ast::NameRef>(&inner);
      found = found || (name != nullptr && std::any_of(design.factors.begin(), design.factors.end(),
                                                       [&](const auto& one) { return one.name.text == name->name.text; }));
    });
    return found;
  }
  /// Factors have no values yet: of a call whose arguments name some, what it calls.
  const ast::Expr* withoutFactors(const ast::Expr* source) const {
    const auto* call = ast::dynCast<ast::Call>(source);
    return call != nullptr && mentionsFactor(*source) ? call->callee : source;
  }

  /// The networks that rows may build: `of`, or the levels of the factor that it names.
  void readNetworks() {
    if (design.of == nullptr) return;
    std::vector<const ast::Expr*> sources{design.of};
    if (const auto* name = ast::dynCast<ast::NameRef>(design.of)) {
      for (const ast::Factor& factor : design.factors) {
        if (factor.name.text == name->name.text) sources = factor.levels;
      }
    }
    for (const ast::Expr* source : sources) {
      const Value found = value(*withoutFactors(source));
      if (found.isPoison()) continue;
      const bool callable =
          (found.is(ValueKind::Declaration) || found.is(ValueKind::Partial)) && found.decl->kind == ast::NodeKind::Callable;
      if (!callable) {
        fail(diag::unknown_network, source->range, kindName(found));
        continue;
      }
      networks.push_back(static_cast<const ast::Callable*>(found.decl));
      networkModules.push_back(found.module);
    }
  }

  struct Declared {
    const ast::Parameter* parameter = nullptr;
    const sema::Module* module = nullptr;  ///< where its domain means what it says
  };
  Declared parameterOf(const std::string& name) const {
    for (std::size_t i = 0; i < networks.size(); ++i) {
      for (const ast::Parameter& parameter : networks[i]->parameters) {
        if (parameter.name.text == name) return {&parameter, program.homeOf(networks[i], networkModules[i], name)};
      }
    }
    return {};
  }

  void addLevel(FactorSpec& factor, Value found, const ast::Expr* expr, const sema::Module* module, SrcRange range) {
    if (found.isPoison()) return;
    Level level;
    if (found.is(ValueKind::Number)) level.number = pool.constantValue(found.expr);
    level.text = found.is(ValueKind::String) ? found.text : sema::print(pool, found);
    level.value = std::move(found);
    level.expr = expr;
    level.module = module;
    level.range = range;
    for (const Level& other : factor.levels) {
      if (other.text == level.text && other.value.kind == level.value.kind) {
        sink.report(diag::duplicate_level, range, level.text, factor.name).label(other.range, "given here first");
        return;
      }
    }
    const auto family = [](const Value& v) { return v.is(ValueKind::Partial) ? ValueKind::Declaration : v.kind; };
    if (!factor.levels.empty() && family(factor.levels.front().value) != family(level.value)) {
      fail(diag::levels_differ_in_kind, range, factor.name, kindName(factor.levels.front().value), kindName(level.value));
      return;
    }
    factor.levels.push_back(std::move(level));
  }

  void readFactor(const ast::Factor& factor) {
    const std::size_t errorsBefore = sink.errorCount();
    FactorSpec result;
    result.name = factor.name.text;
    result.range = factor.name.range;
    if (spec.find(result.name)) fail(diag::duplicate_name, factor.name.range, result.name);
    const auto [parameter, home] = parameterOf(result.name);
    result.binds = parameter != nullptr;
    if (parameter != nullptr) {
      const auto* type = ast::dynCast<ast::NamedType>(parameter->type);
      result.isReal = type != nullptr && type->name.text == "real";
    }
    std::vector<const ast::Expr*> sources = factor.levels;
    const bool fromDomain = sources.empty() && parameter != nullptr && parameter->domain != nullptr;
    const sema::Module* const module = fromDomain ? home : spec.module;
    if (fromDomain) {
      const auto* set = ast::dynCast<ast::Set>(parameter->domain);
      sources = set != nullptr ? set->items : std::vector<const ast::Expr*>{parameter->domain};
    }
    for (const ast::Expr* source : sources) {
      const Value found = evaluateIn(*module, *source, {});
      const SrcRange range = fromDomain ? factor.name.range : source->range;
      if (found.is(ValueKind::Range)) {
        const auto all = elements(found, range);
        if (all)
          for (const Value& one : *all) addLevel(result, one, nullptr, module, range);
      } else {
        addLevel(result, found, source, module, range);
      }
    }
    if (result.levels.empty() && sink.errorCount() == errorsBefore) {
      Diagnostic& d = sink.report(diag::no_levels, factor.name.range, result.name);
      d.note(parameter != nullptr ? "its parameter has no domain (`in {...}`) to take them from"
                                  : "write them: `factor " + result.name + ": 1, 2, 4`");
    }
    for (const Level& level : result.levels) result.isReal = result.isReal || (level.number && !level.number->isInt());
    spec.factors.push_back(std::move(result));
  }

  /// `under parent = level`, of a factor or an input.
  template <class Nested>
  void readParent(const Nested& nested, std::optional<std::uint32_t>& place, std::vector<std::uint32_t>& parentLevels) {
    if (nested.parent.empty()) return;
    const auto parent = spec.find(nested.parent.text);
    if (!parent) {
      std::vector<std::string> names;
      for (const FactorSpec& one : spec.factors) names.push_back(one.name);
      Diagnostic& d = sink.report(diag::unknown_name, nested.parent.range, nested.parent.text);
      if (const std::string near = nearest(nested.parent.text, names); !near.empty())
        d.note("did you mean `" + near + "`?").fix(nested.parent.range, near);
      return;
    }
    place = parent;
    if (nested.parentLevel == nullptr) return;
    const Value wanted = value(*nested.parentLevel);
    const auto& levels = spec.factors[*parent].levels;
    std::string known;
    for (std::size_t i = 0; i < levels.size(); ++i) {
      known += (i == 0 ? "" : ", ") + levels[i].text;
      const sema::ExprId same = equal(levels[i].value, wanted);
      if (same != sema::kNoExpr && pool.constantValue(same) == Rational::of(1))
        parentLevels.push_back(static_cast<std::uint32_t>(i));
    }
    if (parentLevels.empty() && !wanted.isPoison() && !levels.empty()) {
      sink.report(diag::design_clause_value, nested.parentLevel->range, "under", "a level of `" + nested.parent.text + "`",
                  wanted.is(ValueKind::String) ? "\"" + wanted.text + "\"" : sema::print(pool, wanted))
          .note("its levels are " + known);
    }
  }

  /// A row has one shape of an input at most.
  void readInput(const ast::Input& input) {
    InputSpec made{input.name.text, input.name.range, input.shape, {}, {}, {}};
    readParent(input, made.parent, made.parentLevels);
    for (const InputSpec& other : spec.inputs) {
      const auto alike = [&](std::uint32_t level) {
        return std::find(other.parentLevels.begin(), other.parentLevels.end(), level) != other.parentLevels.end();
      };
      const bool apart =
          made.parent && made.parent == other.parent && std::none_of(made.parentLevels.begin(), made.parentLevels.end(), alike);
      if (other.name != made.name || apart) continue;
      Diagnostic& d = sink.report(diag::argument_twice, made.range, made.name).label(other.range, "given here first");
      d.note("two shapes of one input stand `under` different levels of one factor");
      break;
    }
    spec.inputs.push_back(std::move(made));
  }

  /// Whether going from a factor to its parent, and on, comes back to it.
  bool isUnderItself(std::uint32_t factor) const {
    std::optional<std::uint32_t> above = spec.factors[factor].parent;
    for (std::size_t steps = 0; above && steps < spec.factors.size(); ++steps) {
      if (*above == factor) return true;
      above = spec.factors[*above].parent;
    }
    return false;
  }

  /// Gives nested factors their absence. One that stands under every level of its parent exists where that does.
  void nest() {
    for (std::uint32_t f = 0; f < spec.factors.size(); ++f) {
      if (!isUnderItself(f)) continue;
      const ast::Factor& written = design.factors[f];
      sink.report(diag::nesting_cyclic, written.parent.range, written.name.text);
      return;
    }
    for (bool again = true; again;) {
      again = false;
      for (FactorSpec& factor : spec.factors) {
        if (!factor.parent || factor.parentLevels.size() < spec.factors[*factor.parent].levels.size()) continue;
        const FactorSpec& above = spec.factors[*factor.parent];
        factor.parentLevels = above.parentLevels;
        factor.parent = above.parent;
        again = true;
      }
    }
    for (FactorSpec& factor : spec.factors) {
      if (!factor.parent) continue;
      Level none;
      none.value = Value::none();
      none.text = "-";
      none.range = factor.range;
      none.absent = true;
      factor.levels.push_back(std::move(none));
    }
  }

  void unknownOfTrain(const ast::Argument& argument) {
    const std::string what = argument.name.empty() ? std::string(session.sources.text(argument.range)) : argument.name.text;
    session.sink.report(diag::unknown_argument, argument.range, "train", what)
        .note("both of its parameters are named: `train(loss: cross_entropy, optimizer: sgd(lr: 0.01))`");
  }

  void readTask() {
    if (design.task == nullptr) return;
    const auto* call = ast::dynCast<ast::Call>(design.task);
    const auto* word = ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : design.task);
    if (word != nullptr && word->name.text == "infer" && (call == nullptr || call->arguments.empty())) return;
    if (word == nullptr || word->name.text != "train") {
      fail(diag::bad_task, design.task->range, "`" + std::string(session.sources.text(design.task->range)) + "`");
      return;
    }
    spec.task = Task::Train;
    for (const ast::Argument& argument : call != nullptr ? call->arguments : std::vector<ast::Argument>{}) {
      if (argument.name.text == "loss")
        spec.loss = argument.value;
      else if (argument.name.text == "optimizer")
        spec.optimizer = argument.value;
      else
        return unknownOfTrain(argument);
    }
    if (spec.loss == nullptr) fail(diag::missing_argument, design.task->range, "train", "loss");
    if (spec.optimizer == nullptr) fail(diag::missing_argument, design.task->range, "train", "optimizer");
  }

  std::optional<std::int64_t> whole(const char* clause, const ast::Expr* expr, std::int64_t least) {
    if (expr == nullptr) return std::nullopt;
    const Value found = value(*expr);
    const auto number = found.is(ValueKind::Number) ? pool.constantValue(found.expr) : std::nullopt;
    if (number && number->isInt() && number->num >= least) return number->num;
    if (!found.isPoison())
      fail(diag::design_clause_value, expr->range, clause, "a whole number from " + std::to_string(least),
           sema::print(pool, found));
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
      const Value name = value(*design.array);
      if (name.is(ValueKind::String))
        spec.array = name.text;
      else if (!name.isPoison())
        fail(diag::design_clause_value, design.array->range, "array", "a string such as \"L36\"", kindName(name));
    }
    if (design.within != nullptr) {
      const Value limit = value(*design.within);
      const auto seconds = limit.is(ValueKind::Number) ? pool.constantValue(limit.expr) : std::nullopt;
      const bool isTime = seconds && limit.unit == sema::UnitPowers{0, 1, 0, 0};
      if (isTime && seconds->num > 0)
        spec.within = seconds->toDouble();
      else if (!limit.isPoison())
        fail(diag::design_clause_value, design.within->range, "within", isTime ? "a time above 0 s" : "a time such as `30 s`",
             isTime ? std::string(session.sources.text(design.within->range)) : kindName(limit));
      if (spec.within && !spec.covering && design.where.empty())
        fail(diag::design_clause_value, design.within->range, "within", "a search to be limited, by `covering` or `where`",
             "none");
    }
    if (design.dtype != nullptr) readDtype();
    const auto notYet = [&](const char* word, const ast::Expr* expr) {
      if (expr != nullptr) fail(diag::backend_mode_not_there, expr->range, word);
    };
    notYet("math", design.math);
    spec.accumulate = design.accumulate;
    if (design.accumulate != nullptr) onlyOfTraining("accumulate", design.accumulate->range);
    if (design.checkpoint != nullptr) readCheckpointClause();
    if (design.mixed == nullptr) return;
    spec.mixed = mixedType(sink, pool, value(*design.mixed), design.mixed->range, spec.dtype);
    spec.mixedRange = design.mixed->range;
  }

  void readCheckpointClause() {
    spec.checkpoint = readCheckpoint(session, program, *spec.module, pool, *design.checkpoint);
    onlyOfTraining("checkpoint", design.checkpoint->range);
  }

  void onlyOfTraining(const char* clause, SrcRange range) {
    if (spec.task == Task::Train) return;
    fail(diag::design_clause_value, range, clause, "a design whose task is `train(...)`", "one that has no backward pass");
  }

  void readDtype() {
    const auto* name = ast::dynCast<ast::NameRef>(design.dtype);
    if (name != nullptr) spec.dtypeFactor = spec.find(name->name.text);
    if (spec.dtypeFactor) return;
    const Value type = value(*design.dtype);
    if (type.is(ValueKind::DType) && tbem_is_floating(static_cast<std::int32_t>(type.id)))
      spec.dtype = static_cast<tbem_dtype>(type.id);
    else if (!type.isPoison())
      fail(diag::design_clause_value, design.dtype->range, "dtype", "a floating element type", sema::print(pool, type));
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
    for (const ast::Input& input : design.inputs) {
      collect(input.shape);
      used.insert(input.parent.text);
    }
    for (const ast::Expr* condition : design.where) collect(condition);
    for (const ast::Factor& factor : design.factors) {
      for (const ast::Expr* level : factor.levels) collect(level);
      used.insert(factor.parent.text);
    }
    std::set<std::string> given;
    for (const ast::Input& input : design.inputs) {
      if (input.parent.empty()) given.insert(input.name.text);
    }
    for (const ast::Callable* network : networks) {
      for (const ast::Parameter& tensor : network->tensors) {
        if (given.count(tensor.name.text) != 0) continue;
        if (const auto* type = ast::dynCast<ast::TensorType>(tensor.type))
          for (const ast::Expr* dim : type->dims) collect(dim);
      }
    }
    if (design.of == nullptr) return;  // an array for any experiment
    for (const FactorSpec& factor : spec.factors) {
      if (factor.binds || used.count(factor.name) != 0) continue;
      Diagnostic& d = sink.report(diag::unused_factor, factor.range, factor.name);
      std::vector<std::string> names;
      for (const ast::Callable* network : networks)
        for (const ast::Parameter& p : network->parameters) names.push_back(p.name.text);
      if (const std::string near = nearest(factor.name, names); !near.empty())
        d.note("did you mean the parameter `" + near + "`?").fix(factor.range, near);
      else
        d.note("no parameter of the network bears its name, and neither `input`, `task` nor `where` mentions it");
    }
  }

  Session& session;
  const ast::Design& design;
  DesignSpec& spec;
  std::vector<const ast::Callable*> networks;
  std::vector<const sema::Module*> networkModules;  ///< where each stands
};

}  // namespace

std::optional<DesignSpec> readDesign(Session& session, const sema::Program& program, const ast::Design& design) {
  DesignSpec spec;
  spec.pool = std::make_unique<sema::ExprPool>();
  return Reader(session, program, design, spec).run() ? std::optional<DesignSpec>(std::move(spec)) : std::nullopt;
}

}  // namespace tbem::graph
