// Whether tests tell a mutant apart from its specification.
#include "test/prop/spec/Mutants.h"

#include "compiler/spec/size/Points.h"

namespace tbem::test {

using sema::ExprNode;
using sema::ExprOp;
using spec::Point;
using spec::Points;

namespace {

/// The outputs that the scenario that applies defines by equations; 0 for those of other ports.
void defineOutputs(Subject& subject, Points& guards, Point& point) {
  const sema::ExprPool& pool = subject.model.pool;
  guards.at(point);
  for (std::size_t i = 0; i < subject.scenarios.size(); ++i) {
    if (!guards.holds(i)) continue;
    const std::vector<ExprId> equations = conjunctsOf(pool, subject.scenarios[i].definition);
    for (std::size_t turn = 0; turn < equations.size(); ++turn) {
      for (const ExprId one : equations) {
        const ExprNode& node = pool[one];
        if (node.op != ExprOp::Equal) continue;
        for (const auto& [name, value] : {std::pair(node.a, node.b), std::pair(node.b, node.a)}) {
          if (pool[name].op != ExprOp::Symbol) continue;
          const auto s = static_cast<std::size_t>(pool[name].symbol);
          if (!subject.model.unknowns[s].isOutput || point[s]) continue;
          const std::vector<ExprId> root{value};
          Points there(pool, root);
          there.at(point);
          if (there.errorOf(0) == sema::EvalError::None) point[s] = there[0];
        }
      }
    }
    break;
  }
  for (std::size_t s = 0; s < subject.model.unknowns.size(); ++s) {
    const std::optional<std::size_t> port = subject.model.unknowns[s].port;
    if (port && subject.model.unknowns[s].isOutput && point[s]) point[*port] = Rational::of(1);
  }
  for (std::size_t s = 0; s < subject.model.unknowns.size(); ++s) {
    if (subject.model.unknowns[s].isOutput && !point[s]) point[s] = Rational{};
  }
}

/// Values that some equation of a condition gives an output at a point.
std::vector<Rational> valuesOf(const sema::ExprPool& pool, ExprId condition, sema::SymbolId output, const Point& point) {
  std::vector<ExprId> sides;
  for (const ExprId id : pool.cone(condition)) {
    const ExprNode& node = pool[id];
    if (node.op != ExprOp::Equal) continue;
    for (const auto& [name, value] : {std::pair(node.a, node.b), std::pair(node.b, node.a)}) {
      if (pool[name].op == ExprOp::Symbol && pool[name].symbol == output) sides.push_back(value);
    }
  }
  Points points(pool, sides);
  points.at(point);
  std::vector<Rational> values;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (points.errorOf(i) == sema::EvalError::None) values.push_back(points[i]);
  }
  return values;
}

/// The answer on another port: its outputs have a value that some equation gives them, those of the other ports no data.
std::vector<Point> onOtherPorts(Subject& subject, ExprId condition, const Point& right) {
  const auto& unknowns = subject.model.unknowns;
  std::vector<Point> answers;
  for (std::size_t flag = 0; flag < unknowns.size(); ++flag) {
    if (!subject.model.isPresence(flag) || !unknowns[flag].isOutput || right[flag] == Rational::of(1)) continue;
    Point other = right;
    for (std::size_t s = 0; s < unknowns.size(); ++s) {
      if (!unknowns[s].isOutput || (!unknowns[s].port && !subject.model.isPresence(s))) continue;
      other[s] = Rational::of(s == flag ? 1 : 0);
      if (unknowns[s].port != flag) continue;
      const auto values = valuesOf(subject.model.pool, condition, static_cast<sema::SymbolId>(s), right);
      if (!values.empty()) other[s] = values.front();
    }
    answers.push_back(std::move(other));
  }
  return answers;
}

/// Whether the mutant may answer something that the specification does not allow, at a case where both admit the inputs.
bool answersOtherwise(Subject& subject, ExprId changed, Points& posts, const Point& right) {
  posts.at(right);
  if (!posts.holds(0)) return false;  // no right answer is known
  if (!posts.holds(1)) return true;   // the right answer is none of the mutant's
  for (const Point& other : onOtherPorts(subject, changed, right)) {
    posts.at(other);
    if (posts.holds(1) && !posts.holds(0)) return true;
  }
  for (std::size_t s = 0; s < subject.model.unknowns.size(); ++s) {
    if (!subject.model.unknowns[s].isOutput) continue;
    std::vector<Rational> answers = valuesOf(subject.model.pool, changed, static_cast<sema::SymbolId>(s), right);
    for (const std::int64_t by : {1, -1, 2, -2, 1000, -1000}) {
      if (const auto value = add(*right[s], Rational::of(by))) answers.push_back(*value);
    }
    for (const Rational& answer : answers) {
      if (!subject.model.domains[s].contains(answer)) continue;
      Point other = right;
      other[s] = answer;
      posts.at(other);
      if (posts.holds(1) && !posts.holds(0)) return true;
    }
  }
  return false;
}

bool isKilled(Subject& subject, const Mutant& mutant, ExprId changed, const spec::TestSuite& suite) {
  const sema::ExprPool& pool = subject.model.pool;
  const std::vector<ExprId> roots =
      mutant.ofPost ? std::vector<ExprId>{subject.model.post.expr, changed} : std::vector<ExprId>{subject.model.pre, changed};
  Points conditions(pool, roots);
  std::vector<ExprId> guardRoots;
  for (const spec::Scenario& one : subject.scenarios) guardRoots.push_back(one.guard);
  Points guards(pool, guardRoots);
  for (const spec::TestCase& one : suite.cases) {
    Point point(pool.symbolCount());
    for (const auto& [symbol, value] : one.inputs) point[static_cast<std::size_t>(symbol)] = value;
    if (!mutant.ofPost) {
      conditions.at(point);
      if (conditions.holds(1) != one.scenario.has_value()) return true;
    } else if (one.scenario) {
      defineOutputs(subject, guards, point);
      if (answersOtherwise(subject, changed, conditions, point)) return true;
    }
  }
  return false;
}

}  // namespace

Fate fateOf(Subjects& subjects, const Mutant& mutant, const spec::TestSuite& suite) {
  Subject& subject = subjects.list[mutant.subject];
  const ExprId changed = conditionOf(subject, mutant);
  if (isKilled(subject, mutant, changed, suite)) return Fate::Killed;
  std::vector<ExprId> facts = subject.model.axioms;
  const ExprId before = mutant.ofPost ? subject.model.post.expr : subject.model.pre;
  if (mutant.ofPost) facts.push_back(subject.model.pre);
  spec::Prover prover(subject.model.pool, subject.model.domains);
  for (const auto& [from, to] : {std::pair(before, changed), std::pair(changed, before)}) {
    std::vector<ExprId> all = facts;
    all.push_back(from);
    const spec::Verdict verdict = prover.prove(spec::Goal{all, to}).verdict;
    if (verdict != spec::Verdict::Proved && verdict != spec::Verdict::Vacuous) return Fate::Alive;
  }
  return Fate::Equivalent;
}

}  // namespace tbem::test
