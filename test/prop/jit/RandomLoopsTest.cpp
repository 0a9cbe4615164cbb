// Random fused loops on the host: exact agreement with the interpreter.
#include "test/unit/jit/RandomLoops.h"

namespace tbem::testing {
namespace {

TEST(RandomLoops, AgreeExactlyWithTheInterpreter) {
  const char* wanted = std::getenv("TBEM_PROP_CASES");  // more cases for a longer search
  const unsigned cases = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 300;
  for (unsigned seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    const RandomLoop loop = LoopGenerator(seed).run();
    runAndCompare(loop.program, loop.inputs, 0, loop.seed, loop.step);
    if (::testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tbem::testing
