// cuda against ref where results are shared out over several blocks, and where rows, columns and windows are long: shapes that
// the random problems are too small for.
#include "test/problems/Random.h"
#include "test/prop/cuda/Card.h"

#include <algorithm>

namespace tbem::test {
namespace {

using Dims = std::vector<std::int64_t>;

class CudaLarge : public OnCard {
protected:
  /// Long dimensions are a fifth where the card is interpreted: still longer than what one block takes.
  Dims sized(Dims dims) const {
    for (std::int64_t& dim : dims) dim = interpreted_ && dim > 2000 ? dim / 5 : dim;
    return dims;
  }
};

constexpr double kBound = 5e-6;

Array shape(Dims dims) { return {std::move(dims), {}, false}; }

std::int64_t product(const Dims& dims) {
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= d;
  return count;
}

Dims without(Dims dims, std::size_t axis) {
  dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(axis));
  return dims;
}

/// Of a million elements together, of rows, of columns, of both around what is kept.
struct Reduction {
  Dims dims, axes;
};
const std::vector<Reduction> kReductions = {
    {{1'000'003}, {0}},
    {{7, 50'000}, {1}},
    {{50'000, 7}, {0}},
    {{100'000, 3}, {0}},
    {{100'000, 3}, {1}},
    {{16, 8, 64, 65}, {0, 2, 3}},
    {{3, 130, 301}, {1}},
    {{300, 3, 101}, {0, 2}},
    {{12, 50, 10, 60}, {1, 3}},
    {{6, 5, 4, 3, 7}, {0, 2, 4}},
    {{5, 4, 3, 4, 3, 4, 9}, {0, 2, 4, 6}},
    {{2050, 500}, {0, 1}},
};

TEST_F(CudaLarge, Reductions) {
  for (const Reduction& reduction : kReductions) {
    const Dims dims = sized(reduction.dims);
    Dims kept, attributes = {static_cast<std::int64_t>(reduction.axes.size())};
    attributes.insert(attributes.end(), reduction.axes.begin(), reduction.axes.end());
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const bool dropped = std::count(reduction.axes.begin(), reduction.axes.end(), static_cast<std::int64_t>(d)) > 0;
      if (!dropped) kept.push_back(dims[d]);
    }
    Random random(80000);
    const Array x = random.array(dims), ties = random.array(dims, true);
    agreesWithRef({TBEM_PRIMITIVE_reduce_sum, attributes, {}, {x}, {shape(kept)}}, kBound, Runs::andReplayed);
    const Problem largest{TBEM_PRIMITIVE_reduce_max, attributes, {}, {ties}, {shape(kept)}};
    agreesWithRef(largest, 0);
    const Array y{kept, runOn(*tbem_backend_ref(), largest, {TBEM_F64, 1, {}}).outputs.at(0), false};
    agreesWithRef({TBEM_PRIMITIVE_reduce_max_gradient, attributes, {}, {random.array(kept), ties, y}, {shape(dims)}}, kBound);
    agreesWithRef({TBEM_PRIMITIVE_sum_squares, {}, {}, {x}, {shape({})}}, kBound);
  }
}

TEST_F(CudaLarge, Channels) {
  for (const Dims& large : {Dims{3, 5, 100, 201}, Dims{100'000, 3}, Dims{16, 64, 7, 7}, Dims{2, 300, 300}, Dims{50'000, 1}}) {
    const Dims dims = sized(large);
    Random random(81000);
    const Dims c = {dims[1]};
    Array x = random.array(dims);
    agreesWithRef({TBEM_PRIMITIVE_channel_gradient_sums,
                   {},
                   {1e-3},
                   {random.array(dims), x, random.array(c), random.positive(c)},
                   {shape(c), shape(c)}},
                  kBound);
    // A mean far from 0, of which the variance knows nothing.
    for (double& value : x.values) value = static_cast<double>(static_cast<float>(value + 1000));
    agreesWithRef({TBEM_PRIMITIVE_channel_moments, {}, {}, {x}, {shape(c), shape(c)}}, kBound);
  }
}

TEST_F(CudaLarge, RowGradientSums) {
  for (const Dims& large : {Dims{4096, 96}, Dims{3, 50'000}, Dims{100'000, 3}, Dims{8, 20, 768}, Dims{200'000, 1}}) {
    const Dims dims = sized(large);
    Random random(82000);
    const Dims rows(dims.begin(), dims.end() - 1), features = {dims.back()};
    agreesWithRef({TBEM_PRIMITIVE_row_gradient_sums,
                   {},
                   {1e-3},
                   {random.array(dims), random.array(dims), random.positive(rows), random.array(features), random.array(rows)},
                   {shape(features), shape(features), shape(rows), shape(rows)}},
                  kBound);
  }
}

struct Lined {
  Dims dims;
  std::size_t axis;
};
const std::vector<Lined> kLines = {{{3, 50'257}, 1}, {{100'000, 3}, 1}, {{5000, 40}, 0}, {{2, 21, 40, 41}, 1},
                                   {{60, 1024}, 1},  {{1500, 100}, 1},  {{20'000, 1}, 0}};

TEST_F(CudaLarge, Lines) {
  for (const Lined& lined : kLines) {
    const Dims dims = sized(lined.dims);
    const std::vector<std::int64_t> axis = {static_cast<std::int64_t>(lined.axis)};
    const Dims rest = without(dims, lined.axis);
    Random random(83000);
    const Array x = random.array(dims), dy = random.array(dims), scale = random.array({});
    for (const tbem_primitive primitive : {TBEM_PRIMITIVE_softmax, TBEM_PRIMITIVE_log_softmax})
      agreesWithRef({primitive, axis, {}, {x}, {shape(dims)}}, kBound);
    for (const tbem_primitive primitive : {TBEM_PRIMITIVE_softmax_gradient, TBEM_PRIMITIVE_log_softmax_gradient})
      agreesWithRef({primitive, axis, {}, {dy, x}, {shape(dims)}}, kBound);
    Array target = random.targets(product(rest), dims[lined.axis]);
    target.dims = rest;
    for (double& wanted : target.values) wanted = random.integer(0, 9) == 0 ? static_cast<double>(runtime::kNoClass) : wanted;
    for (const double smoothing : {0.0, 0.1}) {
      agreesWithRef({TBEM_PRIMITIVE_cross_entropy, axis, {smoothing}, {x, target}, {shape({})}}, kBound);
      agreesWithRef({TBEM_PRIMITIVE_cross_entropy_gradient, axis, {smoothing}, {scale, x, target}, {shape(dims)}}, kBound);
    }
    Array number = shape(rest);
    number.integer = true;
    agreesWithRef({TBEM_PRIMITIVE_arg_max, axis, {}, {x}, {number}}, 0);
    agreesWithRef({TBEM_PRIMITIVE_arg_max, axis, {}, {random.array(dims, true)}, {number}}, 0);
  }
}

/// More numbers than one block sorts, in an axis that is longer and one that is shorter; all the same.
TEST_F(CudaLarge, Gathers) {
  struct Case {
    std::int64_t numbers, length, inner;
  };
  for (const Case& size :
       {Case{20'000, 1000, 16}, Case{3000, 50'257, 4}, Case{5000, 1, 33}, Case{2049, 3, 1}, Case{40'000, 40'000, 1}}) {
    Random random(84000);
    const Dims whole = {size.length, size.inner}, part = {size.numbers, size.inner};
    const Array numbers = random.targets(size.numbers, size.length);
    agreesWithRef({TBEM_PRIMITIVE_gather, {0}, {}, {random.array(whole), numbers}, {shape(part)}}, 0);
    agreesWithRef({TBEM_PRIMITIVE_gather_gradient, {0}, {}, {random.array(part), numbers}, {shape(whole)}}, kBound);
  }
}

TEST_F(CudaLarge, Moves) {
  Random random(85000);
  const Array square = random.array({500, 1003}), images = random.array({2, 64, 50, 51}), thin = random.array({4, 3, 100, 101});
  agreesWithRef({TBEM_PRIMITIVE_permute, {2, 1, 0}, {}, {square}, {shape({1003, 500})}}, 0);
  agreesWithRef({TBEM_PRIMITIVE_permute, {4, 0, 2, 3, 1}, {}, {images}, {shape({2, 50, 51, 64})}}, 0);
  agreesWithRef({TBEM_PRIMITIVE_permute, {4, 2, 0, 3, 1}, {}, {images}, {shape({50, 2, 51, 64})}}, 0);
  agreesWithRef({TBEM_PRIMITIVE_permute, {4, 0, 2, 3, 1}, {}, {thin}, {shape({4, 100, 101, 3})}}, 0);
  agreesWithRef({TBEM_PRIMITIVE_permute, {4, 0, 2, 1, 3}, {}, {images}, {shape({2, 50, 64, 51})}}, 0);
  agreesWithRef({TBEM_PRIMITIVE_pad, {4, 0, 0, 1, 2, 4, 0, 0, 0, 0}, {}, {images}, {shape({2, 64, 52, 54})}}, 0);
  agreesWithRef({TBEM_PRIMITIVE_pad, {4, 0, 1, 0, 0, 4, 0, 0, 0, 0}, {}, {images}, {shape({2, 66, 50, 51})}}, 0);
  agreesWithRef({TBEM_PRIMITIVE_slice, {4, 0, 16, 0, 0, 4, 1, 1, 1, 1}, {}, {images}, {shape({2, 32, 50, 51})}}, 0);
  agreesWithRef({TBEM_PRIMITIVE_concat, {1}, {}, {images, random.array({2, 32, 50, 51})}, {shape({2, 96, 50, 51})}}, 0);
  agreesWithRef({TBEM_PRIMITIVE_reorder, {}, {}, {images}, {shape({2, 64, 50, 51})}}, 0);
}

TEST_F(CudaLarge, Pools) {
  Random random(86000);
  const Dims big = {2, 4, 112, 112}, small = {2, 4, 56, 56};
  const Array x = random.array(big, true), dy = random.array(small);
  const std::vector<std::int64_t> window = {3, 3, 2, 2, 1, 1, 1, 1};
  agreesWithRef({TBEM_PRIMITIVE_max_pool2d, window, {}, {x}, {shape(small)}}, 0);
  agreesWithRef({TBEM_PRIMITIVE_max_pool2d_gradient, window, {}, {dy, x}, {shape(big)}}, kBound);
  for (const Dims& bins : {Dims{1, 1}, Dims{7, 7}, Dims{5, 112}}) {
    const Dims part = {2, 4, bins[0], bins[1]};
    agreesWithRef({TBEM_PRIMITIVE_adaptive_avg_pool2d, {}, {}, {x}, {shape(part)}}, kBound);
    agreesWithRef({TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient, {}, {}, {random.array(part)}, {shape(big)}}, kBound);
  }
  const std::vector<std::int64_t> wide = {40, 60, 8, 8, 2, 3, 4, 5, 0};
  const Dims few = {2, 4, 10, 8};
  agreesWithRef({TBEM_PRIMITIVE_avg_pool2d, wide, {}, {x}, {shape(few)}}, kBound);
  agreesWithRef({TBEM_PRIMITIVE_avg_pool2d_gradient, wide, {}, {random.array(few)}, {shape(big)}}, kBound);
}

}  // namespace
}  // namespace tbem::test
