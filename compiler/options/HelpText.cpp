#include "compiler/options/HelpText.h"

#include "compiler/show/WrappedText.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace tbem::driver {

namespace {

/// "--csv, --sarif", in an order of their own: CLI11 keeps them by address.
std::string namesOf(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string optionHelp(const CLI::Option& option) {
  std::vector<std::string> more;
  if (option.get_type_size() != 0 && !option.get_default_str().empty()) more.push_back("default: " + option.get_default_str());
  if (option.get_required()) more.emplace_back("required");
  if (!option.get_needs().empty()) more.push_back("needs " + namesOf(option.get_needs()));
  if (!option.get_excludes().empty()) more.push_back("not with " + namesOf(option.get_excludes()));
  if (more.empty()) return option.get_description();
  return option.get_description() + fmt::format(" ({})", fmt::join(more, "; "));
}

std::size_t HelpText::indent() const {
  constexpr std::size_t kColumn = 30, kNarrow = 10;
  return width >= 2 * kColumn ? kColumn : kNarrow;
}

std::string HelpText::make_description(const CLI::App* app) const { return show::hanging("", app->get_description(), 0, width); }

std::string HelpText::make_footer(const CLI::App* app) const {
  std::string out;
  const std::string footer = app->get_footer();
  for (std::size_t at = 0; at < footer.size();) {
    const std::size_t stop = std::min(footer.find('\n', at), footer.size());
    out += show::hanging("", footer.substr(at, stop - at), 0, width);
    at = stop + 1;
  }
  return out;
}

std::string HelpText::make_subcommand(const CLI::App* sub) const {
  return show::hanging("  " + sub->get_name(), sub->get_description(), indent(), width);
}

std::string HelpText::make_option_usage(const CLI::Option* option) const {
  return files == Files::Several ? Formatter::make_option_usage(option) : fmt::format("[{}]", make_option_name(option, true));
}

std::string HelpText::make_option(const CLI::Option* option, bool isPositional) const {
  std::string left = "  " + make_option_name(option, isPositional);
  if (!isPositional && option->get_type_size() != 0) left += " " + option->get_type_name();
  return show::hanging(left, optionHelp(*option), indent(), width);
}

}  // namespace tbem::driver
