#include "compiler/spec/prove/Scenarios.h"

#include "compiler/diagnostics/tables/Specification.h"

#include <algorithm>

namespace tbem::spec {

using sema::ExprOp;

namespace {

constexpr std::size_t kMaxScenarios = 512;

class Deriver {
public:
  Deriver(Session& session, ProcessModel& model) : session(session), model(model) {}

  std::vector<Scenario> run() {
    std::vector<Conjunction> all = alternatives(model.post);
    if (tooMany) {
      session.sink.report(diag::too_many_scenarios, model.decl->name.range, model.decl->name.text, kMaxScenarios);
      return {};
    }
    std::vector<Scenario> scenarios;
    for (const Conjunction& one : all) merge(scenarios, split(one));
    return scenarios;
  }

private:
  using Conjunction = std::vector<const Condition*>;

  /// Whether some leaf mentions outputs and another does not.
  bool isMixed(const Condition& condition) const {
    bool with = false, without = false;
    std::vector<const Condition*> open{&condition};
    while (!open.empty()) {
      const Condition* next = open.back();
      open.pop_back();
      if (next->kind == Condition::Kind::Atom) (model.mentionsOutputs(next->expr) ? with : without) = true;
      for (const Condition& part : next->parts) open.push_back(&part);
    }
    return with && without;
  }

  /// Disjunctive normal form of what is mixed. Trees are as deep as the reader lets them be.
  std::vector<Conjunction> alternatives(const Condition& condition) {
    if (condition.kind == Condition::Kind::Atom || !isMixed(condition)) return {{&condition}};
    std::vector<Conjunction> made;
    if (condition.kind == Condition::Kind::Or) {
      for (const Condition& part : condition.parts) {
        for (Conjunction& one : alternatives(part)) made.push_back(std::move(one));
        if (made.size() > kMaxScenarios) tooMany = true;
        if (tooMany) return {};
      }
      return made;
    }
    made.emplace_back();
    for (const Condition& part : condition.parts) {
      const std::vector<Conjunction> more = alternatives(part);
      if (made.size() * more.size() > kMaxScenarios) tooMany = true;
      if (tooMany) return {};
      std::vector<Conjunction> product;
      for (const Conjunction& left : made) {
        for (const Conjunction& right : more) {
          product.push_back(left);
          product.back().insert(product.back().end(), right.begin(), right.end());
        }
      }
      made = std::move(product);
    }
    return made;
  }

  Scenario split(const Conjunction& parts) {
    Scenario made;
    made.guard = made.definition = model.pool.constant(1);
    for (const Condition* part : parts) {
      const bool isDefinition = model.mentionsOutputs(part->expr);
      ExprId& side = isDefinition ? made.definition : made.guard;
      std::string& text = isDefinition ? made.definitionText : made.guardText;
      const ExprId before = side;
      side = model.pool.make(ExprOp::And, side, part->expr);
      made.range = cover(made.range, part->range);
      if (side == before) continue;  // said already
      const bool brackets = part->kind == Condition::Kind::Or && parts.size() > 1;
      text += (text.empty() ? "" : " and ") + (brackets ? "(" + part->text + ")" : part->text);
    }
    return made;
  }

  void merge(std::vector<Scenario>& scenarios, Scenario one) {
    const auto same =
        std::find_if(scenarios.begin(), scenarios.end(), [&](const Scenario& other) { return other.guard == one.guard; });
    if (same == scenarios.end()) {
      scenarios.push_back(std::move(one));
      return;
    }
    same->definition = model.pool.make(ExprOp::Or, same->definition, one.definition);
    same->definitionText += " or " + one.definitionText;
    same->range = cover(same->range, one.range);
  }

  Session& session;
  ProcessModel& model;
  bool tooMany = false;
};

}  // namespace

std::vector<Scenario> deriveScenarios(Session& session, ProcessModel& model) {
  std::vector<Scenario> scenarios = Deriver(session, model).run();
  for (Scenario& one : scenarios) {
    if (one.guardText.empty()) one.guardText = "true";
    if (one.definitionText.empty()) one.definitionText = "true";
  }
  return scenarios;
}

}  // namespace tbem::spec
