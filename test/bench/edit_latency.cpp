// How soon a session has the diagnostics of a program after one token was edited, and a check that keeps nothing of the same
// text, and where the time goes. bench_edit_latency [EDITS [ROUNDS]] prints JSON: the best of the rounds counts for each edit,
// since the machine may be shared.
#include "compiler/session/CompileSession.h"
#include "compiler/syntax/parse/Parse.h"
#include "test/prop/session/Fresh.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* kPath = "edited.tbem";
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
double now() {
  std::timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

template <class Work>
double seconds(Work&& work) {
  const double start = now();
  work();
  return now() - start;
}

/// A check with its stages.
class Stopwatch final : public tbem::Events {
public:
  std::map<std::string, double, std::less<>> laps;

  void begin() {
    laps.clear();
    start = last = now();
  }
  void stageEnds(std::string_view stage, double /*seconds*/) override {
    const double time = now();
    laps[std::string(stage)] = time - last;
    last = time;
  }
  double end() const { return now() - start; }

private:
  double start = 0, last = 0;
};

double at(std::vector<double> list, double share) {
  std::sort(list.begin(), list.end());
  return list[std::min(list.size() - 1, static_cast<std::size_t>(share * static_cast<double>(list.size())))];
}

constexpr double kForever = 1e9, kMs = 1e3;

/// An edit of the program, and what its check took in seconds: the best of the rounds.
struct Edited {
  std::string text;
  double session = kForever;
  std::map<std::string, double, std::less<>> stages;  ///< of the session's best round
  double parse = 0;                                   ///< the file alone, which `load` reads
  double fresh = 0;                                   ///< of a check that keeps nothing, once
  bool good = false;                                  ///< no errors
  bool equal = false;                                 ///< both say the same
};

/// Checks the edit in a session, from the program as it is.
const tbem::Session& checkIn(tbem::session::CompileSession& session, Stopwatch& watch, Edited& edit) {
  watch.begin();
  const tbem::Session& now = session.check(kPath, edit.text);
  const double taken = watch.end();
  if (taken < edit.session) {
    edit.session = taken;
    edit.stages = watch.laps;
  }
  return now;
}

void compare(std::vector<Edited>& edits, const std::string& text, std::size_t rounds) {
  for (std::size_t round = 0; round < rounds; ++round) {
    Stopwatch watch;
    tbem::session::CompileSession session({}, watch);
    session.check(kPath, text);
    for (Edited& edit : edits) {
      const tbem::Session& told = checkIn(session, watch, edit);
      const bool good = !told.sink.hasErrors();
      const std::string said = round == 0 ? tbem::test::allOf(told) : "";
      session.check(kPath, text);
      if (round != 0) continue;
      std::string again;
      edit.good = good;
      edit.fresh = seconds([&] { again = tbem::test::freshCheck(kPath, edit.text); });
      edit.equal = said == again;
      edit.parse = seconds([&] {
        tbem::SourceManager sources;
        tbem::DiagnosticSink sink;
        tbem::syntax::parse(sources.add(kPath, edit.text), sink);
      });
    }
  }
}

/// "{"median_ms": 1.23, "p95_ms": .., "most_ms": ..}".
std::string times(const std::vector<double>& list) {
  return fmt::format(R"({{"median_ms": {:.2f}, "p95_ms": {:.2f}, "most_ms": {:.2f}}})", kMs * at(list, kHalf),
                     kMs * at(list, kMost), kMs * at(list, 1));
}

template <class Number>
std::vector<double> all(const std::vector<Edited>& edits, Number&& number) {
  std::vector<double> list;
  for (const Edited& edit : edits) list.push_back(number(edit));
  return list;
}

double sum(const std::vector<double>& list) { return std::accumulate(list.begin(), list.end(), 0.0); }

/// Of the time of all edits in the session: the share of each stage, and of reading the file, which is a part of `load`.
std::string shares(const std::vector<Edited>& edits) {
  const double whole = sum(all(edits, [](const Edited& edit) { return edit.session; }));
  std::string text;
  const auto share = [&](std::string_view name, double taken) {
    text += fmt::format(R"({}"{}": {:.3f})", text.empty() ? "" : ", ", name, taken / whole);
  };
  share("parse", sum(all(edits, [](const Edited& edit) { return edit.parse; })));
  for (const std::string_view stage : {"load", "names", "design", "graph", "beyond"})
    share(stage, sum(all(edits, [&](const Edited& edit) {
            const auto found = edit.stages.find(stage);
            return found == edit.stages.end() ? 0 : found->second;
          })));
  return text;
}

/// One JSON object.
void print(const char* what, const std::vector<Edited>& edits) {
  std::vector<Edited> good;
  std::ranges::copy_if(edits, std::back_inserter(good), &Edited::good);
  const auto session = [](const Edited& edit) { return edit.session; };
  fmt::print(" {{\"edits\": \"{}\", \"count\": {}, \"without_errors\": {}, \"answers_that_differ\": {},\n", what, edits.size(),
             good.size(), std::ranges::count(edits, false, &Edited::equal));
  fmt::print("  \"session\": {},\n", times(all(edits, session)));
  if (!good.empty()) fmt::print("  \"session_without_errors\": {},\n", times(all(good, session)));
  fmt::print("  \"fresh\": {}, \"fresh_over_session\": {:.1f},\n",
             times(all(edits, [](const Edited& edit) { return edit.fresh; })),
             at(all(edits, [](const Edited& edit) { return edit.fresh / edit.session; }), kHalf));
  fmt::print("  \"shares\": {{{}}}}}", shares(edits));
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1000;
  const std::size_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 3;
  const std::string text = program();
  if (const auto whole = tbem::test::freshCheck(kPath, text); whole.hasErrors()) {
    fmt::print(stderr, "the program has mistakes:\n{}", tbem::test::allOf(whole));
    return 1;
  }
  tbem::test::Numbers numbers(5);
  std::vector<Edited> tokens(count), sizes(count);
  for (std::size_t i = 0; i < count; ++i) {
    tokens[i].text = tbem::test::editOneToken(text, numbers).text;
    sizes[i].text = tbem::test::editNumber(text, numbers);
  }
  compare(tokens, text, rounds);
  compare(sizes, text, rounds);
  fmt::print("{{\"what\": \"bench_edit_latency {} {}\", \"lines\": {}, \"cases\": [\n", count, rounds,
             std::count(text.begin(), text.end(), '\n'));
  print("one token", tokens);
  fmt::print(",\n");
  print("one number", sizes);
  fmt::print("]}}\n");
  const auto equal = [](const std::vector<Edited>& edits) { return std::ranges::all_of(edits, &Edited::equal); };
  return equal(tokens) && equal(sizes) ? 0 : 1;
}
