// The memory that executables run in: of one alone, or of several that were linked (compiler/lower/program/Link.h), of which one
// runs at a time. What is persistent lies at one place for all; their temporaries lie over each other.
#pragma once

#include "runtime/core/Failure.h"
#include "tbem/executable.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tbem::runtime {

struct ArenaOptions {
  bool poison = false;  ///< fill the arena with a NaN pattern first: reads of what nobody wrote become NaN, and `measure` works
  std::uint64_t guard = 0;  ///< bytes before and behind the arena (rounded up to 4096) that are poisoned with it and checked
};

/// What a poisoned arena shows after a step.
struct ArenaReport {
  std::uint64_t touched = 0;  ///< one past the highest byte that was written: at most `planned` if the plan is right
  /// The end of the largest allocation that holds that byte, rounded up to the plan's granule of 64: what `planned` must equal (a
  /// library may leave the last bytes of its workspace alone, and a plan counts whole granules).
  std::uint64_t reached = 0;
  std::uint64_t planned = 0;      ///< Executable::arena, the largest
  bool guardIntact = true;        ///< nothing was written before or behind the arena (true where there is no guard)
  std::uint64_t stray = kAbsent;  ///< lowest byte inside the arena, in no allocation, that was written; kAbsent: none
};

class Arena {
public:
  /// Memory (4096-aligned) for the largest of these executables. The backend must outlive it. Errors: there is not so much, or
  /// executables that do not go together (TBEM_INVALID): a storage that two of them have differs in type, shape or place, or one
  /// has temporaries where another has what is persistent.
  static tl::expected<std::unique_ptr<Arena>, Failure> create(std::span<const Executable* const> executables,
                                                              const tbem_backend& backend, const ArenaOptions& options = {});
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  char* base() const { return start; }
  std::uint64_t bytes() const { return planned; }
  const tbem_backend& backend() const { return device; }

  /// Fills the arena and its guards as `poison` of ArenaOptions does: what was in it is gone. Until then its guards are
  /// untouched.
  tl::expected<void, Failure> poison();
  /// For one that was poisoned, after storages were filled and steps were run. Scans the whole arena.
  tl::expected<ArenaReport, Failure> measure() const;

private:
  explicit Arena(const tbem_backend& backend) : device(backend) {}
  tl::expected<void, Failure> allocate(const ArenaOptions& options);

  const tbem_backend& device;
  std::uint64_t planned = 0;
  std::vector<AllocationDesc> allocations;  ///< of all executables
  void* memory = nullptr;                   ///< what the backend allocated
  std::uint64_t memoryBytes = 0;
  char* start = nullptr;  ///< inside `memory`
  std::uint64_t guardBytes = 0;
  bool poisoned = false;
};

}  // namespace tbem::runtime
