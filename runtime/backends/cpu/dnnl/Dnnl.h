// oneDNN 2.6.3 behind a thin layer of ours, through its C interface: no exceptions, and nothing allocated by us in a run.
//
// Only the Dnnl*.cpp files of this folder include this header.
#pragma once

#include "runtime/backends/cpu/ops/Op.h"

#include <oneapi/dnnl/dnnl.h>

#include <string_view>
#include <utility>

namespace tbem::cpu::onednn {

/// Owns a primitive descriptor.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(dnnl_primitive_desc_t made) : handle_(made) {}
  Descriptor(Descriptor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Descriptor() {
    if (handle_ != nullptr) dnnl_primitive_desc_destroy(handle_);
  }
  dnnl_primitive_desc_t get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

  const dnnl_memory_desc_t& memory(dnnl_query_t what, int index = 0) const;
  /// Exact bytes of the caller's scratchpad.
  std::uint64_t workspace() const;
  /// The library's name of the implementation: "jit:avx512_core".
  std::string_view implementation() const;

private:
  dnnl_primitive_desc_t handle_ = nullptr;
};

dnnl_engine_t engine();
/// Attributes with the scratchpad given by the caller.
const_dnnl_primitive_attr_t attributes();

/// Makes the descriptor of an operator descriptor of the library (dnnl_convolution_desc_t, ..), for `threads` threads. Empty
/// where the library has none. `skip`: implementations whose name contains it are passed over; empty: none are.
Descriptor describe(const void* operatorDescriptor, int threads, std::string_view skip = {});

/// The descriptor of a reorder. Empty where the library has none.
Descriptor describeReorder(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to, int threads);

/// How good an implementation is: 2 generated code, 1 im2col or a library matrix product (takes memory in a run), 0 plain loops.
int rank(const Descriptor& descriptor);

/// The library's descriptor of an operand with a chosen layout, or with `any`.
dnnl_memory_desc_t describeOperand(const tbem_operand& operand);
/// The library's name of an element type: bf16 or f32.
dnnl_data_type_t dataType(const tbem_operand& operand);
/// The library's descriptor of a plain matrix or vector at given strides.
dnnl_memory_desc_t describeStrided(dnnl_data_type_t type, int rank, const dnnl_dim_t* dims, const dnnl_dim_t* strides);
/// Reads a layout that the library chose. False where tbem_layout cannot say it (compensation, Winograd's format).
bool readLayout(const dnnl_memory_desc_t& memory, tbem_operand& operand);

/// One operand's place in an execution.
struct Argument {
  int name;     ///< DNNL_ARG_SRC, ..
  int operand;  ///< number in the description
  dnnl_memory_desc_t memory;
};

/// Makes the operator that executes `descriptor` with these arguments.
tbem_status makeOp(const tbem_op_desc& desc, const Descriptor& descriptor, const std::vector<Argument>& arguments,
                   std::unique_ptr<Op>& out);

/// "oneDNN 2.6.3" and the instruction set that it uses; loads the library's state.
std::string versionText();
std::string isaText();
/// Whether the library computes on bf16: with AVX-512 at least, where it has no instructions for bf16 by way of f32.
bool hasBfloat16();

}  // namespace tbem::cpu::onednn
