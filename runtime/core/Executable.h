// An executable loaded on a backend: its arena, prepared operators, and the loop that runs steps. `tbem_rt_context` of rt.h is
// an Instance. One thread at a time may use an Instance; several may live side by side, and of those in one arena one at a time
// is used.
#pragma once

#include "runtime/core/Arena.h"
#include "runtime/core/WorkMarks.h"
#include "tbem/backend.h"
#include "tbem/executable.h"
#include "tbem/native.h"

#include <tl/expected.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::runtime {

/// A tensor on the host: row-major logical order, no padding.
struct HostTensor {
  std::int32_t dtype = TBEM_F32;
  std::vector<std::int64_t> dims;
  std::vector<std::byte> data;
  std::size_t count() const;
  /// All elements as doubles (integers exactly up to 2^53).
  std::vector<double> doubles() const;
  /// Elements of an integer or bool tensor; floating ones truncate.
  std::vector<std::int64_t> integers() const;
  /// Rounded once to `dtype`. `values.size()` must be the product of dims.
  static HostTensor of(std::int32_t dtype, std::vector<std::int64_t> dims, std::span<const double> values);
};

struct DeviceCode;

class Instance {
public:
  /// Allocates an arena of its own and prepares every call. `executable` is copied; its `step` must stay loaded. `backend` must
  /// outlive the instance.
  static tl::expected<std::unique_ptr<Instance>, Failure> create(const Executable& executable, const tbem_backend& backend,
                                                                 const ArenaOptions& options = {});
  /// The same in an arena that was made for this executable among others and outlives the instance. What one of them writes to a
  /// persistent storage, all read. Inputs are arguments: they lie among the temporaries, and are written before each run behind
  /// the run of another.
  static tl::expected<std::unique_ptr<Instance>, Failure> create(const Executable& executable, Arena& arena);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  /// Fills every storage of this executable by its rule (inputs: stand-in data) and sets the seed of random(), which is 0 before.
  /// An integer input that nothing bounds holds zeros until it is written; before that `run` fails with `whyNotDrawn`.
  tl::expected<void, Failure> initialise(std::uint64_t seed);
  /// Why an input has neither stand-in data nor been written; "" where each has one of them.
  std::string whyNotDrawn() const { return undrawn.empty() ? "" : undrawn.front().second; }
  /// Runs step number `step` (from 1). Allocates nothing, but for what a call behind a gate needs when it meets a number of
  /// samples for the first time: it is prepared for that number then, and stays so.
  tl::expected<void, Failure> run(std::uint64_t step);

  /// From now on each run writes the seconds that every step of the program took to times[step]: 0 where it did not run, the sum
  /// where it ran for some samples at a time (of threads that took samples of their own, the first one's). Only native code that
  /// was compiled with marks does. Borrowed; empty: no longer.
  void keepTimes(std::span<double> times) { stepTimes = times; }

  /// From now on `marks` is told when a run asks a device for its work, where the host cannot reach the device's memory.
  /// Borrowed; null: nobody is told any longer.
  void tell(WorkMarks* marks) { told = marks; }

  /// From now on each run takes the buffer, which the program was compiled with outside of the arena (CallDesc::outside), from
  /// `address`: row-major elements, aligned as one is, on the host. Borrowed. What was not lent must be before the first run.
  void lend(std::uint32_t buffer, const void* address);

  /// Number of the storage with this path, or nothing.
  std::optional<std::uint32_t> findStorage(std::string_view path) const;
  /// A buffer's value in logical order, whatever its layout. `buffer`: into Executable::buffers.
  tl::expected<HostTensor, Failure> read(std::uint32_t buffer) const;
  /// Its padding becomes zero. The value's dtype and dims must be the buffer's.
  tl::expected<void, Failure> write(std::uint32_t buffer, const HostTensor& value);
  /// Where the buffer lies on the device; null for a number that is none.
  const void* address(std::uint32_t buffer) const {
    return buffer < description.buffers.size() ? arena + description.buffers[buffer].offset : nullptr;
  }
  /// `read` and `write` for a storage by number.
  tl::expected<HostTensor, Failure> readStorage(std::uint32_t storage) const;
  tl::expected<void, Failure> writeStorage(std::uint32_t storage, const HostTensor& value);

  /// Run-time scalars by slot; slot 0 is the number of the step and is set by `run`.
  std::span<double> scalars() { return scalarValues; }
  const Executable& executable() const { return description; }
  const tbem_backend& backend() const { return device; }

  /// What is in the arena is gone: `initialise` comes next.
  tl::expected<void, Failure> poisonArena() { return memory.poison(); }
  /// For an arena that was poisoned, after `initialise` and a step.
  tl::expected<ArenaReport, Failure> measureArena() const { return memory.measure(); }

  // What native code calls, through rt.h.
  std::int32_t call(std::uint32_t number, std::int64_t samples, std::int64_t part);
  void parallel(tbem_rt_loop loop, char* base, const double* values, std::uint64_t key, std::int64_t count);
  std::int32_t parts(tbem_rt_part code, char* base, const double* values, std::uint64_t key, std::int64_t samples);
  void mark(std::uint32_t step, std::int64_t part);
  std::int32_t launch(std::uint32_t kernel, std::span<const std::uint64_t> arguments, std::int64_t items, std::int32_t threads);
  std::int32_t zero(void* memory, std::uint64_t bytes);
  std::int32_t move(void* to, const void* from, std::uint64_t bytes);
  std::int32_t count(const void* memory, std::int64_t& value);
  std::int32_t join();
  std::int32_t microBatch(std::uint64_t number);

private:
  /// A call with everything that `run` of the backend needs, so that a step only fills in scalars.
  struct Prepared {
    std::vector<tbem_op*> ops;  ///< by CallDesc::sizes, or the one for the whole batch; null: not met yet
    std::vector<void*> operands;
    void* workspace = nullptr;
    std::vector<double> scalars;
    std::vector<std::uint32_t> slots;
    std::vector<Prepared> parts;         ///< by thread that takes samples of its own; `ops` by CallDesc::partSizes
    tbem_native_function own = nullptr;  ///< an operator's own code, instead of `ops`
    tbem_native_args args{};
    std::vector<char> message;  ///< what it says of its failure
    /// Where a part's operands lie; -1: those of all threads together.
    void place(const CallDesc& call, char* arena, std::int64_t part);
  };
  Instance(const Executable& executable, Arena& arena);
  tl::expected<void, Failure> prepareCalls();
  Prepared& at(std::size_t number, std::int64_t part) {
    return part < 0 ? prepared[number] : prepared[number].parts[static_cast<std::size_t>(part)];
  }
  tl::expected<void, Failure> prepareLargest(std::size_t number, std::int64_t part);
  tbem_status prepare(const CallDesc& call, std::int64_t samples, std::int64_t part, tbem_op** out) const;
  /// The operator prepared for at least so many samples (0: the whole batch); null where the backend cannot.
  tbem_op* sized(std::size_t number, std::int64_t samples, std::int64_t part);
  void noteFailure(std::uint32_t number);
  /// The same of what is no call.
  tbem_status noted(tbem_status status, std::string_view doing);
  std::int32_t runOnDevice();
  std::int32_t runInSegments();
  std::int32_t runMarked(const std::function<std::int32_t()>& work);
  std::int32_t flushSegment();
  tl::expected<void, Failure> prepareOwn(std::size_t number);
  tl::expected<void, Failure> fillStorage(const StorageDesc& storage, std::uint64_t key);
  tl::expected<void, Failure> prepareDevice();
  Failure failure(tbem_status status, std::string what) const { return failureOf(device, status, std::move(what)); }

  std::unique_ptr<Arena> own;  ///< where it has an arena for itself
  Executable description;
  Arena& memory;
  char* arena;
  const tbem_backend& device;
  std::vector<double> scalarValues;
  std::vector<Prepared> prepared;
  std::unique_ptr<DeviceCode> code;  ///< where the host cannot reach the arena
  std::uint64_t seed = 0;
  std::mutex failing;                                          ///< of the next two: parts may fail at once
  std::uint32_t failedCall = kNone;                            ///< the first that did
  std::string failedText;                                      ///< what the backend said
  std::vector<std::pair<std::uint64_t, const void*>> lent;     ///< where in the arena each address stands
  std::vector<std::pair<std::uint32_t, std::string>> undrawn;  ///< buffers of inputs without values, and why
  WorkMarks* told = nullptr;
  std::span<double> stepTimes;
  std::chrono::steady_clock::time_point marked;  ///< when the last step that was marked ended
};

}  // namespace tbem::runtime
