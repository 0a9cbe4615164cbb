// Terms of a polynomial model with categorical factors, and their hierarchy.
#pragma once

#include "compiler/design/model/Factors.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::design {

/// A factor in a term: to the power `degree` (1 for a categorical factor, where it stands for its level effects).
struct Part {
  std::uint32_t factor = 0;  ///< index into the factors
  std::uint32_t degree = 1;
  friend auto operator<=>(const Part&, const Part&) = default;  // NOLINT(modernize-use-nullptr): there is no pointer
};

/// A product of parts, ascending by factor, each factor once. No parts: the constant.
struct Term {
  std::vector<Part> parts;
  std::uint32_t degree() const;
  friend bool operator==(const Term&, const Term&) = default;
};

/// The product of two terms; a categorical factor that stands in both stands once (`factors` says which are).
Term multiply(std::span<const Factor> factors, const Term& a, const Term& b);

/// `poly(f, g, h; degree: d)`: all products of the chosen factors of total degree 0 to d (a categorical factor counts 1).
std::vector<Term> poly(std::span<const Factor> factors, std::span<const std::uint32_t> chosen, std::uint32_t degree);

/// Terms closed under hierarchy: with a term stands every term that divides it, the constant included (Nelder 1977; Peixoto
/// 1990). With a nested factor stands the main effect of what it is nested in. A model through the origin has no constant.
struct Model {
  std::vector<Term> terms;     ///< ascending by degree, then by factor; the constant first
  std::vector<Term> added;     ///< those that nobody wrote but hierarchy demands (without the constant)
  bool throughOrigin = false;  ///< the constant is not among them
};
Model hierarchical(const std::vector<Term>& written, std::span<const Factor> factors = {}, bool throughOrigin = false);

/// Why these terms make no model of these factors ("`optimizer` has no order, so it has no power 2"), or nothing.
std::optional<std::string> problem(std::span<const Factor> factors, std::span<const Term> terms, bool throughOrigin = false);

/// "1", "batch", "batch^2", "batch*depth": the term in the factors' units.
std::string termText(std::span<const Factor> factors, const Term& term);

}  // namespace tbem::design
