#include "compiler/pytorch/rows/AllocConf.h"

#include "compiler/show/Output.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

const estimate::AllocatorVersion* readTorch(const std::string& version) {
  if (version.empty()) return &estimate::allocatorVersions().back();
  const estimate::AllocatorVersion* found = estimate::allocatorVersion(version);
  if (found == nullptr)
    printFailure(fmt::format("--torch {}: versions are numbers from {} on: --torch 2.9", version,
                             estimate::allocatorVersions().front().name));
  return found;
}

std::optional<estimate::AllocatorOptions> readAllocConf(const std::string& what, const std::string& text,
                                                        const estimate::AllocatorVersion& version) {
  auto read = estimate::parseAllocatorOptions(text, version);
  if (read) return *std::move(read);
  const estimate::OptionFault& fault = read.error();
  printFailure(fmt::format("{}: {}: {}", what, fault.cause, fault.wayOut));
  printErr("  {}\n  {:>{}}{}\n", text, "", fault.begin, std::string(std::max<std::size_t>(1, fault.end - fault.begin), '^'));
  return std::nullopt;
}

}  // namespace tbem::driver
