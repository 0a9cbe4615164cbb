// What cuDNN can be asked for.
#pragma once

#include "runtime/cudnn/Attention.h"
#include "runtime/cudnn/Convolution.h"

#include <string>
#include <variant>

namespace tbem::cudnn {

using Problem = std::variant<Convolution, Attention>;

inline std::string describe(const Problem& problem) {
  return std::visit([](const auto& one) { return describe(one); }, problem);
}

inline std::int32_t dtypeOf(const Problem& problem) {
  return std::visit([](const auto& one) { return one.dtype; }, problem);
}

}  // namespace tbem::cudnn
