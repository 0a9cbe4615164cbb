#include "runtime/perturb/Tensors.h"

#include "runtime/core/Inputs.h"
#include "runtime/core/Layout.h"

#include <cstring>

namespace tbem::perturb {

using Kind = Failure::Kind;

namespace {
Result<void> ofRun(const tl::expected<void, runtime::Failure>& done) {
  if (!done) return failure(Kind::Run, done.error().message);
  return {};
}
}  // namespace

runtime::HostTensor zerosOf(const tbem_operand& operand) {
  runtime::HostTensor tensor{operand.dtype, {operand.dims, operand.dims + operand.rank}, {}};
  tensor.data.resize(tensor.count() * runtime::elementBytes(operand.dtype));
  return tensor;
}

Result<void> writeInput(runtime::Instance& instance, std::string_view path, std::span<const float> values) {
  return ofRun(runtime::writeInput(instance, path, values));
}
Result<void> writeInput(runtime::Instance& instance, std::string_view path, std::span<const std::int64_t> values) {
  return ofRun(runtime::writeInput(instance, path, values));
}
Result<void> writeInput(runtime::Instance& instance, std::string_view path, const runtime::HostTensor& value) {
  const auto storage = instance.findStorage(path);
  if (!storage) return {};
  return ofRun(instance.writeStorage(*storage, value));
}

Result<std::vector<float>> readNumbers(const runtime::Instance& instance, std::uint32_t buffer) {
  const auto tensor = instance.read(buffer);
  if (!tensor) return failure(Kind::Run, tensor.error().message);
  if (tensor->dtype == TBEM_F32) {
    std::vector<float> numbers(tensor->count());
    std::memcpy(numbers.data(), tensor->data.data(), tensor->data.size());
    return numbers;
  }
  const std::vector<double> numbers = tensor->doubles();
  return std::vector<float>(numbers.begin(), numbers.end());
}

}  // namespace tbem::perturb
