#include "compiler/show/memory/RecomputeReport.h"
#include "compiler/show/Out.h"

#include "runtime/report/Numbers.h"

#include <fmt/format.h>

namespace tbem::driver {

namespace {
constexpr std::size_t kNamed = 4;  ///< operators that are named for a block

std::string named(const std::vector<std::string>& operators) {
  const std::size_t count = std::min(operators.size(), kNamed);
  const std::string some =
      fmt::format("{}", fmt::join(operators.begin(), operators.begin() + static_cast<std::ptrdiff_t>(count), ", "));
  return operators.size() > count ? fmt::format("{}, and {} more", some, operators.size() - count) : some;
}
}  // namespace

void printRecomputation(show::Out& out, const estimate::Recomputation& recomputation, const std::string& levels) {
  const std::string memory = fmt::format("arena {} where everything is kept", report::bytes(recomputation.arenaKept));
  if (recomputation.blocks.empty()) {
    out.say("nothing is computed again in {}: {}\n", levels, memory);
    return;
  }
  report::Table table;
  table.title = fmt::format("computed again in the backward pass of {}", levels);
  table.columns = {{"block", report::Align::Left},
                   {"operators", report::Align::Right},
                   {"FLOPs", report::Align::Decimal},
                   {"which", report::Align::Left}};
  for (const estimate::RecomputedBlock& block : recomputation.blocks) {
    table.add({block.path.empty() ? "the network" : block.path, std::to_string(block.count),
               report::flops(estimate::toDouble(block.flops)), named(block.operators)});
  }
  out.table(table);
  out.say("recomputation: {}, {} of the step without it; {}, {} with it{}\n",
          report::flops(estimate::toDouble(recomputation.flops)), report::percent(recomputation.share()), memory,
          report::bytes(recomputation.arena),
          recomputation.limit ? fmt::format(" (limit {})", report::bytes(*recomputation.limit)) : "");
}

}  // namespace tbem::driver
