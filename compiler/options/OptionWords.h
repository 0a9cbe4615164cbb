// The options of a command line as words: what a shell completes.
#pragma once

#include <string>
#include <string_view>
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

/// The words that an option of this type may be: f32 and f64 of "TEXT:{f32,f64}", as CLI11 says it. Empty: any text.
std::vector<std::string> wordsOfType(std::string_view type);

/// Of all options that its help shows; what has a place on the command line is none.
std::vector<OptionWords> optionWords(const CLI::App& app);

}  // namespace tbem::driver
