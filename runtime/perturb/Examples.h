// The examples of a plan in batches, which do not depend on what is done with them: batch b has the examples b * batch and the
// next ones, and the last batch its last example over and over where there are no more. Internal to this folder.
#pragma once

#include "runtime/data/Dataset.h"
#include "runtime/perturb/Result.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tbem::perturb {

struct Batch {
  std::int64_t number = 0;             ///< from 0
  std::vector<std::int64_t> examples;  ///< by place; those behind `count` are fillers
  std::int64_t count = 0;              ///< examples that are not fillers
  std::vector<float> inputs;           ///< of all places, one after the other
  std::vector<std::int64_t> labels;    ///< by place; -1: the data have none

  std::span<const float> input(std::int64_t place) const { return rowOf(inputs, place); }
  /// The numbers at this place of others like `inputs`.
  std::span<const float> rowOf(std::span<const float> all, std::int64_t place) const {
    const std::size_t elements = inputs.size() / examples.size();
    return all.subspan(static_cast<std::size_t>(place) * elements, elements);
  }
};

class Examples {
public:
  /// Both must outlive it.
  Examples(const Plan& plan, const data::Dataset& dataset) : plan(plan), dataset(dataset) {}
  std::int64_t total() const;
  std::int64_t batches() const { return (total() + plan.batch - 1) / plan.batch; }
  /// The numbers of the examples that are no fillers.
  std::int64_t first(std::int64_t batch) const { return batch * plan.batch; }
  std::int64_t end(std::int64_t batch) const { return std::min(first(batch + 1), total()); }
  /// Errors: what the dataset says, an example that is no valid input.
  Result<Batch> read(std::int64_t number) const;

private:
  /// Whether they are valid inputs or not.
  Result<Batch> readAny(std::int64_t number) const;
  /// This example is no valid input: what the numbers of all examples are, which may take as long as reading them does.
  Failure outside(std::int64_t example, const std::string& problem) const;

  const Plan& plan;
  const data::Dataset& dataset;
};

}  // namespace tbem::perturb
