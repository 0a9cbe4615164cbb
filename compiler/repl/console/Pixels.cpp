#include "compiler/repl/console/Pixels.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace tbem::repl {

namespace {
constexpr std::string_view kAsk = "\x1b[16t\x1b[c";

/// The terminal gives each key as it comes and shows none, while this lives.
class RawTerminal {
public:
  RawTerminal() : isSet(::tcgetattr(STDIN_FILENO, &before) == 0) {
    if (!isSet) return;
    termios raw = before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    isSet = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
  }
  ~RawTerminal() {
    if (isSet) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  explicit operator bool() const { return isSet; }

private:
  termios before{};
  bool isSet;
};

bool comes(std::chrono::milliseconds within) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, static_cast<int>(within.count())) > 0;
}

/// The numbers of an answer, `CSI ? n ; n .. final` without what is before them; and what ends it.
struct Answer {
  std::vector<std::size_t> numbers;
  char last = 0;
};

Answer answerAt(std::string_view text) {
  Answer answer;
  std::size_t at = text.starts_with('?') ? 1 : 0;
  while (at < text.size()) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error != std::errc()) break;
    answer.numbers.push_back(number);
    at = static_cast<std::size_t>(end - text.data());
    if (at >= text.size() || text[at] != ';') break;
    ++at;
  }
  if (at < text.size()) answer.last = text[at];
  return answer;
}
}  // namespace

std::optional<report::CellSize> sixelCells(std::string_view answers) {
  constexpr std::size_t kSixel = 4, kCell = 6, kLeast = 4, kMost = 256;
  std::optional<report::CellSize> cell;
  bool shows = false;
  for (std::size_t at = answers.find("\x1b["); at != std::string_view::npos; at = answers.find("\x1b[", at + 1)) {
    const Answer answer = answerAt(answers.substr(at + 2));
    if (answer.last == 't' && answer.numbers.size() == 3 && answer.numbers[0] == kCell)
      cell = report::CellSize{answer.numbers[2], answer.numbers[1]};
    if (answer.last == 'c') {
      for (const std::size_t attribute : answer.numbers) shows = shows || attribute == kSixel;
    }
  }
  const auto sensible = [](std::size_t pixels) { return pixels >= kLeast && pixels <= kMost; };
  return shows && cell && sensible(cell->width) && sensible(cell->height) ? cell : std::nullopt;
}

bool writeToTerminal(std::string_view picture) {
  while (!picture.empty()) {
    const ssize_t count = ::write(STDOUT_FILENO, picture.data(), picture.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) picture.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

std::optional<report::CellSize> askSixelCells() {
  using namespace std::chrono_literals;
  constexpr auto kPatience = 333ms;
  const RawTerminal raw;
  if (!raw || comes(0ms)) return std::nullopt;
  if (!writeToTerminal(kAsk)) return std::nullopt;
  std::string answers;
  const auto end = std::chrono::steady_clock::now() + kPatience;
  // Every terminal answers the second question, and in their order.
  while (!answers.ends_with('c')) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left <= 0ms || !comes(left)) break;
    std::array<char, 256> part{};
    const ssize_t count = ::read(STDIN_FILENO, part.data(), part.size());
    if (count <= 0) break;
    answers.append(part.data(), static_cast<std::size_t>(count));
  }
  return sixelCells(answers);
}

}  // namespace tbem::repl
