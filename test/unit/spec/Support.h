// Expressions written as in C++, over symbols with domains.
#pragma once

#include "compiler/spec/prove/Prove.h"

#include <memory>
#include <string>
#include <vector>

namespace tbem::test {

using sema::ExprId;
using sema::ExprOp;
using spec::Domain;

struct E {
  sema::ExprPool* pool = nullptr;
  ExprId id{};
  E make(ExprOp op, const E& other) const { return {pool, pool->make(op, id, other.id)}; }
  E of(std::int64_t value) const { return {pool, pool->constant(value)}; }
};
inline E operator+(const E& a, const E& b) { return a.make(ExprOp::Add, b); }
inline E operator-(const E& a, const E& b) { return a.make(ExprOp::Sub, b); }
inline E operator*(const E& a, const E& b) { return a.make(ExprOp::Mul, b); }
inline E operator/(const E& a, const E& b) { return a.make(ExprOp::Divide, b); }
inline E operator+(const E& a, std::int64_t b) { return a + a.of(b); }
inline E operator-(const E& a, std::int64_t b) { return a - a.of(b); }
inline E operator*(const E& a, std::int64_t b) { return a * a.of(b); }
inline E operator*(std::int64_t a, const E& b) { return b.of(a) * b; }
inline E floorDiv(const E& a, const E& b) { return a.make(ExprOp::FloorDiv, b); }
inline E floorDiv(const E& a, std::int64_t b) { return floorDiv(a, a.of(b)); }
inline E ceilDiv(const E& a, const E& b) { return a.make(ExprOp::CeilDiv, b); }
inline E mod(const E& a, const E& b) { return a.make(ExprOp::Mod, b); }
inline E mod(const E& a, std::int64_t b) { return mod(a, a.of(b)); }
inline E operator==(const E& a, const E& b) { return a.make(ExprOp::Equal, b); }
inline E operator==(const E& a, std::int64_t b) { return a == a.of(b); }
inline E operator<=(const E& a, const E& b) { return a.make(ExprOp::LessEqual, b); }
inline E operator<(const E& a, const E& b) { return a.make(ExprOp::Less, b); }
inline E operator>=(const E& a, const E& b) { return b <= a; }
inline E operator>=(const E& a, std::int64_t b) { return a >= a.of(b); }
inline E operator<=(const E& a, std::int64_t b) { return a <= a.of(b); }
inline E operator!(const E& a) { return {a.pool, a.pool->make(ExprOp::Not, a.id)}; }
inline E both(const E& a, const E& b) { return a.make(ExprOp::And, b); }
inline E either(const E& a, const E& b) { return a.make(ExprOp::Or, b); }

/// Symbols and goals of one test.
struct World {
  sema::ExprPool pool;
  std::vector<Domain> domains;
  E symbol(const std::string& name, Domain domain = {}) {
    domains.push_back(std::move(domain));
    return {&pool, pool.symbolRef(pool.symbol(name, {}))};
  }
  E above(const std::string& name, std::int64_t low) {
    Domain domain;
    domain.low = low;
    return symbol(name, domain);
  }
  E within(const std::string& name, std::int64_t low, std::int64_t high) {
    Domain domain;
    domain.low = low;
    domain.high = high;
    return symbol(name, domain);
  }
  E levels(const std::string& name, const std::vector<std::int64_t>& values) {
    Domain domain;
    for (const std::int64_t value : values) domain.levels.push_back(Rational::of(value));
    return symbol(name, domain);
  }
  static spec::Goal goal(const std::vector<E>& hypotheses, const E& claim) {
    spec::Goal made;
    for (const E& one : hypotheses) made.hypotheses.push_back(one.id);
    made.claim = claim.id;
    return made;
  }
  spec::Proof prove(const std::vector<E>& hypotheses, const E& claim) {
    return spec::Prover(pool, domains).prove(goal(hypotheses, claim));
  }
  /// Whether the values of a refutation meet the hypotheses and not the claim: by evaluation, apart from the prover.
  bool confirms(const spec::Goal& goal, const spec::Proof& proof) const {
    std::vector<std::optional<Rational>> assignment(pool.symbolCount());
    for (const auto& [symbol, value] : proof.values) assignment[static_cast<std::size_t>(symbol)] = value;
    const sema::Values values = pool.evaluate(assignment);
    const auto holds = [&](ExprId id) { return values.errorOf(id) == sema::EvalError::None && values[id].num != 0; };
    for (const ExprId hypothesis : goal.hypotheses) {
      if (!holds(hypothesis)) return false;
    }
    return !holds(goal.claim);
  }
};

}  // namespace tbem::test
