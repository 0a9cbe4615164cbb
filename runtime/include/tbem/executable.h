// One task of one row, ready to be loaded on a backend: what the compiler hands to the runtime. Plain data.
#pragma once

#include "tbem/backend.h"
#include "tbem/rt.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::runtime {

constexpr std::uint64_t kAbsent = ~std::uint64_t{0};  ///< offset of an absent operand or of no workspace
constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// As graph::StorageClass: of the same list.
enum class BufferClass : std::uint8_t {
#define TBEM_STORAGE_CLASS(enumerator, name) enumerator,
#include "tbem/storage_classes.def"
};

/// How a persistent buffer is filled before the first step: the kinds of graph::Init, with a and b evaluated for the row.
struct InitDesc {
  std::string kind = "zeros";
  double a = 0, b = 0;
};

/// A tensor at a fixed offset of the arena.
struct BufferDesc {
  std::string name;          ///< for people
  tbem_operand operand{};    ///< element type, dims, layout
  std::uint64_t offset = 0;  ///< in the arena, bytes
  std::uint32_t allocation = 0;
};

/// A piece of the arena that the plan gave out.
struct AllocationDesc {
  std::uint64_t offset = 0, bytes = 0;
  bool persistent = false;
};

/// A buffer that outlives steps (weight, state, running statistic, input, constant) or that the caller wants to read (output).
struct StorageDesc {
  std::string path;  ///< stable: "stage[0].conv2d.weight", "image"
  BufferClass kind{};
  std::uint32_t buffer = kNone;  ///< into `buffers`
  InitDesc init;
  std::int64_t bound = 0;  ///< integer inputs: values lie in [0, bound); 0: not known
};

/// A call of a backend primitive, or of an operator's own code (`symbol` is not empty; tbem/native.h).
struct CallDesc {
  std::int32_t primitive = 0;
  std::string library, symbol;
  std::string name;  ///< of its step, for messages: "conv2d"
  std::int32_t inputs = 0, outputs = 0;
  std::vector<tbem_operand> operands;  ///< inputs then outputs
  std::vector<std::uint64_t> offsets;  ///< of the operands in the arena; kAbsent where absent
  std::vector<std::int64_t> attributes;
  std::vector<std::uint32_t> scalars;  ///< slots
  std::uint64_t workspace = kAbsent;   ///< offset
  std::uint64_t workspaceBytes = 0;
  std::string implementation;
  /// Behind a gate: which operands have as many rows as there are samples at run time, and the numbers of samples for which the
  /// call can be prepared, ascending, the last one as many as there can be. Empty: always the whole batch.
  std::vector<bool> perSample;
  std::vector<std::int64_t> sizes;
  std::int64_t samples = 0;    ///< that `perSample` operands are of here
  std::int32_t algorithm = 0;  ///< of the backend's (backend.h)
  /// By operand: micro-batch i has it i times so many bytes further on. Empty: all stay.
  std::vector<std::uint64_t> moves;
  /// By operand: the caller has it, and its address stands at its offset. Empty: none. Such an executable is run by who made it
  /// alone: files of executables (runtime/core/ExecutableFile.h) do not have it.
  std::vector<bool> outside;
  /// Behind a gate, where threads take samples of their own: thread t has the operand t times so many bytes further on, and calls
  /// prepared for one thread at `partSizes`, as `sizes`. Empty: one call for all threads.
  std::vector<std::uint64_t> parts;
  std::uint64_t workspacePart = 0;
  std::vector<std::int64_t> partSizes;
  /// By operand: bytes of its memory, which may have room for the samples at hand only. Empty: as the operands say.
  std::vector<std::uint64_t> room;
};

/// Some of the samples, chosen at run time by the gates of a network. The first is all of them.
struct BranchDesc {
  std::uint32_t parent = 0;
  std::string gate;          ///< stable path: "unit[3].skip"; "" of the first
  bool exits = false;        ///< the gate is an `exit`, not a `skip`
  bool condition = false;    ///< the gate's condition is true for them
  std::int64_t samples = 0;  ///< that could be in it: of the batch, or what else the gate decides about
  /// How many of them each sample of the batch has, one behind the other: 1 where the gate decides about those, 0 where they are
  /// no sample's (computed over the batch).
  std::int64_t ofEachSample = 0;
  std::uint32_t rows = kNone;    ///< buffer i64[1 + samples]: how many, then their numbers in the parent
  std::uint32_t origin = kNone;  ///< the same with their numbers among all
};

struct Executable {
  tbem_rt_step step = nullptr;  ///< owned by whoever compiled it, who must outlive this
  /// Where the host cannot reach the arena: code for the device, owned as `step` is, and how many kernels `tbem_kernel_0`, ..
  /// it has. Else empty.
  std::string_view image;
  std::string_view machineCode;  ///< the same code for one kind of card, which may be another than the one at hand; may be empty
  std::uint32_t kernels = 0;
  std::uint64_t arena = 0;  ///< bytes
  std::vector<AllocationDesc> allocations;
  std::vector<BufferDesc> buffers;  ///< same numbers as the compiler's BufferId
  std::vector<StorageDesc> storages;
  std::vector<CallDesc> calls;
  std::vector<BranchDesc> branches;      ///< a parent before its children; empty without gates
  std::int64_t samples = 0;              ///< of the batch; 0 without gates
  std::int64_t microBatches = 1;         ///< into which a step splits its batch
  std::uint64_t microBatchAt = kAbsent;  ///< offset of an i64: the number of the one at hand, which the code keeps
  std::vector<double> scalars;           ///< slot 0 is the number of the step, set by `run`
  std::vector<std::string> scalarNames;  ///< "step", "optimizer.lr", ..; may be empty
  std::uint32_t loss = kNone;            ///< buffer of the loss, if there is one
  std::vector<std::uint32_t> outputs;    ///< buffers of the network's results that are kept
  std::int32_t threads = 1;
  std::int32_t tf32 = 0;  ///< of all calls (backend.h)
};

}  // namespace tbem::runtime
