// Broken programs, the same in every run: slips that people make, applied to programs that are right.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tbem::test {

/// xorshift64*: the same numbers everywhere.
class Numbers {
public:
  explicit Numbers(std::uint64_t seed) : state(seed * 0x9E3779B97F4A7C15ULL + 1) {}
  std::size_t below(std::size_t limit) {
    state ^= state >> 12U;
    state ^= state << 25U;
    state ^= state >> 27U;
    return static_cast<std::size_t>((state * 0x2545F4914F6CDD1DULL) >> 33U) % limit;
  }

private:
  std::uint64_t state;
};

/// `fixed`, or TBEM_SEED where that is set: for longer searches by hand.
std::uint64_t seed(std::uint64_t fixed);

/// One word, number, mark or blank of a text.
struct Lexeme {
  std::string text;
  bool blank = false;
};
std::vector<Lexeme> lexemes(const std::string& text);

/// The text with one slip: a mark or word lost, doubled, swapped, misspelt, or taken from another language.
std::string mutate(const std::string& text, Numbers& numbers);

/// A text with one token lost, put in, replaced, swapped with its neighbour, or doubled, and where. What is put in comes from the
/// same text.
struct Edit {
  std::string text;
  std::size_t at = 0;   ///< where the edited token begins in the text as it was
  std::size_t end = 0;  ///< where it, or the neighbour that it was swapped with, ends
};
Edit editOneToken(const std::string& text, Numbers& numbers);

/// All programs of the repository but the wrong ones: stdlib, examples, test without test/bad. Names and texts.
std::vector<std::pair<std::string, std::string>> corpus();

}  // namespace tbem::test
