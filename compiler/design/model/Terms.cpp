#include "compiler/design/model/Terms.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::design {

namespace {

bool earlier(const Term& a, const Term& b) {
  if (a.degree() != b.degree()) return a.degree() < b.degree();
  return std::lexicographical_compare(
      a.parts.begin(), a.parts.end(), b.parts.begin(), b.parts.end(),
      [](const Part& x, const Part& y) { return x.factor != y.factor ? x.factor < y.factor : x.degree > y.degree; });
}

bool contains(const std::vector<Term>& terms, const Term& term) {
  return std::find(terms.begin(), terms.end(), term) != terms.end();
}

/// The terms that a term directly contains: one degree of one part less.
std::vector<Term> below(const Term& term) {
  std::vector<Term> lower;
  for (std::size_t p = 0; p < term.parts.size(); ++p) {
    Term less = term;
    if (--less.parts[p].degree == 0) less.parts.erase(less.parts.begin() + static_cast<std::ptrdiff_t>(p));
    lower.push_back(std::move(less));
  }
  return lower;
}

void polyFrom(std::span<const Factor> factors, std::span<const std::uint32_t> chosen, std::size_t at, std::uint32_t left,
              Term term, std::vector<Term>& out) {
  if (at == chosen.size()) {
    out.push_back(std::move(term));
    return;
  }
  const std::uint32_t most = factors[chosen[at]].numeric() ? left : std::min<std::uint32_t>(1, left);
  for (std::uint32_t degree = 0; degree <= most; ++degree) {
    Term next = term;
    if (degree != 0) next.parts.push_back({chosen[at], degree});
    polyFrom(factors, chosen, at + 1, left - degree, std::move(next), out);
  }
}

}  // namespace

std::uint32_t Term::degree() const {
  std::uint32_t sum = 0;
  for (const Part& part : parts) sum += part.degree;
  return sum;
}

Term multiply(std::span<const Factor> factors, const Term& a, const Term& b) {
  Term product = a;
  for (const Part& part : b.parts) {
    const auto same =
        std::find_if(product.parts.begin(), product.parts.end(), [&](const Part& p) { return p.factor == part.factor; });
    if (same == product.parts.end()) {
      product.parts.push_back(part);
    } else if (factors[part.factor].numeric()) {
      same->degree += part.degree;
    }
  }
  std::sort(product.parts.begin(), product.parts.end());
  return product;
}

std::vector<Term> poly(std::span<const Factor> factors, std::span<const std::uint32_t> chosen, std::uint32_t degree) {
  std::vector<std::uint32_t> ascending(chosen.begin(), chosen.end());
  std::sort(ascending.begin(), ascending.end());
  ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
  std::vector<Term> terms;
  polyFrom(factors, ascending, 0, degree, {}, terms);
  std::stable_sort(terms.begin(), terms.end(), earlier);
  return terms;
}

/// Adds the main effects of the parents of the nested factors in a term.
std::vector<Term> withParents(std::vector<Term> lower, const Term& term, std::span<const Factor> factors) {
  for (const Part& part : term.parts) {
    if (part.factor < factors.size() && factors[part.factor].nested)
      lower.push_back({{Part{factors[part.factor].nested->parent, 1}}});
  }
  return lower;
}

Model hierarchical(const std::vector<Term>& written, std::span<const Factor> factors, bool throughOrigin) {
  Model model;
  model.throughOrigin = throughOrigin;
  for (const Term& term : written) {
    if (throughOrigin && term.parts.empty()) continue;
    if (!contains(model.terms, term)) model.terms.push_back(term);
  }
  for (std::size_t i = 0; i < model.terms.size(); ++i) {
    for (Term& lower : withParents(below(Term(model.terms[i])), model.terms[i], factors)) {
      if (contains(model.terms, lower) || (throughOrigin && lower.parts.empty())) continue;
      if (!lower.parts.empty()) model.added.push_back(lower);
      model.terms.push_back(std::move(lower));
    }
  }
  if (!throughOrigin && !contains(model.terms, Term{})) model.terms.push_back(Term{});
  std::stable_sort(model.terms.begin(), model.terms.end(), earlier);
  std::stable_sort(model.added.begin(), model.added.end(), earlier);
  return model;
}

std::optional<std::string> problem(std::span<const Factor> factors, std::span<const Term> terms, bool throughOrigin) {
  for (const Term& term : terms) {
    for (std::size_t p = 0; p < term.parts.size(); ++p) {
      const Part part = term.parts[p];
      if (part.factor >= factors.size())
        return fmt::format("a term names factor number {}, but there are {}", part.factor + 1, factors.size());
      const Factor& factor = factors[part.factor];
      if (part.degree == 0 || (p > 0 && term.parts[p - 1].factor >= part.factor)) return "a term's parts are not in order";
      if (!factor.numeric() && part.degree > 1)
        return fmt::format("`{}` is categorical, so it has no power {}", factor.name, part.degree);
      if (throughOrigin && (!factor.numeric() || factor.nested))
        return fmt::format("`{}` is {}, and a model through the origin is of numbers that every row has", factor.name,
                           factor.numeric() ? "nested" : "categorical");
      if (factor.levelCount() < 2 || (factor.numeric() && factor.low() == factor.high()))
        return fmt::format("`{}` has one level, so it has no effect to estimate", factor.name);
    }
  }
  return std::nullopt;
}

std::string termText(std::span<const Factor> factors, const Term& term) {
  std::string text;
  for (const Part& part : term.parts) {
    text += fmt::format("{}{}", text.empty() ? "" : "*", factors[part.factor].name);
    if (part.degree > 1) text += fmt::format("^{}", part.degree);
  }
  return text.empty() ? "1" : text;
}

}  // namespace tbem::design
