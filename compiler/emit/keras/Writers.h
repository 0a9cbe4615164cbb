// Writers of the standard library's operators for Keras. Internal to compiler/emit/keras.
#pragma once

#include "compiler/emit/keras/Layouts.h"
#include "compiler/emit/text/ClassText.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tbem::emit::keras {

/// An operator's name here, and what writes a call of it.
struct Writer {
  std::string_view word;
  Code (*write)(const KerasCall&);
};
/// Of layers that hold weights; of functions of elements, products and attention; of pooling and reductions; of operators that
/// move elements.
std::span<const Writer> layerWriters();
std::span<const Writer> functionWriters();
std::span<const Writer> reductionWriters();
std::span<const Writer> shapeWriters();
/// Functions of one tensor and infix operators, which differ in a word. Nothing where the operator is neither.
std::optional<Code> wordCode(const KerasCall& call);
bool hasWord(std::string_view word);

/// Whether Keras has what the call of the standard library computes, with these parameters.
bool hasKeras(const graph::Row& row, const graph::Call& call);
/// The call, for which `hasKeras` is true.
Code kerasCall(const KerasCall& call);
/// An operator of the graph that belongs to no call that Keras has: of a program's own, mostly.
tl::expected<Code, Refusal> kerasOperator(const graph::Row& row, const graph::Op& op, Layouts& layouts, Scribe& scribe);
/// The layer's type of elements, or a type by name.
std::string kerasType(tbem_dtype dtype);

/// What a layer of Keras calls a weight of ours, and how the forward pass reads it in our order: {0} is its text.
struct WeightName {
  std::string_view type, ours, theirs, pattern;
};
/// Of the layer of this constructor; nullptr: a forward pass cannot read it in our order.
const WeightName* weightNameOf(std::string_view callee, std::string_view weight);
/// What is cut off from a transposed convolution's whole result: [top, left, bottom, right].
Numbers cropping(const CallReader& call);

/// The classes that a program declares itself because Keras's own compute something else: those that its text has, as text.
std::string ownLayers(std::string_view text);

}  // namespace tbem::emit::keras
