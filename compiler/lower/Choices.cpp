#include "compiler/lower/Choices.h"

#include "compiler/lower/Query.h"
#include "compiler/sema/Value.h"
#include "runtime/include/tbem/primitives.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tbem::estimate {

Choice chooseAlgorithm(std::vector<double> seconds) {
  Choice choice;
  for (std::size_t k = 1; k < seconds.size(); ++k) {
    if (seconds[k] < 0 || seconds[k] > kWorthwhile * seconds[0]) continue;
    if (choice.algorithm == 0 || seconds[k] < seconds[static_cast<std::size_t>(choice.algorithm)])
      choice.algorithm = static_cast<std::int32_t>(k);
  }
  choice.seconds = std::move(seconds);
  return choice;
}

std::string choiceKey(tbem_primitive primitive, const std::vector<tbem_operand>& operands,
                      const std::vector<std::int64_t>& attributes, int threads, bool tf32) {
  std::string key(runtime::signature(primitive).name);
  for (const tbem_operand& operand : operands) {
    if (operand.present == 0) {
      key += " -";
    } else {
      const bool floating = operand.dtype == TBEM_F32 || operand.dtype == TBEM_F64 || operand.dtype == TBEM_BF16;
      const std::string_view type = floating ? sema::kDTypeNames[static_cast<std::size_t>(operand.dtype)] : "other";
      key += fmt::format(" {}[{}]", type, fmt::join(dimsOf(operand), "x"));
    }
  }
  return key + fmt::format(" ({}) {} threads{}", fmt::join(attributes, " "), threads, tf32 ? " tf32" : "");
}

}  // namespace tbem::estimate
