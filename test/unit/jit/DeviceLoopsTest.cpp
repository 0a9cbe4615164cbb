// Loops as PTX: what the text says. That it computes what it should, a card or an interpreter of PTX shows (test/prop/cuda).
#include "test/unit/jit/RandomLoops.h"

#include "compiler/jit/nvptx/Ptx.h"

namespace tbem::testing {
namespace {

jit::Compiled compiledFor(estimate::Program program) {
  program.target = "nvptx64";
  auto compiled = jit::compile(program, {.cache = false, .keepIr = true});
  EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error().message);
  return compiled ? std::move(*compiled) : jit::Compiled{};
}

estimate::Program oneLoop(ElemOp op, std::int32_t dtype = TBEM_F32) {
  ProgramBuilder p;
  const tbem_operand shape = layoutOf(dtype, {8, 16}, "plain");
  LoopBuilder l;
  l.output(p.add(shape), l.op(op, l.input(p.add(shape), {0, 1})));
  p.add(l);
  return p.program;
}

TEST(DeviceLoops, AreKernelsOfPtx) {
  const jit::Compiled compiled = compiledFor(oneLoop(ElemOp::Sqrt));
  EXPECT_NE(compiled.assembly.find(".visible .entry tbem_kernel_0("), std::string::npos) << compiled.assembly;
  EXPECT_NE(compiled.assembly.find("ld.global"), std::string::npos) << "an address whose kind is not known is slower";
  EXPECT_NE(compiled.assembly.find("sqrt.rn.f32"), std::string::npos);
  EXPECT_EQ(compiled.assembly.find("div.u64"), std::string::npos);
  EXPECT_EQ(compiled.executable.image, compiled.assembly);
  EXPECT_EQ(compiled.executable.kernels, 1U);
}

TEST(DeviceLoops, OfEqualShapeShareAKernel) {
  ProgramBuilder p;
  const tbem_operand shape = layoutOf(TBEM_F32, {8, 16}, "plain");
  for (int i = 0; i < 3; ++i) {
    LoopBuilder l;
    l.output(p.add(shape), l.op(ElemOp::Neg, l.input(p.add(shape), {0, 1})));
    p.add(l);
  }
  EXPECT_EQ(compiledFor(p.program).executable.kernels, 1U);
}

/// Functions that the C library has on the host come from the toolkit's file; where that is missing, the error names it.
TEST(DeviceLoops, TakeFunctionsFromTheToolkit) {
  estimate::Program program = oneLoop(ElemOp::Sin);
  program.target = "nvptx64";
  const auto without = jit::compile(program, {.cache = false, .libdevice = "/nowhere/libdevice.10.bc"});
  ASSERT_FALSE(without);
  EXPECT_NE(without.error().message.find("/nowhere/libdevice.10.bc"), std::string::npos) << without.error().message;
  if (jit::findLibdevice().empty()) GTEST_SKIP() << "no CUDA toolkit is here";
  const jit::Compiled compiled = compiledFor(program);
  EXPECT_EQ(compiled.assembly.find("call"), std::string::npos) << "sin is inlined";
}

TEST(DeviceLoops, AreMadeOfAllTypesAndLayouts) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const jit::Compiled compiled = compiledFor(LoopGenerator(seed).run().program);
    if (HasFailure()) return;
    EXPECT_EQ(compiled.assembly.find(".local"), std::string::npos) << compiled.assembly;
  }
}

}  // namespace
}  // namespace tbem::testing
