#include "compiler/run/weights/ListWeights.h"

#include "runtime/core/Layout.h"

#include <filesystem>
#include <system_error>
#include <utility>

namespace tbem::driver {

std::vector<ListedArray> weightsOf(const graph::Row& row) {
  const graph::Graph& graph = row.graph();
  std::vector<ListedArray> rows;
  const auto add = [&](const char* group, graph::TensorId id) {
    const graph::Tensor& tensor = graph[id];
    ListedArray listed{group, graph[tensor.storage].path, runtime::dtypeName(tensor.dtype), {}, 0};
    listed.bytes = runtime::elementBytes(tensor.dtype);
    for (const sema::ExprId dim : tensor.shape) {
      listed.shape.push_back(row.values[dim].num);
      listed.bytes *= static_cast<std::uint64_t>(listed.shape.back());
    }
    rows.push_back(std::move(listed));
  };
  for (const graph::Graph::Weight& weight : graph.weights) add("weight", weight.value);
  for (const graph::TensorId buffer : graph.buffers) add("buffer", buffer);
  return rows;
}

std::vector<ListedArray> arraysOf(const data::ArrayFile& file) {
  std::vector<ListedArray> rows;
  for (const data::ArrayView& array : file.arrays)
    rows.push_back({"", array.name, dtypeOf(array), array.shape, array.bytes.size()});
  return rows;
}

std::string dtypeOf(const data::ArrayView& array) {
  const data::ElementType* type = data::findElementType(array.dtype);
  return type->runtime >= 0 ? runtime::dtypeName(type->runtime) : std::string(type->name);
}

bool isArrayFile(const std::string& path) {
  std::error_code ignored;
  if (data::arrayFormatOf(path)) return true;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const auto file = data::MappedFile::open(path);
  return file && data::beginsLikeArrays(file->text());
}

}  // namespace tbem::driver
