// One case in a fresh process. A crash, an endless loop or the kernel's out-of-memory killer ends that process only, and
// VmHWM counts from its exec (ru_maxrss would be inherited over fork).
#pragma once

#include "runtime/core/Measurement.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::measure {

/// Exit status of a worker that could not get the memory it asked for.
constexpr int kExitOutOfMemory = 12;

struct Command {
  std::vector<std::string> argv;         ///< argv[0] is the program; looked for in PATH if it holds no '/'
  std::string input;                     ///< its standard input
  std::string folder;                    ///< in which it runs; "": this process's
  double timeLimit = 0;                  ///< seconds until SIGKILL; 0: none
  std::uint64_t memoryLimit = 0;         ///< RLIMIT_AS in bytes; 0: none
  std::vector<std::string> environment;  ///< "NAME=value", added to this process's
  std::vector<std::string> without;      ///< names of this process's that it does not get
  std::size_t maxOutput = 64u << 20;     ///< bytes of standard output that are kept
};

struct Outcome {
  std::optional<int> exitCode;  ///< empty where a signal ended it
  int signal = 0;
  bool timedOut = false;   ///< we killed it at the limit
  bool outputCut = false;  ///< it wrote more than `maxOutput`
  std::string output;      ///< standard output
  std::string errorTail;   ///< the last 16 KiB of standard error
  double wallSeconds = 0;  ///< from before the fork to the exit
  double cpuSeconds = 0;   ///< user and system
  /// By how much the kernel's counter of out-of-memory kills (/proc/vmstat) rose; empty where it cannot be read.
  std::optional<std::uint64_t> oomKills;
};

/// Runs a program to its end. It gets its own process group (Ctrl-C in a terminal does not reach it) and SIGKILL when the
/// calling thread ends: so call it from a thread that stays. Whatever is left of its group is killed when it ends; no zombie
/// stays. Errors: cannot make a process or a pipe, or exec the program: the path, errno's text, the way out.
tl::expected<Outcome, std::string> spawn(const Command& command);

/// The last lines of a text, without blank ones around them, at most 500 characters each; joined by " | ".
std::string lastLines(std::string_view text, std::size_t most);

/// How a program tells what it measured.
struct Teller {
  const char* who;         ///< "the worker", in reasons
  std::size_t errorLines;  ///< of standard error, in the reason of a row that failed
  /// Of what it wrote to standard output. Errors: what is wrong with it.
  tl::expected<runtime::Measurement, std::string> (*read)(const std::string& output);
};
/// Our own: the last line is a measurement (`parseMeasurement`), and one line of standard error is the reason.
extern const Teller kWorker;

/// What an outcome means.
/// timed out -> Timeout; exit 0 and a line -> the line; exit 12, or SIGKILL that was not ours while the kernel counted an
/// out-of-memory kill (or could not be asked) -> OutOfMemory; all else -> Failed, with signal or exit code and the last
/// line of standard error as reason.
runtime::Measurement classify(const Outcome& outcome, double timeLimit, const Teller& teller = kWorker);

/// `spawn` and `classify` in one: a program that cannot be started is Failed with that reason. Begin and end are those of the
/// process; the reason why there is no memory is filled in where the worker could not tell it.
runtime::Measurement runChild(const Command& command, const Teller& teller = kWorker);

/// A measurement as one line of JSON without a line end, and back. Times of samples keep all their digits.
/// Errors of parsing: what is wrong with the text.
std::string toJson(const runtime::Measurement& value);
tl::expected<runtime::Measurement, std::string> parseMeasurement(const std::string& line);

}  // namespace tbem::measure
