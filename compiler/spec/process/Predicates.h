// Conditions as disjunctions of conjunctions of atoms E1 R E2: what the boundaries of test conditions are read from.
#pragma once

#include "compiler/sema/Symbolic.h"

#include <optional>
#include <vector>

namespace tbem::spec {

using sema::ExprId;

enum class Relation : std::uint8_t { Equal, Unequal, Less, LessEqual };

/// `left` R `right`; a truth value by itself is compared with 0 or 1.
struct Predicate {
  ExprId expr{};  ///< the whole
  ExprId left{}, right{};
  Relation relation{};
  bool isTruth = false;  ///< of a truth value: there is no near and far
};
using Conjunction = std::vector<Predicate>;

/// The disjunctive normal form, each conjunction in order of the text: none where the condition is false, an empty one where it
/// is true. `min`, `max` and `if` in numbers become conditions, so that each of their sides is a conjunction of its own. Nothing
/// where there are more than `limit`.
std::optional<std::vector<Conjunction>> conjunctionsOf(sema::ExprPool& pool, ExprId condition, std::size_t limit);

/// The expression with `from` replaced by `to`.
ExprId replaced(sema::ExprPool& pool, ExprId expr, ExprId from, ExprId to);

}  // namespace tbem::spec
