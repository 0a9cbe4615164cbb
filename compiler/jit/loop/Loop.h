// A fused loop over physical memory: what has to be iterated, in which order, and where each operand's element lies. Pure
// analysis of a FusedLoop; knows nothing of LLVM.
//
// The loop's variables are the digits of the outputs' physical layout (outer dimensions and block dimensions), from the
// outermost to the innermost. Everything that depends on the position is a linear form over them: offsets of operands, the
// logical element number, coordinates. Neighbouring variables that every form treats as one are merged.
#pragma once

#include "compiler/lower/program/Program.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tbem::jit {

/// sum_v stride[v] * variable v.
struct Form {
  std::vector<std::int64_t> stride;
};

/// An operand's dimension whose place is no linear form: its blocks do not fit the outputs'. Its offset is computed from the
/// coordinate by division.
struct Indirect {
  std::uint32_t coordinate = 0;  ///< into LoopNest::coordinates
  std::int64_t outerStride = 0;  ///< of coordinate div block
  std::int64_t block = 1;
  struct Digit {
    std::int64_t divisor, size, stride;
  };  ///< (coordinate div divisor) mod size * stride
  std::vector<Digit> digits;
};

struct LoopOperand {
  std::uint32_t pointer = 0;  ///< which of the kernel's pointers
  std::int32_t dtype = TBEM_F32;
  Form offset;  ///< in elements
  std::vector<Indirect> indirect;
};

struct LoopOutput {
  std::uint32_t pointer = 0;
  std::int32_t dtype = TBEM_F32;
  std::uint32_t node = 0;
  std::optional<std::uint32_t> rows;  ///< pointer of a list i64: variable 0 at i means row list[1 + i] of this output
};

/// A coordinate along logical dimension `dim`; inside the tensor while below `limit`.
struct Coordinate {
  std::uint32_t dim = 0;
  std::int64_t limit = 0;
  bool padded = false;  ///< the layout pads this dimension: elements at or above `limit` must become 0
  Form form;
};

/// A loop behind a gate, for k samples: the parallel index counts ceil(k * unit / chunk), on threads from `threadsFrom` samples
/// on.
struct PerSample {
  std::int64_t unit = 0;  ///< 0: always the whole batch
  std::int64_t chunk = 1;
  std::int64_t threadsFrom = 0;
};

struct LoopNest {
  std::vector<std::int64_t> trips;      ///< of the variables
  Form output;                          ///< offset of all outputs, in elements
  Form number;                          ///< logical row-major number, for Random
  std::vector<Coordinate> coordinates;  ///< only those that are needed
  std::vector<LoopOperand> inputs;      ///< as FusedLoop::inputs
  std::vector<LoopOutput> outputs;
  std::vector<graph::ElemNode> nodes;
  std::vector<std::uint32_t> given;     ///< nodes: constants that the kernel is given, so that their values here do not matter
  std::vector<std::uint64_t> pointers;  ///< distinct arena offsets, one kernel argument each
  std::vector<bool> outside;            ///< by pointer: an address stands there, and it is meant
  std::vector<std::uint64_t> parts;     ///< by pointer: thread t of a chunk has its own t times so many bytes further on
  // With gradient accumulation; micro-batch i of the step:
  std::vector<std::uint64_t> moves;       ///< by pointer: it lies i times so many bytes further on
  std::optional<std::uint64_t> numberAt;  ///< arena offset of i, where the loop wants it
  std::int64_t elements = 0;              ///< Random: its first element is number i * elements; 0: no loop with Random

  // How it is run: the parallel index counts (prefix variables) x (chunks of the next one). On a device all variables are in the
  // prefix, of which the innermost counts vectors.
  std::uint32_t prefix = 0;  ///< leading variables in the parallel index
  std::int64_t width = 1;    ///< on a device: places beside each other that one thread takes as a vector, aligned to its size
  std::int64_t chunk = 0;    ///< elements of the innermost variable in a chunk; 0: not split
  std::int64_t chunks = 1;
  std::int64_t count = 1;  ///< trip count of the parallel index
  bool parallel = false;   ///< big enough for threads
  PerSample perSample;

  /// On a device: the parallel index is the one variable, whatever its length.
  bool isOneRow() const { return trips.size() == 1 && prefix == 1; }
};

/// `where`: for messages. An error is our own bug or an unsupported element type, in words.
tl::expected<LoopNest, std::string> planLoop(const estimate::Program& program, const estimate::FusedLoop& loop);

/// Makes one of neighbouring variables that every form treats as one. `exceptFirst`: the first stays a variable of its own, as
/// where it counts samples, whose number may vary.
void mergeVariables(LoopNest& nest, bool exceptFirst = false);

/// Bytes that two loops share if one kernel can serve both (all of LoopNest but the arena offsets).
std::string kernelKey(const LoopNest& nest);

}  // namespace tbem::jit
