// Commands for programs that hold the compiler in their own process: options by name in place of a command line.
#pragma once

#include "compiler/driver/Command.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tbem::driver {

/// An option by its long name without dashes, "input"; `network` is -e beside a FILE. Without a value: a flag.
struct NamedOption {
  std::string name;
  std::optional<std::string> value;
};

/// The command with these options, ready to run on an `Out`; its program and what else the process decides are for the caller to
/// fill in (Invocation::options). Reads no environment. Errors (kUsage): an option that the command has not, or would pass over,
/// a wrong value.
tl::expected<std::unique_ptr<Invocation>, Failed> withOptions(const Command& command, const std::vector<NamedOption>& options);

}  // namespace tbem::driver
