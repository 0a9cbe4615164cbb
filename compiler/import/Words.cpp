// Names of the model as names of the language.
#include "compiler/syntax/layout/Words.h"
#include "compiler/import/Units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace tbem::imports {

std::string nameFor(const std::string& wanted, const std::set<std::string>& taken) {
  std::string name;
  for (const char c : wanted) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0 || name.front() == '_') name.insert(0, "m");
  const std::vector<std::string_view>& reserved = syntax::reservedWords();
  const auto isTaken = [&] {
    return taken.contains(name) || std::find(reserved.begin(), reserved.end(), name) != reserved.end();
  };
  while (isTaken()) name += '_';
  return name;
}

std::string numberedName(const std::string& name, const std::function<bool(const std::string&)>& isFree) {
  std::string numbered = name;
  for (int number = 2; !isFree(numbered); ++number) numbered = fmt::format("{}_{}", name, number);
  return numbered;
}

std::string dimensionName(std::size_t input, std::size_t axis, std::size_t rank) {
  constexpr std::array<const char*, 4> kImage = {"n", "c", "h", "w"};
  constexpr std::array<const char*, 3> kSequence = {"n", "l", "d"};
  constexpr std::array<const char*, 2> kRows = {"n", "d"};
  std::string name = rank == 4 ? kImage[axis] : rank == 3 ? kSequence[axis] : rank <= 2 ? kRows[axis] : fmt::format("d{}", axis);
  if (axis == 0) name = "n";
  return input == 0 ? name : fmt::format("{}_{}", name, input + 1);
}

std::string snakeCase(const std::string& kind) {
  const std::string word = kind.substr(kind.rfind('.') == std::string::npos ? 0 : kind.rfind('.') + 1);
  std::string name;
  for (std::size_t at = 0; at < word.size(); ++at) {
    const auto c = static_cast<unsigned char>(word[at]);
    const bool begins = std::isupper(c) != 0 && at > 0 && word[at - 1] != '_' &&
                        (std::islower(static_cast<unsigned char>(word[at - 1])) != 0 ||
                         (at + 1 < word.size() && std::islower(static_cast<unsigned char>(word[at + 1])) != 0));
    if (begins) name += '_';
    name += static_cast<char>(std::tolower(c));
  }
  return name.starts_with('_') ? name.substr(1) : name;
}

}  // namespace tbem::imports
