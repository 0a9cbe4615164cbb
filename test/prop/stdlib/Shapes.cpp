// Generators: reductions, softmax, operators that move elements.
#include "test/prop/stdlib/Case.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace tbem::test {
namespace {

using Kind = Given::Kind;

Given real(Dims dims) { return {Kind::Normal, std::move(dims)}; }

/// Some of the axes of so many.
Dims someAxes(Dice& d, std::size_t rank) {
  Dims axes;
  while (axes.empty()) {
    for (std::size_t k = 0; k < rank; ++k)
      if (d.coin()) axes.push_back(static_cast<std::int64_t>(k));
  }
  return axes;
}

Case reduction(Dice& d, const char* name) {
  const Dims dims = anyDims(d);
  return {fmt::format("{}(%0, axis: {})", name, listText(someAxes(d, dims.size()))), {real(dims)}};
}

Case along(Dice& d, const char* name) {
  const Dims dims = anyDims(d);
  return {fmt::format("{}(%0, axis: {})", name, d.integer(0, static_cast<std::int64_t>(dims.size()) - 1)), {real(dims)}};
}

}  // namespace

void addShapes(std::map<std::string, Generator>& table) {
  table["sum"] = [](Dice& d) { return reduction(d, "sum"); };
  table["mean"] = [](Dice& d) { return reduction(d, "mean"); };
  table["max"] = [](Dice& d) { return reduction(d, "max"); };
  table["cumsum"] = [](Dice& d) { return along(d, "cumsum"); };
  table["variance"] = [](Dice& d) { return reduction(d, "variance"); };
  table["sum_squares"] = [](Dice& d) -> Case { return {"sum_squares(%0)", {real(anyDims(d))}}; };
  table["max_gradient"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d), axes = someAxes(d, dims.size());
    Dims kept;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(k)) == axes.end()) kept.push_back(dims[k]);
    }
    return {fmt::format("max_gradient(%0, %1, max(%1, axis: {0}), axis: {0})", listText(axes)),
            {real(kept), real(dims)},
            "real",
            1,
            false};
  };
  table["softmax"] = [](Dice& d) { return along(d, "softmax"); };
  table["log_softmax"] = [](Dice& d) { return along(d, "log_softmax"); };
  table["softmax_gradient"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"softmax_gradient(%0, %1, axis: 0)", {real(dims), real(dims)}, "real", 1, false};
  };
  table["log_softmax_gradient"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"log_softmax_gradient(%0, %1, axis: 0)", {real(dims), real(dims)}, "real", 1, false};
  };
  table["reshape"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {fmt::format("reshape(%0, shape: [{}, 1])", product(dims)), {real(dims)}};
  };
  table["flatten"] = [](Dice& d) -> Case { return {"flatten(%0)", {real(anyDims(d))}}; };
  table["permute"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    Dims order(dims.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t k = order.size(); k-- > 1;)
      std::swap(order[k], order[static_cast<std::size_t>(d.integer(0, static_cast<std::int64_t>(k)))]);
    return {"permute(%0, order: " + listText(order) + ")", {real(dims)}};
  };
  table["transpose"] = [](Dice& d) -> Case {
    Dims dims = anyDims(d, 3);
    dims.push_back(d.integer(1, 5));
    return {"transpose(%0)", {real(dims)}};
  };
  table["pad"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    Dims low, high, interior;
    for (std::size_t k = 0; k < dims.size(); ++k)
      low.push_back(d.integer(0, 2)), high.push_back(d.integer(0, 2)), interior.push_back(d.integer(0, 1));
    return {fmt::format("pad(%0, low: {}, high: {}, interior: {})", listText(low), listText(high), listText(interior)),
            {real(dims)}};
  };
  table["channel_shuffle"] = [](Dice& d) -> Case {
    Dims dims = anyDims(d);
    const std::int64_t groups = d.integer(1, 3);
    dims.insert(dims.begin() + 1, groups * d.integer(1, 3));
    return {fmt::format("channel_shuffle(%0, groups: {})", groups), {real(dims)}};
  };
  table["slice"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    Dims start, size, stride;
    for (const std::int64_t length : dims) {
      start.push_back(d.integer(0, length - 1)), stride.push_back(d.integer(1, 2));
      size.push_back(d.integer(1, (length - 1 - start.back()) / stride.back() + 1));
    }
    return {fmt::format("slice(%0, start: {}, size: {}, stride: {})", listText(start), listText(size), listText(stride)),
            {real(dims)}};
  };
}

}  // namespace tbem::test
