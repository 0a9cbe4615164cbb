#include "compiler/lower/memory/Coalesce.h"

#include <algorithm>

namespace tbem::estimate {

bool mayCoalesce(const graph::Branches& branches, const CopyStep& copy, const std::vector<MemoryUse>& from,
                 const std::vector<MemoryUse>& to, const std::vector<std::int64_t>& samplesIn) {
  /// One of the two is not run, if the other is; of several samples, some may go each way, to other rows.
  const auto exclusive = [&](const MemoryUse& a, const MemoryUse& b) {
    return (samplesIn[a.branch] == 1 || (a.rowsOnly && b.rowsOnly)) && branches.exclusive(a.branch, b.branch);
  };
  const MemoryUse own{copy.step, copy.branch, false, true};
  // Where the copy runs, the one is dead behind it and the other is not there before.
  for (const MemoryUse& use : from) {
    if (!exclusive(use, own) && use.step > copy.step) return false;
  }
  for (const MemoryUse& use : to) {
    if (!exclusive(use, own) && use.step < copy.step) return false;
  }
  // Where it does not, nothing is read of the one when the other has been written.
  for (const MemoryUse& target : to) {
    if (!exclusive(target, own)) continue;
    for (const MemoryUse& source : from) {
      if (exclusive(source, target) || source.step < target.step) continue;
      if (source.step > target.step || !source.sameElement || !target.sameElement) return false;
    }
  }
  return true;
}

}  // namespace tbem::estimate
