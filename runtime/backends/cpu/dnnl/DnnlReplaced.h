// A convolution by way of another one, of which one operand is a copy in the workspace that is larger or smaller than the
// operator's own: its weight without taps that are never used (DnnlCrop.cpp), its image with the padding around it (DnnlPad.cpp).
#pragma once

#include "runtime/backends/cpu/dnnl/DnnlConv.h"

#include <vector>

namespace tbem::cpu {

struct Replaced {
  std::vector<tbem_operand> operands;  ///< the operator's own, with the copy
  std::size_t copy = 0;                ///< which of them is one
  std::vector<std::int64_t> attributes;
  Attempt convolution;
  dnnl_memory_desc_t from{}, to{};  ///< what is moved between the operator's operand and the copy
  onednn::Descriptor move;

  std::uint64_t copyBytes() const;
  /// The copy, and what the two operators need.
  std::uint64_t workspace() const;
  /// The other convolution; points into this.
  tbem_op_desc describe(const tbem_op_desc& op);
};

/// The two operators of one whose move and convolution are chosen.
tbem_status makeParts(const tbem_op_desc& op, Replaced& replaced, std::unique_ptr<Op>& move, std::unique_ptr<Op>& convolution);

/// Runs the move with its workspace.
tbem_status runMove(Op& move, void* from, void* to, void* work);

}  // namespace tbem::cpu
