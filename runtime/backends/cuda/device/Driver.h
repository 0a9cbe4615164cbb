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
using GraphHandle = struct CUgraph_st*;
using GraphExecHandle = struct CUgraphExec_st*;
using DevicePointer = std::uint64_t;

struct Driver {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration, not an expression
#define TBEM_CUDA_FUNCTION(name, symbol, parameters) int(*name) parameters = nullptr;
#include "runtime/backends/cuda/device/functions.def"
#undef TBEM_CUDA_FUNCTION
};

/// Opens `libcuda.so.1` once. Errors, in words: it is not there, a function lacks.
tl::expected<const Driver*, std::string> openDriver();

}  // namespace tbem::cuda
