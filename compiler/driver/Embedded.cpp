#include "compiler/driver/Embedded.h"

#include "compiler/diagnostics/Diagnostics.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

namespace tbem::driver {

namespace {

constexpr const char* kNetwork = "network";

/// Why the command cannot take this option, or "".
std::string whyNot(const Command& command, CLI::App& app, const NamedOption& option) {
  const bool network = option.name == kNetwork;
  const CLI::Option* const known = app.get_option_no_throw(network ? "-e" : "--" + option.name);
  if (known == nullptr) {
    std::vector<std::string> names;
    for (const CLI::Option* each : app.get_options()) {
      for (const std::string& name : each->get_lnames()) names.push_back(name);
    }
    const std::string close = nearest(option.name, names);
    return fmt::format(
        "`{}` has no option `{}`{}", command.name, option.name,
        close.empty() ? fmt::format(" (tbemc {} --help lists them)", command.name) : fmt::format(": did you mean `{}`?", close));
  }
  const bool flag = known->get_expected_max() == 0;
  if (flag && option.value) return fmt::format("the option `{}` has no value", option.name);
  if (!flag && !option.value) return fmt::format("the option `{}` needs a value", option.name);
  return {};
}

std::string argument(const NamedOption& option) {
  if (option.name == kNetwork) return "-e" + *option.value;
  return option.value ? fmt::format("--{}={}", option.name, *option.value) : "--" + option.name;
}

}  // namespace

tl::expected<std::unique_ptr<Invocation>, Failed> withOptions(const Command& command, const std::vector<NamedOption>& options) {
  CLI::App app("", command.name);
  app.set_help_flag();
  OptionList list(app);
  std::unique_ptr<Invocation> invocation = command.begin(list);
  completeOptions(app);
  std::vector<std::string> reversed;
  for (auto option = options.rbegin(); option != options.rend(); ++option) {
    if (std::string why = whyNot(command, app, *option); !why.empty()) return failed(kUsage, std::move(why));
    reversed.push_back(argument(*option));
  }
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return failed(kUsage, error.what());
  }
  if (std::string why = invocation->unheeded(Given(app)); !why.empty()) return failed(kUsage, std::move(why));
  return invocation;
}

}  // namespace tbem::driver
