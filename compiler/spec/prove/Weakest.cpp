#include "compiler/spec/prove/Weakest.h"

#include "compiler/spec/size/Tabulate.h"

#include <algorithm>

namespace tbem::spec {

namespace {

using sema::ExprOp;

constexpr std::int64_t kLooked = 1024;  // values of a symbol that are looked at
constexpr std::int64_t kBelow = 64;     // where they have no end below
constexpr std::int64_t kLargestModulus = 256;
constexpr std::size_t kLongestText = 90;

/// The search for a condition under which claims hold. One class: its forms are tried in turn on one list of claims.
class Search {
public:
  Search(sema::ExprPool& pool, const std::vector<Domain>& domains, std::vector<ExprId> given, Work* work)
      : pool(pool), domains(domains), given(std::move(given)), limits(limitsWith(work)) {}

  std::optional<Remedy> run(const std::vector<ExprId>& claims) {
    std::vector<ExprId> parts;
    for (const ExprId claim : claims) split(claim, parts);
    for (const ExprId part : parts) {
      if (follows(withParts(), part)) continue;
      if (isSpent() || !add(part)) return std::nullopt;
    }
    dropImplied();
    if (chosen.empty()) return std::nullopt;
    Remedy all;
    all.isExact = true;
    for (const Remedy& one : chosen) {
      all.condition = all.condition == sema::kNoExpr ? one.condition : pool.make(ExprOp::And, all.condition, one.condition);
      all.text += (all.text.empty() ? "" : " and ") + one.text;
      all.isExact = all.isExact && one.isExact;
    }
    return all;
  }

private:
  sema::ExprPool& pool;
  const std::vector<Domain>& domains;
  std::vector<ExprId> given;
  ProofLimits limits;
  std::vector<Remedy> chosen;

  bool isSpent() const { return limits.work != nullptr && limits.work->isSpent(); }

  /// The parts of a conjunction; that c <= min(a, b) is that c <= a and c <= b.
  void split(ExprId claim, std::vector<ExprId>& parts) {
    const sema::ExprNode node = pool[claim];
    if (node.op == ExprOp::And) {
      split(node.a, parts);
      split(node.b, parts);
    } else if ((node.op == ExprOp::LessEqual || node.op == ExprOp::Less) && pool[node.b].op == ExprOp::Min) {
      const sema::ExprNode least = pool[node.b];
      split(pool.make(node.op, node.a, least.a), parts);
      split(pool.make(node.op, node.a, least.b), parts);
    } else {
      parts.push_back(claim);
    }
  }

  std::vector<ExprId> withParts() const {
    std::vector<ExprId> all = given;
    for (const Remedy& one : chosen) all.push_back(one.condition);
    return all;
  }

  bool follows(std::vector<ExprId> hypotheses, ExprId claim) {
    const Verdict verdict = Prover(pool, domains, limits).prove(Goal{std::move(hypotheses), claim}).verdict;
    return verdict == Verdict::Proved || verdict == Verdict::Vacuous;
  }

  bool add(ExprId part) {
    const std::vector<SymbolId> symbols = pool.symbolsOf(part);
    if (symbols.size() > 1 && addDivisibility(part)) return true;
    std::optional<Remedy> found = symbols.size() == 1 ? ofOne(symbols.front(), part) : std::nullopt;
    if (!found) {
      found = Remedy{part, pool.str(part), true};
      if (found->text.size() > kLongestText) return false;
      const ExprOp op = pool[part].op;
      if (op == ExprOp::Or || op == ExprOp::Select) found->text = "(" + found->text + ")";
    }
    chosen.push_back(std::move(*found));
    return true;
  }

  /// That every quotient in the claim is whole, if the claim follows: `h mod patch = 0`.
  bool addDivisibility(ExprId claim) {
    std::vector<Remedy> found;
    const auto need = [&](ExprId condition, std::string text) {
      if (!follows(withParts(), condition)) found.push_back({condition, std::move(text), false});
    };
    for (const ExprId id : pool.cone(claim)) {
      const sema::ExprNode node = pool[id];
      if (node.op != ExprOp::FloorDiv && node.op != ExprOp::CeilDiv && node.op != ExprOp::Mod) continue;
      if (pool[node.b].op != ExprOp::Constant)
        need(pool.make(ExprOp::LessEqual, pool.constant(1), node.b), pool.str(node.b) + " >= 1");
      const ExprId rest = pool.make(ExprOp::Mod, node.a, node.b);
      need(pool.make(ExprOp::Equal, rest, pool.constant(0)), pool.str(rest) + " = 0");
    }
    std::vector<ExprId> with = withParts();
    for (const Remedy& one : found) with.push_back(one.condition);
    const bool isLong = std::any_of(found.begin(), found.end(), [](const Remedy& one) { return one.text.size() > kLongestText; });
    if (found.empty() || isLong || !follows(std::move(with), claim)) return false;
    std::vector<ExprId> converse = withParts();
    converse.push_back(claim);
    for (Remedy& one : found) {
      const bool isKnown =
          std::any_of(chosen.begin(), chosen.end(), [&](const Remedy& other) { return other.condition == one.condition; });
      one.isExact = follows(converse, one.condition);
      if (!isKnown) chosen.push_back(std::move(one));
    }
    return true;
  }

  /// Stronger parts that came later make earlier ones superfluous: `h >= 3`, then `h >= 7`.
  void dropImplied() {
    for (std::size_t i = 0; i < chosen.size();) {
      std::vector<ExprId> others = given;
      for (std::size_t k = 0; k < chosen.size(); ++k) {
        if (k != i) others.push_back(chosen[k].condition);
      }
      if (chosen.size() > 1 && follows(std::move(others), chosen[i].condition))
        chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;
    }
  }

  /// The first value of a symbol that is looked at.
  std::int64_t startOf(SymbolId symbol) const {
    return std::max(domains[static_cast<std::size_t>(symbol)].low.value_or(-kBelow), -kBelow);
  }

  /// Whether the claim holds at the values of its only symbol that are looked at; empty where that cannot be said.
  std::vector<bool> look(SymbolId symbol, ExprId claim) const {
    std::vector<std::vector<Rational>> levels(pool.symbolCount(), {Rational::of(1)});
    levels[static_cast<std::size_t>(symbol)].clear();
    for (std::int64_t i = 0; i < kLooked; ++i)
      levels[static_cast<std::size_t>(symbol)].push_back(Rational::of(startOf(symbol) + i));
    if (limits.work != nullptr) limits.work->spend(kLooked * pool.cone(claim).size());
    std::vector<bool> holds;
    Tabulation(pool, std::move(levels)).run({claim}, [&](ExprId, const Column* column) {
      if (column == nullptr || column->size() != kLooked) return;
      for (std::size_t i = 0; i < column->size(); ++i) holds.push_back(column->hasValue(i) && column->at(i).num != 0);
    });
    return holds;
  }

  std::optional<Remedy> ofOne(SymbolId symbol, ExprId claim) {
    const std::vector<bool> holds = look(symbol, claim);
    const auto first = std::find(holds.begin(), holds.end(), true);
    if (first == holds.end()) return std::nullopt;
    const std::int64_t start = startOf(symbol);
    const std::int64_t least = start + (first - holds.begin());
    const ExprId s = pool.symbolRef(symbol);
    const std::string& name = pool[symbol].name;
    // From the last value that fails on; up to the last that holds.
    const auto lastFailing = std::find(holds.rbegin(), holds.rend(), false);
    const std::int64_t from = start + (holds.rend() - lastFailing);
    if (from <= start + kLooked / 2) {
      const ExprId bound = pool.make(ExprOp::LessEqual, pool.constant(from), s);
      if (const auto made = proved(claim, bound, name + " >= " + std::to_string(from), from == least)) return made;
    }
    const auto until = std::find(first, holds.end(), false);
    if (until != holds.end() && std::find(until, holds.end(), true) == holds.end()) {
      const std::int64_t most = start + (until - holds.begin()) - 1;
      ExprId bound = pool.make(ExprOp::LessEqual, s, pool.constant(most));
      std::string text = name + " <= " + std::to_string(most);
      if (least > start) {
        bound = pool.make(ExprOp::And, pool.make(ExprOp::LessEqual, pool.constant(least), s), bound);
        text = name + " >= " + std::to_string(least) + " and " + text;
      }
      if (const auto made = proved(claim, bound, std::move(text), true)) return made;
    }
    return ofRemainder(symbol, claim, holds, least);
  }

  /// The least modulus of which every value from `least` on with one remainder holds, and if possible no other.
  std::optional<Remedy> ofRemainder(SymbolId symbol, ExprId claim, const std::vector<bool>& holds, std::int64_t least) {
    const std::int64_t start = startOf(symbol);
    const auto fits = [&](std::int64_t modulus, bool exactly) {
      for (std::int64_t v = least; v < start + kLooked; ++v) {
        const bool chosenValue = (v - least) % modulus == 0;
        const bool good = holds[static_cast<std::size_t>(v - start)];
        if (chosenValue ? !good : exactly && good) return false;
      }
      return true;
    };
    for (const bool exactly : {true, false}) {
      for (std::int64_t modulus = 2; modulus <= kLargestModulus; ++modulus) {
        if (!fits(modulus, exactly)) continue;
        const ExprId s = pool.symbolRef(symbol);
        const std::int64_t remainder = (least % modulus + modulus) % modulus;
        ExprId condition = pool.make(ExprOp::Equal, pool.make(ExprOp::Mod, s, pool.constant(modulus)), pool.constant(remainder));
        std::string text = pool[symbol].name + " mod " + std::to_string(modulus) + " = " + std::to_string(remainder);
        if (least - modulus >= start) {
          condition = pool.make(ExprOp::And, pool.make(ExprOp::LessEqual, pool.constant(least), s), condition);
          text = pool[symbol].name + " >= " + std::to_string(least) + " and " + text;
        }
        if (const auto made = proved(claim, condition, std::move(text), exactly)) return made;
      }
    }
    return std::nullopt;
  }

  /// The condition as a remedy, if the claim follows from it; whether it is exact is proved too where it looks so.
  std::optional<Remedy> proved(ExprId claim, ExprId condition, std::string text, bool looksExact) {
    std::vector<ExprId> with = given;
    with.push_back(condition);
    if (!follows(std::move(with), claim)) return std::nullopt;
    std::vector<ExprId> converse = given;
    converse.push_back(claim);
    return Remedy{condition, std::move(text), looksExact && follows(std::move(converse), condition)};
  }
};

}  // namespace

std::optional<Remedy> remedyFor(sema::ExprPool& pool, const std::vector<Domain>& domains, const std::vector<ExprId>& hypotheses,
                                const std::vector<ExprId>& claims, Work* work) {
  return Search(pool, domains, hypotheses, work).run(claims);
}

}  // namespace tbem::spec
