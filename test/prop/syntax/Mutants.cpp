#include "Mutants.h"
#include "test/SourceTree.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tbem::test {

std::uint64_t seed(std::uint64_t fixed) {
  const char* wanted = std::getenv("TBEM_SEED");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : fixed;
}

std::vector<Lexeme> lexemes(const std::string& text) {
  const auto word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  static const std::vector<std::string> marks{"...", "..=", "<=>", "..", "|>", "->", "=>", "<>", "<=", ">=", "**"};
  std::vector<Lexeme> list;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    bool blank = false;
    if (text.compare(i, 2, "//") == 0) {
      end = std::min(text.find('\n', i), text.size());
      blank = true;
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t close = text.find("*/", i + 2);
      end = close == std::string::npos ? text.size() : close + 2;
      blank = true;
    } else if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) != 0) ++end;
      blank = true;
    } else if (text[i] == '"') {
      end = std::min(text.find('"', i + 1), text.size() - 1) + 1;
    } else if (word(text[i])) {
      while (end < text.size() && word(text[end])) ++end;
    } else {
      for (const std::string& mark : marks) {
        if (text.compare(i, mark.size(), mark) == 0) {
          end = i + mark.size();
          break;
        }
      }
    }
    list.push_back({text.substr(i, end - i), blank});
    i = end;
  }
  return list;
}

namespace {
std::string misspell(std::string word, Numbers& numbers) {
  if (word.size() < 3) return word + "x";
  const std::size_t at = 1 + numbers.below(word.size() - 2);
  switch (numbers.below(3)) {
    case 0:
      word.erase(at, 1);
      break;
    case 1:
      std::swap(word[at], word[at + 1]);
      break;
    default:
      word.insert(at, 1, 'e');
  }
  return word;
}

std::string foreign(const std::string& mark) {
  static const std::vector<std::pair<std::string, std::string>> pairs{
      {"=", "=="}, {"<>", "!="},  {"and", "&&"},  {"or", "||"}, {"mod", "%"},     {"**", "^"}, {"(", "["},
      {")", "]"},  {"[", "("},    {"]", ")"},     {"{", "("},   {"}", ")"},       {":", "="},  {"->", ":"},
      {",", ";"},  {"then", "{"}, {"when", "if"}, {"in", "="},  {"let", "const"}, {"..", ":"}};
  for (const auto& [ours, theirs] : pairs) {
    if (mark == ours) return theirs;
  }
  return {};
}

/// Places of the lexemes that are not blank.
std::vector<std::size_t> solidOnes(const std::vector<Lexeme>& list) {
  std::vector<std::size_t> solid;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (!list[i].blank) solid.push_back(i);
  }
  return solid;
}

std::string joined(const std::vector<Lexeme>& list) {
  std::string out;
  for (const Lexeme& each : list) out += each.text;
  return out;
}
}  // namespace

std::string mutate(const std::string& text, Numbers& numbers) {
  std::vector<Lexeme> list = lexemes(text);
  const std::vector<std::size_t> solid = solidOnes(list);
  const std::size_t which = numbers.below(solid.size());
  Lexeme& chosen = list[solid[which]];
  const std::size_t kind = numbers.below(6);
  if (kind == 0) {
    chosen.text.clear();
  } else if (kind == 1) {
    chosen.text += " " + chosen.text;
  } else if (kind == 2 && which + 1 < solid.size()) {
    std::swap(chosen.text, list[solid[which + 1]].text);
  } else if (kind == 3 && std::isalpha(static_cast<unsigned char>(chosen.text[0])) != 0) {
    chosen.text = misspell(chosen.text, numbers);
  } else if (kind == 4 && !foreign(chosen.text).empty()) {
    chosen.text = foreign(chosen.text);
  } else {
    chosen.text += " " + list[solid[numbers.below(solid.size())]].text;
  }
  return joined(list);
}

Edit editOneToken(const std::string& text, Numbers& numbers) {
  std::vector<Lexeme> list = lexemes(text);
  const std::vector<std::size_t> solid = solidOnes(list);
  const std::size_t which = numbers.below(solid.size());
  Edit edit;
  for (std::size_t i = 0; i < solid[which]; ++i) edit.at += list[i].text.size();
  Lexeme& chosen = list[solid[which]];
  edit.end = edit.at + chosen.text.size();
  const std::string other = list[solid[numbers.below(solid.size())]].text;
  switch (numbers.below(5)) {
    case 0:
      chosen.text.clear();
      break;
    case 1:
      chosen.text = other + " " + chosen.text;
      break;
    case 2:
      chosen.text = other;
      break;
    case 3:
      if (which + 1 == solid.size()) break;
      for (std::size_t i = solid[which] + 1; i <= solid[which + 1]; ++i) edit.end += list[i].text.size();
      std::swap(chosen.text, list[solid[which + 1]].text);
      break;
    default:
      chosen.text += " " + chosen.text;
  }
  edit.text = joined(list);
  return edit;
}

std::vector<std::pair<std::string, std::string>> corpus() {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (const char* folder : {"test", "stdlib", "examples"}) {
    for (auto entry = fs::recursive_directory_iterator(inSources(folder)); entry != fs::recursive_directory_iterator(); ++entry) {
      if (entry->path().filename() == "bad") entry.disable_recursion_pending();  // wrong on purpose
      if (entry->path().extension() == ".tbem") files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<std::pair<std::string, std::string>> list;
  for (const fs::path& path : files) {
    std::ifstream stream(path, std::ios::binary);
    list.emplace_back(path.string(), std::string(std::istreambuf_iterator<char>(stream), {}));
  }
  return list;
}

}  // namespace tbem::test
