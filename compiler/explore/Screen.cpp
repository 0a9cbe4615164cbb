#include "compiler/explore/Screen.h"

#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/estimate/Estimate.h"
#include "compiler/run/Rooflines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <utility>

namespace tbem::driver {

namespace {

/// One row's responses with their parts.
struct Costs {
  std::size_t row = 0;
  estimate::Estimate estimate;
  const RowState* state = nullptr;
};

struct Response {
  const char* name;
  report::Quantity quantity;
  std::function<double(const Costs&)> value;
  std::function<estimate::Attribution(const Costs&)> parts;
};

const graph::Graph& graphOf(const Costs& costs) { return costs.state->elaborated->graph(); }

std::vector<Response> responses(bool lowered, bool timed) {
  std::vector<Response> list = {
      {"parameters", report::Quantity::Number, [](const Costs& c) { return static_cast<double>(c.estimate.flops.parameters); },
       [](const Costs& c) { return estimate::parametersByOperator(graphOf(c), c.state->elaborated->values); }},
      {"flops", report::Quantity::Flops, [](const Costs& c) { return estimate::toDouble(c.estimate.flops.most.step()); },
       [](const Costs& c) { return estimate::flopsByOperator(c.estimate.flops); }},
      {"static_memory", report::Quantity::Bytes, [](const Costs& c) { return static_cast<double>(c.estimate.memory.bytes); },
       [](const Costs& c) { return estimate::staticByOperator(graphOf(c), c.estimate.memory); }},
  };
  if (lowered) {
    list.push_back({"arena", report::Quantity::Bytes, [](const Costs& c) { return static_cast<double>(c.state->program->arena); },
                    [](const Costs& c) { return estimate::arenaByOperator(graphOf(c), *c.state->program); }});
  }
  if (timed) {
    list.push_back({"least_time", report::Quantity::Seconds, [](const Costs& c) { return c.estimate.roofline->seconds; },
                    [](const Costs& c) { return estimate::leastTimeByOperator(*c.estimate.roofline); }});
  }
  return list;
}

/// The row whose levels lie nearest the middle: numeric levels by their order, others as declared.
std::size_t centreOf(const DesignRun& run, const std::vector<Costs>& rows) {
  const std::vector<design::Factor> factors = run.factors();
  const auto distance = [&](std::size_t row) {
    double sum = 0;
    for (std::size_t f = 0; f < factors.size(); ++f) {
      const std::uint32_t level = run.rows[row][f];
      if (!run.spec.active(static_cast<std::uint32_t>(f), run.rows[row])) continue;
      double place = level;
      if (factors[f].numeric()) {
        place = static_cast<double>(std::count_if(factors[f].values.begin(), factors[f].values.end(),
                                                  [&](double v) { return v < factors[f].values[level]; }));
      }
      sum +=
          std::fabs(place - static_cast<double>(factors[f].levelCount() - 1) / 2) / static_cast<double>(factors[f].levelCount());
    }
    return sum;
  };
  std::size_t best = rows.front().row;
  for (const Costs& costs : rows) {
    if (distance(costs.row) < distance(best) - 1e-9) best = costs.row;
  }
  return best;
}

std::vector<Screened::Operator> operatorsOf(const Response& response, const std::vector<Costs>& rows, std::size_t centre) {
  std::map<std::string, Screened::Operator> byName;
  std::map<std::string, std::size_t> seen;
  for (const Costs& costs : rows) {
    const double whole = response.value(costs);
    for (const auto& [name, amount] : response.parts(costs)) {
      Screened::Operator& one = byName[name];
      one.name = name;
      const double share = whole > 0 ? amount / whole : 0;
      const bool first = seen[name]++ == 0;
      one.low = first ? share : std::min(one.low, share);
      one.high = first ? share : std::max(one.high, share);
      if (costs.row != centre) continue;
      one.centre = amount;
      one.share = share;
    }
  }
  std::vector<Screened::Operator> list;
  for (auto& [name, one] : byName) {
    if (seen[name] < rows.size()) one.low = 0;  // rows without it
    list.push_back(one);
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.share > b.share; });
  return list;
}

/// The rows as an array of level positions: what the analysis counts.
design::Array arrayOf(const DesignRun& run, const std::vector<Costs>& rows) {
  design::Array array;
  array.runs = rows.size();
  for (const graph::FactorSpec& factor : run.spec.factors)
    array.levels.push_back(static_cast<std::uint32_t>(factor.levels.size()));
  array.nested = run.array.nested;
  for (const Costs& costs : rows) {
    const LevelIndices& levels = run.rows[costs.row];
    array.cells.insert(array.cells.end(), levels.begin(), levels.end());
  }
  return array;
}

class Screener {
public:
  Screener(State& state, std::optional<Rooflines> device) : state(state), device(std::move(device)) {}

  std::vector<Screened> screen(const DesignRun& run) {
    const std::vector<Costs> rows = costsOf(run);
    if (rows.size() < 2) {
      state.events.note(fmt::format("{} has fewer than two rows: nothing to compare", run.spec.name));
      return {};
    }
    const design::Array array = arrayOf(run, rows);
    const std::size_t centre = centreOf(run, rows);
    const auto all = [&](auto has) { return std::all_of(rows.begin(), rows.end(), has); };
    const bool lowered = all([](const Costs& c) { return c.state->program.has_value(); });
    const bool timed = all([](const Costs& c) { return c.estimate.roofline.has_value(); });
    std::vector<Screened> findings;
    for (const Response& response : responses(lowered, timed)) {
      std::vector<double> values;
      values.reserve(rows.size());
      for (const Costs& costs : rows) values.push_back(response.value(costs));
      findings.push_back(
          {&run, response.name, response.quantity, design::screen(array, values), centre, operatorsOf(response, rows, centre)});
      findings.back().workEnded = !lowered;
    }
    if (!lowered)
      state.events.note(fmt::format(
          "{}: the search ended at its limit of work after {} of {} plans: arena and least time are not screened; "
          "--at picks rows, --grid 0 the design's own",
          run.spec.name, std::count_if(rows.begin(), rows.end(), [](const Costs& c) { return c.state->program.has_value(); }),
          rows.size()));
    return findings;
  }

  std::vector<std::string> untimed;
  std::string leftOut;

private:
  std::vector<Costs> costsOf(const DesignRun& run) {
    std::vector<Costs> rows;
    const bool all = std::ranges::all_of(state.rows, [](const RowState& row) { return row.program.has_value(); });
    for (const RowState& row : state.rows) {
      if (row.run != &run) continue;
      const estimate::Program* program = row.program ? &*row.program : nullptr;
      auto estimate = estimate::estimateRow(row.elaborated->graph(), row.elaborated->values, program);
      if (!estimate) {
        state.sink().report(diag::row_without_number, estimate.error().range, estimate.error().what);
        continue;
      }
      if (device && all) {
        auto roofline = device->of(row);
        if (roofline) {
          if (leftOut.empty()) leftOut = leftOutText(*roofline);
          estimate->roofline = std::move(*roofline);
        } else {
          untimed.push_back(fmt::format("no least time of {}: {}", run.levelsText(row.row), roofline.error()));
        }
      }
      rows.push_back({row.row, std::move(*estimate), &row});
    }
    return rows;
  }

  State& state;
  std::optional<Rooflines> device;
};

}  // namespace

tl::expected<Screening, Failed> screenDesigns(State& state, const ScreenRequest& request) {
  std::optional<Rooflines> device;
  if (!request.roofline.empty()) {
    auto choice = findDevice(*state.workspace, request.roofline);
    if (!choice) return tl::unexpected(std::move(choice).error());
    device.emplace(std::move(*choice), state);
  }
  Screener screener(state, std::move(device));
  Screening screening;
  for (const auto& run : state.designs.runs) {
    if (run->experiment == nullptr) continue;
    std::vector<Screened> findings = screener.screen(*run);
    for (Screened& found : findings) found.noGrid = request.noGrid;
    screening.designs.push_back(std::move(findings));
  }
  screening.untimed = std::move(screener.untimed);
  screening.leftOut = std::move(screener.leftOut);
  return screening;
}

}  // namespace tbem::driver
