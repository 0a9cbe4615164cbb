#include "compiler/spec/prove/AtInputs.h"

#include "compiler/spec/process/Process.h"
#include "compiler/spec/prove/Prove.h"

#include <algorithm>

namespace tbem::spec {

using sema::Value;
using sema::ValueKind;

struct ProcessesAtInputs::Known {
  std::optional<ProcessModel> model;
  std::map<std::vector<std::pair<SymbolId, std::pair<std::int64_t, std::int64_t>>>, std::optional<bool>> answers;
};

namespace {

/// The number that a value is in a model; nothing where it is none that the variable can have.
std::optional<Rational> numberOf(const ProcessModel& model, const Variable& variable, const sema::ExprPool& pool,
                                 const Value& value) {
  if (!variable.isWord) return pool.constantValue(value.expr);
  const auto is = [&](const std::string& word) {
    return value.is(ValueKind::String) && word.substr(1, word.size() - 2) == value.text();
  };
  const auto word = std::find_if(model.words.begin(), model.words.end(), is);
  if (word == model.words.end()) return std::nullopt;
  return Rational::of(ProcessModel::kFirstWord + (word - model.words.begin()));
}

using Point = std::vector<std::pair<SymbolId, Rational>>;

/// Whether a value has more elements than are looked at, which may well be allowed.
bool isBeyond(const Variable& variable, const Value& value) {
  if (variable.shape == Variable::Shape::Plain) return false;
  if (variable.isCut && value.items.size() > variable.looked()) return true;
  for (std::size_t i = 0; i < std::min(value.items.size(), variable.elements.size()); ++i) {
    if (isBeyond(variable.elements[i], value.items[i])) return true;
  }
  return false;
}

/// Adds the values of a variable's unknowns. False where it cannot have this value.
bool assign(const ProcessModel& model, const Variable& variable, const sema::ExprPool& pool, const Value& value, Point& point) {
  if (!variable.elements.empty()) {
    if (value.items.size() > variable.elements.size()) return false;
    point.emplace_back(*variable.size, Rational::of(static_cast<std::int64_t>(value.items.size())));
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (!assign(model, variable.elements[i], pool, value.items[i], point)) return false;
    }
    return true;
  }
  std::vector<Rational> items;
  for (const Value& one : variable.shape == Variable::Shape::Plain ? sema::SharedVector<Value>{value} : value.items) {
    const std::optional<Rational> number = numberOf(model, variable, pool, one);
    if (!number) return false;
    items.push_back(*number);
  }
  if (variable.shape == Variable::Shape::Set) {
    std::sort(items.begin(), items.end(), [](const Rational& a, const Rational& b) { return compare(a, b) < 0; });
    items.erase(std::unique(items.begin(), items.end()), items.end());
  }
  for (std::size_t i = 0; i < variable.candidates.size(); ++i) {
    const auto found = std::find(items.begin(), items.end(), variable.candidates[i]);
    point.emplace_back(variable.symbols[i], Rational::of(found != items.end() ? 1 : 0));
    if (found != items.end()) items.erase(found);
  }
  if (!variable.candidates.empty()) return items.empty();
  if (items.size() > variable.symbols.size()) return false;
  if (variable.size) point.emplace_back(*variable.size, Rational::of(static_cast<std::int64_t>(items.size())));
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (!model.domains[static_cast<std::size_t>(variable.symbols[i])].contains(items[i])) return false;
    point.emplace_back(variable.symbols[i], items[i]);
  }
  return true;
}

}  // namespace

ProcessesAtInputs::ProcessesAtInputs(Session& session, const sema::Program& program) : session(session), program(program) {}
ProcessesAtInputs::~ProcessesAtInputs() = default;

std::optional<bool> ProcessesAtInputs::holds(const ast::Process& process, const sema::Module& module, const sema::ExprPool& pool,
                                             const std::vector<std::pair<std::string, Value>>& inputs) {
  std::unique_ptr<Known>& one = known[&process];
  if (one == nullptr) {
    one = std::make_unique<Known>();
    one->model = readProcess(session, program, module, process);
  }
  if (!one->model) return std::nullopt;
  ProcessModel& model = *one->model;
  Point point;
  std::vector<const Variable*> outputs;
  for (const Variable& variable : model.variables) {
    if (variable.isOutput) {
      outputs.push_back(&variable);
      continue;
    }
    const auto given =
        std::find_if(inputs.begin(), inputs.end(), [&](const auto& input) { return input.first == variable.name; });
    if (given == inputs.end()) return std::nullopt;
    if (!assign(model, variable, pool, given->second, point)) {
      // Any value but a longer one is outside of the type.
      return isBeyond(variable, given->second) ? std::nullopt : std::optional(false);
    }
  }
  std::vector<std::pair<SymbolId, std::pair<std::int64_t, std::int64_t>>> key;
  for (const auto& [symbol, value] : point) key.emplace_back(symbol, std::make_pair(value.num, value.den));
  const auto [answer, isNew] = one->answers.emplace(std::move(key), std::nullopt);
  if (!isNew) return answer->second;
  std::vector<Domain> domains = model.domains;
  for (const auto& [symbol, value] : point) domains[static_cast<std::size_t>(symbol)] = Domain{{value}, {}, {}, false};
  std::vector<ExprId> conditions = model.axioms;
  conditions.push_back(model.pre);
  conditions.push_back(model.post.expr);
  if (outputs.size() == 1 && outputs.front()->isTruth && outputs.front()->shape == Variable::Shape::Plain)
    conditions.push_back(model.pool.symbolRef(outputs.front()->symbols.front()));
  const Proof proof = Prover(model.pool, std::move(domains), limitsWith(&work)).find(conditions);
  const bool isBeyond = model.cutIn(std::vector{model.post.expr}) != nullptr;  // longer outputs are not looked at
  if (proof.verdict == Verdict::Refuted) answer->second = true;
  if ((proof.verdict == Verdict::Proved || proof.verdict == Verdict::Vacuous) && !isBeyond) answer->second = false;
  return answer->second;
}

}  // namespace tbem::spec
