#include "runtime/core/Arena.h"

#include "runtime/core/Poison.h"
#include "runtime/core/Soundness.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tbem::runtime {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kGranule = 64;  // in which a plan gives out the arena
std::uint64_t roundUp(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

}  // namespace

tl::expected<std::unique_ptr<Arena>, Failure> Arena::create(std::span<const Executable* const> executables,
                                                            const tbem_backend& backend, const ArenaOptions& options) {
  for (const Executable* executable : executables) {
    if (std::string wrong = checkExecutable(*executable); !wrong.empty())
      return tl::make_unexpected(Failure{TBEM_INVALID, "the executable is not sound: " + wrong});
  }
  if (std::string wrong = checkTogether(executables); !wrong.empty())
    return tl::make_unexpected(Failure{TBEM_INVALID, "the executables do not go together: " + wrong});
  std::unique_ptr<Arena> arena(new Arena(backend));
  for (const Executable* executable : executables) {
    arena->planned = std::max(arena->planned, executable->arena);
    arena->allocations.insert(arena->allocations.end(), executable->allocations.begin(), executable->allocations.end());
  }
  if (auto done = arena->allocate(options); !done) return tl::make_unexpected(done.error());
  return arena;
}

Arena::~Arena() {
  if (memory != nullptr) device.release(memory, memoryBytes);
}

tl::expected<void, Failure> Arena::allocate(const ArenaOptions& options) {
  guardBytes = roundUp(options.guard, kPage);
  memoryBytes = std::max<std::uint64_t>(planned, 64) + 2 * guardBytes;
  tbem_status status = device.allocate(memoryBytes, &memory);
  if (status == TBEM_OK && reinterpret_cast<std::uintptr_t>(memory) % kPage != 0) {
    // The backend promises 64 bytes; the plan wants a page. Take a page more and align by hand.
    device.release(memory, memoryBytes);
    memory = nullptr;
    memoryBytes += kPage;
    status = device.allocate(memoryBytes, &memory);
  }
  if (status != TBEM_OK) {
    memory = nullptr;
    return tl::make_unexpected(
        failureOf(device, status,
                  fmt::format("backend {} cannot give an arena of {} B; take fewer samples, or a device with more memory",
                              device.name, memoryBytes)));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  start = static_cast<char*>(memory) + (roundUp(address, kPage) - address) + guardBytes;
  if (options.poison) return poison();
  return {};
}

tl::expected<void, Failure> Arena::poison() {
  // Each part from its own start, as `measure` compares them: the plan may end inside a word of the pattern.
  tbem_status status = poisonDevice(device, start - guardBytes, guardBytes);
  if (status == TBEM_OK) status = poisonDevice(device, start, planned);
  if (status == TBEM_OK) status = poisonDevice(device, start + planned, guardBytes);
  if (status != TBEM_OK) return tl::make_unexpected(failureOf(device, status, "the arena cannot be filled"));
  poisoned = true;
  return {};
}

tl::expected<ArenaReport, Failure> Arena::measure() const {
  if (!poisoned) return tl::make_unexpected(Failure{TBEM_INVALID, "the arena was not poisoned, so nothing can be measured"});
  ArenaReport report;
  report.planned = planned;
  std::vector<Written> allowed;
  for (const AllocationDesc& allocation : allocations)
    allowed.push_back({allocation.offset, allocation.offset + allocation.bytes});
  auto scan = scanDevice(device, start, planned, allowed);
  auto before = scanDevice(device, start - guardBytes, guardBytes, {});
  auto behind = scanDevice(device, start + planned, guardBytes, {});
  for (const auto* part : {&scan, &before, &behind}) {
    if (!*part) return tl::make_unexpected(failureOf(device, part->error(), "the arena cannot be read"));
  }
  report.touched = scan->end;
  report.reached = scan->end;
  for (const Written& range : allowed) {
    if (range.begin < scan->end && scan->end <= range.end) report.reached = std::max(report.reached, range.end);
  }
  report.reached = roundUp(report.reached, kGranule);
  report.stray = scan->stray;
  report.guardIntact = before->end == 0 && behind->end == 0;
  return report;
}

}  // namespace tbem::runtime
