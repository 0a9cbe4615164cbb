// CUDA's driver interface, opened at run time: libcuda.so.1. Nothing is linked, and no header of the toolkit is needed; types and
// numbers are those of the public header cuda.h, version 12.0 and up.
#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tbem::cuda {

using DeviceHandle = int;
using ContextHandle = struct CUctx_st*;
using StreamHandle = struct CUstream_st*;
using ModuleHandle = struct CUmod_st*;
using FunctionHandle = struct CUfunc_st*;
using EventHandle = struct CUevent_st*;
using GraphHandle = struct CUgraph_st*;
using GraphExecHandle = struct CUgraphExec_st*;
using GraphNodeHandle = struct CUgraphNode_st*;
using DevicePointer = std::uint64_t;

/// CUDA_KERNEL_NODE_PARAMS_v2: a kernel of one thread.
struct KernelNode {
  FunctionHandle function = nullptr;
  unsigned grid[3] = {1, 1, 1}, threads[3] = {1, 1, 1}, sharedBytes = 0;
  void** arguments = nullptr;
  void** extra = nullptr;
  void* kernel = nullptr;
  ContextHandle context = nullptr;
};

/// CUgraphNodeParams of a conditional node that is done or not (CU_GRAPH_COND_TYPE_IF).
struct ConditionalNode {
  int type = 13;  ///< CU_GRAPH_NODE_TYPE_CONDITIONAL
  int reserved[3] = {};
  std::uint64_t handle = 0;
  int condition = 0;
  unsigned size = 1;
  GraphHandle* bodies = nullptr;  ///< the driver's, when the node is there: one
  ContextHandle context = nullptr;
  long long padding[25] = {};
  long long behind = 0;
};
static_assert(sizeof(KernelNode) == 72 && sizeof(ConditionalNode) == 256, "as cuda.h has them");

struct Driver {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration, not an expression
#define TBEM_CUDA_FUNCTION(name, symbol, parameters) int(*name) parameters = nullptr;
#include "runtime/backends/cuda/device/functions.def"
#undef TBEM_CUDA_FUNCTION
};

/// Opens `libcuda.so.1` once. Errors, in words: it is not there, a function lacks.
tl::expected<const Driver*, std::string> openDriver();

}  // namespace tbem::cuda
