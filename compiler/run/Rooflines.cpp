#include "compiler/run/Rooflines.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tbem::driver {

tl::expected<estimate::Program, std::string> lowerRowMajor(Events& events, const RowState& row, const Target& target,
                                                           estimate::QueryCache& queries) {
  const Opened plain = openUntimed("ref");  // it has no algorithms that were timed
  if (plain.backend == nullptr) return tl::unexpected(plain.reason);
  auto program = estimate::lower(row.elaborated->graph(), row.elaborated->values, *plain.backend,
                                 lowerOptions(events, target, plain, &queries, {}));
  if (program) return std::move(*program);
  DiagnosticSink sink;
  return tl::unexpected(program.error().report(sink).message);
}

tl::expected<estimate::Roofline, std::string> Rooflines::of(const RowState& row) {
  const graph::Graph& graph = row.elaborated->graph();
  const sema::Values& values = row.elaborated->values;
  if (!row.program) return tl::unexpected(std::string("the row was not lowered"));
  const bool tf32 = choice.tf32 || (graph.tf32 && choice.device.tf32);
  if (choice.thisMachine) return estimate::roofline(graph, values, *row.program, choice.device, tf32);
  state.events.progress(++done, 0,
                        fmt::format("row {} of {}: its least time on {}", row.row + 1, row.run->spec.name, choice.device.name));
  const auto program = lowerRowMajor(state.events, row, state.request.target, queries);
  if (!program) return tl::unexpected(program.error());
  return estimate::roofline(graph, values, *program, choice.device, tf32);
}

std::string leftOutText(const estimate::Roofline& roofline) {
  std::vector<std::string> parts;
  for (const estimate::LeftOut& left : roofline.leftOut)
    parts.push_back(fmt::format("`{}` ({})", left.type, fmt::join(left.operators, ", ")));
  return parts.empty() ? std::string()
                       : fmt::format(
                             "{} has no rate {}: the least times leave that arithmetic out; a record of the program may "
                             "say the rate",
                             roofline.device, fmt::join(parts, ", "));
}

}  // namespace tbem::driver
