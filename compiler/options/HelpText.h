// What `--help` prints, wrapped at words at the width of the terminal.
#pragma once

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tbem::driver {

/// The description; behind it, in brackets, the default, whether it is required, and which options it needs and excludes.
std::string optionHelp(const CLI::Option& option);

class HelpText : public CLI::Formatter {
public:
  enum class Files : std::uint8_t { Several, One };  ///< that the command takes
  explicit HelpText(std::size_t width, Files files = Files::Several) : width(width), files(files) {}
  std::string make_description(const CLI::App* app) const override;
  std::string make_footer(const CLI::App* app) const override;
  std::string make_subcommand(const CLI::App* sub) const override;
  /// With `optionHelp`.
  std::string make_option(const CLI::Option* option, bool isPositional) const override;
  std::string make_option_usage(const CLI::Option* option) const override;

private:
  std::size_t indent() const;
  std::size_t width;
  Files files;
};

}  // namespace tbem::driver
