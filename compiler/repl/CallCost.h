// What a call costs, before it runs: its result, and what the design of one row that stands for it takes.
#pragma once

#include "compiler/count/Flops.h"
#include "compiler/run/State.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tbem::repl {

struct ResultShape {
  std::string dtype;
  std::vector<std::int64_t> shape;
};

/// An operator of the forward pass, as it is called.
struct OperatorRow {
  std::string path;  ///< the block instance in which it stands; "" for the network
  std::string name;
  std::vector<ResultShape> results;
  double flops = 0;
};

struct CallCost {
  std::vector<ResultShape> results;
  std::int64_t parameters = 0;
  double flops = 0;             ///< forward
  std::uint64_t live = 0;       ///< bytes, largest sum at a time
  std::uint64_t arena = 0;      ///< bytes of the plan that runs
  std::string peak, peakScope;  ///< the operator at which memory is highest, and the block instance in which it stands
  std::vector<OperatorRow> operators;
};

/// Of the only row of a state that has passed `lower`. Errors: a number without a value, in words.
tl::expected<CallCost, std::string> callCost(const driver::State& state);

}  // namespace tbem::repl
