#include "runtime/measure/LoadMeter.h"

#include "runtime/measure/Meters.h"

#include <fmt/format.h>

#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

namespace tbem::measure {
namespace {

std::string firstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// User and system time of all threads of this process.
double ownSeconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

}  // namespace

tl::expected<ProcessorTicks, std::string> parseProcessorTicks(const std::string& line) {
  std::istringstream text(line);
  std::string name;
  std::array<std::uint64_t, 8> fields{};  // user nice system idle iowait irq softirq steal
  text >> name;
  for (std::uint64_t& field : fields) text >> field;
  if (name != "cpu" || !text) return tl::unexpected(fmt::format("no line of all processors: `{}`", line.substr(0, 80)));
  return ProcessorTicks{fields[0] + fields[1] + fields[2] + fields[5] + fields[6], fields[3] + fields[4], fields[7]};
}

std::optional<ProcessorTicks> LoadMeter::ticks() const {
  const auto parsed = parseProcessorTicks(firstLine(root + "/stat"));
  return parsed ? std::optional(*parsed) : std::nullopt;
}

/// "some avg10=0.00 avg60=0.00 avg300=0.00 total=136115423": microseconds in which a process that could run had no processor.
std::optional<double> LoadMeter::waitedSeconds() const {
  const std::string line = firstLine(root + "/pressure/cpu");
  const std::size_t at = line.find("total=");
  std::uint64_t microseconds = 0;
  if (!line.starts_with("some ") || at == std::string::npos) return std::nullopt;
  if (!(std::istringstream(line.substr(at + 6)) >> microseconds)) return std::nullopt;
  return 1e-6 * static_cast<double>(microseconds);
}

void LoadMeter::start() {
  before = ticks();
  waitedBefore = waitedSeconds();
  ownBefore = ownSeconds();
  startedAt = monotonicSeconds();
}

runtime::MachineLoad LoadMeter::read() const { return read(ownSeconds() - ownBefore, monotonicSeconds() - startedAt); }

runtime::MachineLoad LoadMeter::read(double own, double seconds) const {
  runtime::MachineLoad load;
  const std::optional<ProcessorTicks> now = ticks();
  if (before && now) {
    const auto gone = [&](std::uint64_t ProcessorTicks::*field) {
      return static_cast<double>((*now).*field) - static_cast<double>((*before).*field);
    };
    const double busy = gone(&ProcessorTicks::busy), stolen = gone(&ProcessorTicks::stolen);
    const double all = busy + stolen + gone(&ProcessorTicks::idle);
    if (all > 0) {
      const double ownTicks = own * static_cast<double>(::sysconf(_SC_CLK_TCK));
      load.others = std::clamp((busy - ownTicks) / all, 0.0, 1.0);
      load.stolen = std::clamp(stolen / all, 0.0, 1.0);
    }
  }
  const std::optional<double> waited = waitedSeconds();
  if (waitedBefore && waited && seconds > 0) load.waited = std::clamp((*waited - *waitedBefore) / seconds, 0.0, 1.0);
  double average = 0;
  if (std::istringstream(firstLine(root + "/loadavg")) >> average) load.average = average;
  return load;
}

}  // namespace tbem::measure
