// Random networks with gates, as text: nested skips, exits, values captured from outside, arms that only pass a value on.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tbem::test {

class RandomNetwork {
public:
  /// `places`: some gates decide about the places of an image, before all others.
  explicit RandomNetwork(std::uint32_t seed, bool places = false) : places(places), random(seed) {}

  /// A program with `network net(x: tensor[b, 4, 5, 5]; t: real)` and a design of it with a batch of `samples`.
  std::string text(std::int64_t samples) {
    return declarations() + fmt::format("design d of net {{ input x: [{}, 4, 5, 5] }}\n", samples);
  }
  /// Without the design.
  std::string declarations() {
    if (body.empty()) build();
    return blocks + body;
  }
  bool best = false;  ///< with `fallback best`
  int exits = 0;
  int gates = 0;  ///< exits and skips

private:
  /// What rows of places become, in a block: maybe behind gates of their own.
  std::string rowBlock(int depth) {
    const std::string name = fmt::format("rows{}", ++counter);
    std::string text = fmt::format("block {}(x: tensor[m, 4], o: tensor[m, 4]) -> tensor[m, 4] {{\n  var y = x\n", name);
    for (int i = pick(1, 3); i > 0; --i) {
      const char* const layers[] = {"y |> dense(4) |> relu", "y + o", "y |> batch_norm", "y * 0.5 + zeros([m, 4])"};
      text += fmt::format("  y = {}\n", layers[pick(0, 3)]);
    }
    if (depth > 0 && pick(0, 1) == 0) {
      ++gates;
      const std::string inner = rowBlock(depth - 1);
      text +=
          fmt::format("  y = skip {}(y, o) when reshape(dense(y, 1), [m]) > 0 leaving {}\n", inner, pick(0, 1) == 0 ? "o" : "y");
    }
    blocks += text + "  return y\n}\n";
    return name;
  }

  /// An image's places as rows, some of them computed; in whole size, or on every second place.
  std::string placeGate() {
    ++gates;
    const int id = ++counter, size = pick(0, 1) == 0 ? 5 : 3;
    std::string text = fmt::format("  let i{0} = y{1}\n", id, size == 5 ? "" : " |> max_pool2d(kernel: 1, stride: 2)");
    text += fmt::format("  let p{0} = i{0} |> conv2d(out: 1, kernel: 3, pad: 1) |> reshape([b * {1}])\n", id, size * size);
    text += fmt::format("  let r{0} = i{0} |> permute(order: [0, 2, 3, 1]) |> reshape([b * {1}, 4])\n", id, size * size);
    const std::string left = pick(0, 1) == 0 ? fmt::format("r{}", id) : fmt::format("zeros([b * {}, 4])", size * size);
    std::string rows = fmt::format("r{}", id);  // made outside, or in the arm
    if (pick(0, 2) == 0) rows = fmt::format("(i{0} |> permute(order: [0, 2, 3, 1]) |> reshape([b * {1}, 4]))", id, size * size);
    text += fmt::format("  let s{0} = skip {1}({4}, r{0}) when p{0} {2} 0 leaving {3}\n", id, rowBlock(1),
                        pick(0, 1) == 0 ? "<" : ">=", left, rows);
    text += fmt::format("  y = s{0} |> reshape([b, {1}, {1}, 4]) |> permute(order: [0, 3, 1, 2]){2}\n", id, size,
                        size == 5 ? "" : " |> pad(low: [0, 0, 0, 0], high: [0, 0, 2, 2])");
    return text;
  }

  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

  /// Something that keeps the shape of an image.
  std::string layer(const std::string& x, const std::string& other) {
    switch (pick(0, 7)) {
      case 0:
        return x + " |> conv2d(out: 4, kernel: 3, pad: 1)";
      case 1:
        return x + " |> relu";
      case 2:
        return x + " |> batch_norm";
      case 3:
        return fmt::format("{} + {}", x, other);
      case 4:
        return x + " |> max_pool2d(kernel: 3, stride: 1, pad: 1)";
      case 5:
        return fmt::format("{} * 0.5 + zeros([b, 4, 5, 5])", x);
      case 6:
        return x + " |> permute(order: [0, 1, 3, 2])";
      default:
        return x + " |> flatten |> dense(100) |> reshape([b, 4, 5, 5])";
    }
  }

  std::string score(const std::string& x) { return x + " |> global_avg_pool |> dense(1) |> reshape([b])"; }

  /// A block with `layers` statements, gates among them, that nest `depth` deep.
  std::string block(int depth) {
    const std::string name = fmt::format("inner{}", ++counter);
    std::string text =
        fmt::format("block {}(x: tensor[b, 4, 5, 5], o: tensor[b, 4, 5, 5]) -> tensor[b, 4, 5, 5] {{\n  var y = x\n", name);
    for (int i = pick(1, 3); i > 0; --i) text += statement("y", "o", depth);
    blocks += text + "  return y\n}\n";
    return name;
  }

  std::string arm(const std::string& x, const std::string& other, int depth) {
    switch (pick(0, 3)) {
      case 0:
        return x;
      case 1:
        return other;
      default:
        return fmt::format("{}({}, {})", block(depth - 1), x, other);
    }
  }

  std::string statement(const std::string& x, const std::string& other, int depth) {
    if (depth == 0 || pick(0, 2) == 0) return fmt::format("  {} = {}\n", x, layer(x, other));
    const std::string gate = fmt::format("g{}", ++counter);
    ++gates;
    // Most gates split the batch; some never fire, some always do.
    const int how = pick(0, 9);
    const std::string threshold = how == 0 ? "-1000" : how == 1 ? "1000" : "0";
    std::string text = fmt::format("  let {} = {}\n", gate, score(pick(0, 1) == 0 ? x : other));
    text += fmt::format("  {0} = skip {1} when {2} {3} {4} leaving {5}\n", x, arm(x, other, depth), gate,
                        pick(0, 1) == 0 ? "<=" : ">", threshold, arm(x, other, depth));
    return text;
  }

  void build() {
    best = pick(0, 2) == 0;
    std::string inside;
    for (int k = places ? pick(1, 3) : 0; k > 0; --k) inside += placeGate() + statement("y", "x", 1);
    const int parts = pick(places ? 0 : 2, 4);
    for (int i = 0; i < parts; ++i) {
      for (int k = pick(1, 2); k > 0; --k) inside += statement("y", "x", 2);
      if (pick(0, 1) == 0 || (best && i + 1 == parts)) {
        const std::string value = fmt::format("z{}", ++counter), gate = fmt::format("e{}", counter);
        inside += fmt::format("  let {} = y |> global_avg_pool |> dense(3)\n  let {} = {}\n", value, gate, score("y"));
        inside += fmt::format("  exit {} when {} >= {}\n", value, gate, pick(0, 5) == 0 ? "1000" : "0");
        ++exits;
        ++gates;
      }
    }
    best = best && exits > 0;
    body = fmt::format("network net(x: tensor[b, 4, 5, 5]; t: real = 0) -> tensor[b, 3]\n{}{{\n  var y = x\n{}",
                       best ? "  fallback best\n" : "", inside);
    if (!best) body += "  return y |> global_avg_pool |> dense(3)\n";
    body += "}\n";
  }

  bool places;
  std::mt19937 random;
  std::string blocks, body;
  int counter = 0;
};

}  // namespace tbem::test
