// Masks of attention that the language has a word for.
#include "compiler/import/Expression.h"
#include "compiler/import/simplify/Simplify.h"
#include "compiler/import/simplify/Tables.h"

#include <string>
#include <variant>

namespace tbem::imports {

namespace {

enum class MaskKind : std::uint8_t { Other, Open, Causal };

/// What is added to a score so that softmax makes 0 of it: of f16 the lowest number, or less.
constexpr double kHidden = -65504;

/// `isBool`: true where a place is seen; else what is added to its score.
bool shows(double element, bool isBool) { return isBool ? element != 0 : element == 0; }
bool hides(double element, bool isBool) { return isBool ? element == 0 : element <= kHidden; }

std::optional<std::int64_t> numberOf(const Size& size) {
  return size.symbolic.empty() ? std::optional(size.number) : std::nullopt;
}

/// Of a mask for scores of `rows` and `columns`.
MaskKind kindOf(const Table& table, const Facts& mask, const Size& rows, const Size& columns) {
  const bool isBool = mask.type == "bool";
  const auto openIf = [](bool is) { return is ? MaskKind::Open : MaskKind::Other; };
  if (const std::optional<double> element = evenNumber(table)) return openIf(shows(*element, isBool));
  const Band* const given = std::get_if<Band>(&table);
  const std::size_t rank = mask.rank();
  if (given == nullptr || given->row != 1 || given->column != 0 || rank < 2) return MaskKind::Other;
  if (mask.shape[rank - 2] != rows || mask.shape[rank - 1] != columns) return MaskKind::Other;
  const Table fitted = withinSizes(*given, numberOf(rows), numberOf(columns));
  if (const std::optional<double> element = evenNumber(fitted)) return openIf(shows(*element, isBool));
  const Band& own = std::get<Band>(fitted);
  const Band seen = shows(own.inside, isBool) ? own : turned(own).value_or(own);
  const bool isCausal = !seen.low && seen.high == 0 && shows(seen.inside, isBool) && hides(seen.outside, isBool);
  return isCausal ? MaskKind::Causal : MaskKind::Other;
}

/// What a mask is where its condition hides nothing, as transformers' masks of inputs without padding do.
std::optional<ValueId> seenThrough(const Exported& exported, const std::vector<std::optional<Table>>& tables, const Value& mask) {
  if (mask.kind != Value::Kind::Node) return std::nullopt;
  if (const std::optional<ValueId> same = givenOn(exported, mask)) return same;
  if (wordOf(mask) != "where" || mask.arguments.size() != 3) return std::nullopt;
  const Argument &condition = mask.arguments[0], &chosen = mask.arguments[1];
  if (condition.kind != Argument::Kind::Value || chosen.kind != Argument::Kind::Value) return std::nullopt;
  const std::optional<Table>& table = tables[index(condition.value)];
  const std::optional<double> element = table ? evenNumber(*table) : std::nullopt;
  const bool isSame = exported[chosen.value].facts.type == mask.facts.type;
  return element && *element != 0 && isSame ? std::optional(chosen.value) : std::nullopt;
}

}  // namespace

void nameMasks(Exported& exported) {
  constexpr std::size_t kMask = 3, kCausal = 5;
  const std::vector<std::optional<Table>> tables = tablesOf(exported);
  for (Value& value : exported.values) {
    if (value.kind != Value::Kind::Node || wordOf(value) != "scaled_dot_product_attention" || value.arguments.size() < 2)
      continue;
    const auto named = value.named.find("attn_mask");
    Argument* const mask = value.arguments.size() > kMask ? &value.arguments[kMask]
                           : named != value.named.end()   ? &named->second
                                                          : nullptr;
    if (mask == nullptr || mask->kind != Argument::Kind::Value) continue;
    while (const std::optional<ValueId> seen = seenThrough(exported, tables, exported[mask->value])) mask->value = *seen;
    if (!tables[index(mask->value)]) continue;
    const auto lengthOf = [&](const Argument& operand) {
      const std::size_t rank = operand.kind == Argument::Kind::Value ? exported[operand.value].facts.rank() : 0;
      return rank < 2 ? Size() : exported[operand.value].facts.shape[rank - 2];
    };
    const MaskKind kind = kindOf(*tables[index(mask->value)], exported[mask->value].facts, lengthOf(value.arguments[0]),
                                 lengthOf(value.arguments[1]));
    if (kind == MaskKind::Other) continue;
    *mask = Argument();
    if (kind == MaskKind::Open) continue;
    (value.arguments.size() > kCausal ? value.arguments[kCausal] : value.named["is_causal"]) = flagArgument(true);
  }
}

}  // namespace tbem::imports
