// What the card does not know, or what is wrong, is refused when a module is loaded: with the line, and never guessed.
#include "test/unit/card/Kernels.h"

namespace tbem::card::testing {
namespace {

constexpr const char* kHead = ".version 7.0\n.target sm_75\n.address_size 64\n";

std::string errorOf(const std::string& text, unsigned capability = 90) {
  Memory memory(1 << 20);
  const auto loaded = loadProgram(text, capability, memory);
  return loaded ? "" : loaded.error().text;
}

/// Of a statement in a kernel; it stands on line 12.
std::string refusal(const std::string& statement) {
  return errorOf(std::string(kHead) +
                 ".visible .entry k(.param .u64 p)\n{\n.reg .pred %p<3>;\n.reg .b16 %h<3>;\n.reg .b32 %r<5>;\n.reg .f32 "
                 "%f<5>;\n.reg .b64 %l<3>;\n.reg .f64 %g<3>;\n" +
                 statement + "\nret;\n}\n");
}

TEST(Parse, AnInstructionIsRefusedWithItsLine) {
  EXPECT_EQ(refusal("add.u32 %r0, %r1, %r2;"), "");
  EXPECT_EQ(refusal("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%l0, {%f0, %f1}];"), "line 12: expected `]`, found `,`");
  EXPECT_EQ(refusal("frobnicate.u32 %r0, %r1;"), "line 12: the instruction `frobnicate` is not known");
}

TEST(Parse, ModifiersThatAreNotKnown) {
  EXPECT_EQ(refusal("add.odd.u32 %r0, %r1, %r2;"), "line 12: `add.odd.u32`: the modifier .odd is not known here");
  EXPECT_EQ(refusal("fma.rn.relu.f32 %f0, %f1, %f2, %f3;"), "line 12: `fma.rn.relu.f32`: the modifier .relu is not known here");
  EXPECT_EQ(refusal("shfl.down.b32 %r0, %r1, 1, 31;"), "line 12: `shfl.down.b32`: has no .sync");
  EXPECT_EQ(refusal("mul.u32 %r0, %r1, %r2;"), "line 12: `mul.u32`: has no .lo");
  EXPECT_EQ(refusal("fma.f32 %f0, %f1, %f2, %f3;"), "line 12: `fma.f32`: has no rounding");
  EXPECT_EQ(refusal("cvt.s32.f32 %r0, %f1;"), "line 12: `cvt.s32.f32`: has no rounding to whole numbers");
  EXPECT_EQ(refusal("cvt.f32.s32 %f0, %r1;"), "line 12: `cvt.f32.s32`: has no rounding");
  EXPECT_EQ(refusal("cvt.rn.f64.f32 %g0, %f1;"), "line 12: `cvt.rn.f64.f32`: rounds where nothing is lost");
  EXPECT_EQ(refusal("setp.lo.s32 %p0, %r0, %r1;"), "line 12: `setp.lo.s32`: compares in a way that this card does not know");
  EXPECT_EQ(refusal("add.ftz.f64 %g0, %g1, %g2;"), "line 12: `add.ftz.f64`: the modifier .ftz is not known here");
}

TEST(Parse, OperandsOfAnotherSizeOrKind) {
  EXPECT_EQ(refusal("add.u64 %l0, %l1, %r0;"), "line 12: `add.u64`: %r0 has not the size of .u64");
  EXPECT_EQ(refusal("add.u32 %r0, %r1;"), "line 12: `add.u32`: has 2 operands");
  EXPECT_EQ(refusal("add.f32 %f0, %f1, 1;"),
            "line 12: `add.f32`: a number without bits or a point stands where one of type .f32 is wanted");
  EXPECT_EQ(refusal("mov.u32 %r0, %clock;"), "line 12: `mov.u32`: the special register %clock is not known");
  EXPECT_EQ(refusal("add.u32 %r0, %r1, %r9;"), "line 12: `add.u32`: the special register %r9 is not known");
  EXPECT_EQ(refusal("selp.u32 %r0, %r1, %r2, %r3;"), "line 12: `selp.u32`: %r3 has not the size of .pred");
  EXPECT_EQ(refusal("bra NOWHERE;"), "line 12: `bra`: the label NOWHERE is not there");
  EXPECT_EQ(refusal("ld.param.u64 %l0, [p+4];"), "line 12: `ld.param.u64`: reaches beyond p");
  EXPECT_EQ(refusal("ld.param.u64 %l0, [q];"), "line 12: `ld.param.u64`: the name q is not known");
  EXPECT_EQ(refusal("call.uni other;"), "line 12: `call.uni`: the function is not defined");
  EXPECT_EQ(refusal("@%r0 bra END;\nEND:"), "line 12: expected a predicate before this, found `bra`");
}

TEST(Parse, DirectivesThatAreNotKnown) {
  EXPECT_EQ(refusal(".maxnctapersm 3;"), "line 12: expected a directive that this card knows, found `.maxnctapersm`");
  EXPECT_EQ(errorOf(std::string(kHead) + ".tex .u32 image;"), "line 4: expected a directive that this card knows, found `.tex`");
  EXPECT_EQ(errorOf(std::string(kHead) + ".extern .global .u32 other;"),
            "line 4: expected a definition (variables of other modules are not supported), found `;`");
  EXPECT_EQ(errorOf(std::string(kHead) + "/* no end"), "line 4: a comment has no end");
  EXPECT_EQ(errorOf(std::string(kHead) + ".global .f32 x = 0f3F8;"), "line 4: `0f3F8;` is no number");
}

TEST(Parse, TextsForOtherCards) {
  EXPECT_EQ(errorOf(kHead, 75), "");
  EXPECT_EQ(errorOf(kHead, 70), "sm_75 is newer than this card");
  EXPECT_EQ(errorOf(".version 9.1\n.target sm_75\n"), "PTX 91 is newer than this driver");
  EXPECT_EQ(errorOf(".version 8.0\n.target sm_90a\n"), "line 2: expected a target such as sm_75, found `sm_90a`");
  EXPECT_EQ(errorOf("hello"), "line 1: expected a directive that this card knows, found `hello`");
  EXPECT_EQ(errorOf(".version 7.0\n.target sm_75\n.address_size 32\n"), "line 3: addresses have 64 bits on this card");
}

// What compilers write around the instructions.
TEST(Parse, DebugInformationIsPassedOver) {
  EXPECT_EQ(errorOf(std::string(kHead) +
                    ".file 1 \"a.cu\", 12, 34\n.visible .entry k()\n.maxntid 256, 1, 1\n.minnctapersm 2\n{\n.loc 1 2 3\n.pragma "
                    "\"nounroll\";\n"
                    ".loc 1 4 5, function_name $L__info_string0, inlined_at 1 2 3\nret;\n}\n.section .debug_str {\n.b8 1\n}\n"),
            "");
}

/// What a kernel with the parameter `to` writes there.
std::uint32_t answer(const std::string& functions, const std::string& body) {
  Bench bench;
  bench.load(
      functions +
      "\n.visible .entry k(.param .u64 to)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %l<5>;\nld.param.u64 %l0, [to];\n" +
      body + "\nst.global.u32 [%l0], %r0;\nret;\n}\n");
  if (::testing::Test::HasFatalFailure()) return 0;
  const std::uint64_t to = bench.put(std::vector<std::uint32_t>{0});
  const LaunchEnd end = bench.run(1, 1, {to});
  EXPECT_FALSE(end.fault) << end.fault->what();
  return bench.get<std::uint32_t>(to, 1)[0];
}

// A function of two parameters, one a struct, with local memory, which calls itself.
TEST(Parse, FunctionsThatAreCalled) {
  const char* factorial = R"(
.func (.param .b32 result) factorial(.param .align 8 .b8 pair[16])
{
  .local .align 4 .b8 own[8];
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %l<3>;
  ld.param.u32 %r0, [pair];
  ld.param.u32 %r1, [pair+8];
  mov.u64 %l0, own;
  st.local.u32 [%l0+4], %r0;
  mov.u32 %r2, %r1;
  setp.le.u32 %p0, %r0, 1;
  @%p0 bra DONE;
  sub.u32 %r3, %r0, 1;
  {
    .param .align 8 .b8 param0[16];
    st.param.b32 [param0], %r3;
    st.param.b32 [param0+8], %r1;
    .param .b32 back;
    call.uni (back), factorial, (param0);
    ld.param.b32 %r4, [back];
  }
  ld.local.u32 %r5, [%l0+4];
  mul.lo.u32 %r2, %r4, %r5;
DONE:
  st.param.b32 [result], %r2;
  ret;
})";
  const char* call =
      "{\n.param .align 8 .b8 given[16];\nst.param.b32 [given+0], 6;\nst.param.b32 [given+8], 10;\n.param .b32 back;\n"
      "call (back), factorial, (given);\nld.param.b32 %r0, [back+0];\n}";
  EXPECT_EQ(answer(factorial, call), 7200U);
}

TEST(Parse, NamesHoldInTheirBlock) {
  EXPECT_EQ(
      answer(
          "",
          "mov.u32 %r0, 1;\n{\n.reg .b32 %r<2>;\nmov.u32 %r0, 7;\n{\n.reg .b32 %t;\nmov.u32 %t, 2;\nadd.u32 %r0, %r0, %t;\n}\n}"),
      1U);
}

TEST(Parse, VariablesWithInitialValues) {
  EXPECT_EQ(answer(".global .align 4 .u32 table[4] = {1, 0x10, 0b11, 017};", "ld.global.u32 %r0, [table+12];"), 15U);
  EXPECT_EQ(answer(".global .align 4 .b8 bytes[8] = {1, 2, 3, 4, -1};", "ld.global.u32 %r0, [bytes+4];"), 255U);
  EXPECT_EQ(answer(".const .f32 half = 0.5;", "ld.const.u32 %r0, [half];"), 0x3f00'0000U);
  EXPECT_EQ(answer(".global .align 8 .b8 words[16] = {9, 8};", "mov.u64 %l1, words+1;\nld.global.u8 %r0, [%l1];"), 8U);
}

TEST(Parse, TablesOfBranches) {
  const char* body =
      "mov.u32 %r1, 2;\nT: .branchtargets A, B, C;\nbrx.idx.uni %r1, T;\nA:\nmov.u32 %r0, 1;\nbra.uni D;\nB:\nmov.u32 %r0, "
      "2;\nbra.uni D;\nC:\nmov.u32 %r0, 3;\nD:";
  EXPECT_EQ(answer("", body), 3U);
}

TEST(Parse, VectorsInMemory) {
  EXPECT_EQ(answer(".global .align 16 .u32 four[4] = {1, 2, 3, 4};",
                   "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [four];\nst.global.v2.u32 [four+8], {%r1, %r2};\nld.global.v2.u32 {_, "
                   "%r0}, [four+8];"),
            2U);
}

TEST(Parse, NarrowValuesAreExtended) {
  EXPECT_EQ(answer(".global .s8 x = -3;", "ld.global.s8 %r0, [x];"), 0xffff'fffdU);
  EXPECT_EQ(answer(".global .s8 x = -3;", "ld.global.u8 %r0, [x];"), 0xfdU);
  EXPECT_EQ(answer(".global .s16 x = -3;", "ld.global.s16 %r0, [x];"), 0xffff'fffdU);
}

TEST(Parse, GenericAddresses) {
  const char* body =
      ".shared .align 4 .b8 cell[4];\nmov.u64 %l1, cell;\ncvta.shared.u64 %l2, %l1;\nst.u32 [%l2], 77;\nisspacep.shared %p0, "
      "%l2;\n@%p0 ld.shared.u32 %r0, [cell];";
  EXPECT_EQ(answer("", body), 77U);
}

}  // namespace
}  // namespace tbem::card::testing
