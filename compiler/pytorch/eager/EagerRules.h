// What PyTorch 2.15's autograd keeps of each of its operators, and how results and gradients come to their memory
// (tools/autograd/derivatives.yaml: what a formula names is kept): one table by name.
#pragma once

#include "compiler/pytorch/eager/EagerOperators.h"

#include <cstdint>
#include <string_view>

namespace tbem::estimate {

/// What is kept of an operator's own tensors. Factors: the operands, each where the gradient of another one is wanted, which
/// reads it.
enum class EagerKeep : std::uint8_t { Nothing, First, Operands, Factors, Results, Both, Declared };

/// What else is allocated and kept.
enum class EagerExtra : std::uint8_t {
  Nothing,
  Moments,     ///< mean and reciprocal deviation of each group that is normalised: f32, on the CPU of the operand's type
  Indices,     ///< i64, one a result's element
  Mask,        ///< one a result's element: bool on CUDA, of the result's type on CPU
  SampleMask,  ///< one a sample, of the result's type
  LogSums,     ///< f32, one a row of the result; on CUDA also the state of random numbers
  LogSoftmax   ///< of the first operand's size, and one number
};

struct EagerRule {
  std::string_view name;  ///< of the operator's declaration, or of the block or operator around it
  EagerKeep keep = EagerKeep::Nothing;
  EagerExtra extra = EagerExtra::Nothing;
  EagerResult result = EagerResult::New;
  EagerGradient gradient = EagerGradient::New;
  EagerInPlace inPlace = EagerInPlace::Never;
};

/// nullptr: it keeps what the gradient that is declared for it reads.
const EagerRule* eagerRule(std::string_view name);

}  // namespace tbem::estimate
