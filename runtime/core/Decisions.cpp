#include "runtime/core/Decisions.h"

#include <algorithm>

namespace tbem::runtime {

namespace {
tl::expected<std::vector<std::int64_t>, Failure> listOf(const Instance& instance, std::uint32_t buffer) {
  const auto read = instance.read(buffer);
  if (!read) return tl::make_unexpected(read.error());
  std::vector<std::int64_t> list = read->integers();
  if (list[0] < 0 || list[0] >= static_cast<std::int64_t>(list.size()))
    return tl::make_unexpected(Failure{TBEM_INVALID, "a list of samples has been overwritten"});
  list.resize(static_cast<std::size_t>(1 + list[0]));  // what lies behind is left from other steps
  return list;
}
}  // namespace

std::int64_t Decision::reached() const {
  return std::count_if(of.begin(), of.end(), [](std::int8_t d) { return d >= 0; });
}
std::int64_t Decision::taken() const { return std::count(of.begin(), of.end(), std::int8_t{1}); }

tl::expected<std::vector<std::int64_t>, Failure> branchSizes(const Instance& instance) {
  const Executable& e = instance.executable();
  std::vector<std::int64_t> sizes;
  for (const BranchDesc& branch : e.branches) {
    if (branch.gate.empty()) {
      sizes.push_back(e.samples);
      continue;
    }
    const auto list = listOf(instance, branch.rows);
    if (!list) return tl::make_unexpected(list.error());
    sizes.push_back(list->front());
  }
  return sizes;
}

tl::expected<std::vector<Decision>, Failure> decisions(const Instance& instance) {
  const Executable& e = instance.executable();
  std::vector<Decision> all;
  for (const BranchDesc& branch : e.branches) {
    if (branch.gate.empty()) continue;
    auto at = std::find_if(all.begin(), all.end(), [&branch](const Decision& d) { return d.gate == branch.gate; });
    if (at == all.end()) {
      all.push_back({branch.gate, branch.exits, std::vector<std::int8_t>(static_cast<std::size_t>(e.samples), -1)});
      at = all.end() - 1;
    }
    const auto list = listOf(instance, branch.origin);
    if (!list) return tl::make_unexpected(list.error());
    for (std::size_t i = 1; i < list->size(); ++i) {
      const std::int64_t sample = (*list)[i];
      if (sample < 0 || sample >= e.samples)
        return tl::make_unexpected(Failure{TBEM_INVALID, "a list of samples has been overwritten"});
      at->of[static_cast<std::size_t>(sample)] = branch.condition ? 1 : 0;
    }
  }
  return all;
}

}  // namespace tbem::runtime
