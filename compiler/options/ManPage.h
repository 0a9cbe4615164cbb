// The manual page tbemc(1), made from the options of all commands.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace tbem::driver {

struct ManOption {
  std::vector<std::string> names;  ///< "-q", "--quiet"; of what has a place on the command line: "FILE..."
  std::string value;               ///< "SIZE", "f32|f64"; empty: a flag
  std::string help;
};

struct ManCommand {
  std::string name, help, synopsis;
  std::vector<ManOption> places, options;  ///< what its help shows
};
/// `oneFile`: it takes one, though a second is parsed, to be refused.
ManCommand manCommand(const std::string& name, const std::string& help, const CLI::App& app, bool oneFile);

struct ManTexts {
  std::string version;  ///< "tbemc 0.1.0"
  std::vector<ManCommand> commands;
  std::vector<std::string> later;  ///< names of commands that are not there yet
};
/// In the macros of man(7), which groff and mandoc read; ASCII. It has no date: the same program makes the same page.
std::string manPage(const ManTexts& texts);

}  // namespace tbem::driver
