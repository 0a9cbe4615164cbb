// What the end of a worker means.
#include "runtime/measure/Child.h"
#include "runtime/measure/Meters.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <string_view>

namespace tbem::measure {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string_view lastLine(std::string_view text) {
  text = trimmed(text);
  const auto end = text.rfind('\n');
  return trimmed(end == std::string_view::npos ? text : text.substr(end + 1));
}

runtime::Measurement ended(runtime::Status status, std::string reason, const Outcome& outcome) {
  runtime::Measurement result = runtime::notMeasured(status, std::move(reason));
  if (const auto said = lastLine(outcome.errorTail); !said.empty()) result.reason += fmt::format(": {}", said.substr(0, 500));
  return result;
}

runtime::Measurement bySignal(const Outcome& outcome) {
  if (outcome.signal == SIGKILL) {
    if (!outcome.oomKills)
      return ended(runtime::Status::OutOfMemory,
                   "killed, most likely by the kernel for want of memory (its counter cannot be read)", outcome);
    if (*outcome.oomKills > 0)
      return ended(runtime::Status::OutOfMemory, "killed by the kernel: the machine or the control group ran out of memory",
                   outcome);
    return ended(runtime::Status::Failed, "killed by another process (signal 9, while the kernel counted no out-of-memory kill)",
                 outcome);
  }
  const char* known = ::strsignal(outcome.signal);
  return ended(runtime::Status::Failed, fmt::format("ended by signal {} ({})", outcome.signal, known ? known : "unknown"),
               outcome);
}

}  // namespace

runtime::Measurement classify(const Outcome& outcome, double timeLimit) {
  if (outcome.timedOut) return ended(runtime::Status::Timeout, fmt::format("did not end within {:g} s", timeLimit), outcome);
  if (outcome.signal != 0) return bySignal(outcome);
  const auto line = lastLine(outcome.output);
  if (outcome.exitCode == 0) {
    if (outcome.outputCut) return ended(runtime::Status::Failed, "the worker wrote more than is kept", outcome);
    auto told = parseMeasurement(std::string(line));
    return told ? *told
                : ended(runtime::Status::Failed, fmt::format("the worker's answer cannot be read ({})", told.error()), outcome);
  }
  if (!outcome.exitCode) return ended(runtime::Status::Failed, "its end was not seen", outcome);
  // A worker that fails may still have told what it saw until then.
  auto told = parseMeasurement(std::string(line));
  if (told && told->status != runtime::Status::Ok) return *told;
  if (*outcome.exitCode == kExitOutOfMemory)
    return ended(runtime::Status::OutOfMemory, "could not get the memory it asked for", outcome);
  return ended(runtime::Status::Failed, fmt::format("ended with code {}", *outcome.exitCode), outcome);
}

runtime::Measurement runChild(const Command& command) {
  const double started = unixSeconds();
  const auto outcome = spawn(command);
  runtime::Measurement result =
      outcome ? classify(*outcome, command.timeLimit) : runtime::notMeasured(runtime::Status::Failed, outcome.error());
  result.started = started;
  result.finished = unixSeconds();
  result.timeLimit = command.timeLimit;
  if (!result.memoryPeak && result.memoryReason.empty()) result.memoryReason = "the process ended before its memory was read";
  return result;
}

}  // namespace tbem::measure
