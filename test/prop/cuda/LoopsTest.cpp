// Random fused loops on a card: exact agreement with the interpreter, in all layouts, although the backend itself has row-major
// ones alone.
#include "test/prop/cuda/Card.h"
#include "test/unit/jit/RandomLoops.h"

namespace tbem::testing {
namespace {

using CudaLoops = test::OnCard;

TEST_F(CudaLoops, AgreeExactlyWithTheInterpreter) {
  const tbem_backend& cuda = *tbem_backend_cuda();
  const char* wanted = std::getenv("TBEM_PROP_CASES");  // more cases for a longer search
  const unsigned cases = wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : 400;
  for (unsigned seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    RandomLoop loop = LoopGenerator(seed).run();
    loop.program.target = cuda.device->target;
    runAndCompare(loop.program, loop.inputs, 0, loop.seed, loop.step, cuda);
    if (::testing::Test::HasFailure()) return;
  }
}

/// One loop of each length, which do not wait for each other.
void runTogether(const std::vector<std::int64_t>& lengths) {
  const tbem_backend& cuda = *tbem_backend_cuda();
  ProgramBuilder p;
  std::map<std::uint32_t, HostTensor> inputs;
  unsigned seed = 0;
  for (const std::int64_t elements : lengths) {
    const tbem_operand shape = layoutOf(TBEM_F32, {elements}, "plain");
    const BufferId x = p.add(shape), y = p.add(shape);
    inputs[static_cast<std::uint32_t>(x)] = randomTensor(shape, ++seed);
    inputs[static_cast<std::uint32_t>(y)] = randomTensor(shape, ++seed);
    LoopBuilder l;
    const std::uint32_t a = l.input(x, {0}), b = l.input(y, {0});
    l.output(p.add(shape), l.op(ElemOp::Sub, a, l.op(ElemOp::Mul, l.scalar(0), b)));
    p.add(l);
  }
  p.program.target = cuda.device->target;
  runAndCompare(p.program, inputs, 0, 7, 3, cuda);
}

// Loops that one launch runs: some with vectors, some without, of fewer and more places than a part of a launch has; with large
// ones among them parts have more than the fewest places.
TEST_F(CudaLoops, OfOneLaunchAgreeWithTheInterpreter) {
  runTogether({4, 4000, 512, 516, 7, 1, 129, 1300, 8});
  runTogether({2'100'000, 4, 1300, 40'000, 516});
}

// A number for each row of 49 places, of which a thread takes two together where there are more places than threads.
TEST_F(CudaLoops, SmallPlacesAreTakenTogether) {
  const tbem_backend& cuda = *tbem_backend_cuda();
  for (const std::int64_t rows : {3, 668, 669, 1500, 2700}) {  // the card of the tests has 32 768 threads for a loop
    SCOPED_TRACE(rows);
    ProgramBuilder p;
    const tbem_operand row = layoutOf(TBEM_F32, {rows}, "plain"), shape = layoutOf(TBEM_F32, {rows, 49}, "plain");
    const BufferId x = p.add(row);
    LoopBuilder l;
    const std::uint32_t a = l.input(x, {0});
    l.output(p.add(shape), l.op(ElemOp::Mul, a, l.scalar(0)));
    p.add(l);
    p.program.target = cuda.device->target;
    runAndCompare(p.program, {{static_cast<std::uint32_t>(x), randomTensor(row, 1)}}, 0, 7, 3, cuda);
  }
}

// LLVM 19 converts a truth value that is negated to +1 (chooseSignedTruthValues in compiler/jit/nvptx/Ptx.cpp).
TEST_F(CudaLoops, NegateTruthValues) {
  const tbem_backend& cuda = *tbem_backend_cuda();
  ProgramBuilder p;
  const tbem_operand shape = layoutOf(TBEM_F32, {8, 16}, "plain");
  const BufferId x = p.add(shape), y = p.add(shape);
  LoopBuilder l;
  const std::uint32_t a = l.input(x, {0, 1}), b = l.input(y, {0, 1}), zero = l.constant(0);
  const std::uint32_t both = l.op(ElemOp::And, l.op(ElemOp::Less, zero, a), l.op(ElemOp::Less, zero, b));
  l.output(p.add(shape), l.op(ElemOp::Mul, a, l.op(ElemOp::Neg, both)));
  p.add(l);
  p.program.target = cuda.device->target;
  const std::map<std::uint32_t, HostTensor> inputs{{static_cast<std::uint32_t>(x), randomTensor(shape, 1)},
                                                   {static_cast<std::uint32_t>(y), randomTensor(shape, 2)}};
  runAndCompare(p.program, inputs, 0, 7, 3, cuda);
}

}  // namespace
}  // namespace tbem::testing
