// tbemc weights: names, shapes and types of a network's weights and buffers, or of the arrays in a .npz or .safetensors file.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/show/Out.h"
#include "compiler/support/Unicode.h"
#include "runtime/core/Layout.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace tbem::driver {

namespace {

struct WeightsOptions : CommandOptions {};

void declare(OptionList& list, WeightsOptions& o) {
  addProgram(list, o, {.files = "the program, - is standard input; or a file of arrays (.npz, .safetensors)"});
  addRows(list, o, {.on = kPlannedBackends, .planned = kPlanned});
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const WeightsOptions& options) {
  if (!options.program.text && !options.program.files.empty() && data::arrayFormatOf(options.program.files.front())) {
    if (std::string why = unheededProgram(given, options, "a file of arrays"); !why.empty()) return why;
  }
  return unheededRows(given, options, {.notPlanned = notPlanned("weights")});
}

struct Listed {
  std::string group;  ///< "weight", "buffer"; "" for an array of a file
  std::string name, dtype;
  std::vector<std::int64_t> shape;
  std::uint64_t bytes = 0;
};

void print(show::Out& out, const WeightsOptions& options, const std::string& title, const std::vector<Listed>& rows) {
  report::Table table;
  table.title = title;
  table.columns = {{"name", report::Align::Left}, {"shape", report::Align::Left}, {"type", report::Align::Left}, {"bytes"}};
  std::uint64_t bytes = 0;
  for (const Listed& row : rows) {
    bytes += row.bytes;
    if (options.display.json) {
      out.json("weight", {{"group", row.group.empty() ? Json() : Json(row.group)},
                          {"name", row.name},
                          {"shape", row.shape},
                          {"dtype", row.dtype},
                          {"bytes", row.bytes}});
      continue;
    }
    table.add({row.name, data::shapeText(row.shape), row.dtype, std::to_string(row.bytes)});
  }
  if (options.display.json) return;
  out.table(table);
  out.print("{} arrays, {}\n", rows.size(), report::bytes(bytes));
}

/// By its name, or by its first bytes.
bool isArrayFile(const std::string& path) {
  std::error_code ignored;
  if (data::arrayFormatOf(path)) return true;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  const auto file = data::MappedFile::open(path);
  return file && data::beginsLikeArrays(file->text());
}

int listFile(show::Out& out, const WeightsOptions& options) {
  const auto file = data::ArrayFile::open(options.program.files.front());
  if (!file) {
    out.failure(file.error());
    return kEnvironment;
  }
  std::vector<Listed> rows;
  for (const data::ArrayView& array : file->arrays) {
    const data::ElementType* type = data::findElementType(array.dtype);
    const bool runtime = type->runtime >= 0;
    rows.push_back(
        {"", array.name, runtime ? runtime::dtypeName(type->runtime) : std::string(type->name), array.shape, array.bytes.size()});
  }
  print(out, options, options.program.files.front(), rows);
  if (!options.display.json) {
    for (const auto& [key, text] : file->metadata) out.print("{}: {}\n", printableLine(key), printableLine(text));
  }
  return kOk;
}

/// Weights, then buffers, in order of definition.
std::vector<Listed> weightsOf(const graph::Row& row) {
  const graph::Graph& graph = row.graph();
  std::vector<Listed> rows;
  const auto add = [&](const char* group, graph::TensorId id) {
    const graph::Tensor& tensor = graph[id];
    Listed listed{group, graph[tensor.storage].path, runtime::dtypeName(tensor.dtype), {}, 0};
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

int run(show::Out& out, const WeightsOptions& options) {
  if (!options.program.text && isArrayFile(options.program.files.front())) return listFile(out, options);
  State state(options, out);
  state.firstRowOnly = true;
  if (const Progressed done = runPipeline(out, state, options.stages, "graph"); !done.proceed) return done.status;
  if (state.rows.empty()) {
    out.failure("there is no network: the program has no design of one (or give --input for its network)");
    return finish(out, state, kUsage);
  }
  const RowState& row = state.rows.front();
  if (row.run->chosen.size() > 1) out.note(fmt::format("the first of {} rows; pick another with --at", row.run->chosen.size()));
  print(out, options, fmt::format("{} ({})", row.elaborated->graph().network, row.run->levelsText(row.row)),
        weightsOf(*row.elaborated));
  return finish(out, state, kOk);
}

}  // namespace

const Command kWeights = {"weights", "names, shapes and types of a network's weights, or of the arrays in a file", Takes::Program, false,
    invocation<WeightsOptions, declare, unheeded, run>};

}  // namespace tbem::driver
