// permute, pad, slice, concat, reorder.
#include "runtime/backends/cuda/device/Images.h"
#include "runtime/backends/cuda/ops/Walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

namespace tbem::cuda {
namespace {

std::uint64_t bytesOf(const tbem_operand& operand) { return runtime::elementBytes(operand.dtype); }

std::vector<std::int64_t> stepsOf(const tbem_operand& x) {
  std::vector<std::int64_t> steps(static_cast<std::size_t>(x.rank));
  std::int64_t step = 1;
  for (int d = x.rank; d-- > 0; step *= x.dims[d]) steps[static_cast<std::size_t>(d)] = step;
  return steps;
}

std::int64_t largest(const tbem_operand& x, const tbem_operand& y) {
  return std::max(runtime::elementCount(x), runtime::elementCount(y));
}

/// Of permute, slice and reorder: where the elements of the result lie in x; the result's axes from the outermost as they lie.
Box boxOf(const tbem_op_desc& op) {
  const tbem_operand &x = op.operands[0], &y = op.operands[1];
  Box box;
  for (int d = 0; d < y.rank; ++d) {
    const std::int64_t from = x.layout.strides[d], to = y.layout.strides[d];
    if (op.primitive == TBEM_PRIMITIVE_permute) {
      box.axes.push_back({y.dims[d], x.layout.strides[op.attributes[1 + d]], to});
    } else if (op.primitive == TBEM_PRIMITIVE_slice) {
      box.axes.push_back({y.dims[d], from * op.attributes[2 + x.rank + d], to});
      box.fromStart += op.attributes[1 + d] * from;
    } else {
      box.axes.push_back({y.dims[d], from, to});
    }
  }
  std::erase_if(box.axes, [](const WalkAxis& axis) { return axis.length == 1; });
  std::ranges::stable_sort(box.axes, std::ranges::greater(), &WalkAxis::to);
  return box;
}

/// permute, and reorder, where both innermost axes are long enough that squares are worth it.
class Turn {
public:
  static std::optional<Turn> of(const tbem_op_desc& op) {
    constexpr std::int64_t kShort = 8;
    if (op.primitive != TBEM_PRIMITIVE_permute && op.primitive != TBEM_PRIMITIVE_reorder) return {};
    const Box box = joined(boxOf(op));
    if (box.axes.size() < 2) return {};
    const auto column = std::find_if(box.axes.begin(), box.axes.end(), [](const WalkAxis& axis) { return axis.from == 1; });
    if (column == box.axes.end() || column + 1 == box.axes.end()) return {};
    if (column->length < kShort || box.axes.back().length < kShort) return {};
    return Turn(box, *column, bytesOf(op.operands[0]), isWide(largest(op.operands[0], op.operands[1])));
  }

  tbem_status run(const void* x, void* y) const {
    if (blocks_ == 0) return TBEM_OK;
    const Kernel kernel = TBEM_SIZED_KERNELS(Turn).of(bytes_, wide_);
    const Grid grid{blocks_, kThreads};
    return wide_ ? launch(kernel, grid, large_, x, y) : launch(kernel, grid, narrow_, x, y);
  }

private:
  Turn(const Box& box, const WalkAxis& column, std::uint64_t bytes, bool wide) : bytes_(bytes), wide_(wide) {
    std::vector<Axis> from, to;
    const WalkAxis& row = box.axes.back();
    std::int64_t others = 1;
    for (const WalkAxis& axis : box.axes) {
      if (axis.from == 1 || axis.to == 1) continue;
      from.push_back({axis.length, axis.from});
      to.push_back({axis.length, axis.to});
      others *= axis.length;
    }
    fill(narrow_, row, column, from, to);
    fill(large_, row, column, from, to);
    blocks_ = static_cast<std::uint32_t>(others * quotientUp(row.length, kSquare) * quotientUp(column.length, kSquare));
  }

  template <class Index>
  static void fill(TurnShape<Index>& shape, const WalkAxis& row, const WalkAxis& column, const std::vector<Axis>& from,
                   const std::vector<Axis>& to) {
    shape.rows = static_cast<Index>(row.length), shape.columns = static_cast<Index>(column.length);
    shape.rowStep = static_cast<Index>(row.from), shape.columnStep = static_cast<Index>(column.to);
    shape.across = dividerBy<Index>(quotientUp(column.length, kSquare));
    shape.down = dividerBy<Index>(quotientUp(row.length, kSquare));
    shape.from = axesOf<Index, kMostAxes>(from);
    shape.to = axesOf<Index, kMostAxes>(to);
  }

  std::uint64_t bytes_;
  bool wide_;
  std::uint32_t blocks_ = 0;
  TurnShape<std::uint32_t> narrow_;
  TurnShape<std::uint64_t> large_;
};

class Rearrange final : public Op {  // permute, slice, and reorder from one order to another
public:
  explicit Rearrange(const tbem_op_desc& from)
      : Op(from), turn_(Turn::of(desc)), copy_(boxOf(desc), bytesOf(operands[0]), largest(operands[0], operands[1])) {}
  tbem_status run(void* const* memory, void*, const double*) override {
    return turn_ ? turn_->run(memory[0], memory[1]) : copy_.run(memory[0], memory[1]);
  }

private:
  std::optional<Turn> turn_;
  Copy copy_;
};

class Pad final : public Op {
public:
  explicit Pad(const tbem_op_desc& from) : Op(from) {
    fill(narrow_);
    fill(large_);
  }
  tbem_status run(void* const* memory, void*, const double*) override {
    const std::int64_t count = runtime::elementCount(operands[1]);
    if (count == 0) return TBEM_OK;
    const bool wide = isWide(count);
    const Kernel kernel = TBEM_SIZED_KERNELS(Pad).of(bytesOf(operands[0]), wide);
    const Grid grid{blocksFor(quotientUp(count, kPadded)), kThreads};
    const void* const x = memory[0];
    return wide ? launch(kernel, grid, large_, x, memory[1]) : launch(kernel, grid, narrow_, x, memory[1]);
  }

private:
  struct Side {
    std::int64_t few, many, low, step, from;
  };

  /// Axes from the innermost; one that is wholly x's joins the one around it.
  std::vector<Side> sides() const {
    const tbem_operand &x = operands[0], &y = operands[1];
    const std::vector<std::int64_t> from = stepsOf(x);
    std::vector<Side> sides;
    for (int d = x.rank; d-- > 0;) {
      const auto axis = static_cast<std::size_t>(d), rank = static_cast<std::size_t>(x.rank);
      Side side{x.dims[d], y.dims[d], attributes[1 + axis], attributes[2 + rank + axis] + 1, from[axis]};
      if (!sides.empty() && sides.back().few == sides.back().many && sides.back().low == 0 && side.step == 1) {
        const Side inner = sides.back();
        side = {side.few * inner.few, side.many * inner.many, side.low * inner.many, 1, inner.from};
        sides.pop_back();
      }
      sides.push_back(side);
    }
    return sides;
  }

  template <class Index>
  void fill(PadShape<Index>& shape) const {
    for (const Side& side : sides()) {
      shape.dims[shape.rank] = dividerBy<Index>(side.many);
      shape.steps[shape.rank] = dividerBy<Index>(side.step);
      shape.low[shape.rank] = static_cast<Index>(side.low);
      shape.length[shape.rank] = static_cast<Index>(side.few);
      shape.from[shape.rank++] = static_cast<Index>(side.from);
    }
    shape.count = static_cast<Index>(runtime::elementCount(operands[1]));
  }

  PadShape<std::uint32_t> narrow_;
  PadShape<std::uint64_t> large_;
};

class Concat final : public Op {
public:
  explicit Concat(const tbem_op_desc& from) : Op(from) {
    const tbem_operand& y = operands.back();
    const int axis = axisAsItLies(orderOf(desc), static_cast<int>(attributes[0]));
    const runtime::Lines whole = runtime::linesAlong(asItLies(y), axis);
    std::int64_t before = 0;
    for (std::size_t k = 0; k + 1 < operands.size(); ++k) {
      const std::int64_t part = operands[k].dims[attributes[0]] * whole.inner;
      const Box box{{{whole.outer, part, whole.length * whole.inner}, {part, 1, 1}}, 0, before};
      copies_.emplace_back(box, bytesOf(y), runtime::elementCount(y));
      before += part;
    }
  }
  tbem_status run(void* const* memory, void*, const double*) override {
    for (std::size_t k = 0; k < copies_.size(); ++k) {
      if (const tbem_status status = copies_[k].run(memory[k], memory[copies_.size()])) return status;
    }
    return TBEM_OK;
  }

private:
  std::vector<Copy> copies_;
};

struct Conversion {
  tbem_dtype from, to;
  const char* kernel;
};

/// Those of `ref`.
constexpr Conversion kConversions[] = {
    {TBEM_F64, TBEM_F32, "tbem_Convert_f64_f32"},   {TBEM_F64, TBEM_I64, "tbem_Convert_f64_i64"},
    {TBEM_F64, TBEM_I32, "tbem_Convert_f64_i32"},   {TBEM_F32, TBEM_F64, "tbem_Convert_f32_f64"},
    {TBEM_F32, TBEM_I64, "tbem_Convert_f32_i64"},   {TBEM_F32, TBEM_I32, "tbem_Convert_f32_i32"},
    {TBEM_I64, TBEM_F64, "tbem_Convert_i64_f64"},   {TBEM_I64, TBEM_F32, "tbem_Convert_i64_f32"},
    {TBEM_I64, TBEM_I32, "tbem_Convert_i64_i32"},   {TBEM_I32, TBEM_F64, "tbem_Convert_i32_f64"},
    {TBEM_I32, TBEM_F32, "tbem_Convert_i32_f32"},   {TBEM_I32, TBEM_I64, "tbem_Convert_i32_i64"},
    {TBEM_BF16, TBEM_F32, "tbem_Convert_bf16_f32"}, {TBEM_F32, TBEM_BF16, "tbem_Convert_f32_bf16"},
    {TBEM_F16, TBEM_F32, "tbem_Convert_f16_f32"},   {TBEM_F32, TBEM_F16, "tbem_Convert_f32_f16"},
};

/// The kernel, or null where there is none.
const char* conversion(int from, int to) {
  const auto* const found = std::find_if(std::begin(kConversions), std::end(kConversions),
                                         [&](const Conversion& known) { return known.from == from && known.to == to; });
  return found != std::end(kConversions) ? found->kernel : nullptr;
}

class Reorder final : public Op {  // in one order
public:
  explicit Reorder(const tbem_op_desc& from)
      : Op(from),
        count_(runtime::elementCount(operands[0])),
        copy_(Box{{{count_, 1, 1}}}, bytesOf(operands[0]), count_),
        kernel_(conversion(operands[0].dtype, operands[1].dtype)) {}
  tbem_status run(void* const* memory, void*, const double*) override {
    if (kernel_ == nullptr) return copy_.run(memory[0], memory[1]);
    if (count_ == 0) return TBEM_OK;
    const void* const x = memory[0];
    return launch({"Convert", kernel_}, {blocksFor(count_), kThreads}, x, memory[1], static_cast<std::uint64_t>(count_));
  }

private:
  std::int64_t count_;
  Copy copy_;
  const char* kernel_;  ///< null: of the same type
};

/// Whether elements lie otherwise in the result.
bool turns(const tbem_op_desc& op) {
  return op.primitive == TBEM_PRIMITIVE_reorder && !runtime::sameLayout(op.operands[0], op.operands[1]);
}

/// Any order of dimensions without gaps; to another one of the same type alone.
tbem_status reorderLayouts(tbem_op_desc& op) {
  for (int k = 0; k < 2; ++k) {
    tbem_operand& operand = op.operands[k];
    if (operand.layout.any != 0) runtime::setPlain(operand);
    if (operand.layout.blocks != 0 || runtime::extentElements(operand) != runtime::elementCount(operand))
      return unsupported(op, fmt::format("operand {} lies in blocks or with gaps", k));
  }
  return turns(op) && op.operands[0].dtype != op.operands[1].dtype ? unsupported(op, "another type in another order") : TBEM_OK;
}

tbem_status layoutsOf(tbem_op_desc& op) {
  if (op.primitive == TBEM_PRIMITIVE_reorder) return reorderLayouts(op);
  const bool takesImages = op.primitive == TBEM_PRIMITIVE_concat || op.primitive == TBEM_PRIMITIVE_slice;
  return takesImages ? imageLayouts(op) : plainLayouts(op);
}

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (const tbem_status status = layoutsOf(op)) return status;
  const int from = op.operands[0].dtype, to = op.operands[op.inputs].dtype;
  if (op.primitive == TBEM_PRIMITIVE_reorder && from != to && conversion(from, to) == nullptr) {
    return fail(TBEM_UNSUPPORTED, fmt::format("cuda: reorder from {} to {}", runtime::dtypeName(from), runtime::dtypeName(to)));
  }
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:%s", Turn::of(op) ? "squares" : "move");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  if (op.primitive == TBEM_PRIMITIVE_pad) {
    out = std::make_unique<Pad>(op);
  } else if (op.primitive == TBEM_PRIMITIVE_concat) {
    out = std::make_unique<Concat>(op);
  } else if (op.primitive == TBEM_PRIMITIVE_reorder && !turns(op)) {
    out = std::make_unique<Reorder>(op);
  } else {
    out = std::make_unique<Rearrange>(op);
  }
  return TBEM_OK;
}

}  // namespace

Family moveFamily() { return {query, create}; }

}  // namespace tbem::cuda
