// split_rows, move_rows: rows of samples behind gates.
#include "runtime/backends/cuda/device/ErrorWord.h"
#include "runtime/backends/cuda/device/Images.h"
#include "runtime/backends/cuda/ops/Shapes.h"

#include <cstdio>

namespace tbem::cuda {
namespace {

class SplitRows final : public Op {
public:
  using Op::Op;
  tbem_status run(void* const* memory, void*, const double*) override {
    const auto list = [memory](int k) { return static_cast<std::int64_t*>(memory[k]); };
    const SplitOperands of{
        static_cast<const std::uint8_t*>(memory[0]), list(1), list(2), list(3), list(4), list(5), operands[0].dims[0]};
    return launch({"Rows", "tbem_Rows_split"}, {1, kThreads}, of);
  }
};

class MoveSomeRows final : public Op {
public:
  MoveSomeRows(const tbem_op_desc& from, DevicePointer word) : Op(from), word_(word) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    const std::int64_t samples = operands[memory[1] != nullptr ? 1 : 2].dims[0] - 1;
    const std::uint64_t row = operands[0].layout.bytes / static_cast<std::uint64_t>(samples);
    if (row == 0) return TBEM_OK;
    const std::uint64_t places = row | reinterpret_cast<std::uintptr_t>(memory[0]) | reinterpret_cast<std::uintptr_t>(memory[3]);
    std::uint64_t bytes = 16;  // as many at once as divide all of them
    while (places % bytes != 0) bytes /= 2;
    const auto pieces = static_cast<std::int64_t>(row / bytes);
    return isWide(samples * pieces) ? start<std::uint64_t>(samples, pieces, bytes, memory)
                                    : start<std::uint32_t>(samples, pieces, bytes, memory);
  }

private:
  template <class Index>
  tbem_status start(std::int64_t samples, std::int64_t pieces, std::uint64_t bytes, void* const* memory) const {
    MoveRows<Index> move;
    move.pieces = dividerBy<Index>(pieces);
    move.count = static_cast<Index>(samples * pieces);
    move.samples = samples;
    move.from = static_cast<const std::int64_t*>(memory[1]);
    move.to = static_cast<const std::int64_t*>(memory[2]);
    move.word = reinterpret_cast<std::uint64_t*>(word_);
    const void* const x = memory[0];
    return launch(TBEM_SIZED_KERNELS(Rows).of(bytes, sizeof(Index) == sizeof(std::uint64_t)),
                  {blocksFor(samples * pieces), kThreads}, move, x, memory[3]);
  }

  DevicePointer word_;
};

/// Rows of images with their channels last follow each other, too, where they are what the outermost dimension counts.
bool movesImages(const tbem_op_desc& op) {
  constexpr int kFrom = 0, kTo = 3;  // of move_rows' operands
  return op.primitive == TBEM_PRIMITIVE_move_rows && op.operands[kFrom].dims[0] > 1 && op.operands[kTo].dims[0] > 1;
}

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = movesImages(op) ? imageLayouts(op) : plainLayouts(op)) return status;
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:rows");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  if (op.primitive == TBEM_PRIMITIVE_split_rows) {
    out = std::make_unique<SplitRows>(op);
    return TBEM_OK;
  }
  DevicePointer word = 0;
  if (const tbem_status status = errorWord(word)) return status;
  out = std::make_unique<MoveSomeRows>(op, word);
  return TBEM_OK;
}

}  // namespace

Family rowsFamily() { return {query, create}; }

}  // namespace tbem::cuda
