// Rows of samples behind gates: split_rows, move_rows. Samples lie whole, one behind the other, whatever the layout inside one.
#include "runtime/backends/cpu/ops/Op.h"
#include "runtime/backends/cpu/ops/Parallel.h"

#include <cstdio>
#include <cstring>

namespace tbem::cpu {
namespace {

class Split final : public Op {
public:
  using Op::Op;

  tbem_status run(void* const* memory, void*, const double*) override {
    const auto* condition = static_cast<const std::uint8_t*>(memory[0]);
    const auto* origin = static_cast<const std::int64_t*>(memory[1]);
    auto* chosen = static_cast<std::int64_t*>(memory[2]);
    auto* others = static_cast<std::int64_t*>(memory[3]);
    const std::int64_t count = origin != nullptr ? origin[0] : operands[0].dims[0];
    std::int64_t yes = 0, no = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (condition[i] != 0) {
        chosen[++yes] = i;
      } else {
        others[++no] = i;
      }
    }
    chosen[0] = yes, others[0] = no;
    if (origin != nullptr) {
      translate(chosen, origin, static_cast<std::int64_t*>(memory[4]));
      translate(others, origin, static_cast<std::int64_t*>(memory[5]));
    }
    return TBEM_OK;
  }

private:
  static void translate(const std::int64_t* rows, const std::int64_t* origin, std::int64_t* out) {
    out[0] = rows[0];
    for (std::int64_t i = 1; i <= rows[0]; ++i) out[i] = origin[1 + rows[i]];
  }
};

class MoveRows final : public Op {
public:
  explicit MoveRows(const tbem_op_desc& from)
      : Op(from),
        bytes_(operands[0].layout.bytes / static_cast<std::uint64_t>(operands[operands[1].present ? 1 : 2].dims[0] - 1)) {}

  tbem_status run(void* const* memory, void*, const double*) override {
    const auto* from = static_cast<const std::int64_t*>(memory[1]);
    const auto* to = static_cast<const std::int64_t*>(memory[2]);
    const std::int64_t count = from != nullptr ? from[0] : to[0];
    const auto* x = static_cast<const char*>(memory[0]);
    auto* y = static_cast<char*>(memory[3]);
    parallelFor(threads, count, count * static_cast<std::int64_t>(bytes_ / sizeof(float)), [&](std::int64_t i) {
      const std::int64_t source = from != nullptr ? from[1 + i] : i, target = to != nullptr ? to[1 + i] : i;
      std::memcpy(y + static_cast<std::uint64_t>(target) * bytes_, x + static_cast<std::uint64_t>(source) * bytes_, bytes_);
    });
    return TBEM_OK;
  }

private:
  std::uint64_t bytes_;  ///< of a sample
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  if (op.primitive == TBEM_PRIMITIVE_move_rows && !runtime::sameLayout(op.operands[0], op.operands[3]))
    return fail(TBEM_UNSUPPORTED, "cpu: move_rows between equal layouts only");
  std::snprintf(info.implementation, sizeof info.implementation, "tbem:rows");
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  if (op.primitive == TBEM_PRIMITIVE_split_rows) {
    out = std::make_unique<Split>(op);
  } else {
    out = std::make_unique<MoveRows>(op);
  }
  return TBEM_OK;
}

}  // namespace

Family rowsFamily() { return {query, create}; }

}  // namespace tbem::cpu
