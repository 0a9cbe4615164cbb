// Random networks with exits and skips at inference, as text: small relatives of those whose costs are certified.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>

namespace tbem::test {

/// `network net(x: tensor[b, 2, 6, 6])` of residual blocks that may each be left out, as in Wang et al. 2018, and a design of it
/// for one sample.
inline std::string chainOfSkips(int blocks) {
  std::string body = "  var y = x |> conv2d(out: 4, kernel: 3, pad: 1) |> batch_norm |> relu\n";
  for (int i = 0; i < blocks; ++i)
    body += fmt::format(
        "  let g{0} = y |> avg_pool2d(kernel: 2) |> flatten |> dense(1) |> sigmoid |> reshape([b])\n"
        "  y = skip relu(y + (y |> conv2d(out: 4, kernel: 3, pad: 1) |> batch_norm)) when g{0} <= 0.5 leaving y\n",
        i);
  return fmt::format(
      "network net(x: tensor[b, 2, 6, 6]) -> tensor[b, 5]\n{{\n{}  return y |> global_avg_pool |> dense(5)\n}}\n"
      "design d of net {{ input x: [1, 2, 6, 6] }}\n",
      body);
}

/// `network net(x: tensor[b, 2, 6, 6])` whose blocks are computed at places of their images, as in Verelst & Tuytelaars 2020, and
/// a design of it for one sample.
class SmallPlaced {
public:
  explicit SmallPlaced(std::uint32_t seed) : random(seed) {}

  std::string text() {
    std::string body = "  var y = x |> conv2d(out: 4, kernel: 3, pad: 1) |> batch_norm |> relu\n";
    // The places behind a skip of the whole sample are those of either arm.
    if (pick(0, 2) == 0)
      body += "  let g = y |> global_avg_pool |> dense(1) |> reshape([b])\n  y = skip y * 0 - y when g <= 0 leaving y\n";
    const int units = pick(1, 3);
    for (int i = 0; i < units; ++i) body += unit(i);
    if (pick(0, 1) == 0)
      body += "  let z = y |> global_avg_pool |> dense(5)\n  exit z when z |> softmax(axis: 1) |> max(axis: 1) >= 0.4\n";
    return fmt::format(
        "block within(rows: tensor[m, c], p: tensor[m]) -> tensor[m, 4] {{\n"
        "  let a = rows |> dense(4) |> tanh\n  let q = a |> dense(1) |> reshape([m])\n"
        "  let k = skip a |> dense(16) |> relu |> dense(4) when q + p > {} leaving a\n  return k\n}}\n"
        "network net(x: tensor[b, 2, 6, 6]) -> tensor[b, 5]\n{{\n{}  return y |> conv2d(out: 4, kernel: 3) |> global_avg_pool |> "
        "dense(5)\n}}\ndesign d of net {{ input x: [1, 2, 6, 6] }}\n",
        pick(0, 1) == 0 ? "0.3" : "0", body);
  }

private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

  std::string unit(int i) {
    const bool squeezes = pick(0, 1) == 0, probability = pick(0, 1) == 0, wide = pick(0, 1) == 0;
    std::string text = fmt::format("  let s{} = conv2d(y, out: 1, kernel: {})", i, pick(0, 1) == 0 ? "3, pad: 1" : "1");
    if (squeezes) text += " + (y |> global_avg_pool |> dense(1) |> reshape([b, 1, 1, 1]))";
    text += fmt::format("\n  let p{0} = s{0} |> reshape([b * 36]){1}\n", i, probability ? " |> sigmoid" : "");
    // The block reads its image as one row for each place; a place that is left out is zero, or keeps what it was.
    text += fmt::format("  let r{0} = {1}\n", i,
                        wide ? "y |> im2col(kernel: 3, pad: 1)" : "y |> permute([0, 2, 3, 1]) |> reshape([b * 36, 4])");
    const char* left = !wide && pick(0, 1) == 0 ? "r" : "zeros([b * 36, 4])";
    // Within the arm some of its places may be left out by another gate.
    const char* arms[] = {"dense(4) |> batch_norm |> relu", "dense(4) |> tanh", "within(p{})"};
    text += fmt::format("  let k{0} = skip r{0} |> {1} when p{0} {2} {3} leaving {4}{5}\n", i,
                        fmt::format(fmt::runtime(arms[pick(0, 2)]), i), pick(0, 1) == 0 ? "<" : ">", probability ? "0.5" : "0",
                        left, left[0] == 'r' ? std::to_string(i) : "");
    text += fmt::format("  y = relu(y + (k{} |> reshape([b, 6, 6, 4]) |> permute([0, 3, 1, 2])))\n", i);
    return text;
  }

  std::mt19937 random;
};

/// `network net(x: tensor[b, 2, 6, 6])` and a design of it for one sample.
class SmallAdaptive {
public:
  explicit SmallAdaptive(std::uint32_t seed) : random(seed) {}

  std::string text() {
    std::string body = "  var y = x |> conv2d(out: 4, kernel: 3, pad: 1) |> batch_norm |> relu\n";
    const int stages = pick(2, 3);
    bool exits = false;
    for (int i = 0; i < stages; ++i) {
      for (int k = pick(1, 2); k > 0; --k) body += "  y = " + layer() + "\n";
      if (pick(0, 2) == 0) body += skip(i);
      if (pick(0, 3) != 0 || (i + 1 == stages && !exits)) {
        body += exit(i);
        exits = true;
      }
    }
    const bool best = pick(0, 2) == 0;
    if (best)
      body += exit(9);
    else
      body += "  return y |> global_avg_pool |> dense(5)\n";
    return fmt::format(
        "network net(x: tensor[b, 2, 6, 6]) -> tensor[b, 5]\n{}{{\n{}}}\ndesign d of net {{ input x: [1, 2, 6, 6] }}\n",
        best ? "  fallback best\n" : "", body);
  }

private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); }

  /// Something that keeps the shape of an image of 4 channels.
  std::string layer() {
    switch (pick(0, 11)) {
      case 0:
        return "y |> conv2d(out: 4, kernel: 3, pad: 1, groups: 2) |> relu";
      case 1:
        return "y |> max_pool2d(kernel: 3, stride: 1, pad: 1)";
      case 2:
        return "y |> avg_pool2d(kernel: 3, stride: 1, pad: 1, count_include_pad: false)";
      case 3:
        return "y |> conv2d(out: 4, kernel: 3, pad: 2, dilation: 2) |> relu6";
      case 4:
        return "y |> conv2d(out: 4, kernel: 1) |> leaky_relu(slope: 0.1)";
      case 5:
        return "y |> conv2d(out: 4, kernel: 1) |> tanh";
      case 6:
        return "y |> conv2d(out: 4, kernel: 1) |> sigmoid";
      case 7:
        return "concat([slice(y, start: [0, 2, 0, 0], size: [b, 2, 6, 6]), slice(y, start: [0, 0, 0, 0], size: [b, 2, 6, 6])], "
               "axis: 1)";
      default:
        return "relu(y + (y |> conv2d(out: 4, kernel: 3, pad: 1) |> batch_norm |> relu |> conv2d(out: 4, kernel: 3, pad: 1) "
               "|> batch_norm))";
    }
  }

  std::string skip(int i) {
    const char* scores[] = {"dense(1) |> sigmoid", "dense(1)", "dense(3) |> tanh |> dense(1)"};
    const int score = pick(0, 2);
    return fmt::format(
        "  let g{0} = y |> global_avg_pool |> {1} |> reshape([b])\n"
        "  y = skip {2} when g{0} {3} {4} leaving y\n",
        i, scores[score], layer(), pick(0, 1) == 0 ? "<=" : ">", score == 0 ? "0.5" : "0");
  }

  std::string exit(int i) {
    const char* pools[] = {"global_avg_pool", "max_pool2d(kernel: 3) |> flatten", "avg_pool2d(kernel: 2) |> flatten",
                           "adaptive_avg_pool2d(size: 4) |> flatten"};
    // Probabilities of five classes whose largest is about as often above this as not.
    const double tau = 0.3 + 0.1 * pick(0, 4);
    return fmt::format("  let z{0} = y |> {1} |> dense(5)\n  exit z{0} when z{0} |> softmax(axis: 1) |> max(axis: 1) >= {2}\n", i,
                       pools[pick(0, 3)], tau);
  }

  std::mt19937 random;
};

}  // namespace tbem::test
