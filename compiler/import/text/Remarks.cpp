#include "compiler/import/text/Remarks.h"

#include "compiler/diagnostics/tables/Import.h"
#include "compiler/import/Expression.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::imports {

namespace {

/// Whether a gradient of the value would lead to a weight, by value.
std::vector<bool> leadToWeights(const Exported& exported) {
  std::vector<bool> leads(exported.values.size(), false);
  const auto reads = [&](const Argument& argument, const auto& again) -> bool {
    if (argument.kind == Argument::Kind::Value) return leads[index(argument.value)];
    return std::ranges::any_of(argument.items, [&](const Argument& item) { return again(item, again); });
  };
  for (std::size_t at = 0; at < exported.values.size(); ++at) {
    const Value& value = exported.values[at];
    if (value.kind == Value::Kind::Weight) leads[at] = value.isLearned;
    const bool hasGradient = !value.parts.empty() || value.facts.type.find("float") != std::string::npos;
    if (value.kind != Value::Kind::Node || !hasGradient) continue;
    leads[at] = std::ranges::any_of(value.arguments, [&](const Argument& one) { return reads(one, reads); }) ||
                std::ranges::any_of(value.named, [&](const auto& one) { return reads(one.second, reads); });
  }
  return leads;
}

void add(std::vector<ImportRemark>& remarks, ImportRemark remark) {
  const auto same = [&](const ImportRemark& one) { return one.message == remark.message && one.place == remark.place; };
  const auto known = std::ranges::find_if(remarks, same);
  if (known == remarks.end())
    remarks.push_back(std::move(remark));
  else
    known->count += remark.count;
}

}  // namespace

std::vector<ImportRemark> importRemarks(const Exported& exported) {
  std::vector<ImportRemark> remarks;
  const std::vector<bool> leads = leadToWeights(exported);
  for (std::size_t at = 0; at < exported.values.size(); ++at) {
    const Value& value = exported.values[at];
    if (value.kind != Value::Kind::Node || wordOf(value) != "detach" || !leads[at]) continue;
    add(remarks, {diag::gradient_not_stopped,
                  "gradients go through this in the program, and not in the model (`detach`, `torch.no_grad`)", value.place, 1});
  }
  for (const UnseenRate& rate : exported.rates)
    add(remarks,
        {diag::rate_not_seen,
         fmt::format("`{}` = {} of `{}` ({} module{}) is not in the program: the model's code drops nothing when it does not "
                     "train",
                     rate.name, rate.rate, rate.kind, rate.count, rate.count == 1 ? "" : "s"),
         rate.place, 1});
  return remarks;
}

}  // namespace tbem::imports
