// The options of a command, as its file lists them: names, where the value goes, help, and what else is to be known of each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tbem::driver {

/// An option that was added. Each function says one more thing of it.
class Option {
public:
  explicit Option(CLI::Option* option) : option(option) {}
  /// What stands for the value in the help: "SIZE".
  Option& type(const char* name);
  Option& oneOf(std::vector<std::string> words);
  /// From 0 to 2^64 - 1.
  Option& wholeNumber();
  Option& wholeNumber(std::int64_t least, std::int64_t most);
  /// `what`: "share from 0 to 1", for the message.
  Option& number(double least, double most, const char* what);
  Option& seconds();
  /// Why a text is refused, or "".
  Option& check(std::function<std::string(const std::string& text)> why);
  /// The help has the value that stands there before parsing.
  Option& showDefault();
  Option& defaultIs(const char* text);
  Option& needs(const Option& other);
  Option& excludes(const Option& other);
  Option& excludes(const char* name);
  Option& required();
  /// One value each time that it is given.
  Option& single();
  Option& hidden();

private:
  CLI::Option* option;
};

class OptionList {
public:
  explicit OptionList(CLI::App& app) : app(app) {}
  Option flag(const char* names, bool& into, const std::string& help);
  /// Of a value: text, whole numbers, numbers, lists of texts, and those of them that may be missing. Names without dashes are of
  /// a place on the command line.
  template <class T>
  Option add(const char* names, T& into, const std::string& help);

private:
  CLI::App& app;
};

/// The options that a parsed command line gave.
class Given {
public:
  explicit Given(const CLI::App& app) : app(app) {}
  bool has(const char* name) const;
  /// The first of these that was given, or nullptr.
  const char* firstOf(const std::vector<const char*>& names) const;

private:
  const CLI::App& app;
};

/// JSON is not for every form of output: those exclude it. A text of options may be empty, where no option is set; nothing else
/// is said by an empty text.
void completeOptions(CLI::App& app);

}  // namespace tbem::driver
