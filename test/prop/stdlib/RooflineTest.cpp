// Rooflines of every public operator of std.nn, forward and backward, in every element type: each step has a least time, that of
// the bytes of its operands where nothing else is known.
#include "compiler/estimate/Roofline.h"
#include "compiler/lower/Lower.h"
#include "compiler/sema/Value.h"
#include "test/prop/stdlib/Case.h"
#include "test/prop/stdlib/Trial.h"
#include "test/unit/graph/Fixture.h"

#include <fmt/format.h>

#include <set>

namespace tbem::test {
namespace {

constexpr double kBandwidth = 1e9, kRate = 1e12;

estimate::Device deviceWith(bool rates) {
  estimate::Device device;
  device.name = "round";
  device.bandwidth = kBandwidth;
  for (std::size_t type = 0; rates && type < device.rates.size(); ++type) {
    if (tbem_is_floating(static_cast<std::int32_t>(type)) != 0) device.rates[type] = kRate;
  }
  return device;
}

double bytesOf(const estimate::Program& program, estimate::BufferId id) {
  constexpr double kSizes[] = {8, 4, 2, 2, 1, 1, 8, 4, 1, 1, 1};  // f64 f32 f16 bf16 f8 f8 i64 i32 i8 u8 bool
  const tbem_operand& operand = program[id].operand;
  double bytes = kSizes[operand.dtype];
  for (std::int32_t axis = 0; axis < operand.rank; ++axis) bytes *= static_cast<double>(operand.dims[axis]);
  return bytes;
}

/// What a step moves in row-major order: each operand once as a source and once as a destination; of what a slice and a gather
/// read, what they keep.
double movedBytes(const estimate::Program& program, const estimate::Step& step) {
  std::set<estimate::BufferId> reads, writes;
  double bytes = 0;
  if (step.kind == estimate::Step::Kind::Call) {
    const estimate::NativeCall& call = program.calls[step.index];
    for (std::size_t i = 0; i < call.operands.size(); ++i) (i < call.inputs ? reads : writes).insert(call.operands[i]);
    if (call.primitive == TBEM_PRIMITIVE_slice || call.primitive == TBEM_PRIMITIVE_gather) {
      reads.erase(call.operands.front());
      bytes = std::min(bytesOf(program, call.operands.front()), bytesOf(program, call.operands.back()));
    }
  } else {
    for (const auto& input : program.loops[step.index].inputs) reads.insert(input.buffer);
    for (const auto& output : program.loops[step.index].outputs) writes.insert(output.buffer);
  }
  for (const std::set<estimate::BufferId>* list : {&reads, &writes}) {
    for (const estimate::BufferId id : *list) bytes += id == estimate::kNoBuffer ? 0 : bytesOf(program, id);
  }
  return bytes;
}

void expectLeastTimes(const std::string& text, const graph::ExperimentOptions& options) {
  SCOPED_TRACE(text);
  Built built(text, options);
  const std::optional<graph::Row> row = built.row();
  ASSERT_TRUE(row) << built.errors();
  const auto program = estimate::lower(row->graph(), row->values, *tbem_backend_ref(), {});
  DiagnosticSink sink;
  ASSERT_TRUE(program) << program.error().report(sink).message;
  const auto whole = estimate::roofline(row->graph(), row->values, *program, deviceWith(true), false);
  ASSERT_TRUE(whole) << whole.error();
  EXPECT_TRUE(whole->leftOut.empty());
  const auto bare = estimate::roofline(row->graph(), row->values, *program, deviceWith(false), false);
  ASSERT_TRUE(bare) << bare.error();
  ASSERT_EQ(bare->steps.size(), program->steps.size());
  estimate::Count leftOut = bare->wholeNumbers;
  for (const estimate::LeftOut& left : bare->leftOut) leftOut += left.flops;
  EXPECT_EQ(leftOut, bare->flops);
  for (std::size_t i = 0; i < program->steps.size(); ++i) {
    const double bytes = movedBytes(*program, program->steps[i]);
    EXPECT_DOUBLE_EQ(static_cast<double>(bare->steps[i].bytes), bytes) << bare->steps[i].name;
    EXPECT_GT(bytes, 0) << bare->steps[i].name;
    EXPECT_DOUBLE_EQ(bare->steps[i].seconds, bytes / kBandwidth) << bare->steps[i].name;
    EXPECT_GE(whole->steps[i].seconds, bare->steps[i].seconds) << whole->steps[i].name;
  }
}

class RooflineOf : public testing::TestWithParam<std::string> {};

TEST_P(RooflineOf, EveryStepHasALeastTime) {
  Dice dice(51);
  std::vector<Case> cases;
  for (int i = 0; i < 3; ++i) cases.push_back(generators().at(GetParam())(dice));
  const std::string text = programOf(cases);
  expectLeastTimes(text, {.dtype = TBEM_F64});
  expectLeastTimes(text, {.dtype = TBEM_F32});
  expectLeastTimes(text, {.dtype = TBEM_F32, .mixed = TBEM_BF16});
}

std::vector<std::string> operatorNames() {
  std::vector<std::string> names;
  for (const auto& [name, generator] : generators()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Operators, RooflineOf, testing::ValuesIn(operatorNames()), [](const auto& info) { return info.param; });

TEST(RooflineOfTypes, EveryElementTypeMovesItsBytes) {
  for (const std::string_view type : sema::kDTypeNames) {
    expectLeastTimes(fmt::format("network t(x: {0}[n, c], i: i64[m]) -> {0}[m, c] {{ return gather(x, i) }}\n"
                                 "design d of t {{\n  input x: [6, 5]\n  input i: [4]\n}}\n",
                                 type),
                     {});
  }
}

}  // namespace
}  // namespace tbem::test
