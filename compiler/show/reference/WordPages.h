// What the words of the language mean: the sections of docs/words.md, which is embedded in the binary.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tbem::show {

struct WordSection {
  std::vector<std::string_view> words;  ///< of the heading, in its order
  std::string_view text;  ///< Markdown below the heading, without empty lines around it; it lives as long as the page
};

/// The sections of a page: each begins with a heading of the second level, whose words stand in backticks. What stands before
/// the first heading is in none, and a line of a program (a fenced block) is no heading.
std::vector<WordSection> wordSections(std::string_view page);

/// Those of docs/words.md, in its order.
const std::vector<WordSection>& languageWords();

/// The sections whose heading has the word, in the order of the page: `min` is a function and a unit. Empty: it is no word of the
/// language.
std::vector<const WordSection*> sectionsOf(std::string_view word);

/// The texts of these, one below the other; "" where there is none.
std::string meaningOf(std::string_view word);

/// The first paragraph: what the word is for.
std::string_view firstParagraph(const WordSection& section);

}  // namespace tbem::show
