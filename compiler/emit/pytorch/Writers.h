// Writers of the standard library's operators for PyTorch, and what they share. Internal to compiler/emit/pytorch.
#pragma once

#include "compiler/emit/python/Reader.h"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::emit {

/// An operator's name here, and what writes a call of it.
struct Writer {
  std::string_view word;
  Code (*write)(const CallReader&);
};
/// Of modules that hold weights; of functions of elements, products and attention; of pooling and reductions; of operators that
/// move elements; of losses.
std::span<const Writer> layerWriters();
std::span<const Writer> functionWriters();
std::span<const Writer> reductionWriters();
std::span<const Writer> shapeWriters();
std::span<const Writer> lossWriters();
/// Functions of one tensor and infix operators, which differ in a word. Nothing where the operator is neither.
std::optional<Code> wordCode(const CallReader& call);
bool hasWord(std::string_view word);

// ---- What they share ---------------------------------------------------------------------------------------------------

/// The operand, padded where the sides differ; `value`: ", value=..." of what is put there.
Marked paddedOperand(const CallReader& call, const Numbers& pad, const char* value);
/// The padding that is left to the operator then.
Marked padding(const CallReader& call, const Numbers& pad);

}  // namespace tbem::emit
