#include "compiler/import/Export.h"

#include "compiler/diagnostics/tables/Import.h"
#include "compiler/process/Runners.h"
#include "runtime/measure/Child.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>

namespace tbem::imports {

namespace {

constexpr std::size_t kMostOutput = std::size_t{1} << 30;
constexpr std::array<std::string_view, 7> kTypes = {"f32", "f64", "f16", "bf16", "i64", "i32", "bool"};

ExportFailure failureOf(const ExportRequest& request, const measure::Outcome& outcome) {
  const std::string last = measure::lastLines(outcome.errorTail, 1);
  const std::string said = last.empty() ? "" : ": " + last;
  const auto ended = [](std::string message) { return ExportFailure{diag::python_ended, std::move(message), ""}; };
  if (outcome.timedOut)
    return ended(fmt::format("`{}` was stopped after {} s: --max-time gives it more", request.python, request.timeLimit));
  if (outcome.outputCut) return {diag::model_file_unread, "the exported graph is larger than 1 GiB, and is not read", ""};
  if (outcome.signal == 9 && outcome.oomKills.value_or(0) > 0)
    return ended(fmt::format("`{}` ran out of memory: a smaller --input takes less", request.python));
  if (outcome.signal != 0) return ended(fmt::format("`{}` was ended by signal {}{}", request.python, outcome.signal, said));
  if (outcome.exitCode == 0)
    return {diag::python_without_torch,
            fmt::format("`{}` ended without an answer: it is no Python that has PyTorch", request.python), ""};
  return ended(fmt::format("`{}` ended with status {}{}", request.python, outcome.exitCode.value_or(-1), said));
}

}  // namespace

tl::expected<ExportInput, std::string> exportInput(const std::string& text) {
  ExportInput input;
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return tl::unexpected(fmt::format("`{}` is no input: NAME=16,3,224,224", text));
  input.name = text.substr(0, equals);
  std::string sizes = text.substr(equals + 1);
  if (const std::size_t colon = sizes.find(':'); colon != std::string::npos) {
    input.type = sizes.substr(colon + 1);
    sizes.resize(colon);
    if (std::find(kTypes.begin(), kTypes.end(), input.type) == kTypes.end())
      return tl::unexpected(fmt::format("`{}` is no element type: {}", input.type, fmt::join(kTypes, ", ")));
  }
  for (std::size_t at = 0; at <= sizes.size() && !sizes.empty();) {
    const std::size_t comma = std::min(sizes.find(',', at), sizes.size());
    std::int64_t size = 0;
    const auto [end, wrong] = std::from_chars(sizes.data() + at, sizes.data() + comma, size);
    if (wrong != std::errc() || end != sizes.data() + comma || size < 1)
      return tl::unexpected(fmt::format("`{}` is no size of a dimension in `{}`", sizes.substr(at, comma - at), text));
    input.shape.push_back(size);
    at = comma + 1;
  }
  return input;
}

tl::expected<std::string, ExportFailure> exportModel(const ExportRequest& request) {
  nlohmann::json asked = {{"target", request.target},
                          {"arguments", request.arguments},
                          {"sizes", request.sizes},
                          {"inputs", nlohmann::json::array()}};
  for (const ExportInput& input : request.inputs)
    asked["inputs"].push_back({{"name", input.name}, {"shape", input.shape}, {"type", input.type}});
  measure::Command command;
  command.argv = {request.python, "-c", driver::runnerText("export.py"), asked.dump(), driver::runnerText("export_graph.py")};
  command.timeLimit = request.timeLimit;
  command.memoryLimit = request.memoryLimit;
  command.maxOutput = kMostOutput;
  const tl::expected<measure::Outcome, std::string> outcome = measure::spawn(command);
  if (!outcome) return tl::unexpected(ExportFailure{diag::python_ended, outcome.error(), ""});
  if (outcome->exitCode != 0 || outcome->output.empty() || outcome->outputCut)
    return tl::unexpected(failureOf(request, *outcome));
  return outcome->output;
}

}  // namespace tbem::imports
