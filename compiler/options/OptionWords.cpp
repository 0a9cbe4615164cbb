#include "compiler/options/OptionWords.h"

#include <CLI/CLI.hpp>

namespace tbem::driver {

namespace {

/// Up to what only a reader of the whole help needs.
std::string shortened(const std::string& help) {
  const std::size_t end = help.find_first_of(";:(\n");
  std::string text = help.substr(0, end);
  while (text.ends_with(' ') || text.ends_with(',')) text.pop_back();
  return text;
}

}  // namespace

std::vector<std::string> wordsOfType(std::string_view type) {
  std::vector<std::string> values;
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return values;
  std::string_view list = type.substr(open + 1, close - open - 1);
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    values.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return values;
}

std::vector<OptionWords> optionWords(const CLI::App& app) {
  std::vector<OptionWords> all;
  for (const CLI::Option* option : app.get_options()) {
    // An option of the group "" is not in the help.
    if (option->get_positional() || option->get_group().empty()) continue;
    OptionWords words;
    for (const std::string& name : option->get_snames()) words.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) words.names.push_back("--" + name);
    if (words.names.empty()) continue;
    words.help = shortened(option->get_description());
    words.takesValue = option->get_items_expected_min() != 0;  // a flag may be without
    words.values = wordsOfType(option->get_type_name());
    all.push_back(std::move(words));
  }
  return all;
}

}  // namespace tbem::driver
