// Why a command cannot go on, as a value: stages return it, the command line prints it and ends with its status.
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>
#include <vector>

namespace tbem {

/// Exit status of the program, as documented for users (docs/cli.md).
enum ExitCode : int {
  kOk = 0,
  kProgramErrors = 1,
  kUsage = 2,
  kEnvironment = 3,
  kRunFailed = 4,
  kVerdictAgainst = 5,
  kInternal = 70,
  kInterrupted = 130
};

struct Failed {
  ExitCode status = kEnvironment;
  std::vector<std::string> messages;  ///< what, where and the way out; none where the session's diagnostics say it
};

inline tl::unexpected<Failed> failed(ExitCode status) { return tl::unexpected(Failed{status, {}}); }
inline tl::unexpected<Failed> failed(ExitCode status, std::string message) {
  return tl::unexpected(Failed{status, {std::move(message)}});
}

}  // namespace tbem
