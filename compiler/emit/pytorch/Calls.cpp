// The standard library's operators as PyTorch's. Where the two differ in a name, a default or an order, a writer says it once.
#include "compiler/emit/pytorch/PyTorch.h"
#include "compiler/emit/pytorch/Writers.h"
#include "compiler/support/Bug.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem::emit {

Marked paddedOperand(const CallReader& call, const Numbers& pad, const char* value) {
  if (isSymmetric(pad)) return call.operand(0);
  const std::string sides = call.hole("padding", pythonText(Numbers{pad[1], pad[3], pad[0], pad[2]}));
  return fmt::format("F.pad({}, {}{})", call.operand(0), sides, value);
}
Marked padding(const CallReader& call, const Numbers& pad) {
  return call.hole("padding", isSymmetric(pad) ? evenText({pad[0], pad[1]}) : "0");
}

namespace {

const Writer* writerOf(std::string_view word) {
  for (const std::span<const Writer> writers :
       {layerWriters(), functionWriters(), reductionWriters(), shapeWriters(), lossWriters()}) {
    if (const Writer* const writer = rowOf(writers, word)) return writer;
  }
  return nullptr;
}

/// PyTorch counts the nearest pixel in single precision, and comes to another one where a quotient is just below a whole number.
bool hasNearest(const CallReader& call) {
  const Numbers sizes = call.integers("size");
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t from = call.shape(0)[axis + 2], to = sizes[axis];
    const float scale = static_cast<float>(from) / static_cast<float>(to);
    for (std::int64_t i = 0; i < to; ++i) {
      const auto theirs = static_cast<std::int64_t>(std::floor(static_cast<float>(i) * scale));
      if (std::min(theirs, from - 1) != i * from / to) return false;
    }
  }
  return true;
}

}  // namespace

bool hasPyTorch(const graph::Row& row, const graph::Call& call) {
  if (!call.isStandard || call.decl == nullptr) return false;
  const std::string_view word = call.decl->name.text;
  std::vector<Hole> holes;
  Scribe scribe(holes);
  const CallReader read(row, call, scribe);
  if (isNowhere(read)) return false;
  if (word == "batch_norm") return read.shape(0).size() <= 5;
  if (word == "flatten") return read.shape(0).size() > 1;
  if (word == "channel_shuffle") return read.shape(0).size() > 2;
  if (word == "upsample2d") return read.text("mode") != "nearest" || hasNearest(read);
  if (word == "max_pool1d" || word == "avg_pool1d") return 2 * read.integer("pad") <= read.integer("kernel");
  if (word == "avg_pool2d" || word == "max_pool2d") {
    const Numbers pad = read.integers("pad"), kernel = read.integers("kernel");
    if (isSymmetric(pad)) return 2 * pad[0] <= kernel[0] && 2 * pad[1] <= kernel[1];
    return word == "avg_pool2d" ? read.flag("count_include_pad") : !read.flag("ceil_mode");
  }
  if (word == "conv_transpose2d") return isSymmetric(read.integers("pad"));
  return writerOf(word) != nullptr || hasWord(word);
}

Code pyTorchCall(const graph::Row& row, const graph::Call& call, Scribe& scribe) {
  const CallReader read(row, call, scribe);
  if (std::optional<Code> code = wordCode(read)) return std::move(*code);
  const Writer* writer = writerOf(call.decl->name.text);
  TBEM_CHECK(writer != nullptr);
  return writer->write(read);
}

}  // namespace tbem::emit
