// How soon a session has the diagnostics of a program after one token was edited, and a check that keeps nothing of the same
// text. bench_edit_latency [EDITS [ROUNDS]]: the best of the rounds counts for each edit, since the machine may be shared.
#include "test/prop/session/Fresh.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

namespace {

constexpr double kHalf = 0.5, kMost = 0.95;

/// About 300 lines: operators, blocks and networks of its own, designs of them and of std.vision, trainings' steps, a process.
std::string program() {
  std::string text = "tbem 1\nimport std.vision: resnet, small_vgg\n\nlet base = 8\n";
  constexpr int kGroups = 11;
  for (int i = 0; i < kGroups; ++i) {
    text += fmt::format(R"(
/// Snake (Ziyin et al. 2020), with a slope of its own.
operator snake{0}(x: tensor[..s]; a: real = 1) -> (y: tensor[..s])
  elementwise y = x + sin(a * x) * sin(a * x) / a
  backward    x: dy * (1 + 2 * sin(a * x) * cos(a * x))

block stage{0}(x: tensor[n, c, h, w]; width: int = base) -> tensor[n, width, h, w] {{
  let y = conv2d(x, out: width, kernel: 3, pad: 1)
  return snake{0}(batch_norm(y), a: 0.5)
}}

network net{0}(image: tensor[n, 3, h, w]; width: int = base, classes: int = 10) -> tensor[n, classes]
  pre h >= 8 and w >= 8
{{
  let x = stage{0}(image, width: width)
  let y = max_pool2d(x, kernel: 2)
  return dense(flatten(stage{0}(y, width: 2 * width)), classes)
}}

design sizes{0} of net{0} {{
  factor batch: 2, 4
  factor width: 8, 16
  input  image: [batch, 3, 16, 16]
  task   train(loss: cross_entropy, optimizer: sgd(lr: 0.1, momentum: 0.9))
}}
)",
                        i);
  }
  text += R"(
design deep of small_vgg {
  factor batch: 4, 8
  factor depth: 11, 13
  input  image: [batch, 3, 32, 32]
  task   train(loss: cross_entropy, optimizer: sgd(lr: 0.01))
}

process Fits(size, kernel, stride: nat) y: bool
pre  kernel <= size
post (size - kernel) mod stride = 0 and y = true or (size - kernel) mod stride <> 0 and y = false
end_process
)";
  return text;
}

/// Of the processor, so that a busy machine counts for little.
template <class Work>
double seconds(Work&& work) {
  const auto now = [] {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  work();
  return now() - start;
}

double at(std::vector<double> list, double share) {
  std::sort(list.begin(), list.end());
  return list[std::min(list.size() - 1, static_cast<std::size_t>(share * static_cast<double>(list.size())))];
}

/// Each edit by itself, from the program as it is: times of a session, of a check that keeps nothing (one round), and how many of
/// their answers differ.
std::size_t compare(const char* what, const std::string& text, const std::vector<std::string>& edits, std::size_t rounds) {
  const std::string path = "edited.tbem";
  constexpr double kForever = 1e9, kMs = 1e3;
  std::vector<double> session(edits.size(), kForever), fresh(edits.size(), kForever), right, ratios;
  std::vector<bool> good(edits.size(), false);
  std::size_t unequal = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    tbem::session::CompileSession kept;
    kept.check(path, text);
    for (std::size_t i = 0; i < edits.size(); ++i) {
      tbem::session::Checked now, again;
      session[i] = std::min(session[i], seconds([&] { now = kept.check(path, edits[i]); }));
      kept.check(path, text);
      if (round != 0) continue;
      good[i] = !now.hasErrors();
      fresh[i] = seconds([&] { again = tbem::test::freshCheck(path, edits[i]); });
      unequal += tbem::test::allOf(now) == tbem::test::allOf(again) ? 0 : 1;
    }
  }
  for (std::size_t i = 0; i < edits.size(); ++i) {
    ratios.push_back(fresh[i] / session[i]);
    if (good[i]) right.push_back(session[i]);
  }
  fmt::print("{} {}, {} of them without errors; answers that differ: {}\n", edits.size(), what, right.size(), unequal);
  const auto times = [&](const char* name, const std::vector<double>& list) {
    if (list.empty()) return;
    fmt::print("  {:<24} median {:6.2f} ms   p95 {:6.2f} ms   most {:6.2f} ms\n", name, kMs * at(list, kHalf),
               kMs * at(list, kMost), kMs * at(list, 1));
  };
  times("session", session);
  times("session, without errors", right);
  times("fresh", fresh);
  fmt::print("  fresh / session          median {:6.1f}\n", at(ratios, kHalf));
  return unequal;
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const std::size_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 3;
  const std::string text = program();
  if (const auto whole = tbem::test::freshCheck("edited.tbem", text); whole.hasErrors()) {
    fmt::print("the program has mistakes:\n{}", tbem::test::allOf(whole));
    return 1;
  }
  fmt::print("{} lines, best of {} rounds\n", std::count(text.begin(), text.end(), '\n'), rounds);
  tbem::test::Numbers numbers(5);
  std::vector<std::string> tokens, sizes;
  for (std::size_t i = 0; i < count; ++i) {
    tokens.push_back(tbem::test::editOneToken(text, numbers).text);
    sizes.push_back(tbem::test::editNumber(text, numbers));
  }
  const std::size_t unequal =
      compare("edits of one token", text, tokens, rounds) + compare("edits of one number", text, sizes, rounds);
  return unequal == 0 ? 0 : 1;
}
