// What the parts of the cpu backend share: prepared operators, failures, families of primitives.
//
// f32 with i64 class numbers; bf16, summed in f32, where Cpu.cpp says so. Convolutions, matrix products and reorders are oneDNN's
// (Dnnl.h); the rest are our own loops under OpenMP, whose threads libdnnl shares.
#pragma once

#include "runtime/core/Family.h"
#include "runtime/core/Layout.h"
#include "runtime/core/Primitive.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tbem::cpu {

/// Keeps a message for last_error and returns the status.
tbem_status fail(tbem_status status, const std::string& message);

/// A prepared operator.
class Op : public runtime::OwnDescription {
public:
  explicit Op(const tbem_op_desc& from);
  virtual ~Op() = default;

  /// Allocates nothing of ours.
  virtual tbem_status run(void* const* memory, void* work, const double* scalars) = 0;

  int threads;
};

/// The most threads of an operator: kMostThreads, or fewer where OMP_THREAD_LIMIT, which a program cannot change, says so.
int mostThreads();
/// A thread costs about a millisecond and 140 kB when it is made: a number above this is a slip of the finger.
constexpr int kMostThreads = 1024;
/// Threads that take an operator: the description's own number, or as many as OpenMP would take and may; one where a product is
/// done before the others would be awake.
int threadsOf(const tbem_op_desc& op);

using Family = runtime::FamilyOf<Op>;

constexpr std::int64_t kThinRows = 64;  ///< up to so many rows ThinProduct.cpp takes a dense layer

Family convFamily();     // DnnlConv.cpp
Family productFamily();  // DnnlProduct.cpp
Family packedFamily();   // PackedProduct.cpp: the same with space for packing from the plan
Family thinFamily();     // ThinProduct.cpp: another algorithm of the dense layer
Family reorderFamily();  // DnnlProduct.cpp, Move.cpp where oneDNN has nothing
Family moveFamily();     // Move.cpp
Family concatFamily();   // Concat.cpp
Family indexFamily();    // Index.cpp
Family rowsFamily();     // Rows.cpp
Family channelFamily();  // Channel.cpp
Family rowSumFamily();   // RowSums.cpp
Family squaresFamily();  // Squares.cpp
Family reduceFamily();   // Reduce.cpp
Family poolFamily();     // Pool.cpp
Family softmaxFamily();  // Softmax.cpp

}  // namespace tbem::cpu
