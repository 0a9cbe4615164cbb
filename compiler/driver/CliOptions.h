// The options that each command takes, and which of those that were given it could not heed.
#pragma once

#include "compiler/driver/Options.h"

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace tbem::driver {

struct Needs {
  bool program = false;   ///< takes FILE or -e
  bool row = false;       ///< picks rows
  bool runs = false;      ///< runs native code
  bool campaign = false;  ///< measures many rows
};
Needs needsOf(std::string_view command);

/// Whether it takes several files, or a file and a name; -e is then in their place.
bool takesSeveral(std::string_view command);

/// Adds the options of `command`, which parsing writes to `options`.
void addOptions(CLI::App& app, const std::string& command, Options& options);

/// Of a parsed command line: why an option that was given would be passed over, or "". An option is heeded or refused.
std::string unheeded(const CLI::App& app, const Options& options);

}  // namespace tbem::driver
