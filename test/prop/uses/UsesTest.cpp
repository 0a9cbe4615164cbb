// Every name of every program means a declaration or is a word of the language; and a program in which all that is declared is
// called otherwise, with all that means it, is the same program.
#include "Programs.h"
#include "compiler/diagnostics/Render.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <sstream>

namespace tbem::test {
namespace {

/// Words that are no names where they stand: reserved ones, those that begin clauses, units.
std::set<std::string> wordsOfTheLanguage() {
  std::set<std::string> words;
  std::ifstream list(inSources("grammar/keywords.txt"));
  for (std::string line, word; std::getline(list, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream rest(line);
    rest >> word;  // the class
    while (rest >> word) words.insert(word);
  }
  for (const char* line :
       {// types
        "int real bool string pair pads axes dtype tensor schedule list of set seq nat nat0 char",
        // clauses of experiments and trainings, and of processes
        "accumulate array covering filter full mixed seed strength task where within metric repeat response terms validate "
        "auto checkpoint "
        "epochs batch "
        "optimizer loss augment insert swap widen rd wr freeze weights",
        // what those clauses take
        "memory latency energy cpu ref memory_peak static_memory arena live poly degree leave_one_out cosine constant warmup "
        "flip "
        "crop bf16 every command pytorch keras backend memory_baseline opaque exits gates gumbel reinforce reward likeliest turn "
        "f16 soft "
        "straight_through partial "
        "names",
        // layers that are called after their templates, which a training names
        "dense dense_2 dense_3",
        // perturbations and their methods
        "box certify harden keep label look norm linf l2 margins objective rate examples share steps temperature "
        "random uniform gradient deepsloth ilfo gradmdm blackbox power closed universal generator test detect svm folds cost "
        "squeeze "
        "bits median attack increase_mean place projected scaled energy seconds",
        // rows over a data set
        "count repeats mean_flops",
        // budgets
        "budget parameters flops flops_forward activations reserved pytorch h100 h100_pcie"}) {
    std::istringstream rest{std::string(line)};
    for (std::string word; rest >> word;) words.insert(word);
  }
  return words;
}

/// Identifiers outside of comments and texts, with their places in the text.
std::vector<std::pair<std::size_t, std::string>> identifiers(const std::string& text) {
  std::vector<std::pair<std::size_t, std::string>> all;
  for (std::size_t i = 0; i < text.size();) {
    const auto isWord = [&](std::size_t at) {
      return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    if (text[i] == '<' && isWord(i + 1) && text.find('>', i) < text.find_first_of(" \n", i)) {  // a member of an enumeration
      i = text.find('>', i);
    } else if (text.compare(i, 2, "/*") == 0) {
      i = std::min(text.find("*/", i), text.size());
    } else if (text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
      ++i;
    } else if (isWord(i)) {
      const std::size_t begin = i;
      while (isWord(i)) ++i;
      if (text.compare(begin, i - begin, "comment") == 0 && text.find("end_process", i) != std::string::npos)
        i = text.find("end_process", i);  // free text
      else if (std::isdigit(static_cast<unsigned char>(text[begin])) == 0)
        all.emplace_back(begin, text.substr(begin, i - begin));
    } else {
      ++i;
    }
  }
  return all;
}

TEST(Uses, EveryNameIsDeclaredOrMeansSomething) {
  const std::set<std::string> words = wordsOfTheLanguage();
  std::map<std::string, std::set<std::string>> lost;
  std::size_t names = 0;
  for (const std::string& path : programsIn({"examples", "test/lit", "stdlib"})) {
    const Read read(path, readAll(path));
    if (read.session.sink.hasErrors()) continue;
    for (const auto& [at, word] : identifiers(read.source->text)) {
      const Loc place = read.source->base + static_cast<Loc>(at);
      // Of `dy` in a gradient `y` is the use.
      if (!read.uses.at(place).empty() || !read.uses.at(place + 1).empty()) {
        ++names;
        continue;
      }
      if (words.count(word) == 0) lost[word].insert(read.session.sources.describe(place));
    }
  }
  EXPECT_GT(names, 13000u);
  for (const auto& [word, places] : lost) ADD_FAILURE() << word << " x" << places.size() << " at " << *places.begin();
}

TEST(Uses, AProgramWhoseNamesAreOthersHasNoUnknownName) {
  std::size_t changed = 0;
  for (const std::string& path : programsIn({"examples", "test/lit"})) {
    const Read read(path, readAll(path));
    if (read.session.sink.hasErrors()) continue;
    const Read after(path, renamed(read, changed));
    EXPECT_FALSE(after.session.sink.hasErrors()) << renderAll(after.session.sink, after.session.sources, {});
  }
  EXPECT_GT(changed, 1000u);
}

}  // namespace
}  // namespace tbem::test
