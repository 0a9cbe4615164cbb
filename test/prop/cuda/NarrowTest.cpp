// bf16 and f16 on a card against ref in f64 on the same rounded operands: the norm of the difference is at most 2^-8 or 2^-11 of
// the result's, which rounding to the type makes at most; twice that of attention, whose weights are rounded before its result
// is. Sums and statistics are kept in f32, and so are gradients of weights but for those that cuDNN gives in the narrow type
// alone.
#include "runtime/backends/cuda/ops/Shapes.h"
#include "test/problems/Narrow.h"
#include "test/problems/Random.h"
#include "test/prop/cuda/Card.h"

#include <cmath>

namespace tbem::test {
namespace {

std::function<void(std::vector<tbem_operand>&)> typesOf(tbem_dtype dtype, tbem_primitive primitive, bool wholly) {
  return [=](std::vector<tbem_operand>& operands) {
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].present != 0 && operands[k].dtype != TBEM_I64)
        operands[k].dtype = wholly || !staysF32(primitive, k) ? dtype : TBEM_F32;
    }
  };
}

/// What rounding to multiples of f16's smallest number, 2^-24, adds to the distance at most.
double ofSmallest(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return squares > 0 ? 0x1p-25 * std::sqrt(static_cast<double>(values.size()) / squares) : 0;
}

class CudaNarrow : public OnCard, public testing::WithParamInterface<std::tuple<tbem_dtype, int>> {
protected:
  void TearDown() override { cuda::wideFrom() = cuda::kWide; }

  const tbem_dtype dtype = std::get<0>(GetParam());

  /// `wholly`: no operand stays f32.
  void agreesWithRef(const Problem& problem, Runs runs, bool wholly) const {
    const Outcome exact = runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}});
    ASSERT_EQ(exact.status, TBEM_OK) << problem.text() << ": " << exact.error;
    Settings settings{dtype, 1, typesOf(dtype, problem.primitive, wholly)};
    const Outcome first = runOn(*tbem_backend_cuda(), problem, settings);
    ASSERT_EQ(first.status, TBEM_OK) << problem.text() << ": " << first.error;
    if (runs == Runs::andReplayed) settings.replays = 2;
    const Outcome again = runOn(*tbem_backend_cuda(), problem, settings);
    for (std::size_t k = 0; k < problem.outputs.size(); ++k) {
      const auto where = [&] { return problem.text() + ", result " + std::to_string(k) + " by " + first.implementation; };
      const bool engine = problem.primitive == TBEM_PRIMITIVE_conv2d_weight_gradient && first.implementation.starts_with("cuDNN");
      const bool isF32 = !wholly && staysF32(problem.primitive, problem.inputs.size() + k) && !engine;
      const double unit = dtype == TBEM_F16 ? 0x1p-11 + ofSmallest(exact.outputs[k]) : 0x1p-8;
      EXPECT_LE(distance(first.outputs[k], exact.outputs[k]), isF32                              ? 1e-5
                                                              : isNarrowAlone(problem.primitive) ? 2 * unit
                                                                                                 : unit)
          << where();
      EXPECT_EQ(first.bytes[k], again.bytes[k]) << where() << ": other bits";
    }
  }
};

TEST_P(CudaNarrow, AgreesWithRef) {
  const auto primitive = static_cast<tbem_primitive>(std::get<1>(GetParam()));
  const std::uint64_t problems = interpreted_ && isLibrarys(primitive) ? 40 : 100;  // stand-ins are plain loops
  for (std::uint64_t seed = 0; seed < problems && !HasFailure(); ++seed) {
    Random random(1000 * static_cast<std::uint64_t>(primitive) + seed);
    SCOPED_TRACE(seed);
    const Problem problem = roundedTo(dtype, randomProblem(primitive, random));
    agreesWithRef(problem, seed % 10 == 0 ? Runs::andReplayed : Runs::twice, false);
    if (seed % 4 == 0) {
      Problem whole = problem;
      for (auto& input : whole.inputs) {  // a bias, too
        if (input && !input->integer) *input = *roundedTo(dtype, {TBEM_PRIMITIVE_softmax, {}, {}, {input}, {}}).inputs[0];
      }
      agreesWithRef(whole, Runs::twice, true);
    }
    if (isLibrarys(primitive) || seed % 4 != 0) continue;
    cuda::wideFrom() = 0;
    agreesWithRef(problem, Runs::twice, false);
    cuda::wideFrom() = cuda::kWide;
  }
}

/// Those that compute: of the others, which move elements of any type, other tests tell.
std::vector<int> computing() {
  std::vector<int> primitives;
  for (int p = 0; p < TBEM_PRIMITIVE_COUNT; ++p) {
    if (!runtime::signature(static_cast<tbem_primitive>(p)).moves) primitives.push_back(p);
  }
  return primitives;
}

std::string nameOf(const testing::TestParamInfo<std::tuple<tbem_dtype, int>>& info) {
  const auto primitive = static_cast<tbem_primitive>(std::get<1>(info.param));
  return std::string(runtime::dtypeName(std::get<0>(info.param))) + "_" + std::string(runtime::signature(primitive).name);
}

INSTANTIATE_TEST_SUITE_P(Primitives, CudaNarrow,
                         testing::Combine(testing::Values(TBEM_BF16, TBEM_F16), testing::ValuesIn(computing())), nameOf);

}  // namespace
}  // namespace tbem::test
