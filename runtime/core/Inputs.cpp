#include "runtime/core/Inputs.h"

#include <cstring>
#include <utility>
#include <vector>

namespace tbem::runtime {

namespace {

/// `dtype`: that of T.
template <class T>
tl::expected<void, Failure> writeElements(Instance& instance, std::string_view path, std::int32_t dtype,
                                          std::span<const T> values) {
  const auto storage = instance.findStorage(path);
  if (!storage) return {};
  const Executable& executable = instance.executable();
  const tbem_operand& operand = executable.buffers[executable.storages[*storage].buffer].operand;
  HostTensor tensor{operand.dtype, {operand.dims, operand.dims + operand.rank}, {}};
  if (tensor.dtype == dtype) {
    tensor.data.resize(values.size_bytes());  // the instance refuses what is not as much as it has
    std::memcpy(tensor.data.data(), values.data(), values.size_bytes());
  } else {
    tensor = HostTensor::of(tensor.dtype, std::move(tensor.dims), std::vector<double>(values.begin(), values.end()));
  }
  return instance.writeStorage(*storage, tensor);
}

}  // namespace

tl::expected<void, Failure> writeInput(Instance& instance, std::string_view path, std::span<const float> values) {
  return writeElements(instance, path, TBEM_F32, values);
}
tl::expected<void, Failure> writeInput(Instance& instance, std::string_view path, std::span<const std::int64_t> values) {
  return writeElements(instance, path, TBEM_I64, values);
}

}  // namespace tbem::runtime
