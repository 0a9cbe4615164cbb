#include "runtime/backends/cuda/Widened.h"

#include "runtime/backends/cuda/Primitives.h"
#include "runtime/backends/cuda/libraries/Conversion.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::cuda {

namespace {

/// What is read and written as f32: a number of an operand, and where in the workspace its f32 copy begins.
struct Copy {
  int operand;
  std::uint64_t offset;
};

/// The operator that is run, of f32 where it must be, and the copies before its own workspace.
struct Wide {
  explicit Wide(const tbem_op_desc& op) : inner(op) {
    for (int k = 0; k < op.inputs + op.outputs; ++k) {
      tbem_operand& operand = inner.operands[static_cast<std::size_t>(k)];
      if (!mustBeWide(op, k)) continue;
      operand.dtype = TBEM_F32;
      if (operand.layout.any == 0) operand.layout.bytes = runtime::extentBytes(operand);
      copies.push_back({k, copyBytes});
      constexpr std::uint64_t kAlignment = 256;  // of what a kernel reads, as an allocation's
      const std::uint64_t bytes = static_cast<std::uint64_t>(runtime::elementCount(operand)) * sizeof(float);
      copyBytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
  }

  runtime::OwnDescription inner;
  std::vector<Copy> copies;
  std::uint64_t copyBytes = 0;
};

class Widened final : public Op {
public:
  explicit Widened(const tbem_op_desc& from) : Op(from), wide(desc), places(operands.size()) {}

  tbem_status run(void* const* memory, void* work, const double* scalars) override {
    std::copy(memory, memory + operands.size(), places.begin());
    for (const Copy& copy : wide.copies) places[static_cast<std::size_t>(copy.operand)] = static_cast<char*>(work) + copy.offset;
    if (const tbem_status status = convert(memory, true)) return status;
    if (const tbem_status status = op->run(places.data(), static_cast<char*>(work) + wide.copyBytes, scalars)) return status;
    return convert(memory, false);
  }

  Wide wide;
  std::unique_ptr<Op> op;
  std::vector<std::unique_ptr<Op>> conversions;  ///< by copy

private:
  tbem_status convert(void* const* memory, bool inputs) const {
    for (std::size_t i = 0; i < conversions.size(); ++i) {
      const auto k = static_cast<std::size_t>(wide.copies[i].operand);
      if ((wide.copies[i].operand < desc.inputs) != inputs) continue;
      const std::array<void*, 2> ends{inputs ? memory[k] : places[k], inputs ? places[k] : memory[k]};
      if (const tbem_status status = conversions[i]->run(ends.data(), nullptr, nullptr)) return status;
    }
    return TBEM_OK;
  }

  std::vector<void*> places;  ///< by operand, where the operator reads and writes it
};

tbem_status query(tbem_op_desc& op, tbem_op_info& info) {
  Wide wide(op);
  if (const tbem_status status = familyOf(op.primitive).query(wide.inner.desc, info)) return status;
  for (int k = 0; k < op.inputs + op.outputs; ++k) {
    tbem_operand& operand = op.operands[k];
    if (operand.present == 0 || operand.layout.any == 0) continue;
    operand.layout = wide.inner.operands[static_cast<std::size_t>(k)].layout;
    operand.layout.bytes = runtime::extentBytes(operand);
  }
  info.workspace += wide.copyBytes;
  constexpr std::string_view kSays = ", widened to f32";
  const std::size_t length = std::strlen(info.implementation);
  std::snprintf(info.implementation + length, sizeof info.implementation - length, "%s", kSays.data());
  return TBEM_OK;
}

tbem_status create(const tbem_op_desc& op, std::unique_ptr<Op>& out) {
  auto widened = std::make_unique<Widened>(op);
  if (const tbem_status status = familyOf(op.primitive).create(widened->wide.inner.desc, widened->op)) return status;
  for (const Copy& copy : widened->wide.copies) {
    const tbem_operand& operand = op.operands[copy.operand];
    const bool input = copy.operand < op.inputs;
    auto conversion =
        conversionOf(input ? operand.dtype : TBEM_F32, input ? TBEM_F32 : operand.dtype, runtime::elementCount(operand));
    if (!conversion) return unsupported(op, conversion.error());
    widened->conversions.push_back(std::move(*conversion));
  }
  out = std::move(widened);
  return TBEM_OK;
}

}  // namespace

Family widenedFamily() { return {query, create}; }

}  // namespace tbem::cuda
