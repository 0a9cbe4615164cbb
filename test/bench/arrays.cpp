// How long arrays take for random requests: planning and building, verifying by counting, and the lower bound; and how many rows
// they have. `--csv` prints a line a request, by which two builds can be compared; `--only STRENGTH LEVELS` (`--only 2 "6^28
// 9^35"`) measures one request, `--times N` the least of so many times, `--unverified` without verifying (for a profile of
// building).
#include "compiler/design/array/Random.h"
#include "compiler/design/choose/ArrayChoice.h"
#include "compiler/design/choose/Plans.h"
#include "compiler/design/verify/Bounds.h"
#include "compiler/design/verify/Verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <sstream>
#include <string>
#include <vector>

using namespace tbem::design;

namespace {

using Levels = std::vector<std::uint32_t>;

constexpr std::uint64_t kMostTimed = 1'000'000;

struct Request {
  Levels levels;
  std::uint32_t strength = 0;
};

struct Result {
  std::uint64_t runs = 0, bound = 0;                      ///< 0 runs: refused
  double plan = 0, build = 0, verify = 0, boundTime = 0;  ///< milliseconds of processor time; `build` with `plan`
};

double milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// 1 to 4 numbers of levels from 2 to 16 (one in two requests, all are powers of two and three, which are what is asked for
/// most), columns of each; such that the bound leaves room for an array of a million cells.
Request drawn(Random& random) {
  constexpr std::uint32_t kCommon[] = {2, 3, 4, 6, 8, 9};
  for (;;) {
    Request request;
    const std::uint32_t dice = random.below(10), parts = dice < 3 ? 1 : dice < 6 ? 2 : dice < 9 ? 3 : 4;
    request.strength = dice % 3 == 0 ? 3 : random.below(4) == 0 ? 4 : 2;
    const bool common = random.below(2) == 0;
    for (std::uint32_t part = 0; part < parts; ++part) {
      const std::uint32_t s = common ? kCommon[random.below(6)] : 2 + random.below(15);
      const double most = std::log(parts == 1 ? 1000.0 : 40.0);
      const auto count = static_cast<std::size_t>(std::exp(random.unit() * most));
      request.levels.insert(request.levels.end(), count, s);
    }
    const Bounds bound = bounds(request.levels, request.strength);
    if (request.levels.size() <= request.strength || bound.smallest == 0) continue;
    if (bound.smallest <= kMostTimed / request.levels.size()) return request;
  }
}

Result measured(const Request& request, bool verified) {
  Result result;
  double start = milliseconds();
  std::optional<Array> array;
  const std::vector<Plan> plans = plansFor(request.levels, request.strength, kMostTimed, false);
  result.plan = milliseconds() - start;
  for (const Plan& plan : plans) {
    array = plan.build();
    if (array) break;
  }
  result.build = milliseconds() - start;
  if (array) {
    result.runs = array->runs;
    start = milliseconds();
    if (verified && findImbalance(*array, request.strength)) {
      fmt::print(stderr, "not balanced: {} of strength {}\n", levelText(request.levels), request.strength);
      std::exit(1);
    }
    result.verify = milliseconds() - start;
  }
  start = milliseconds();
  result.bound = sharpBounds(request.levels, request.strength).smallest;
  result.boundTime = milliseconds() - start;
  return result;
}

/// The least times of several, as other work runs beside.
Result leastOf(const Request& request, std::uint64_t times, bool verified) {
  Result result = measured(request, verified);
  for (std::uint64_t again = 1; again < times; ++again) {
    const Result next = measured(request, verified);
    result.plan = std::min(result.plan, next.plan);
    result.build = std::min(result.build, next.build);
    result.verify = std::min(result.verify, next.verify);
    result.boundTime = std::min(result.boundTime, next.boundTime);
  }
  return result;
}

/// "6^28 9^35"
Levels readLevels(const std::string& text) {
  Levels levels;
  for (std::istringstream words(text); words >> std::ws && !words.eof();) {
    std::uint32_t s = 0;
    std::size_t count = 1;
    if (!(words >> s)) break;
    if (words.peek() == '^') words.ignore() >> count;
    levels.insert(levels.end(), count, s);
  }
  return levels;
}

void printLine(const Request& request, const Result& result) {
  fmt::print("{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f}\n", request.strength, levelText(request.levels), result.runs, result.bound,
             result.plan, result.build, result.verify, result.boundTime);
}

void printTimes(const char* what, std::vector<double> times) {
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  const auto at = [&](double share) { return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))]; };
  fmt::print("{:<8} median {:8.3f} ms   90 % {:8.3f} ms   99 % {:8.3f} ms   worst {:8.3f} ms\n", what, at(0.5), at(0.9), at(0.99),
             times.back());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t count = 300;
  std::uint64_t seed = 1, times = 3;
  bool csv = false, verified = true;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--csv") csv = true;
    if (option == "--unverified") verified = false;
    if (option == "--requests" && i + 1 < argc) count = std::strtoul(argv[++i], nullptr, 10);
    if (option == "--seed" && i + 1 < argc) seed = std::strtoull(argv[++i], nullptr, 10);
    if (option == "--times" && i + 1 < argc) times = std::strtoull(argv[++i], nullptr, 10);
    if (option == "--only" && i + 2 < argc) {
      const Request request{readLevels(argv[i + 2]), static_cast<std::uint32_t>(std::strtoul(argv[i + 1], nullptr, 10))};
      printLine(request, leastOf(request, times, verified));
      return 0;
    }
  }
  Random random(seed);
  std::vector<double> build, verify, bound;
  std::size_t refused = 0, larger = 0, optimal = 0;
  if (csv) fmt::print("strength,levels,rows,bound,plan_ms,build_ms,verify_ms,bound_ms\n");
  for (std::size_t i = 0; i < count; ++i) {
    const Request request = drawn(random);
    const Result result = leastOf(request, times, verified);
    if (csv) {
      printLine(request, result);
      continue;
    }
    if (result.runs == 0) ++refused;
    if (result.runs != 0 && result.runs == result.bound) ++optimal;
    if (result.runs > kMostTimed / request.levels.size()) {
      ++larger;
      continue;
    }
    build.push_back(result.build);
    verify.push_back(result.verify);
    bound.push_back(result.boundTime);
  }
  if (csv) return 0;
  fmt::print("{} requests, {} built with the fewest rows possible, {} refused, {} of more than a million cells\n", count, optimal,
             refused, larger);
  printTimes("build", build);
  printTimes("verify", verify);
  printTimes("bound", bound);
}
