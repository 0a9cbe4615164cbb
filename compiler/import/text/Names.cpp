// Tables of names (docs/weights.md): lines of patterns.
#include "compiler/import/Import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
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

std::string namesText(const std::vector<WeightName>& weights) {
  // A pair of patterns stands for its names where both patterns have these names alone, and each pair the same numbers.
  std::map<std::string, std::size_t> theirs, ours;
  struct Line {
    std::size_t count = 0;
    bool agrees = true;
  };
  std::map<std::pair<std::string, std::string>, Line> lines;
  for (const WeightName& weight : weights) {
    const auto [left, leftNumbers] = patternOf(weight.theirs);
    const auto [right, rightNumbers] = patternOf(weight.ours);
    ++theirs[left];
    ++ours[right];
    Line& line = lines[{left, right}];
    ++line.count;
    line.agrees = line.agrees && leftNumbers == rightNumbers;
  }
  std::string text;
  std::map<std::pair<std::string, std::string>, bool> written;
  for (const WeightName& weight : weights) {
    const std::pair<std::string, std::string> key = {patternOf(weight.theirs).first, patternOf(weight.ours).first};
    const Line& line = lines.at(key);
    const bool isPattern = line.agrees && theirs[key.first] == line.count && ours[key.second] == line.count;
    if (!isPattern)
      text += fmt::format("{}  {}\n", weight.theirs, weight.ours);
    else if (!std::exchange(written[key], true))
      text += fmt::format("{}  {}\n", key.first, key.second);
  }
  return text;
}

}  // namespace tbem::imports
