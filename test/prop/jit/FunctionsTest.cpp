// Errors of exp, log, tanh and erf in f32 against libm in f64, over numbers of every size and sign.
#include "test/unit/jit/Build.h"

#include <bit>

namespace tbem::testing {
namespace {

struct Function {
  const char* name;
  ElemOp op;
  double (*truth)(double);
  double bound;  ///< in ulp, as Math.h states it
};

/// |got - truth| in units in the last place of the f32 nearest to truth; subnormal results count in steps of 2^-149.
double error(float got, double truth) {
  if (std::isnan(truth)) return std::isnan(got) ? 0 : HUGE_VAL;
  if (std::fabs(truth) >= 0x1.ffffffp127)
    return std::isinf(got) && std::signbit(got) == std::signbit(truth) ? 0 : HUGE_VAL;  // rounds to infinity
  if (truth == 0) return got == 0 ? 0 : HUGE_VAL;
  return std::fabs(static_cast<double>(got) - truth) / std::max(std::ldexp(1.0, std::ilogb(truth) - 23), 0x1p-149);
}

TEST(Functions, SingleErrorsStayBelowWhatIsStated) {
  // Every 1021st f32: 4.2 million numbers, subnormals, infinities and NaNs among them; and dense ones between -8 and 8.
  std::vector<float> numbers;
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 1021)
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  for (int i = -400000; i < 400000; ++i) numbers.push_back(static_cast<float>(i) * 2e-5F);
  for (float special : {0.0F, -0.0F, 1.0F, -1.0F, HUGE_VALF, -HUGE_VALF, NAN, 88.72284F, -103.97F, 0x1p-126F, 0x1p-149F})
    numbers.push_back(special);
  const auto count = static_cast<std::int64_t>(numbers.size());
  for (const Function& f : {Function{"exp", ElemOp::Exp, std::exp, 1}, Function{"log", ElemOp::Log, std::log, 0.51},
                            Function{"tanh", ElemOp::Tanh, std::tanh, 2.5}, Function{"erf", ElemOp::Erf, std::erf, 0.51}}) {
    ProgramBuilder p;
    const tbem_operand shape = layoutOf(TBEM_F32, {count}, "plain");
    const BufferId x = p.add(shape), y = p.add(shape);
    LoopBuilder l;
    l.output(y, l.op(f.op, l.input(x, {0})));
    p.add(l);
    auto compiled = jit::compile(p.program, {.cache = false});
    ASSERT_TRUE(compiled);
    auto instance = *runtime::Instance::create(compiled->executable, *plainBackend());
    HostTensor values{TBEM_F32, {count}, std::vector<std::byte>(numbers.size() * 4)};
    std::memcpy(values.data.data(), numbers.data(), values.data.size());
    ASSERT_TRUE(instance->write(0, values));
    ASSERT_TRUE(instance->run(1));
    const auto* got = static_cast<const float*>(instance->address(1));
    double worst = 0;
    float at = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double e = error(got[i], f.truth(static_cast<double>(numbers[i])));
      if (e > worst) {
        worst = e;
        at = numbers[i];
      }
    }
    EXPECT_LE(worst, f.bound) << f.name << " at " << at;
    RecordProperty(std::string(f.name) + "_ulp", std::to_string(worst));
    EXPECT_GT(worst, 0.4) << "no function rounds all of these numbers that well: the comparison is broken";
  }
}

}  // namespace
}  // namespace tbem::testing
