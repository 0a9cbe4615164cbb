// Generators: lists of tensors, indices, choices, resizing, convolutions of other ranks.
#include "test/prop/stdlib/Case.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::test {
namespace {

using Kind = Given::Kind;

Given real(Dims dims) { return {Kind::Normal, std::move(dims)}; }
Given truth(Dims dims) { return {Kind::Truth, std::move(dims)}; }
Given whole(Dims dims, std::int64_t bound) { return {Kind::Whole, std::move(dims), {}, bound}; }

std::int64_t axisOf(Dice& d, const Dims& dims) { return d.integer(0, static_cast<std::int64_t>(dims.size()) - 1); }

void addLists(std::map<std::string, Generator>& table) {
  table["concat"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    const std::int64_t axis = axisOf(d, dims);
    Case one{fmt::format("concat([%0, %1, %2], axis: {})", axis), {}};
    for (int i = 0; i < 3; ++i) {
      Dims part = dims;
      part[static_cast<std::size_t>(axis)] = d.integer(1, 5);
      one.tensors.push_back(real(part));
    }
    return one;
  };
  table["stack"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d, 3);
    return {fmt::format("stack([%0, %1], axis: {})", d.integer(0, static_cast<std::int64_t>(dims.size()))),
            {real(dims), real(dims)}};
  };
  table["split"] = [](Dice& d) -> Case {
    Dims dims = anyDims(d);
    const std::int64_t axis = axisOf(d, dims), a = d.integer(1, 3), b = d.integer(1, 3);
    dims[static_cast<std::size_t>(axis)] = a + b;
    return {fmt::format("split(%0, sizes: [{}, {}], axis: {})", a, b, axis), {real(dims)}, "real", 2};
  };
  table["flip"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {fmt::format("flip(%0, axis: [{}])", axisOf(d, dims)), {real(dims)}};
  };
  table["im2col"] = [](Dice& d) -> Case {
    const Dims dims{d.integer(1, 3), d.one({1, 3, 8}), d.integer(3, 7), d.integer(3, 7)};
    return {fmt::format("im2col(%0, kernel: [{}, {}], stride: [{}, {}], pad: [{}, {}])", d.integer(1, 3), d.integer(1, 3),
                        d.integer(1, 2), d.integer(1, 2), d.integer(0, 2), d.integer(0, 2)),
            {real(dims)}};
  };
  table["roll"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {fmt::format("roll(%0, shift: [{}], axis: [{}])", d.integer(-9, 9), axisOf(d, dims)), {real(dims)}};
  };
}

void addIndices(std::map<std::string, Generator>& table) {
  table["embedding"] = [](Dice& d) -> Case {
    const std::int64_t vocab = d.integer(1, 9);
    return {fmt::format("embedding(%0, vocab: {}, width: {})", vocab, d.one({1, 4, 16, 17})), {whole(anyDims(d, 2), vocab)}};
  };
  table["padded_gather"] = [](Dice& d) -> Case {
    const std::int64_t padding = d.integer(1, 9);  // a row that no case reads: there the gradient is not that of differences
    return {fmt::format("padded_gather(%0, %1, padding: {})", padding),
            {real({padding + 1, d.one({1, 4, 16, 17})}), whole(anyDims(d, 2), padding)}};
  };
  table["gather"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d, 3);
    const std::int64_t axis = axisOf(d, dims);
    return {fmt::format("gather(%0, %1, axis: {})", axis),
            {real(dims), whole({d.integer(1, 5)}, dims[static_cast<std::size_t>(axis)])}};
  };
  table["gather_gradient"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d, 3);
    const std::int64_t axis = axisOf(d, dims), count = d.integer(1, 5);
    Dims dy = dims;
    dy[static_cast<std::size_t>(axis)] = count;
    return {fmt::format("gather_gradient(%0, %1, axis: {}, shape: {})", axis, listText(dims)),
            {real(dy), whole({count}, dims[static_cast<std::size_t>(axis)])},
            "real",
            1,
            false};
  };
  table["one_hot"] = [](Dice& d) -> Case {
    const std::int64_t classes = d.integer(1, 7);
    return {fmt::format("one_hot(%0, classes: {})", classes), {whole(anyDims(d, 2), classes)}, "real", 1, false};
  };
  for (const auto& [name, generator] : std::map<std::string, Generator>{
           {"argmax",
            [](Dice& d) -> Case {
              const Dims dims = anyDims(d);
              return {fmt::format("argmax(%0, axis: {})", axisOf(d, dims)), {real(dims)}, "whole", 1, false};
            }},
           {"argmin", [](Dice& d) -> Case {
              const Dims dims = anyDims(d);
              return {fmt::format("argmin(%0, axis: {})", axisOf(d, dims)), {real(dims)}, "whole", 1, false};
            }}})
    table[name] = generator;
  table["arange"] = [](Dice& d) -> Case { return {fmt::format("arange(n: {})", d.integer(1, 20)), {}, "whole", 1, false}; };
  table["as_real"] = [](Dice& d) -> Case { return {"as_real(%0)", {whole(anyDims(d), 7)}, "real", 1, false}; };
  table["cast"] = [](Dice& d) -> Case { return {"cast(%0, to: i64)", {real(anyDims(d))}, "whole", 1, false}; };
  table["constant"] = [](Dice& d) -> Case {
    std::string values = numberText(d, -1, 1);
    for (std::int64_t k = d.integer(0, 20); k > 0; --k) values += ", " + numberText(d, -1, 1);
    return {"constant(values: [" + values + "])", {}};
  };
}

void addChoices(std::map<std::string, Generator>& table) {
  table["where"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    Dims thin = dims;
    for (std::int64_t& one : thin) one = d.integer(0, 3) == 0 ? 1 : one;
    return {"where(%0, %1, %2)", {truth(d.coin() ? dims : thin), real(dims), real(thin)}};
  };
  table["logical_and"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"logical_and(%0, %1)", {truth(dims), truth(dims)}, "bool", 1, false};
  };
  table["logical_or"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"logical_or(%0, %1)", {truth(dims), truth(dims)}, "bool", 1, false};
  };
  table["logical_not"] = [](Dice& d) -> Case { return {"logical_not(%0)", {truth(anyDims(d))}, "bool", 1, false}; };
  table["min"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {fmt::format("min(%0, axis: [{}])", axisOf(d, dims)), {real(dims)}};
  };
}

Dims image(Dice& d) { return {d.integer(1, 2), d.one({1, 3, 8, 16}), d.integer(2, 6), d.integer(2, 6)}; }

void addResizing(std::map<std::string, Generator>& table) {
  table["upsample2d"] = [](Dice& d) -> Case {
    const std::string mode = d.coin() ? "" : fmt::format(", mode: \"bilinear\", align_corners: {}", d.coin());
    return {fmt::format("upsample2d(%0, size: [{}, {}]{})", d.integer(1, 9), d.integer(1, 9), mode), {real(image(d))}};
  };
  table["pad_edge"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    Dims low, high;
    for (std::size_t k = 0; k < dims.size(); ++k) low.push_back(d.integer(0, 2)), high.push_back(d.integer(0, 2));
    return {fmt::format("pad_edge(%0, low: {}, high: {})", listText(low), listText(high)), {real(dims)}};
  };
  table["pad_reflect"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    Dims low, high;
    for (const std::int64_t length : dims) {
      const std::int64_t most = std::min<std::int64_t>(2, length - 1);
      low.push_back(d.integer(0, most)), high.push_back(d.integer(0, most));
    }
    return {fmt::format("pad_reflect(%0, low: {}, high: {})", listText(low), listText(high)), {real(dims)}};
  };
  table["pixel_shuffle"] = [](Dice& d) -> Case {
    const std::int64_t factor = d.integer(1, 3);
    return {fmt::format("pixel_shuffle(%0, factor: {})", factor),
            {real({d.integer(1, 2), factor * factor * d.integer(1, 3), d.integer(1, 4), d.integer(1, 4)})}};
  };
}

void addOtherRanks(std::map<std::string, Generator>& table) {
  table["conv1d"] = [](Dice& d) -> Case {
    const std::int64_t groups = d.integer(1, 2), c = groups * d.integer(1, 8);
    return {fmt::format("conv1d(%0, out: {}, kernel: {}, stride: {}, pad: {}, groups: {}, use_bias: {})",
                        groups * d.integer(1, 5), d.integer(1, 3), d.integer(1, 2), d.integer(0, 1), groups, d.coin()),
            {real({d.integer(1, 3), c, d.integer(3, 9)})}};
  };
  table["conv3d"] = [](Dice& d) -> Case {
    return {fmt::format("conv3d(%0, out: {}, kernel: [{}, {}, {}], stride: [{}, 1, {}], pad: [{}, {}, 0], use_bias: {})",
                        d.integer(1, 4), d.integer(1, 2), d.integer(1, 3), d.integer(1, 2), d.integer(1, 2), d.integer(1, 2),
                        d.integer(0, 1), d.integer(0, 1), d.coin()),
            {real({d.integer(1, 2), d.integer(1, 4), d.integer(2, 4), d.integer(3, 5), d.integer(3, 5)})}};
  };
  table["conv_transpose2d"] = [](Dice& d) -> Case {
    const std::int64_t groups = d.integer(1, 2), stride = d.integer(1, 2);
    return {fmt::format(
                "conv_transpose2d(%0, out: {}, kernel: [{}, {}], stride: {}, pad: {}, output_pad: {}, groups: {}, use_bias: {})",
                groups * d.integer(1, 4), d.integer(2, 3), d.integer(2, 3), stride, d.integer(0, 1),
                stride > 1 ? d.integer(0, 1) : 0, groups, d.coin()),
            {real({d.integer(1, 2), groups * d.integer(1, 4), d.integer(2, 5), d.integer(2, 5)})}};
  };
  table["correlate2d"] = [](Dice& d) -> Case {
    const std::int64_t groups = d.integer(1, 2), c = groups * d.integer(1, 4);
    return {fmt::format("correlate2d(%0, %1, stride: {}, pad: {}, groups: {})", d.integer(1, 2), d.integer(0, 1), groups),
            {real({d.integer(1, 2), c, d.integer(3, 6), d.integer(3, 6)}),
             real({groups * d.integer(1, 4), c / groups, d.integer(1, 3), d.integer(1, 3)})}};
  };
  table["max_pool1d"] = [](Dice& d) -> Case {
    return {fmt::format("max_pool1d(%0, kernel: {}, stride: {}, pad: 1)", d.integer(2, 3), d.integer(1, 3)),
            {real({d.integer(1, 2), d.integer(1, 9), d.integer(3, 9)})}};
  };
  table["avg_pool1d"] = [](Dice& d) -> Case {
    return {fmt::format("avg_pool1d(%0, kernel: {}, stride: {}, pad: 1, count_include_pad: {})", d.integer(2, 3), d.integer(1, 3),
                        d.coin()),
            {real({d.integer(1, 2), d.integer(1, 9), d.integer(3, 9)})}};
  };
  table["max_pool3d"] = [](Dice& d) -> Case {
    return {
        fmt::format("max_pool3d(%0, kernel: [{}, 2, {}], stride: [1, {}, 1])", d.integer(1, 2), d.integer(1, 3), d.integer(1, 2)),
        {real({d.integer(1, 2), d.integer(1, 4), d.integer(2, 4), d.integer(2, 5), d.integer(3, 5)})}};
  };
}

}  // namespace

void addIndicesAndLists(std::map<std::string, Generator>& table) {
  addLists(table);
  addIndices(table);
  addChoices(table);
  addResizing(table);
  addOtherRanks(table);
}

}  // namespace tbem::test
