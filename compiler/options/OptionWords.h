// The options of a command line as words: what a shell completes.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace tbem::driver {

struct OptionWords {
  std::vector<std::string> names;  ///< "-e", "--input"
  std::string help;                ///< its first sentence
  bool takesValue = false;
  std::vector<std::string> values;  ///< of which one is meant; empty: any text
};

/// Of all options that its help shows; what has a place on the command line is none.
std::vector<OptionWords> optionWords(const CLI::App& app);

}  // namespace tbem::driver
