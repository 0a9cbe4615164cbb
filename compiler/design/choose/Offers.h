// Refusals and what they offer instead. Internal to this folder.
#pragma once

#include "compiler/design/choose/ArrayChoice.h"

namespace tbem::design {

/// A refusal with its bound and its offers: the full factorial, levels that would work, strength 2.
Refusal refuse(const std::vector<std::uint32_t>& levels, std::uint32_t strength, std::size_t maxRows, std::string reason);

/// Adds the nearest numbers of rows, below and above `wanted`, that can be built.
void addRowOffers(Refusal& refusal, const std::vector<std::uint32_t>& varying, std::uint32_t strength, std::size_t maxRows,
                  std::uint64_t wanted);

/// Why no construction gives an array for these varying levels.
std::string whyNot(const std::vector<std::uint32_t>& varying, std::uint32_t strength, std::size_t maxRows);

}  // namespace tbem::design
