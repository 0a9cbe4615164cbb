// Which calls of the standard library Keras has, and what writes them.
#include "compiler/emit/keras/Writers.h"
#include "compiler/support/Bug.h"

#include <algorithm>

namespace tbem::emit::keras {

namespace {

const Writer* writerOf(std::string_view word) {
  for (const std::span<const Writer> writers : {layerWriters(), functionWriters(), reductionWriters(), shapeWriters()}) {
    if (const Writer* const writer = rowOf(writers, word)) return writer;
  }
  return nullptr;
}

bool areOnes(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](std::int64_t n) { return n == 1; });
}
/// Keras takes a stride or a dilation, not both.
bool isConvolution(const CallReader& call) { return areOnes(call.several("stride")) || areOnes(call.several("dilation")); }

bool isTransposed(const CallReader& call) {
  const Numbers cut = cropping(call);
  return areOnes(call.integers("dilation")) && call.integer("groups") == 1 &&
         std::all_of(cut.begin(), cut.end(), [](std::int64_t n) { return n >= 0; });
}

/// Keras's bins hold at least one element of their own each.
bool hasBins(const CallReader& call) {
  const Numbers size = call.integers("size"), shape = call.shape(0);
  return size[0] <= shape[2] && size[1] <= shape[3];
}

bool isRepeated(const CallReader& call) {
  const Numbers size = call.integers("size"), shape = call.shape(0);
  return call.text("mode") == "nearest" && size[0] % shape[2] == 0 && size[1] % shape[3] == 0;
}

}  // namespace

bool hasKeras(const graph::Row& row, const graph::Call& call) {
  if (!call.isStandard || call.decl == nullptr) return false;
  const std::string_view word = call.decl->name.text;
  std::vector<Hole> holes;
  Scribe scribe(holes);
  const CallReader read(row, call, scribe);
  if (isNowhere(read)) return false;
  if (word == "conv2d" || word == "conv1d" || word == "conv3d") return isConvolution(read);
  if (word == "conv_transpose2d") return isTransposed(read);
  if (word == "adaptive_avg_pool2d" || word == "adaptive_max_pool2d") return hasBins(read);
  if (word == "upsample2d") return isRepeated(read);
  if (word == "embedding") return read.integer("padding") < 0;
  if (word == "channel_shuffle") return read.shape(0).size() == 4;
  return writerOf(word) != nullptr || hasWord(word);
}

Code kerasCall(const KerasCall& call) {
  if (std::optional<Code> code = wordCode(call)) return std::move(*code);
  const Writer* writer = writerOf(call.call.decl->name.text);
  TBEM_CHECK(writer != nullptr);
  return writer->write(call);
}

}  // namespace tbem::emit::keras
