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
  explicit RandomNetwork(std::uint32_t seed) : random(seed) {}

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
    const int parts = pick(2, 4);
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

  std::mt19937 random;
  std::string blocks, body;
  int counter = 0;
};

}  // namespace tbem::test
