// Native operators by the reference backend, on row-major values.
#pragma once

#include "runtime/core/Layout.h"
#include "runtime/include/tbem/backend.h"

#include <stdexcept>
#include <string>
#include <vector>

namespace tbem::oracle {

struct NativeCall {
  int primitive = 0;
  std::vector<tbem_operand> operands;  ///< inputs, then outputs; not present: left out. Their layouts do not matter
  int inputs = 0;
  std::vector<std::int64_t> attributes;
  std::vector<double> scalars;
};

/// Reads `data` of the inputs and writes that of the outputs, each rounded to its operand's type. Throws what ref says.
inline void runNative(const NativeCall& call, std::vector<std::vector<double>>& data) {
  std::vector<tbem_operand> plain = call.operands;
  std::vector<std::vector<char>> bytes(plain.size());
  std::vector<void*> pointers(plain.size(), nullptr);
  const auto inputs = static_cast<std::size_t>(call.inputs);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i].present == 0) continue;
    runtime::setPlain(plain[i]);
    bytes[i].resize(static_cast<std::size_t>(plain[i].layout.bytes) + 8);  // never none, so that there is an address
    pointers[i] = bytes[i].data();
    if (i < inputs) runtime::fromDoubles(plain[i].dtype, data[i], bytes[i].data());
  }
  tbem_op_desc desc{};
  desc.size = sizeof desc;
  desc.primitive = call.primitive;
  desc.inputs = call.inputs;
  desc.outputs = static_cast<int>(plain.size() - inputs);
  desc.operands = plain.data();
  desc.attributes = call.attributes.data();
  desc.attribute_count = static_cast<int>(call.attributes.size());
  desc.threads = 1;
  const tbem_backend& ref = *tbem_backend_ref();
  tbem_op_info info{};
  tbem_op* op = nullptr;
  const auto must = [&](tbem_status status) {
    if (status != TBEM_OK) throw std::runtime_error("primitive " + std::to_string(call.primitive) + ": " + ref.last_error());
  };
  must(ref.query(&desc, &info));
  must(ref.create(&desc, &op));
  std::vector<char> workspace(static_cast<std::size_t>(info.workspace) + 64);
  const tbem_status status = ref.run(op, pointers.data(), workspace.data(), call.scalars.data());
  ref.destroy(op);
  must(status);
  for (std::size_t i = inputs; i < plain.size(); ++i) {
    if (plain[i].present == 0) continue;
    data[i].resize(static_cast<std::size_t>(runtime::elementCount(plain[i])));
    runtime::toDoubles(plain[i].dtype, bytes[i].data(), data[i]);
  }
}

}  // namespace tbem::oracle
