// Generators: operators on each element, arithmetic, comparisons.
#include "test/prop/stdlib/Case.h"

#include <algorithm>

namespace tbem::test {
namespace {

using Kind = Given::Kind;

Given real(Dims dims, std::vector<double> kinks = {}) { return {Kind::Normal, std::move(dims), std::move(kinks)}; }

/// An operator of one tensor without parameters.
#define TBEM_UNARY(name, ...) table[#name] = [](Dice& d) -> Case { return {#name "(%0)", {real(anyDims(d), {__VA_ARGS__})}}; }

/// Two shapes that broadcast: some dimensions are 1 or missing in one of them.
std::pair<Dims, Dims> broadcastPair(Dice& d) {
  const Dims full = anyDims(d);
  const auto thin = [&] {
    Dims dims = full;
    for (std::int64_t& one : dims) one = d.integer(0, 3) == 0 ? 1 : one;
    if (d.integer(0, 3) == 0) dims.erase(dims.begin(), dims.begin() + d.integer(0, static_cast<std::int64_t>(dims.size())));
    return dims;
  };
  if (d.coin()) return {full, thin()};
  return {thin(), full};
}

#define TBEM_BINARY(name)                          \
  table[#name] = [](Dice& d) -> Case {             \
    const auto [a, b] = broadcastPair(d);          \
    return {#name "(%0, %1)", {real(a), real(b)}}; \
  }
#define TBEM_COMPARE(name)                                                                                   \
  table[#name] = [](Dice& d) -> Case {                                                                       \
    const auto [a, b] = broadcastPair(d);                                                                    \
    return {#name "(%0, %1)", {real(a), real(b)}, "bool", 1, false};                                         \
  };                                                                                                         \
  table[#name "_scalar"] = [](Dice& d) -> Case {                                                             \
    return {#name "_scalar(%0, value: " + numberText(d, -1, 1) + ")", {real(anyDims(d))}, "bool", 1, false}; \
  }
#define TBEM_SCALAR(name, low, high) \
  table[#name] = [](Dice& d) -> Case { return {#name "(%0, value: " + numberText(d, low, high) + ")", {real(anyDims(d), {0})}}; }

}  // namespace

void addElementwise(std::map<std::string, Generator>& table) {
  TBEM_UNARY(relu, 0);
  TBEM_UNARY(relu6, 0, 6);
  TBEM_UNARY(sigmoid);
  TBEM_UNARY(tanh);
  TBEM_UNARY(silu);
  TBEM_UNARY(mish);
  TBEM_UNARY(selu, 0);
  TBEM_UNARY(softplus);
  TBEM_UNARY(exp);
  TBEM_UNARY(expm1);
  TBEM_UNARY(abs, 0);
  TBEM_UNARY(sin);
  TBEM_UNARY(cos);
  TBEM_UNARY(sign, 0);
  TBEM_UNARY(floor, -3, -2, -1, 0, 1, 2, 3);
  TBEM_UNARY(square);
  TBEM_UNARY(neg);
  TBEM_UNARY(identity);
  TBEM_UNARY(hard_sigmoid, -3, 3);
  TBEM_UNARY(hard_swish, -3, 3);
  table["stop_gradient"] = [](Dice& d) -> Case { return {"stop_gradient(%0)", {real(anyDims(d))}, "real", 1, false}; };
  table["log"] = [](Dice& d) -> Case { return {"log(%0)", {{Kind::Positive, anyDims(d)}}}; };
  table["log1p"] = [](Dice& d) -> Case { return {"log1p(%0)", {{Kind::Positive, anyDims(d)}}}; };
  table["sqrt"] = [](Dice& d) -> Case { return {"sqrt(%0)", {{Kind::Positive, anyDims(d)}}}; };
  table["rsqrt"] = [](Dice& d) -> Case { return {"rsqrt(%0)", {{Kind::Positive, anyDims(d)}}}; };
  table["gelu"] = [](Dice& d) -> Case { return {d.coin() ? "gelu(%0, approximate: true)" : "gelu(%0)", {real(anyDims(d))}}; };
  table["leaky_relu"] = [](Dice& d) -> Case {
    return {"leaky_relu(%0, slope: " + numberText(d, 0, 0.5) + ")", {real(anyDims(d), {0})}};
  };
  table["elu"] = [](Dice& d) -> Case { return {"elu(%0, alpha: " + numberText(d, 0.5, 2) + ")", {real(anyDims(d), {0})}}; };
  table["pow"] = [](Dice& d) -> Case {
    return {"pow(%0, exponent: " + numberText(d, -2, 3) + ")", {{Kind::Positive, anyDims(d)}}};
  };
  table["clamp"] = [](Dice& d) -> Case { return {"clamp(%0, low: -0.5, high: 1.5)", {real(anyDims(d), {-0.5, 1.5})}}; };
  table["hard_tanh"] = [](Dice& d) -> Case {
    return d.coin() ? Case{"hard_tanh(%0)", {real(anyDims(d), {-1, 1})}}
                    : Case{"hard_tanh(%0, low: -0.5, high: 0.25)", {real(anyDims(d), {-0.5, 0.25})}};
  };
  table["dropout"] = [](Dice& d) -> Case { return {"dropout(%0, p: " + numberText(d, 0, 0.9) + ")", {real(anyDims(d))}}; };
  table["zeros"] = [](Dice& d) -> Case { return {"zeros(shape: " + listText(anyDims(d)) + ")", {}}; };
  table["ones"] = [](Dice& d) -> Case { return {"ones(shape: " + listText(anyDims(d)) + ")", {}}; };
  table["fill"] = [](Dice& d) -> Case {
    return {"fill(shape: " + listText(anyDims(d)) + ", value: " + numberText(d, -2, 2) + ")", {}};
  };
  TBEM_BINARY(add);
  TBEM_BINARY(sub);
  TBEM_BINARY(mul);
  TBEM_BINARY(maximum);
  TBEM_BINARY(minimum);
  table["divide"] = [](Dice& d) -> Case {
    const auto [a, b] = broadcastPair(d);
    return {"divide(%0, %1)", {real(a), {Kind::Positive, b}}};
  };
  TBEM_SCALAR(add_scalar, -2, 2);
  TBEM_SCALAR(sub_scalar, -2, 2);
  TBEM_SCALAR(scalar_sub, -2, 2);
  TBEM_SCALAR(mul_scalar, -2, 2);
  TBEM_SCALAR(div_scalar, 0.5, 2);
  table["scalar_div"] = [](Dice& d) -> Case {
    return {"scalar_div(%0, value: " + numberText(d, -2, 2) + ")", {{Kind::Positive, anyDims(d)}}};
  };
  TBEM_COMPARE(less);
  TBEM_COMPARE(less_equal);
  TBEM_COMPARE(equal);
  TBEM_COMPARE(not_equal);
  for (const auto& [name, generator] :
       std::map<std::string, Generator>{{"greater_scalar",
                                         [](Dice& d) -> Case {
                                           return {"greater_scalar(%0, value: 0.25)", {real(anyDims(d))}, "bool", 1, false};
                                         }},
                                        {"not_equal_scalar",
                                         [](Dice& d) -> Case {
                                           return {"not_equal_scalar(%0, value: 0.25)", {real(anyDims(d))}, "bool", 1, false};
                                         }},
                                        {"greater_equal_scalar", [](Dice& d) -> Case {
                                           return {"greater_equal_scalar(%0, value: 0.25)", {real(anyDims(d))}, "bool", 1, false};
                                         }}})
    table[name] = generator;
  table["sum_to"] = [](Dice& d) -> Case {
    auto [a, b] = broadcastPair(d);
    if (a.size() > b.size() || product(a) > product(b)) std::swap(a, b);
    Dims full = b;  // the shape of both together
    for (std::size_t k = 0; k < a.size(); ++k) {
      std::int64_t& there = full[full.size() - 1 - k];
      there = std::max(there, a[a.size() - 1 - k]);
    }
    return {"sum_to(%0, shape: " + listText(a) + ")", {real(full)}};
  };
  table["broadcast_to"] = [](Dice& d) -> Case {
    Dims full = anyDims(d), thin = full;
    for (std::int64_t& one : thin) one = d.integer(0, 2) == 0 ? 1 : one;
    return {"broadcast_to(%0, shape: " + listText(full) + ")", {real(thin)}};
  };
}

}  // namespace tbem::test
