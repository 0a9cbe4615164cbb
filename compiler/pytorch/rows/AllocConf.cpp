#include "compiler/pytorch/rows/AllocConf.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

tl::expected<const estimate::AllocatorVersion*, Failed> readTorch(const std::string& version) {
  if (version.empty()) return &estimate::allocatorVersions().back();
  if (const estimate::AllocatorVersion* known = estimate::allocatorVersion(version)) return known;
  return failed(kUsage, fmt::format("--torch {}: versions are numbers from {} on: --torch 2.9", version,
                                    estimate::allocatorVersions().front().name));
}

tl::expected<estimate::AllocatorOptions, Failed> readAllocConf(const std::string& what, const std::string& text,
                                                               const estimate::AllocatorVersion& version) {
  auto read = estimate::parseAllocatorOptions(text, version);
  if (read) return *std::move(read);
  const estimate::OptionFault& fault = read.error();
  const std::string marks(std::max<std::size_t>(1, fault.end - fault.begin), '^');
  return failed(kUsage,
                fmt::format("{}: {}: {}\n  {}\n  {:>{}}{}", what, fault.cause, fault.wayOut, text, "", fault.begin, marks));
}

}  // namespace tbem::driver
