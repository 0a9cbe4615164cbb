#include "compiler/show/reference/DocSearch.h"

#include "compiler/sema/Suggest.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <sstream>
#include <utility>

namespace tbem::driver {

namespace {

std::string withoutUnderscores(std::string name) {
  std::erase(name, '_');
  return name;
}

/// Whether a word of the text begins so; a short one has to be the whole word: "he" is no "the", and no "height".
bool hasWord(const std::string& text, const std::string& word) {
  constexpr std::size_t kShort = 2;
  const auto inWord = [&](std::size_t at) { return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !inWord(at - 1);
    if (begins && (word.size() > kShort || !inWord(at + word.size()))) return true;
  }
  return false;
}

/// What a word's forms begin with: "pool" of "pooling", "loss" of "losses", "normali" of "normalization", which is spelt with an
/// s elsewhere, "multipl" of "multiply" and "multiplication".
std::string stemOf(const std::string& word) {
  constexpr std::size_t kLeast = 3;
  constexpr std::pair<std::string_view, std::string_view> kEnds[] = {
      {"izations", "i"}, {"isations", "i"}, {"ization", "i"}, {"isation", "i"}, {"izers", "i"}, {"isers", "i"},
      {"izer", "i"},     {"iser", "i"},     {"izing", "i"},   {"ising", "i"},   {"sses", "ss"}, {"ss", "ss"},
      {"ings", ""},      {"ing", ""},       {"ies", ""},      {"s", ""},        {"y", ""}};
  for (const auto& [end, kept] : kEnds) {
    if (!word.ends_with(end)) continue;
    const std::string stem = word.substr(0, word.size() - end.size()) + std::string(kept);
    return stem.size() >= kLeast ? stem : word;
  }
  return word;
}

/// What our name of a word is that other frameworks use: "dense" of "Linear", "resnet" of "resnet18".
std::string elsewhereCalled(const std::string& word) {
  const std::string_view ours = sema::elsewhere(word), network = sema::asTorchvision(word);
  return std::string(!ours.empty() ? ours : network.substr(0, network.find('(')));
}

std::vector<std::string> partsOf(const std::string& name) {
  std::vector<std::string> parts;
  std::istringstream stream(name);
  for (std::string part; std::getline(stream, part, '_');) parts.push_back(part);
  return parts;
}

}  // namespace

std::string inSmallLetters(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

SearchWords::SearchWords(const std::string& text) {
  static constexpr std::array<std::string_view, 7> kKinds = {"layer",    "layers",    "function", "functions",
                                                             "operator", "operators", "module"};
  std::istringstream stream(text);
  for (std::string word; stream >> word;) {
    const std::string small = inSmallLetters(word);
    words.push_back({small, stemOf(small), elsewhereCalled(word), std::ranges::find(kKinds, small) != kKinds.end()});
  }
  if (words.size() == 1) words.front().mayLack = false;
  std::vector<Word> needed = words;
  std::erase_if(needed, [](const Word& word) { return word.mayLack; });
  putTogether(words);
  if (needed.size() != words.size()) putTogether(needed);
}

void SearchWords::putTogether(const std::vector<Word>& several) {
  if (several.size() < 2) return;
  std::string texts, stems, underscored;
  for (const Word& word : several) {
    texts += word.text;
    stems += word.stem;
    underscored += (underscored.empty() ? "" : "_") + word.text;
  }
  together.insert(together.end(), {texts, stems});
  for (const std::string& name : {texts, stems, underscored}) {
    if (const std::string ours = elsewhereCalled(name); !ours.empty()) together.push_back(withoutUnderscores(ours));
  }
}

bool SearchWords::isWhole(const std::string& name) const {
  return std::ranges::find(together, withoutUnderscores(name)) != together.end();
}

int SearchWords::fitName(const std::string& name, const Documented& declaration) const {
  constexpr int kName = 6, kBeginOfPart = 5, kInName = 4, kSentenceAndTopic = 3, kSentence = 2, kText = 1;
  const std::vector<std::string> parts = partsOf(name);
  const auto fitOf = [&](const Word& word) {
    const auto begins = [&](const std::string& part) { return part.starts_with(word.stem); };
    const auto wordIn = [&](const std::string& where) { return hasWord(where, word.text) || hasWord(where, word.stem); };
    if (name == word.text || name == word.meant) return kName;
    if (std::ranges::any_of(parts, begins)) return kBeginOfPart;
    if (name.find(word.stem) != std::string::npos) return kInName;
    if (wordIn(declaration.sentence)) return wordIn(declaration.topic) ? kSentenceAndTopic : kSentence;
    return wordIn(declaration.documentation) || wordIn(declaration.topic) ? kText : 0;
  };
  int sum = 0;
  bool all = !words.empty();
  for (const Word& word : words) {
    const int fits = fitOf(word);
    all = all && (fits != 0 || word.mayLack);
    sum += fits;
  }
  if (isWhole(name))
    sum = kName * static_cast<int>(words.size());
  else if (!all || sum == 0)
    return 0;
  // Of equals, the one of whose name the least was not asked for: max_pool2d before its gradient.
  constexpr int kParts = 16;
  const auto isAsked = [&](const std::string& part) {
    return std::ranges::any_of(words, [&](const Word& word) { return part.starts_with(word.stem); });
  };
  const auto others = std::ranges::count_if(parts, [&](const std::string& part) { return !isAsked(part); });
  return sum * kParts + kParts - 1 - static_cast<int>(std::min<std::ptrdiff_t>(others, kParts - 2));
}

std::optional<std::string_view> SearchWords::firstAmong(const std::vector<std::string_view>& names) const {
  for (const Word& word : words) {
    const auto named =
        std::ranges::find_if(names, [&](std::string_view name) { return inSmallLetters(std::string(name)) == word.text; });
    if (named != names.end()) return *named;
  }
  return std::nullopt;
}

int SearchWords::fit(const Documented& declaration) const {
  const Documented small{
      {}, inSmallLetters(declaration.sentence), inSmallLetters(declaration.documentation), inSmallLetters(declaration.topic)};
  int best = 0;
  for (const std::string& name : declaration.names) best = std::max(best, fitName(inSmallLetters(name), small));
  return best;
}

}  // namespace tbem::driver
