// Tests made by vibration kill mutants of the library's specifications. A sample here; all of the benchmark with
// TBEM_MUTANTS=500, which writes its figures to the file that TBEM_MUTANTS_OUT names (test/bench/spec_mutants.py).
#include "test/prop/spec/Mutants.h"

#include "compiler/support/Random.h"
#include "test/SourceTree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace tbem::test {
namespace {

std::string processes() {
  std::ifstream file(inSources("test/lit/inputs/tested.tbem"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The first `count` of a seeded order, of at most so many specifications.
std::vector<Mutant> sampleOf(std::vector<Mutant> all, std::size_t count, std::size_t specifications, std::uint64_t seed) {
  Random random(seed);
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    std::swap(all[i], all[i + random.below(static_cast<std::uint32_t>(all.size() - i))]);
  std::vector<Mutant> chosen;
  std::set<std::size_t> subjects;
  for (const Mutant& one : all) {
    if (chosen.size() == count) break;
    if (subjects.size() == specifications && subjects.count(one.subject) == 0) continue;
    subjects.insert(one.subject);
    chosen.push_back(one);
  }
  return chosen;
}

TEST(Mutants, TestsKillThem) {
  const char* asked = std::getenv("TBEM_MUTANTS");
  const std::size_t count = asked != nullptr ? std::stoul(asked) : 100;
  const std::size_t specifications = asked != nullptr ? 10'000 : 16;
  Subjects subjects(processes());
  const std::vector<Mutant> all = allMutants(subjects);
  const std::vector<Mutant> chosen = sampleOf(all, count, specifications, 1);
  ASSERT_EQ(chosen.size(), count);
  const auto start = std::chrono::steady_clock::now();
  std::map<std::size_t, spec::TestSuite> suites;
  for (const Mutant& one : chosen) {
    Subject& subject = subjects.list[one.subject];
    if (suites.count(one.subject) == 0) suites[one.subject] = spec::makeTests(subject.model, subject.scenarios, {});
  }
  const double making = secondsSince(start);
  std::map<std::string, std::array<std::size_t, 3>> byChange;
  std::array<std::size_t, 3> fates{};
  nlohmann::ordered_json alive = nlohmann::ordered_json::array();
  for (const Mutant& one : chosen) {
    const Fate fate = fateOf(subjects, one, suites.at(one.subject));
    ++fates[static_cast<std::size_t>(fate)];
    ++byChange[word(one.change)][static_cast<std::size_t>(fate)];
    if (fate == Fate::Alive) alive.push_back(describe(subjects, one));
  }
  const double share = static_cast<double>(fates[0]) / static_cast<double>(count - fates[1]);
  std::size_t cases = 0;
  for (const auto& [subject, suite] : suites) cases += suite.cases.size();
  std::string survivors;
  for (const auto& one : alive) survivors += "\n  " + one.get<std::string>();
  EXPECT_GE(share, 0.95) << "alive:" << survivors;
  if (const char* path = std::getenv("TBEM_MUTANTS_OUT")) {
    nlohmann::ordered_json result = {{"declarations_with_conditions", subjects.declared},
                                     {"left_out", subjects.leftOut},
                                     {"specifications", subjects.list.size()},
                                     {"mutants_in_all", all.size()},
                                     {"mutants", count},
                                     {"seed", 1},
                                     {"killed", fates[0]},
                                     {"equivalent_by_proof", fates[1]},
                                     {"alive", fates[2]},
                                     {"score", share},
                                     {"specifications_in_sample", suites.size()},
                                     {"cases", cases},
                                     {"seconds_making_cases", making},
                                     {"seconds", secondsSince(start)}};
    for (const auto& [change, counts] : byChange)
      result["by_change"][change] = {{"killed", counts[0]}, {"equivalent", counts[1]}, {"alive", counts[2]}};
    result["survivors"] = alive;
    std::ofstream(path) << result.dump(1) << "\n";
  }
}

}  // namespace
}  // namespace tbem::test
