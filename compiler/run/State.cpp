#include "compiler/run/State.h"

#include "compiler/devices/AskedDevice.h"
#include "compiler/jit/glue/CacheFile.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

std::size_t State::chosenRows() const {
  std::size_t rows = 0;
  for (const auto& run : designs.runs) rows += run->experiment != nullptr ? run->chosen.size() : 0;
  return rows;
}

RowState* State::rowOf(const DesignRun* run) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const RowState& row) { return row.run == run; });
  return found == rows.end() ? nullptr : &*found;
}

std::uint32_t State::unknownWorkspaces() const {
  std::uint32_t most = 0;
  for (const RowState& row : rows) most = std::max(most, row.program ? row.program->unknownWorkspaces() : 0);
  return most;
}

Opened openBackend(const Request& request, std::string_view name) {
  // Algorithms that were timed are kept where the environment says.
  return request.places ? openUntimed(name) : openBackend(name);
}

tl::expected<void, Failed> openBackend(State& state) {
  const Target& target = state.request.target;
  state.backendName = !target.backend.empty() ? target.backend : target.dtype == "f64" ? "ref" : "cpu";
  std::string planned;  // the card's name
  if (state.backendName == "cuda" && !target.device.empty()) {
    const auto card = describedDevice(*state.workspace, target.device);
    if (!card) return tl::unexpected(card.error());
    constexpr int kLeast = 750;  // what PTX is made for: compute_75
    if (card->properties.capability < kLeast) {
      return failed(kUsage, fmt::format("--device {}: {} has compute capability {}.{}, and backend cuda needs 7.5 or higher "
                                        "(--on pytorch --device {} says what PyTorch takes there)",
                                        target.device, card->properties.name, card->properties.capability / 100,
                                        card->properties.capability / 10 % 10, target.device));
    }
    if (state.request.places) {  // nothing is read from where the environment says
      planForCard(card->properties, {});
    } else {
      state.planAnswers = std::make_unique<PlanAnswers>(*card);
      if (const std::string why = state.planAnswers->refused(); !why.empty()) state.events.note(notBelieved(why));
    }
    planned = card->properties.name;
  }
  state.backend = openBackend(state.request, state.backendName);
  if (!planned.empty() && state.backend.backend != nullptr && planned != state.backend.device.name)
    state.events.note(
        fmt::format("--device {}: a card is here and is asked instead, {}", target.device, state.backend.device.name));
  if (state.backend.backend == nullptr)
    return failed(state.backend.known ? kEnvironment : kUsage,
                  fmt::format("backend {}: {}", state.backendName, state.backend.reason));
  return {};
}

void keepPlanAnswers(State& state) {
  const std::string why = state.planAnswers != nullptr ? state.planAnswers->keep() : "";
  if (!why.empty()) state.events.note("cuDNN's answers cannot be kept: " + why);
}

tl::expected<void, Failed> compileRow(State& state, RowState& row) {
  if (row.compiled) return {};
  jit::JitOptions options;
  options.keepIr = state.keepIr;
  options.marks = state.marks;
  options.architecture = state.backend.device.isa;
  if (const auto& places = state.request.places) {
    options.cache = !places->cache.empty();
    options.cacheDir = places->cache;
  }
  auto compiled = compileRow(*row.elaborated, *row.program, options);
  if (!compiled) return failed(kEnvironment, compiled.error());
  row.compiled = std::move(*compiled);
  return {};
}

}  // namespace tbem::driver
