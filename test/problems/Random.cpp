#include "test/problems/Random.h"

#include "runtime/core/Primitive.h"
#include "test/problems/Attention.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace tbem::test {
namespace {

using Dims = std::vector<std::int64_t>;

Array shape(Dims dims) { return {std::move(dims), {}, false}; }

/// Channels: small, odd, or a multiple of a block.
std::int64_t channels(Random& r) {
  switch (r.integer(0, 3)) {
    case 0:
      return r.integer(1, 4);
    case 1:
      return 16 * r.integer(1, 4);
    case 2:
      return 8 * r.integer(1, 5);
    default:
      return r.integer(1, 50);
  }
}

std::int64_t windows(std::int64_t length, std::int64_t pads, std::int64_t kernel, std::int64_t stride, std::int64_t dilation) {
  const std::int64_t room = length + pads - (dilation * (kernel - 1) + 1);
  return room < 0 ? 0 : room / stride + 1;
}

Problem conv(tbem_primitive primitive, Random& r) {
  while (true) {
    std::int64_t groups = 1, c = channels(r), o = channels(r);
    if (r.integer(0, 3) == 0) {
      groups = r.coin() ? r.integer(2, 5) : 16;
      if (r.coin()) {
        c = o = groups;
      } else {
        c = groups * r.integer(1, 20), o = groups * r.integer(1, 20);
      }
    }
    const std::int64_t n = r.integer(1, 4), h = r.integer(1, 14), w = r.coin() ? h : r.integer(1, 14);
    std::int64_t kh = r.integer(1, 5), kw = r.integer(1, 5), sh = r.integer(1, 3), sw = r.integer(1, 3);
    std::int64_t dh = r.integer(0, 3) ? 1 : 2, dw = r.integer(0, 3) ? 1 : 2;
    Dims pad = {r.integer(0, 2), r.integer(0, 2), r.integer(0, 2), r.integer(0, 2)};
    if (r.integer(0, 3) != 0) {  // as networks have them: square, padded evenly
      kh = kw = 2 * r.integer(0, 2) + 1, sw = sh = r.integer(1, 2), dh = dw = 1;
      pad.assign(4, r.coin() ? kh / 2 : 0);
    }
    const std::int64_t oh = windows(h, pad[0] + pad[2], kh, sh, dh), ow = windows(w, pad[1] + pad[3], kw, sw, dw);
    if (oh < 1 || ow < 1) continue;
    const Dims x = {n, c, h, w}, weight = {o, c / groups, kh, kw}, y = {n, o, oh, ow};
    Problem p{primitive, {sh, sw, pad[0], pad[1], pad[2], pad[3], dh, dw, groups}, {}, {}, {}};
    if (primitive == TBEM_PRIMITIVE_conv2d) {
      p.inputs = {r.array(x), r.array(weight), r.coin() ? std::optional<Array>(r.array({o})) : std::nullopt};
      p.outputs = {shape(y)};
    } else if (primitive == TBEM_PRIMITIVE_conv2d_input_gradient) {
      p.inputs = {r.array(y), r.array(weight)}, p.outputs = {shape(x)};
    } else {
      p.inputs = {r.array(x), r.array(y)}, p.outputs = {shape(weight)};
    }
    return p;
  }
}

Problem dense(tbem_primitive primitive, Random& r) {
  Dims lead;
  for (std::int64_t k = r.integer(0, 2); k > 0; --k) lead.push_back(r.integer(1, 9));
  const std::int64_t in = channels(r) * r.integer(1, 4), out = channels(r);
  Dims x = lead, y = lead;
  x.push_back(in), y.push_back(out);
  Problem p{primitive, {}, {}, {}, {}};
  if (primitive == TBEM_PRIMITIVE_dense) {
    p.inputs = {r.array(x), r.array({out, in}), r.coin() ? std::optional<Array>(r.array({out})) : std::nullopt};
    p.outputs = {shape(y)};
  } else if (primitive == TBEM_PRIMITIVE_dense_input_gradient) {
    p.inputs = {r.array(y), r.array({out, in})}, p.outputs = {shape(x)};
  } else {
    p.inputs = {r.array(x), r.array(y)}, p.outputs = {shape({out, in})};
  }
  return p;
}

/// Leading dimensions of an operand that broadcasts to `whole`: the last ones, some of them 1.
Dims partOf(const Dims& whole, Random& r) {
  Dims part(whole.begin() + (r.coin() ? 0 : r.integer(0, static_cast<std::int64_t>(whole.size()))), whole.end());
  for (std::int64_t& d : part) d = r.integer(0, 3) == 0 ? 1 : d;
  return part;
}

Problem matmul(Random& r) {
  Dims y;
  for (std::int64_t k = r.integer(0, 3); k > 0; --k) y.push_back(r.integer(1, 4));
  const bool broadcasts = r.integer(0, 2) == 0, left = r.coin();
  Dims a = broadcasts && left ? partOf(y, r) : y, b = broadcasts && !left ? partOf(y, r) : y;
  const std::int64_t m = r.integer(1, 70), k = r.integer(1, 70), n = r.integer(1, 70);
  const bool ta = r.coin(), tb = r.coin();
  a.push_back(ta ? k : m), a.push_back(ta ? m : k);
  b.push_back(tb ? n : k), b.push_back(tb ? k : n);
  y.push_back(m), y.push_back(n);
  return {TBEM_PRIMITIVE_matmul, {ta, tb}, {}, {r.array(a), r.array(b)}, {shape(y)}};
}

Dims anyDims(Random& r, std::int64_t smallest = 1) {
  Dims dims;
  for (std::int64_t k = r.integer(smallest, 4); k > 0; --k) dims.push_back(dims.size() == 1 ? channels(r) : r.integer(1, 8));
  return dims;
}

Problem reduce(tbem_primitive primitive, Random& r) {
  const Dims dims = anyDims(r);
  std::vector<bool> dropped(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) dropped[d] = r.coin();
  if (r.integer(0, 2) == 0 && dims.size() > 1) {  // a bias gradient
    std::fill(dropped.begin(), dropped.end(), true);
    dropped[r.coin() ? 1 : dims.size() - 1] = false;
  }
  Problem p{primitive, {0}, {}, {}, {}};
  Dims kept;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dropped[d]) {
      ++p.attributes[0];
      p.attributes.push_back(static_cast<std::int64_t>(d));
    } else {
      kept.push_back(dims[d]);
    }
  }
  const Array x = r.array(dims, primitive != TBEM_PRIMITIVE_reduce_sum && r.coin());
  p.inputs = {x}, p.outputs = {shape(kept)};
  if (primitive == TBEM_PRIMITIVE_reduce_max_gradient) {
    Problem forward = p;
    forward.primitive = TBEM_PRIMITIVE_reduce_max;
    const Array y{kept, runOn(*tbem_backend_ref(), forward, {TBEM_F64, 1, {}}).outputs[0], false};
    p.inputs = {r.array(kept), x, y}, p.outputs = {shape(dims)};
  }
  return p;
}

Dims imageDims(Random& r) {
  Dims dims = {r.integer(1, 4), channels(r)};
  const bool large = r.integer(0, 9) == 0;
  for (std::int64_t k = r.integer(0, 2); k > 0; --k) dims.push_back(r.integer(1, large ? 40 : 9));
  return dims;
}

Problem channel(tbem_primitive primitive, Random& r) {
  const Dims dims = imageDims(r);
  const Dims c = {dims[1]};
  if (primitive == TBEM_PRIMITIVE_channel_moments) return {primitive, {}, {}, {r.array(dims)}, {shape(c), shape(c)}};
  return {primitive, {}, {1e-3}, {r.array(dims), r.array(dims), r.array(c), r.positive(c)}, {shape(c), shape(c)}};
}

Problem pool(tbem_primitive primitive, Random& r) {
  const bool adaptive =
      primitive == TBEM_PRIMITIVE_adaptive_avg_pool2d || primitive == TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient;
  const bool maximum = primitive == TBEM_PRIMITIVE_max_pool2d || primitive == TBEM_PRIMITIVE_max_pool2d_gradient;
  while (true) {
    const std::int64_t kh = r.integer(1, 4), kw = r.integer(1, 4), sh = r.integer(1, 3), sw = r.integer(1, 3);
    const Dims pad = {r.integer(0, 2), r.integer(0, 2), r.integer(0, 2), r.integer(0, 2)};
    const Dims big = {r.integer(1, 3), channels(r), r.integer(1, 12), r.integer(1, 12)};
    Dims small = big;
    small[2] = adaptive ? r.integer(1, 6) : windows(big[2], pad[0] + pad[2], kh, sh, 1);
    small[3] = adaptive ? r.integer(1, 6) : windows(big[3], pad[1] + pad[3], kw, sw, 1);
    if (small[2] < 1 || small[3] < 1) continue;
    Problem p{primitive, {}, {}, {}, {}};
    if (!adaptive) p.attributes = {kh, kw, sh, sw, pad[0], pad[1], pad[2], pad[3]};
    if (!adaptive && !maximum) p.attributes.push_back(r.integer(0, 1));
    const bool forward = primitive == TBEM_PRIMITIVE_max_pool2d || primitive == TBEM_PRIMITIVE_avg_pool2d ||
                         primitive == TBEM_PRIMITIVE_adaptive_avg_pool2d;
    if (forward) {
      p.inputs = {r.array(big, maximum && r.coin())}, p.outputs = {shape(small)};
    } else {
      p.inputs = {r.array(small)}, p.outputs = {shape(big)};
      if (maximum) p.inputs.push_back(r.array(big, r.coin()));
    }
    return p;
  }
}

Problem softmax(tbem_primitive primitive, Random& r) {
  const Dims dims = anyDims(r);
  Problem p{primitive, {r.integer(0, static_cast<std::int64_t>(dims.size()) - 1)}, {}, {r.array(dims)}, {shape(dims)}};
  if (primitive == TBEM_PRIMITIVE_softmax_gradient || primitive == TBEM_PRIMITIVE_log_softmax_gradient)
    p.inputs.push_back(r.array(dims));
  return p;
}

Problem entropy(tbem_primitive primitive, Random& r) {
  Dims dims = {r.integer(1, 40), r.integer(1, 120)};
  std::int64_t axis = 1;
  if (r.coin()) {
    dims = {r.integer(1, 4), r.integer(1, 20), r.integer(1, 9)};
    if (r.coin()) dims.push_back(r.integer(1, 9));
    axis = r.integer(0, static_cast<std::int64_t>(dims.size()) - 1);
  }
  const std::int64_t classes = dims[static_cast<std::size_t>(axis)];
  std::int64_t count = 1;
  for (const std::int64_t d : dims) count *= d;
  const Array logits = r.array(dims);
  Array target = r.targets(count / classes, classes);
  target.dims = dims;
  target.dims.erase(target.dims.begin() + axis);
  for (double& one : target.values) one = r.integer(0, 9) == 0 ? static_cast<double>(runtime::kNoClass) : one;
  const double smoothing = r.coin() ? 0 : 0.1;
  if (primitive == TBEM_PRIMITIVE_cross_entropy) return {primitive, {axis}, {smoothing}, {logits, target}, {shape({})}};
  return {primitive, {axis}, {smoothing}, {r.array({}), logits, target}, {shape(dims)}};
}

Problem rows(Random& r) {
  const Dims dims = anyDims(r);
  const Dims lead(dims.begin(), dims.end() - 1), features = {dims.back()};
  Problem p{TBEM_PRIMITIVE_row_gradient_sums, {}, {1e-3}, {r.array(dims), r.array(dims), r.positive(lead)}, {}};
  p.inputs.push_back(r.coin() ? std::optional<Array>(r.array(features)) : std::nullopt);
  p.inputs.push_back(r.coin() ? std::optional<Array>(r.array(lead)) : std::nullopt);
  p.outputs = {shape(features), shape(features), shape(lead), shape(lead)};
  return p;
}

Problem move(tbem_primitive primitive, Random& r) {
  const Dims few = anyDims(r);
  const auto rank = static_cast<std::int64_t>(few.size());
  if (primitive == TBEM_PRIMITIVE_reorder) return {primitive, {}, {}, {r.array(few)}, {shape(few)}};
  if (primitive == TBEM_PRIMITIVE_permute) {
    std::vector<std::int64_t> order(few.size());
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t d = order.size(); d-- > 1;)
      std::swap(order[d], order[static_cast<std::size_t>(r.integer(0, static_cast<std::int64_t>(d)))]);
    Problem p{primitive, {rank}, {}, {r.array(few)}, {}};
    Dims y;
    for (const std::int64_t d : order) p.attributes.push_back(d), y.push_back(few[static_cast<std::size_t>(d)]);
    p.outputs = {shape(y)};
    return p;
  }
  Problem p{primitive, {rank}, {}, {}, {}};
  Dims many = few, steps;
  for (std::size_t d = 0; d < few.size(); ++d) {
    const std::int64_t start = r.integer(0, 2), step = r.integer(1, 3);
    p.attributes.push_back(start);
    steps.push_back(primitive == TBEM_PRIMITIVE_pad ? step - 1 : step);
    many[d] = start + (few[d] - 1) * step + 1 + r.integer(0, 2);
  }
  p.attributes.push_back(rank);
  p.attributes.insert(p.attributes.end(), steps.begin(), steps.end());
  const bool isPad = primitive == TBEM_PRIMITIVE_pad;
  p.inputs = {r.array(isPad ? few : many)}, p.outputs = {shape(isPad ? many : few)};
  return p;
}

Problem concat(Random& r) {
  const Dims y = anyDims(r);
  const auto axis = static_cast<std::size_t>(r.integer(0, static_cast<std::int64_t>(y.size()) - 1));
  Problem p{TBEM_PRIMITIVE_concat, {static_cast<std::int64_t>(axis)}, {}, {}, {}};
  Dims all = y;
  all[axis] = 0;
  for (std::int64_t k = r.integer(1, 5); k > 0; --k) {
    Dims x = y;
    x[axis] = axis == 1 ? channels(r) : r.integer(1, 6);
    all[axis] += x[axis];
    p.inputs.emplace_back(r.array(x));
  }
  p.outputs = {shape(all)};
  return p;
}

Problem gather(tbem_primitive primitive, Random& r) {
  const Dims whole = anyDims(r);
  const auto axis = static_cast<std::size_t>(r.integer(0, static_cast<std::int64_t>(whole.size()) - 1));
  Dims index, part = whole;
  std::int64_t count = 1;
  for (std::int64_t k = r.integer(0, 2); k > 0; --k) index.push_back(r.integer(1, 12)), count *= index.back();
  part.erase(part.begin() + static_cast<std::ptrdiff_t>(axis));
  part.insert(part.begin() + static_cast<std::ptrdiff_t>(axis), index.begin(), index.end());
  Array numbers = r.targets(count, whole[axis]);
  numbers.dims = index;
  const bool forward = primitive == TBEM_PRIMITIVE_gather;
  return {primitive,
          {static_cast<std::int64_t>(axis)},
          {},
          {r.array(forward ? whole : part), numbers},
          {shape(forward ? part : whole)}};
}

Problem argMax(Random& r) {
  const Dims x = anyDims(r);
  const auto axis = static_cast<std::size_t>(r.integer(0, static_cast<std::int64_t>(x.size()) - 1));
  Array y = shape(x);
  y.dims.erase(y.dims.begin() + static_cast<std::ptrdiff_t>(axis));
  y.integer = true;
  return {TBEM_PRIMITIVE_arg_max, {static_cast<std::int64_t>(axis)}, {}, {r.array(x, r.coin())}, {y}};
}

}  // namespace

Array Random::array(std::vector<std::int64_t> dims, bool ties) {
  Array a{std::move(dims), {}, false};
  std::int64_t count = 1;
  for (const std::int64_t d : a.dims) count *= d;
  std::normal_distribution<float> normal;
  for (std::int64_t i = 0; i < count; ++i)
    a.values.push_back(ties ? static_cast<double>(integer(-2, 2)) : static_cast<double>(normal(engine_)));
  return a;
}

Array Random::positive(std::vector<std::int64_t> dims) {
  Array a = array(std::move(dims));
  for (double& v : a.values) v = v * v + 0.125;
  for (double& v : a.values) v = static_cast<double>(static_cast<float>(v));
  return a;
}

Array Random::targets(std::int64_t count, std::int64_t classes) {
  Array a{{count}, {}, true};
  for (std::int64_t i = 0; i < count; ++i) a.values.push_back(static_cast<double>(integer(0, classes - 1)));
  return a;
}

Problem randomProblem(tbem_primitive primitive, Random& r) {
  switch (primitive) {
    case TBEM_PRIMITIVE_conv2d:
    case TBEM_PRIMITIVE_conv2d_input_gradient:
    case TBEM_PRIMITIVE_conv2d_weight_gradient:
      return conv(primitive, r);
    case TBEM_PRIMITIVE_dense:
    case TBEM_PRIMITIVE_dense_input_gradient:
    case TBEM_PRIMITIVE_dense_weight_gradient:
      return dense(primitive, r);
    case TBEM_PRIMITIVE_matmul:
      return matmul(r);
    case TBEM_PRIMITIVE_reduce_sum:
    case TBEM_PRIMITIVE_reduce_max:
    case TBEM_PRIMITIVE_reduce_max_gradient:
      return reduce(primitive, r);
    case TBEM_PRIMITIVE_channel_moments:
    case TBEM_PRIMITIVE_channel_gradient_sums:
      return channel(primitive, r);
    case TBEM_PRIMITIVE_softmax:
    case TBEM_PRIMITIVE_softmax_gradient:
    case TBEM_PRIMITIVE_log_softmax:
    case TBEM_PRIMITIVE_log_softmax_gradient:
      return softmax(primitive, r);
    case TBEM_PRIMITIVE_cross_entropy:
    case TBEM_PRIMITIVE_cross_entropy_gradient:
      return entropy(primitive, r);
    case TBEM_PRIMITIVE_attention:
    case TBEM_PRIMITIVE_attention_gradient:
      return randomAttention(primitive, r);
    case TBEM_PRIMITIVE_row_gradient_sums:
      return rows(r);
    case TBEM_PRIMITIVE_sum_squares:
      return {primitive, {}, {}, {r.array(anyDims(r))}, {shape({})}};
    case TBEM_PRIMITIVE_permute:
    case TBEM_PRIMITIVE_pad:
    case TBEM_PRIMITIVE_slice:
    case TBEM_PRIMITIVE_reorder:
      return move(primitive, r);
    case TBEM_PRIMITIVE_concat:
      return concat(r);
    case TBEM_PRIMITIVE_gather:
    case TBEM_PRIMITIVE_gather_gradient:
      return gather(primitive, r);
    case TBEM_PRIMITIVE_arg_max:
      return argMax(r);
    case TBEM_PRIMITIVE_constant: {
      const Array values = r.array({r.integer(1, 3000)});
      return {primitive, {}, values.values, {}, {shape(values.dims)}};
    }
    case TBEM_PRIMITIVE_max_pool2d:
    case TBEM_PRIMITIVE_max_pool2d_gradient:
    case TBEM_PRIMITIVE_avg_pool2d:
    case TBEM_PRIMITIVE_avg_pool2d_gradient:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d:
    case TBEM_PRIMITIVE_adaptive_avg_pool2d_gradient:
      return pool(primitive, r);
    case TBEM_PRIMITIVE_split_rows:
    case TBEM_PRIMITIVE_move_rows:
    case TBEM_PRIMITIVE_COUNT:
      break;
  }
  throw std::logic_error("rows of samples are tried in RowsTest.cpp");
}

void setKind(tbem_operand& operand, int kind) {
  if (operand.rank < 3 || kind == 0) return runtime::setPlain(operand);
  std::vector<int> order(static_cast<std::size_t>(operand.rank));
  std::iota(order.begin(), order.end(), 0);
  if (kind == 1) {
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    return runtime::setBlocked(operand, order, {});
  }
  const std::pair<int, int> block{1, kind == 2 ? 16 : 8};
  runtime::setBlocked(operand, order, {&block, 1});
}

}  // namespace tbem::test
