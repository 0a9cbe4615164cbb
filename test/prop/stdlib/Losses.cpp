// Generators: losses.
#include "test/prop/stdlib/Case.h"

#include <fmt/format.h>

namespace tbem::test {
namespace {

using Kind = Given::Kind;

Given real(Dims dims) { return {Kind::Normal, std::move(dims)}; }

/// Logits and class numbers: [n, k], sequences [n, l, k], images [n, k, h, w].
std::vector<Given> classes(Dice& d) {
  const std::int64_t n = d.integer(1, 4), k = d.integer(1, 9), h = d.integer(1, 4), w = d.integer(1, 4);
  switch (d.integer(0, 2)) {
    case 0:
      return {real({n, k}), {Kind::Whole, {n}, {}, k}};
    case 1:
      return {real({n, h, k}), {Kind::Whole, {n, h}, {}, k}};
    default:
      return {real({n, k, h, w}), {Kind::Whole, {n, h, w}, {}, k}};
  }
}

}  // namespace

void addLosses(std::map<std::string, Generator>& table) {
  table["cross_entropy"] = [](Dice& d) -> Case {
    return {d.coin() ? "cross_entropy(%0, %1)" : "cross_entropy(%0, %1, smoothing: 0.1)", classes(d)};
  };
  table["cross_entropy_gradient"] = [](Dice& d) -> Case {
    const std::int64_t n = d.integer(1, 4), k = d.integer(1, 9);
    return {"cross_entropy_gradient(%0, %1, %2)", {real({}), real({n, k}), {Kind::Whole, {n}, {}, k}}, "real", 1, false};
  };
  table["nll"] = [](Dice& d) -> Case { return {"nll(%0, %1)", classes(d)}; };
  table["mse"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"mse(%0, %1)", {real(dims), real(dims)}};
  };
  // Differences of -1.5 .. 1.5 in steps: none lies where the loss has no derivative.
  table["l1"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"l1(%0, mul_scalar(%1, value: 0.001))", {{Kind::Normal, dims, {0}}, {Kind::Share, dims}}};
  };
  table["huber"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"huber(%0, %1, delta: " + numberText(d, 0.5, 2) + ")", {real(dims), real(dims)}};
  };
  table["smooth_l1"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"smooth_l1(%0, %1, beta: " + numberText(d, 0.5, 2) + ")", {real(dims), real(dims)}};
  };
  table["bce"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"bce(%0, %1)", {{Kind::Share, dims}, {Kind::Share, dims}}};
  };
  table["bce_with_logits"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"bce_with_logits(%0, %1)", {real(dims), {Kind::Share, dims}}};
  };
  table["kl_div"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"kl_div(%0, %1)", {real(dims), {Kind::Share, dims}}};
  };
}

}  // namespace tbem::test
