#include "runtime/core/Measurement.h"

#include <array>
#include <utility>

namespace tbem::runtime {
namespace {
constexpr std::array<std::string_view, 5> kNames = {"ok", "oom", "failed", "timeout", "skipped"};
static_assert(kNames.size() == static_cast<std::size_t>(Status::Skipped) + 1);
}  // namespace

std::string_view name(Status status) { return kNames[static_cast<std::size_t>(status)]; }

std::optional<Status> statusOf(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == text) return static_cast<Status>(i);
  return std::nullopt;
}

Measurement notMeasured(Status status, std::string reason) {
  Measurement result;
  result.status = status;
  result.reason = std::move(reason);
  return result;
}

bool settled(Status status, double limitThen, double limitNow) {
  switch (status) {
    case Status::Ok:
    case Status::OutOfMemory:
      return true;
    case Status::Timeout:
      return limitThen > 0 && limitNow > 0 && limitNow <= limitThen;
    case Status::Failed:
    case Status::Skipped:
      return false;
  }
  return false;
}

}  // namespace tbem::runtime
