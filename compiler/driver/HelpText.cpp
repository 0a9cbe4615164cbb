#include "compiler/driver/HelpText.h"

#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace tbem::driver {

namespace {

/// "--csv, --sarif", in an order of their own: CLI11 keeps them by address.
std::string namesOf(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string trimmed(const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1); }

}  // namespace

std::string hanging(const std::string& left, std::string_view text, std::size_t indent, std::size_t width) {
  std::string out, line = left;
  std::size_t used = report::displayWidth(left);
  const auto begin = [&] {
    line += std::string(indent - std::min(indent, used), ' ');
    used = std::max(used, indent);
  };
  const auto end = [&] {
    out += trimmed(line) + "\n";
    line.clear();
    used = 0;
  };
  if (used >= indent && !left.empty() && !text.empty()) end();
  begin();
  bool isFirst = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find(' ', at), text.size());
    const std::string word(text.substr(at, stop - at));
    const std::size_t columns = report::displayWidth(word);
    if (!isFirst && used + 1 + columns > width) {
      end();
      begin();
      isFirst = true;
    }
    line += (isFirst ? "" : " ") + word;
    used += columns + (isFirst ? 0 : 1);
    isFirst = false;
    at = stop + 1;
  }
  end();
  return out;
}

std::size_t HelpText::indent() const {
  constexpr std::size_t kColumn = 30, kNarrow = 10;
  return width >= 2 * kColumn ? kColumn : kNarrow;
}

std::string HelpText::make_description(const CLI::App* app) const { return hanging("", app->get_description(), 0, width); }

std::string HelpText::make_footer(const CLI::App* app) const {
  std::string out;
  const std::string footer = app->get_footer();
  for (std::size_t at = 0; at < footer.size();) {
    const std::size_t stop = std::min(footer.find('\n', at), footer.size());
    out += hanging("", footer.substr(at, stop - at), 0, width);
    at = stop + 1;
  }
  return out;
}

std::string HelpText::make_subcommand(const CLI::App* sub) const {
  return hanging("  " + sub->get_name(), sub->get_description(), indent(), width);
}

std::string HelpText::make_option_usage(const CLI::Option* option) const {
  return files == Files::Several ? Formatter::make_option_usage(option) : fmt::format("[{}]", make_option_name(option, true));
}

std::string HelpText::make_option(const CLI::Option* option, bool isPositional) const {
  std::string left = "  " + make_option_name(option, isPositional);
  if (!isPositional && option->get_type_size() != 0) left += " " + option->get_type_name();
  std::vector<std::string> more;
  if (option->get_type_size() != 0 && !option->get_default_str().empty()) more.push_back("default: " + option->get_default_str());
  if (option->get_required()) more.emplace_back("required");
  if (!option->get_needs().empty()) more.push_back("needs " + namesOf(option->get_needs()));
  if (!option->get_excludes().empty()) more.push_back("not with " + namesOf(option->get_excludes()));
  std::string text = option->get_description();
  if (!more.empty()) text += fmt::format(" ({})", fmt::join(more, "; "));
  return hanging(left, text, indent(), width);
}

}  // namespace tbem::driver
