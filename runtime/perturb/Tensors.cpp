#include "runtime/perturb/Tensors.h"

#include "runtime/core/Layout.h"

#include <cstring>

namespace tbem::perturb {

using Kind = Failure::Kind;

namespace {

/// `values` are the elements of an input of type `dtype`, or are converted to what it has.
template <class T>
Result<void> writeElements(runtime::Instance& instance, std::string_view path, std::int32_t dtype, std::span<const T> values) {
  const auto storage = instance.findStorage(path);
  if (!storage) return {};
  const runtime::Executable& executable = instance.executable();
  runtime::HostTensor tensor = zerosOf(executable.buffers[executable.storages[*storage].buffer].operand);
  if (tensor.dtype == dtype) {
    tensor.data.resize(values.size_bytes());  // the instance refuses what is not as much as it has
    std::memcpy(tensor.data.data(), values.data(), values.size_bytes());
  } else {
    tensor = runtime::HostTensor::of(tensor.dtype, std::move(tensor.dims), std::vector<double>(values.begin(), values.end()));
  }
  if (const auto done = instance.writeStorage(*storage, tensor); !done) return failure(Kind::Run, done.error().message);
  return {};
}

}  // namespace

runtime::HostTensor zerosOf(const tbem_operand& operand) {
  runtime::HostTensor tensor{operand.dtype, {operand.dims, operand.dims + operand.rank}, {}};
  tensor.data.resize(tensor.count() * runtime::elementBytes(operand.dtype));
  return tensor;
}

Result<void> writeInput(runtime::Instance& instance, std::string_view path, std::span<const float> values) {
  return writeElements(instance, path, TBEM_F32, values);
}
Result<void> writeInput(runtime::Instance& instance, std::string_view path, std::span<const std::int64_t> values) {
  return writeElements(instance, path, TBEM_I64, values);
}
Result<void> writeInput(runtime::Instance& instance, std::string_view path, const runtime::HostTensor& value) {
  const auto storage = instance.findStorage(path);
  if (!storage) return {};
  if (const auto done = instance.writeStorage(*storage, value); !done) return failure(Kind::Run, done.error().message);
  return {};
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
