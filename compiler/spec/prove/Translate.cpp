#include "compiler/spec/prove/Translate.h"

#include <fmt/format.h>

#include <optional>

namespace tbem::spec {

namespace {

class Translator {
public:
  Translator(z3::context& context, const Question& question)
      : context(context), question(question), normal(*question.context), terms(normal.allAtoms().size()) {}

  z3::expr formula(const Formula& f) {
    using enum Formula::Kind;
    switch (f.kind) {
      case True:
        return context.bool_val(true);
      case False:
        return context.bool_val(false);
      case Zero:
        return poly(f.poly) == zero(f.poly);
      case NonZero:
        return poly(f.poly) != zero(f.poly);
      case NonNegative:
        return poly(f.poly) >= zero(f.poly);
      case Positive:
        return poly(f.poly) > zero(f.poly);
      default:
        break;
    }
    z3::expr_vector parts(context);
    for (const Formula& part : f.parts) parts.push_back(formula(part));
    return f.kind == And ? z3::mk_and(parts) : z3::mk_or(parts);
  }

  /// What is known of the symbols that were met.
  void addDomains(z3::solver& solver) {
    const std::vector<Domain>& domains = normal.allDomains();
    for (std::size_t s = 0; s < symbols.size(); ++s) {
      if (!symbols[s]) continue;
      const z3::expr& x = *symbols[s];
      const Interval& range = question.ranges[s];
      if (range.low) solver.add(x >= value(*range.low, x.is_int()));
      if (range.high) solver.add(x <= value(*range.high, x.is_int()));
      if (domains[s].levels.empty() || question.relaxed) continue;
      z3::expr_vector any(context);
      for (const Rational& level : domains[s].levels) any.push_back(x == value(level, x.is_int()));
      solver.add(z3::mk_or(any));
    }
  }

  std::string model(const z3::model& found) {
    std::string line = "found";
    for (std::size_t s = 0; s < symbols.size(); ++s) {
      if (!symbols[s]) continue;
      const z3::expr x = found.eval(*symbols[s], true);
      std::int64_t num = 0, den = 1;
      if (x.is_int() ? !x.is_numeral_i64(num)
                     : !(x.is_numeral() && x.numerator().is_numeral_i64(num) && x.denominator().is_numeral_i64(den)))
        return "unknown values beyond 64 bits";
      line += " " + std::to_string(s) + " " + std::to_string(num) + " " + std::to_string(den);
    }
    return line;
  }

private:
  z3::context& context;
  const Question& question;
  const Normalizer& normal;
  std::vector<std::optional<z3::expr>> terms;    ///< by atom
  std::vector<std::optional<z3::expr>> symbols;  ///< by symbol

  z3::expr value(const Rational& number, bool asInt) {
    if (!number.isExact()) return context.real_val(fmt::format("{:.1074f}", number.toDouble()).c_str());  // all its digits
    if (asInt) return context.int_val(number.num);
    return context.real_val((std::to_string(number.num) + "/" + std::to_string(number.den)).c_str());
  }
  z3::expr zero(const Poly& p) { return value({}, normal.isIntegral(p)); }

  z3::expr poly(const Poly& p) {
    const bool whole = normal.isIntegral(p);
    if (p.isZero()) return value({}, whole);
    z3::expr_vector sum(context);
    for (const Term& term : p.terms) {
      z3::expr_vector product(context);
      if (term.monomial.empty() || term.coefficient != Rational::of(1)) product.push_back(value(term.coefficient, whole));
      for (const AtomId id : term.monomial) {
        const z3::expr one = atom(id);
        product.push_back(whole || !one.is_int() ? one : z3::to_real(one));
      }
      z3::expr all = product[0];
      for (unsigned i = 1; i < product.size(); ++i) all = all * product[i];
      sum.push_back(all);
    }
    return z3::sum(sum);
  }

  /// floor(a / b): Z3's `div` floors for a positive divisor, and floor(a / b) = floor(-a / -b).
  z3::expr floor(const Atom& one) {
    if (!normal.isIntegral(one.a) || !normal.isIntegral(one.b)) {
      const auto real = [&](const Poly& p) {
        const z3::expr e = poly(p);
        return e.is_int() ? z3::to_real(e) : e;
      };
      return z3::expr(context, Z3_mk_real2int(context, real(one.a) / real(one.b)));
    }
    const z3::expr n = poly(one.a);
    const z3::expr d = poly(one.b);
    const auto fixed = one.b.constant();
    if (fixed && fixed->num > 0) return n / d;
    return z3::ite(d > 0, n / d, (-n) / (-d));
  }

  z3::expr atom(AtomId id) {
    if (terms[id]) return *terms[id];
    const Atom& one = normal.allAtoms()[id];
    std::optional<z3::expr> made;
    switch (one.kind) {
      case AtomKind::Symbol: {
        const auto s = static_cast<std::size_t>(one.symbol);
        const std::string name = "x" + std::to_string(s);
        made = one.integral ? context.int_const(name.c_str()) : context.real_const(name.c_str());
        if (symbols.size() <= s) symbols.resize(s + 1);
        symbols[s] = made;
        break;
      }
      case AtomKind::Floor:
        made = floor(one);
        break;
      case AtomKind::Choice: {
        const bool whole = normal.isIntegral(one.a) && normal.isIntegral(one.b);
        const auto arm = [&](const Poly& p) {
          const z3::expr e = poly(p);
          return whole || !e.is_int() ? e : z3::to_real(e);
        };
        made = z3::ite(formula(one.condition), arm(one.a), arm(one.b));
        break;
      }
      case AtomKind::Opaque: {
        // No rule knows it: any number. "None" stays true; what is found is tested by evaluation.
        const std::string name = "u" + std::to_string(id);
        made = one.integral ? context.int_const(name.c_str()) : context.real_const(name.c_str());
        break;
      }
    }
    terms[id] = made;
    return *made;
  }
};

/// What the solver counted of its own steps.
std::uint64_t stepsOf(const z3::solver& solver) {
  const z3::stats counted = solver.statistics();
  for (unsigned i = 0; i < counted.size(); ++i) {
    if (counted.key(i) == "rlimit count" && counted.is_uint(i)) return counted.uint_value(i);
  }
  return 0;
}

}  // namespace

std::string solve(const Question& question, unsigned steps, std::uint64_t& taken) {
  z3::context context;
  z3::solver solver(context);
  z3::params limits(context);
  limits.set("rlimit", steps);
  limits.set("random_seed", 0U);
  solver.set(limits);
  Translator translator(context, question);
  for (const Formula& fact : question.facts) solver.add(translator.formula(fact));
  translator.addDomains(solver);
  const z3::check_result found = solver.check();
  taken = stepsOf(solver);
  switch (found) {
    case z3::unsat:
      return "none";
    case z3::sat:
      return translator.model(solver.get_model());
    default:
      return "unknown " + solver.reason_unknown();
  }
}

}  // namespace tbem::spec
