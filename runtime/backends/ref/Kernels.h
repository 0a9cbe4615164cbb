// The kernels of the reference backend: nested loops over plain row-major memory, sums in f64.
//
// Each kernel runs one described operator. `memory[k]` is operand k, `work` the bytes that workspace() asked for.
#pragma once

#include "runtime/core/Primitive.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::ref {

/// A prepared operator: its description with everything it points to.
struct Op {
  tbem_op_desc desc{};
  std::vector<tbem_operand> operands;
  std::vector<std::int64_t> attributes;
  tbem_status (*kernel)(const Op& op, void* const* memory, void* work, const double* scalars) = nullptr;
  tbem_status (*wideKernel)(const Op& op, void* const* memory, void* work, const double* scalars) = nullptr;  ///< of bf16: in f32
};

using Kernel = decltype(Op::kernel);

template <class T>
tbem_status conv2d(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status conv2dInputGradient(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status conv2dWeightGradient(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status dense(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status denseInputGradient(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status denseWeightGradient(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status matmul(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status reduceSum(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status reduceMax(const Op& op, void* const* memory, void* work, const double* scalars);
/// dy is divided evenly among the elements equal to the maximum (the rule of PyTorch's amax).
template <class T>
tbem_status reduceMaxGradient(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status sumSquares(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status channelMoments(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status channelGradientSums(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status rowGradientSums(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status maxPool(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status maxPoolGradient(const Op& op, void* const* memory, void* work, const double* scalars);
/// Windows of a kernel and adaptive bins: the same two loops.
template <class T>
tbem_status avgPool(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status avgPoolGradient(const Op& op, void* const* memory, void* work, const double* scalars);
/// softmax and log_softmax, by the primitive of the description.
template <class T>
tbem_status softmax(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status softmaxGradient(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status attention(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status attentionGradient(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status crossEntropy(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status crossEntropyGradient(const Op& op, void* const* memory, void* work, const double* scalars);
/// permute, pad and slice of elements of the size of T (an unsigned integer).
template <class T>
tbem_status move(const Op& op, void* const* memory, void* work, const double* scalars);
/// Elements of the size of T.
template <class T>
tbem_status concat(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status gather(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status gatherGradient(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status argMax(const Op& op, void* const* memory, void* work, const double* scalars);
template <class T>
tbem_status constant(const Op& op, void* const* memory, void* work, const double* scalars);
tbem_status splitRows(const Op& op, void* const* memory, void* work, const double* scalars);
tbem_status moveRows(const Op& op, void* const* memory, void* work, const double* scalars);
tbem_status reorder(const Op& op, void* const* memory, void* work, const double* scalars);

/// Whether an operand is of bf16 or f16.
bool hasNarrow(const tbem_op_desc& op);
/// Bytes of the f32 copies that runWidened makes.
std::uint64_t widenedBytes(const tbem_op_desc& op);
/// Runs `wideKernel` on f32 copies of these operands.
tbem_status runWidened(const Op& op, void* const* memory, void* work, const double* scalars);

/// Bytes of workspace of an operator.
std::uint64_t workspace(const tbem_op_desc& op);

/// Keeps a message for last_error and returns the status.
tbem_status fail(tbem_status status, const std::string& message);

}  // namespace tbem::ref
