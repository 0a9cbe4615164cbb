#include "test/prop/cuda/Card.h"

#include <algorithm>
#include <cmath>

namespace tbem::test {

bool isLibrarys(tbem_primitive primitive) {
  switch (primitive) {
    case TBEM_PRIMITIVE_conv2d:
    case TBEM_PRIMITIVE_conv2d_input_gradient:
    case TBEM_PRIMITIVE_conv2d_weight_gradient:
    case TBEM_PRIMITIVE_dense:
    case TBEM_PRIMITIVE_dense_input_gradient:
    case TBEM_PRIMITIVE_dense_weight_gradient:
    case TBEM_PRIMITIVE_matmul:
    case TBEM_PRIMITIVE_attention:
    case TBEM_PRIMITIVE_attention_gradient:
      return true;
    default:
      return false;
  }
}

bool isNarrowAlone(tbem_primitive primitive) {
  return primitive == TBEM_PRIMITIVE_attention || primitive == TBEM_PRIMITIVE_attention_gradient;
}

bool movesRows(tbem_primitive primitive) {
  return primitive == TBEM_PRIMITIVE_split_rows || primitive == TBEM_PRIMITIVE_move_rows;
}

void agreesWithRef(const Problem& problem, double bound, Runs runs,
                   const std::function<void(std::vector<tbem_operand>&)>& types) {
  const Outcome expected = runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, types});
  ASSERT_EQ(expected.status, TBEM_OK) << problem.text() << ": " << expected.error;
  Settings settings{TBEM_F32, 1, types};
  const Outcome first = runOn(*tbem_backend_cuda(), problem, settings);
  ASSERT_EQ(first.status, TBEM_OK) << problem.text() << ": " << first.error;
  const Outcome again = runOn(*tbem_backend_cuda(), problem, settings);
  settings.replays = 2;
  const Outcome replayed = runs == Runs::andReplayed ? runOn(*tbem_backend_cuda(), problem, settings) : again;
  ASSERT_EQ(replayed.status, TBEM_OK) << problem.text() << ", recorded: " << replayed.error;
  for (std::size_t k = 0; k < problem.outputs.size(); ++k) {
    const auto where = [&] { return problem.text() + ", result " + std::to_string(k) + " by " + first.implementation; };
    EXPECT_LE(distance(first.outputs[k], expected.outputs[k]), bound) << where();
    EXPECT_EQ(first.bytes[k], again.bytes[k]) << where() << ": other bits";
    EXPECT_EQ(first.bytes[k], replayed.bytes[k]) << where() << ": other bits when it is replayed";
  }
}

double relative(const std::vector<double>& found, const std::vector<double>& expected) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += (found[i] - expected[i]) * (found[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return std::sqrt(difference) / std::max(std::sqrt(size), 1e-30);
}

}  // namespace tbem::test
