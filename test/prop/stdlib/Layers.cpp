// Generators: layers with weights, convolutions, pooling, normalisation, attention; and optimisers.
#include "test/prop/stdlib/Case.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::test {
namespace {

using Kind = Given::Kind;

Given real(Dims dims) { return {Kind::Normal, std::move(dims)}; }

/// An image with channels that are few, odd, or a multiple of a block.
Dims image(Dice& d, std::int64_t smallest = 1) {
  return {d.integer(1, 3), d.one({1, 2, 3, 4, 5, 8, 16, 24}), d.integer(smallest, 7), d.integer(smallest, 7)};
}

struct Window {
  std::int64_t kh, kw, sh, sw, top, left, bottom, right, dh = 1, dw = 1;
  std::string text(bool dilated) const {
    std::string all =
        fmt::format("kernel: [{}, {}], stride: [{}, {}], pad: [{}, {}, {}, {}]", kh, kw, sh, sw, top, left, bottom, right);
    return dilated ? all + fmt::format(", dilation: [{}, {}]", dh, dw) : all;
  }
  std::int64_t height(std::int64_t h) const { return (h + top + bottom - dh * (kh - 1) - 1) / sh + 1; }
  std::int64_t width(std::int64_t w) const { return (w + left + right - dw * (kw - 1) - 1) / sw + 1; }
};

/// Fits an image of at least 3 x 3.
Window window(Dice& d, bool pooling) {
  Window one{d.integer(1, 3), d.integer(1, 3), d.integer(1, 2), d.integer(1, 2), 0, 0, 0, 0};
  const std::int64_t most = pooling ? 0 : 1;
  one.top = d.integer(0, std::min<std::int64_t>(one.kh - 1, 1 + most)),
  one.bottom = d.integer(0, std::min<std::int64_t>(one.kh - 1, 1));
  one.left = d.integer(0, std::min<std::int64_t>(one.kw - 1, 1 + most)),
  one.right = d.integer(0, std::min<std::int64_t>(one.kw - 1, 1));
  if (!pooling && one.kh == 2 && one.kw == 2 && d.coin()) one.dh = one.dw = 2;
  return one;
}

struct Conv {
  Dims x, weight, y;
  std::int64_t groups;
  Window w;
  std::string text;  ///< stride to groups
};

Conv conv(Dice& d) {
  Conv c{image(d, 3), {}, {}, 1, window(d, false), {}};
  if (d.integer(0, 2) == 0) c.groups = d.coin() ? c.x[1] : (c.x[1] % 2 == 0 ? 2 : 1);
  const std::int64_t out = c.groups * d.one({1, 2, 3, 8});
  c.weight = {out, c.x[1] / c.groups, c.w.kh, c.w.kw};
  c.y = {c.x[0], out, c.w.height(c.x[2]), c.w.width(c.x[3])};
  c.text = fmt::format("stride: [{}, {}], pad: [{}, {}, {}, {}], dilation: [{}, {}], groups: {}", c.w.sh, c.w.sw, c.w.top,
                       c.w.left, c.w.bottom, c.w.right, c.w.dh, c.w.dw, c.groups);
  return c;
}

std::string yesNo(Dice& d) { return d.coin() ? "true" : "false"; }

void addConvolutions(std::map<std::string, Generator>& table) {
  table["conv2d"] = [](Dice& d) -> Case {
    const Conv c = conv(d);
    return {fmt::format("conv2d(%0, out: {}, kernel: [{}, {}], {}, use_bias: {})", c.weight[0], c.w.kh, c.w.kw, c.text, yesNo(d)),
            {real(c.x)}};
  };
  table["conv2d_input_gradient"] = [](Dice& d) -> Case {
    const Conv c = conv(d);
    return {fmt::format("conv2d_input_gradient(%0, %1, size: [{}, {}], {})", c.x[2], c.x[3], c.text),
            {real(c.y), real(c.weight)},
            "real",
            1,
            false};
  };
  table["conv2d_weight_gradient"] = [](Dice& d) -> Case {
    const Conv c = conv(d);
    return {fmt::format("conv2d_weight_gradient(%0, %1, kernel: [{}, {}], {})", c.w.kh, c.w.kw, c.text),
            {real(c.x), real(c.y)},
            "real",
            1,
            false};
  };
}

void addPooling(std::map<std::string, Generator>& table) {
  table["max_pool2d"] = [](Dice& d) -> Case {
    return {"max_pool2d(%0, " + window(d, true).text(false) + ")", {real(image(d, 3))}};
  };
  table["max_pool2d_gradient"] = [](Dice& d) -> Case {
    const Window w = window(d, true);
    const Dims x = image(d, 3), y = {x[0], x[1], w.height(x[2]), w.width(x[3])};
    return {"max_pool2d_gradient(%0, %1, " + w.text(false) + ")", {real(y), real(x)}, "real", 1, false};
  };
  table["avg_pool2d"] = [](Dice& d) -> Case {
    return {"avg_pool2d(%0, " + window(d, true).text(false) + ", count_include_pad: " + yesNo(d) + ")", {real(image(d, 3))}};
  };
  table["avg_pool2d_gradient"] = [](Dice& d) -> Case {
    const Window w = window(d, true);
    const Dims x = image(d, 3), y = {x[0], x[1], w.height(x[2]), w.width(x[3])};
    return {
        fmt::format("avg_pool2d_gradient(%0, size: [{}, {}], {}, count_include_pad: {})", x[2], x[3], w.text(false), yesNo(d)),
        {real(y)},
        "real",
        1,
        false};
  };
  table["adaptive_avg_pool2d"] = [](Dice& d) -> Case {
    return {fmt::format("adaptive_avg_pool2d(%0, size: [{}, {}])", d.integer(1, 4), d.integer(1, 4)), {real(image(d))}};
  };
  table["adaptive_max_pool2d"] = [](Dice& d) -> Case {
    return {fmt::format("adaptive_max_pool2d(%0, size: [{}, {}])", d.integer(1, 4), d.integer(1, 4)), {real(image(d, 4))}};
  };
  table["adaptive_avg_pool2d_gradient"] = [](Dice& d) -> Case {
    return {fmt::format("adaptive_avg_pool2d_gradient(%0, input: [{}, {}])", d.integer(1, 7), d.integer(1, 7)),
            {real(image(d))},
            "real",
            1,
            false};
  };
  table["global_avg_pool"] = [](Dice& d) -> Case { return {"global_avg_pool(%0)", {real(image(d))}}; };
}

void addNorms(std::map<std::string, Generator>& table) {
  table["batch_norm"] = [](Dice& d) -> Case {
    Dims dims = image(d, 2);
    dims.resize(static_cast<std::size_t>(d.integer(2, 4)));
    dims[0] = d.integer(3, 5);
    return {"batch_norm(%0, eps: 0.01)", {real(dims)}};
  };
  table["layer_norm"] = [](Dice& d) -> Case {
    Dims dims = anyDims(d);
    dims.back() = d.one({2, 5, 16, 21});
    return {fmt::format("layer_norm(%0, axes: {}, eps: 0.01, affine: {}{})", d.integer(1, static_cast<std::int64_t>(dims.size())),
                        yesNo(d), d.integer(0, 3) == 0 ? ", use_bias: false" : ""),
            {real(dims)}};
  };
  table["rms_norm"] = [](Dice& d) -> Case { return {"rms_norm(%0, eps: 0.01, affine: " + yesNo(d) + ")", {real(anyDims(d))}}; };
  table["group_norm"] = [](Dice& d) -> Case {
    Dims dims = image(d, 2);
    dims.resize(static_cast<std::size_t>(d.integer(3, 4)));
    const std::int64_t groups = d.coin() ? 1 : dims[1] % 2 == 0 ? 2 : dims[1];
    return {fmt::format("group_norm(%0, groups: {}, eps: 0.01, affine: {})", groups, yesNo(d)), {real(dims)}};
  };
  table["instance_norm"] = [](Dice& d) -> Case {
    return {"instance_norm(%0, eps: 0.01, affine: " + yesNo(d) + ")", {real(image(d, 2))}};
  };
}

/// Parameters that every optimiser has.
std::string limits(Dice& d, const char* decay) {
  std::string text;
  if (d.coin()) text += fmt::format(", weight_decay: {}", decay);
  if (d.integer(0, 2) == 0) text += ", clip_norm: 0.5";
  if (d.integer(0, 2) == 0) text += ", clip_value: 0.125";
  return text;
}

Case optimizer(std::string text) {
  Case one;
  one.optimizer = std::move(text);
  return one;
}

void addOptimizers(std::map<std::string, Generator>& table) {
  table["sgd"] = [](Dice& d) -> Case {
    const std::int64_t kind = d.integer(0, 3);
    const char* momentum = kind == 0   ? ""
                           : kind == 1 ? ", momentum: 0.9"
                           : kind == 2 ? ", momentum: 0.9, nesterov: true"
                                       : ", momentum: 0.8, dampening: 0.3";
    return optimizer(fmt::format("sgd(lr: 0.1{}{})", momentum, limits(d, "0.01")));
  };
  table["adam"] = [](Dice& d) -> Case { return optimizer("adam(lr: 0.01" + limits(d, "0.1") + ")"); };
  table["adamw"] = [](Dice& d) -> Case { return optimizer("adamw(lr: 0.01" + limits(d, "0.1") + ")"); };
  table["rmsprop"] = [](Dice& d) -> Case {
    return optimizer(
        fmt::format("rmsprop(lr: 0.01, centered: {}{}{})", yesNo(d), d.coin() ? ", momentum: 0.9" : "", limits(d, "0.1")));
  };
  table["adagrad"] = [](Dice& d) -> Case {
    return optimizer("adagrad(lr: 0.05, lr_decay: 0.1, initial: 0.5" + limits(d, "0.1") + ")");
  };
  table["linear_warmup"] = [](Dice& d) -> Case {
    return optimizer(fmt::format("sgd(lr: linear_warmup(0.1, warmup: {}))", d.integer(1, 5)));
  };
  table["cosine"] = [](Dice& d) -> Case {
    return optimizer(fmt::format("sgd(lr: cosine(0.1, steps: {}, warmup: {}, floor: 0.01))", d.integer(3, 6), d.integer(0, 2)));
  };
  table["step_decay"] = [](Dice& d) -> Case {
    return optimizer(
        fmt::format("sgd(lr: step_decay(0.1, every: {}, factor: 0.5, warmup: {}))", d.integer(1, 3), d.integer(0, 2)));
  };
  table["exponential_decay"] = [](Dice& d) -> Case {
    return optimizer(fmt::format("sgd(lr: exponential_decay(0.1, factor: 0.7, warmup: {}))", d.integer(0, 2)));
  };
  table["polynomial_decay"] = [](Dice& d) -> Case {
    return optimizer(fmt::format("sgd(lr: polynomial_decay(0.1, steps: {}, power: 2, warmup: {}, floor: 0.01))", d.integer(3, 6),
                                 d.integer(0, 2)));
  };
  table["one_cycle"] = [](Dice& d) -> Case {
    return optimizer(fmt::format("sgd(lr: one_cycle(0.1, steps: {}))", d.integer(4, 7)));
  };
}

}  // namespace

void addLayers(std::map<std::string, Generator>& table) {
  addConvolutions(table);
  addPooling(table);
  addNorms(table);
  addOptimizers(table);
  table["dense"] = [](Dice& d) -> Case {
    return {fmt::format("dense(%0, out: {}, use_bias: {})", d.one({1, 3, 8, 17}), yesNo(d)), {real(anyDims(d))}};
  };
  table["dense_input_gradient"] = [](Dice& d) -> Case {
    const Dims dims = anyDims(d);
    return {"dense_input_gradient(%0, %1)", {real(dims), real({dims.back(), d.integer(1, 9)})}, "real", 1, false};
  };
  table["dense_weight_gradient"] = [](Dice& d) -> Case {
    const Dims x = anyDims(d);
    Dims dy = x;
    dy.back() = d.integer(1, 9);
    return {"dense_weight_gradient(%0, %1)", {real(x), real(dy)}, "real", 1, false};
  };
  table["matmul"] = [](Dice& d) -> Case {
    const std::int64_t m = d.integer(1, 6), k = d.integer(1, 6), n = d.integer(1, 6);
    const bool ta = d.coin(), tb = d.coin();
    Dims a, b;
    for (std::int64_t i = d.integer(0, 2); i > 0; --i) a.push_back(d.integer(1, 3));
    b = a;
    a.insert(a.end(), {ta ? k : m, ta ? m : k});
    b.insert(b.end(), {tb ? n : k, tb ? k : n});
    return {fmt::format("matmul(%0, %1, transpose_a: {}, transpose_b: {})", ta, tb), {real(a), real(b)}};
  };
  table["prelu"] = [](Dice& d) -> Case {
    Dims dims = image(d);
    dims.resize(static_cast<std::size_t>(d.integer(2, 4)));
    return {"prelu(%0, shared: " + yesNo(d) + ")", {{Kind::Normal, dims, {0}}}};
  };
  table["layer_scale"] = [](Dice& d) -> Case { return {"layer_scale(%0)", {real(anyDims(d))}}; };
  table["rotary"] = [](Dice& d) -> Case {
    Dims dims;
    for (std::int64_t i = d.integer(0, 2); i > 0; --i) dims.push_back(d.integer(1, 3));
    dims.insert(dims.end(), {d.integer(1, 6), 2 * d.integer(1, 3)});
    return {fmt::format("rotary(%0, base: {}, inverse: {})", d.integer(1, 500), d.coin()), {real(dims)}};
  };
  table["scaled_dot_product_attention"] = [](Dice& d) -> Case {
    Dims lead;
    for (std::int64_t i = d.integer(0, 2); i > 0; --i) lead.push_back(d.integer(1, 3));
    const std::int64_t l = d.integer(1, 5), m = d.integer(1, 5), k = d.integer(1, 5), e = d.integer(1, 5);
    Dims query = lead, key = lead, value = lead;
    query.insert(query.end(), {l, k}), key.insert(key.end(), {m, k}), value.insert(value.end(), {m, e});
    return {fmt::format("scaled_dot_product_attention(%0, %1, %2, causal: {}{})", d.coin(), d.coin() ? ", dropout: 0.25" : ""),
            {real(query), real(key), real(value)}};
  };
  table["masked_attention"] = [](Dice& d) -> Case {
    Dims lead;
    for (std::int64_t i = d.integer(0, 2); i > 0; --i) lead.push_back(d.integer(1, 3));
    const std::int64_t l = d.integer(1, 5), m = d.integer(1, 5), k = d.integer(1, 5), e = d.integer(1, 5);
    Dims query = lead, key = lead, value = lead, mask = lead;
    query.insert(query.end(), {l, k}), key.insert(key.end(), {m, k}), value.insert(value.end(), {m, e});
    mask.insert(mask.end(), {l, m});
    for (std::int64_t& length : mask) length = d.coin() ? length : 1;  // which broadcasts
    mask.erase(mask.begin(), mask.begin() + d.integer(0, static_cast<std::int64_t>(mask.size()) - 2));
    return {fmt::format("masked_attention(%0, %1, %2, %3{})", d.coin() ? ", dropout: 0.25" : ""),
            {real(query), real(key), real(value), real(mask)}};
  };
}

}  // namespace tbem::test
