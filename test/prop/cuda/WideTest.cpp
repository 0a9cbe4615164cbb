// Kernels for tensors of 2^31 elements and more, tried on small ones.
#include "runtime/backends/cuda/ops/Shapes.h"
#include "test/problems/Random.h"
#include "test/prop/cuda/Card.h"

namespace tbem::test {
namespace {

class CudaWide : public OnCard {
protected:
  void TearDown() override { cuda::wideFrom() = cuda::kWide; }
};

TEST_F(CudaWide, KernelsAgreeWithRef) {
  for (int p = 0; p < TBEM_PRIMITIVE_COUNT; ++p) {
    const auto primitive = static_cast<tbem_primitive>(p);
    if (isLibrarys(primitive) || movesRows(primitive) || primitive == TBEM_PRIMITIVE_constant) continue;
    for (std::uint64_t seed = 0; seed < 20 && !HasFailure(); ++seed) {
      Random random(64000 + 100 * static_cast<std::uint64_t>(p) + seed);
      const Problem problem = randomProblem(primitive, random);
      cuda::wideFrom() = 0;
      agreesWithRef(problem, 5e-6);
    }
  }
}

TEST_F(CudaWide, RowsOfSamplesAreMoved) {
  Random random(65000);
  const Array data = random.array({12, 35}), list{{5}, {3, 0, 2, 3, -1}, true};
  cuda::wideFrom() = 0;
  agreesWithRef({TBEM_PRIMITIVE_move_rows, {}, {}, {data, list, std::nullopt}, {Array{{12, 35}, {}, false}}}, 0);
}

}  // namespace
}  // namespace tbem::test
