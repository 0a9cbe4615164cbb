// cuda in f32 against ref in f64: 200 random problems for each primitive, some of them recorded and replayed too.
#include "runtime/core/Primitive.h"
#include "test/problems/Random.h"
#include "test/prop/cuda/Card.h"

#include <cmath>

namespace tbem::test {
namespace {

/// Convolutions and products are sums of up to some thousand products that the libraries carry in f32, in the order of their
/// tiles, and some of their convolutions transform tiles first; all others are carried in f64.
double boundOf(tbem_primitive primitive) { return isLibrarys(primitive) ? 1e-5 : 5e-6; }

class Cuda : public OnCard, public testing::WithParamInterface<int> {};

TEST_P(Cuda, AgreesWithRef) {
  const auto primitive = static_cast<tbem_primitive>(GetParam());
  const std::uint64_t problems = interpreted_ && isLibrarys(primitive) ? 40 : 200;  // stand-ins are plain loops
  for (std::uint64_t seed = 0; seed < problems && !HasFailure(); ++seed) {
    Random random(1000 * static_cast<std::uint64_t>(primitive) + seed);
    SCOPED_TRACE(seed);
    agreesWithRef(randomProblem(primitive, random), boundOf(primitive), seed % 10 == 0 ? Runs::andReplayed : Runs::twice);
  }
}

/// All but those that move rows of samples (RowsTest.cpp), and those that are of narrow types alone (NarrowTest.cpp).
std::vector<int> arithmetic() {
  std::vector<int> all;
  for (int p = 0; p < TBEM_PRIMITIVE_COUNT; ++p) {
    if (const auto primitive = static_cast<tbem_primitive>(p); !movesRows(primitive) && !isNarrowAlone(primitive))
      all.push_back(p);
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Primitives, Cuda, testing::ValuesIn(arithmetic()), [](const auto& info) {
  return std::string(runtime::signature(static_cast<tbem_primitive>(info.param)).name);
});

using CudaTypes = OnCard;

/// What only moves elements moves any, by their size.
TEST_F(CudaTypes, OfEverySizeAreMoved) {
  for (const int dtype : {TBEM_F64, TBEM_I32, TBEM_F16, TBEM_U8, TBEM_I64, TBEM_BF16}) {
    for (const tbem_primitive primitive : {TBEM_PRIMITIVE_permute, TBEM_PRIMITIVE_pad, TBEM_PRIMITIVE_slice,
                                           TBEM_PRIMITIVE_concat, TBEM_PRIMITIVE_gather, TBEM_PRIMITIVE_reorder}) {
      for (std::uint64_t seed = 0; seed < 25 && !HasFailure(); ++seed) {
        Random random(61000 + seed);
        Problem problem = randomProblem(primitive, random);
        for (auto& input : problem.inputs) {  // numbers that every type holds
          for (double& value : input->values) value = input->integer ? value : std::floor(std::abs(value) * 8);
        }
        agreesWithRef(problem, 0, Runs::twice, [dtype](std::vector<tbem_operand>& operands) {
          for (tbem_operand& operand : operands) {
            if (operand.dtype != TBEM_I64) operand.dtype = dtype;
          }
        });
      }
    }
  }
}

TEST_F(CudaTypes, AreConverted) {
  const std::vector<int> plain = {TBEM_F64, TBEM_F32, TBEM_I64, TBEM_I32};
  Random random(62000);
  Problem problem{TBEM_PRIMITIVE_reorder, {}, {}, {random.array({7, 300})}, {Array{{7, 300}, {}, false}}};
  for (double& value : problem.inputs[0]->values) value *= 1000;
  const auto convert = [&](int from, int to) {
    agreesWithRef(problem, 0, Runs::twice,
                  [=](std::vector<tbem_operand>& operands) { operands[0].dtype = from, operands[1].dtype = to; });
  };
  for (const int from : plain) {
    for (const int to : plain) convert(from, to);
  }
  convert(TBEM_F32, TBEM_BF16);
  convert(TBEM_BF16, TBEM_F32);
  convert(TBEM_F32, TBEM_F16);
  convert(TBEM_F16, TBEM_F32);
}

/// Factors rounded to TF32 are off by 2^-11 of their size at most. Where nothing is multiplied, nothing is rounded.
TEST_F(OnCard, ProductsMayRoundToTf32) {
  for (int p = 0; p < TBEM_PRIMITIVE_COUNT; ++p) {
    const auto primitive = static_cast<tbem_primitive>(p);
    if (movesRows(primitive) || isNarrowAlone(primitive)) continue;
    double farthest = 0;
    for (std::uint64_t seed = 0; seed < 20 && !HasFailure(); ++seed) {
      Random random(66000 + 100 * static_cast<std::uint64_t>(p) + seed);
      const Problem problem = randomProblem(primitive, random);
      const Outcome exact = runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}});
      const Outcome found = runOn(*tbem_backend_cuda(), problem, {.dtype = TBEM_F32, .threads = 1, .tf32 = true});
      ASSERT_EQ(found.status, TBEM_OK) << problem.text() << ": " << found.error;
      for (std::size_t k = 0; k < problem.outputs.size(); ++k) {
        const double far = distance(found.outputs[k], exact.outputs[k]);
        farthest = std::max(farthest, far);
        EXPECT_LE(far, isLibrarys(primitive) ? 0x1p-10 : 5e-6) << problem.text() << " by " << found.implementation;
      }
    }
    if (interpreted_ && isLibrarys(primitive)) {
      EXPECT_GT(farthest, 1e-5) << runtime::signature(primitive).name << " is not rounded";
    }
  }
}

using CudaNumbers = OnCard;

/// As on ref, a number outside its axis fails the run; on a card when it is waited for. The next run is a fresh one.
TEST_F(CudaNumbers, OutsideTheAxisFailTheRun) {
  const auto run = [](tbem_primitive primitive, double number) {
    Random random(63000);
    Problem problem = randomProblem(primitive, random);
    Array& numbers = *problem.inputs[primitive == TBEM_PRIMITIVE_cross_entropy_gradient ? 2 : 1];
    if (number != 0) numbers.values.back() = number;
    const Outcome ref = runOn(*tbem_backend_ref(), problem, {TBEM_F64, 1, {}});
    Outcome cuda = runOn(*tbem_backend_cuda(), problem, {TBEM_F32, 1, {}});
    EXPECT_EQ(cuda.status, ref.status) << problem.text() << " with " << number << ": " << cuda.error;
    return cuda;
  };
  for (const tbem_primitive primitive : {TBEM_PRIMITIVE_gather, TBEM_PRIMITIVE_gather_gradient, TBEM_PRIMITIVE_cross_entropy,
                                         TBEM_PRIMITIVE_cross_entropy_gradient}) {
    const std::string name{runtime::signature(primitive).name};
    for (const double number : {-1.0, 1e6, -101.0, 9e15}) {
      const Outcome outcome = run(primitive, number);
      EXPECT_EQ(outcome.status, TBEM_FAILED);
      EXPECT_EQ(outcome.error.find(name + ": the number at position "), 0U) << outcome.error;
      EXPECT_EQ(run(primitive, 0).status, TBEM_OK);
    }
  }
}

}  // namespace
}  // namespace tbem::test
