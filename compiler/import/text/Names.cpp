// Tables of names (docs/weights.md): lines of patterns.
#include "compiler/import/Import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <utility>

namespace tbem::imports {

namespace {

/// The name with {} for each number, and the numbers.
std::pair<std::string, std::string> patternOf(const std::string& name) {
  std::string pattern, numbers;
  for (std::size_t at = 0; at < name.size();) {
    const auto isDigit = [&] { return at < name.size() && std::isdigit(static_cast<unsigned char>(name[at])) != 0; };
    if (!isDigit()) {
      pattern += name[at++];
      continue;
    }
    pattern += "{}";
    while (isDigit()) numbers += name[at++];
    numbers += ' ';
  }
  return {pattern, numbers};
}

}  // namespace

std::string namesText(const Imported& imported) {
  std::vector<WeightName> names = imported.weights;
  std::set<std::string> read;
  for (const WeightName& weight : imported.weights) read.insert(weight.theirs);
  for (const std::string& name : imported.state) {
    if (!read.contains(name)) names.push_back({name, "-", {}});
  }
  // A pair of patterns stands for its names where both patterns have these names alone, and each pair the same numbers.
  std::map<std::string, std::size_t> theirs, ours;
  struct Line {
    std::size_t count = 0;
    bool agrees = true;
    bool isWritten = false;
  };
  std::map<std::pair<std::string, std::string>, Line> lines;
  for (const WeightName& name : names) {
    const auto [left, leftNumbers] = patternOf(name.theirs);
    const auto [right, rightNumbers] = patternOf(name.ours);
    ++theirs[left];
    ++ours[right];
    Line& line = lines[{left, right}];
    ++line.count;
    line.agrees = line.agrees && (right == "-" || leftNumbers == rightNumbers);
  }
  std::string text;
  for (const WeightName& name : names) {
    const std::pair<std::string, std::string> key = {patternOf(name.theirs).first, patternOf(name.ours).first};
    Line& line = lines.at(key);
    const bool isPattern =
        line.agrees && theirs[key.first] == line.count && (key.second == "-" || ours[key.second] == line.count);
    if (!isPattern)
      text += fmt::format("{}  {}\n", name.theirs, name.ours);
    else if (!std::exchange(line.isWritten, true))
      text += fmt::format("{}  {}\n", key.first, key.second);
  }
  return text;
}

}  // namespace tbem::imports
