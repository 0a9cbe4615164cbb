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

tl::expected<runtime::Measurement, std::string> readLastLine(const std::string& output) {
  return parseMeasurement(std::string(lastLine(output)));
}

/// An outcome on its way to a measurement.
class Classifier {
public:
  Classifier(const Outcome& outcome, const Teller& teller) : outcome(outcome), teller(teller) {}

  runtime::Measurement ended(runtime::Status status, std::string reason) const {
    runtime::Measurement result = runtime::notMeasured(status, std::move(reason));
    if (const std::string said = lastLines(outcome.errorTail, teller.errorLines); !said.empty())
      result.reason += fmt::format(": {}", said);
    return result;
  }

  runtime::Measurement bySignal() const;
  runtime::Measurement byCode() const;

private:
  const Outcome& outcome;
  const Teller& teller;
};

runtime::Measurement Classifier::bySignal() const {
  if (outcome.signal == SIGKILL) {
    if (!outcome.oomKills)
      return ended(runtime::Status::OutOfMemory,
                   "killed, most likely by the kernel for want of memory (its counter cannot be read)");
    if (*outcome.oomKills > 0)
      return ended(runtime::Status::OutOfMemory, "killed by the kernel: the machine or the control group ran out of memory");
    return ended(runtime::Status::Failed, "killed by another process (signal 9, while the kernel counted no out-of-memory kill)");
  }
  const char* known = ::strsignal(outcome.signal);
  return ended(runtime::Status::Failed, fmt::format("ended by signal {} ({})", outcome.signal, known ? known : "unknown"));
}

runtime::Measurement Classifier::byCode() const {
  auto told = teller.read(outcome.output);
  if (outcome.exitCode == 0) {
    if (outcome.outputCut) return ended(runtime::Status::Failed, fmt::format("{} wrote more than is kept", teller.who));
    return told ? *told
                : ended(runtime::Status::Failed, fmt::format("{}'s answer cannot be read ({})", teller.who, told.error()));
  }
  if (!outcome.exitCode) return ended(runtime::Status::Failed, "its end was not seen");
  // One that fails may still have told what it saw until then.
  if (told && told->status != runtime::Status::Ok) return *told;
  if (*outcome.exitCode == kExitOutOfMemory) return ended(runtime::Status::OutOfMemory, "could not get the memory it asked for");
  return ended(runtime::Status::Failed, fmt::format("ended with code {}", *outcome.exitCode));
}

}  // namespace

const Teller kWorker = {"the worker", 1, &readLastLine};

std::string lastLines(std::string_view text, std::size_t most) {
  std::string lines;
  for (text = trimmed(text); most > 0 && !text.empty(); --most) {
    const std::string_view line = lastLine(text).substr(0, 500);
    lines = lines.empty() ? std::string(line) : fmt::format("{} | {}", line, lines);
    const std::size_t end = text.rfind('\n');
    text = end == std::string_view::npos ? std::string_view() : trimmed(text.substr(0, end));
  }
  return lines;
}

runtime::Measurement classify(const Outcome& outcome, double timeLimit, const Teller& teller) {
  const Classifier classifier(outcome, teller);
  if (outcome.timedOut) return classifier.ended(runtime::Status::Timeout, fmt::format("did not end within {:g} s", timeLimit));
  return outcome.signal != 0 ? classifier.bySignal() : classifier.byCode();
}

runtime::Measurement runChild(const Command& command, const Teller& teller) {
  const double started = unixSeconds();
  const auto outcome = spawn(command);
  runtime::Measurement result =
      outcome ? classify(*outcome, command.timeLimit, teller) : runtime::notMeasured(runtime::Status::Failed, outcome.error());
  result.started = started;
  result.finished = unixSeconds();
  result.timeLimit = command.timeLimit;
  if (!result.memoryPeak && result.memoryReason.empty()) result.memoryReason = "the process ended before its memory was read";
  return result;
}

}  // namespace tbem::measure
