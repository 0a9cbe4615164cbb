// split_rows and move_rows of cuda against ref, with patterns in everything that must stay as it is.
#include "test/problems/Random.h"
#include "test/prop/cuda/Card.h"

#include <algorithm>
#include <numeric>

namespace tbem::test {
namespace {

using CudaRows = OnCard;

/// `count` of the samples, in ascending order, and their number before them.
Array listOf(Random& random, std::int64_t samples, std::int64_t count) {
  std::vector<double> all(static_cast<std::size_t>(samples));
  std::iota(all.begin(), all.end(), 0.0);
  for (std::size_t i = all.size(); i-- > 1;)
    std::swap(all[i], all[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(i)))]);
  std::sort(all.begin(), all.begin() + count);
  all.insert(all.begin(), static_cast<double>(count));
  return {{1 + samples}, all, true};
}

TEST_F(CudaRows, AreSplitByTheCondition) {
  for (std::uint64_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    Random random(71000 + seed);
    const std::int64_t samples = random.integer(1, seed % 4 == 0 ? 3000 : 40), share = random.integer(0, 4);
    Array condition{{samples}, {}, false};
    for (std::int64_t i = 0; i < samples; ++i) condition.values.push_back(random.integer(0, 3) < share ? 1 : 0);
    const Array list{{1 + samples}, {}, true};
    const bool nested = random.coin();
    Problem problem{TBEM_PRIMITIVE_split_rows, {}, {}, {condition, std::nullopt}, {list, list}};
    if (nested) problem.inputs[1] = listOf(random, samples, random.integer(0, samples));
    problem.outputs.resize(4, list);
    agreesWithRef(problem, 0, seed % 10 == 0 ? Runs::andReplayed : Runs::twice, [nested](std::vector<tbem_operand>& operands) {
      operands[0].dtype = TBEM_BOOL;
      if (!nested) operands[4].present = operands[5].present = 0;
    });
  }
}

TEST_F(CudaRows, AreMovedByTheirLists) {
  for (std::uint64_t seed = 0; seed < 200 && !HasFailure(); ++seed) {
    Random random(72000 + seed);
    const std::int64_t samples = random.integer(1, 20), rows = random.integer(1, 3), inner = random.integer(1, 700);
    const std::int64_t count = random.integer(0, samples), how = random.integer(0, 2);  // gather, scatter, both
    Array data = random.array({samples * rows, inner});
    for (double& value : data.values) value = static_cast<double>(static_cast<std::int64_t>(value * 8));
    Problem problem{TBEM_PRIMITIVE_move_rows, {}, {}, {data, std::nullopt, std::nullopt}, {Array{data.dims, {}, false}}};
    if (how != 1) problem.inputs[1] = listOf(random, samples, count);
    if (how != 0) problem.inputs[2] = listOf(random, samples, count);
    const int dtype = random.coin() ? TBEM_F32 : random.coin() ? TBEM_I8 : TBEM_F64;
    agreesWithRef(problem, 0, seed % 10 == 0 ? Runs::andReplayed : Runs::twice,
                  [dtype](std::vector<tbem_operand>& operands) { operands[0].dtype = operands[3].dtype = dtype; });
  }
}

}  // namespace
}  // namespace tbem::test
