// Scripts by which shells complete a command line.
#pragma once

#include "compiler/options/OptionWords.h"

#include <string>
#include <vector>

namespace tbem::driver {

struct CommandWords {
  std::string name, help;
  bool takesPrograms = false;  ///< its files are programs
  std::vector<OptionWords> options;
};

/// For bash (4 and later), zsh and fish. `program`: the name of the command line.
std::string bashScript(const std::string& program, const std::vector<CommandWords>& commands);
std::string zshScript(const std::string& program, const std::vector<CommandWords>& commands);
std::string fishScript(const std::string& program, const std::vector<CommandWords>& commands);

}  // namespace tbem::driver
