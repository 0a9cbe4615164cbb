// Random histories with the counters after each event, written by another allocator: naive lists in Python (model.py), and
// PyTorch's own (histories of test/pytorch/allocator/compare_allocator.py). Counters and addresses must be equal after every
// event.
#include "compiler/pytorch/allocator/CachingAllocator.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

namespace tbem::estimate {
namespace {

/// Reads the lines that model.py documents, and plays them.
class Player {
public:
  void line(const std::string& text) {
    std::istringstream words(text);
    std::string word;
    words >> word;
    if (word == "T") return begin(words);
    if (!allocator) return;
    ++lines;
    history += text + "\n";
    if (word == "=") return compare(text);
    event(word, words);
  }
  std::size_t histories = 0, lines = 0, different = 0;
  std::string first;  ///< the first history that differs, up to where it does

private:
  void begin(std::istringstream& words) {
    CardMemory card;
    std::string text;
    words >> card.capacity >> card.total >> text;
    const auto options = parseAllocatorOptions(text == "-" ? "" : text);
    ASSERT_TRUE(options) << text << ": " << options.error().cause;
    allocator = std::make_unique<CachingAllocator>(*options, card);
    history = text + "\n";
    ++histories;
  }

  void event(const std::string& word, std::istringstream& words) {
    using Kind = AllocatorEvent::Kind;
    AllocatorEvent made;
    allocated.reset();
    words >> made.id;
    if (word == "A") {
      words >> made.bytes >> made.stream >> made.pool;
      allocated = made.id;
    } else {
      ASSERT_EQ(word.size(), 1U);
      made.kind = word == "F" ? Kind::Free : word == "R" ? Kind::RequestFree : word == "D" ? Kind::FinishFree : Kind::EmptyCache;
    }
    allocator->apply(made);
  }

  void compare(const std::string& expected) {
    const AllocatorStatistics& counts = allocator->statistics();
    std::ostringstream text;
    text << "=";
    for (const Gauge* gauge : {&counts.requested, &counts.allocated, &counts.active, &counts.reserved, &counts.segments})
      text << ' ' << gauge->now << ' ' << gauge->peak;
    text << ' ' << counts.deviceAllocations << ' ' << counts.deviceFrees << ' ' << counts.retries << ' ' << counts.outOfMemory
         << ' ' << (allocated ? allocator->addressOf(*allocated) : 0);
    if (text.str() == expected) return;
    if (++different == 1) first = history + "ours: " + text.str();
    allocator.reset();  // what follows differs too
  }

  std::unique_ptr<CachingAllocator> allocator;
  std::optional<std::uint32_t> allocated;
  std::string history;
};

void expectEqual(const Player& player, std::size_t histories) {
  EXPECT_EQ(player.histories, histories);
  EXPECT_GT(player.lines, 20 * histories);
  EXPECT_EQ(player.different, 0U) << player.first;
}

class NaiveModel : public testing::TestWithParam<int> {};

TEST_P(NaiveModel, HasEqualCountersAfterEveryEvent) {
  const std::string command =
      "python3 " + test::inSources("test/prop/allocator/model.py") + " 2500 " + std::to_string(GetParam());
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  Player player;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) {
    std::string text = buffer.data();
    text.pop_back();
    player.line(text);
  }
  EXPECT_EQ(pclose(pipe), 0);
  expectEqual(player, 2500);
}

INSTANTIATE_TEST_SUITE_P(Seeds, NaiveModel, testing::Values(1, 1'000'001, 2'000'001, 3'000'001));

TEST(PyTorch, HasEqualCountersAfterEveryEvent) {
  const char* other = std::getenv("TBEM_ALLOCATOR_HISTORIES");
  std::ifstream file(other != nullptr ? other : test::inSources("test/prop/allocator/pytorch_2.15.txt"));
  ASSERT_TRUE(file);
  Player player;
  for (std::string text; std::getline(file, text);) player.line(text);
  expectEqual(player, other != nullptr ? player.histories : 30);
  EXPECT_GT(player.histories, 0U);
}

}  // namespace
}  // namespace tbem::estimate
