#include "compiler/foreign/Frameworks.h"

#include <algorithm>

namespace tbem::foreign {

namespace {

constexpr Framework kFrameworks[] = {
    {"pytorch", "PyTorch", "torch", emit::emitPyTorch},
};

}  // namespace

std::span<const Framework> frameworks() { return kFrameworks; }

const Framework* frameworkOf(std::string_view name) {
  const auto* const found = std::ranges::find_if(kFrameworks, [&](const Framework& each) { return each.name == name; });
  return found == std::end(kFrameworks) ? nullptr : found;
}

}  // namespace tbem::foreign
