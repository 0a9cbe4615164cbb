// Random fused loops on a card: exact agreement with the interpreter, in all layouts, although the backend itself has row-major
// ones alone.
#include "test/unit/jit/RandomLoops.h"

namespace tbem::testing {
namespace {

TEST(CudaLoops, AgreeExactlyWithTheInterpreter) {
  const tbem_backend& cuda = *tbem_backend_cuda();
  tbem_device_info device{};
  if (cuda.probe(&device) != TBEM_OK) GTEST_SKIP() << cuda.last_error();
  const char* wanted = std::getenv("TBEM_PROP_CASES");  // more cases for a longer search
  const unsigned cases = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 100;
  for (unsigned seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    RandomLoop loop = LoopGenerator(seed).run();
    loop.program.target = cuda.device->target;
    runAndCompare(loop.program, loop.inputs, 0, loop.seed, loop.step, cuda);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tbem::testing
