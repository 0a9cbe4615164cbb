#include "compiler/show/reference/WordPages.h"

#include <embedded/tbem_words.h>

#include <algorithm>
#include <cstddef>

namespace tbem::show {

namespace {

/// What stands between backticks.
std::vector<std::string_view> wordsOfHeading(std::string_view heading) {
  std::vector<std::string_view> words;
  for (std::size_t at = heading.find('`'); at != std::string_view::npos; at = heading.find('`', at)) {
    const std::size_t end = heading.find('`', at + 1);
    if (end == std::string_view::npos) break;
    words.push_back(heading.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return words;
}

std::string_view withoutEmptyLines(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::vector<WordSection> wordSections(std::string_view page) {
  constexpr std::string_view kHeading = "## ", kFence = "```";
  std::vector<WordSection> sections;
  std::size_t begin = 0;  // of the text of the last section
  bool inProgram = false;
  const auto closeLast = [&](std::size_t end) {
    if (!sections.empty()) sections.back().text = withoutEmptyLines(page.substr(begin, end - begin));
  };
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t end = std::min(page.find('\n', at), page.size());
    const std::string_view line = page.substr(at, end - at);
    if (line.starts_with(kFence)) inProgram = !inProgram;
    if (!inProgram && line.starts_with(kHeading)) {
      closeLast(at);
      sections.push_back({wordsOfHeading(line), {}});
      begin = end;
    }
    at = end + 1;
  }
  closeLast(page.size());
  return sections;
}

const std::vector<WordSection>& languageWords() {
  static const std::vector<WordSection> sections = wordSections(words::files().front().text);
  return sections;
}

std::vector<const WordSection*> sectionsOf(std::string_view word) {
  std::vector<const WordSection*> with;
  for (const WordSection& section : languageWords()) {
    if (std::ranges::find(section.words, word) != section.words.end()) with.push_back(&section);
  }
  return with;
}

std::string meaningOf(std::string_view word) {
  std::string text;
  for (const WordSection* section : sectionsOf(word)) {
    if (!text.empty()) text += "\n\n";
    text += section->text;
  }
  return text;
}

std::string_view firstParagraph(const WordSection& section) { return section.text.substr(0, section.text.find("\n\n")); }

}  // namespace tbem::show
