#include "runtime/measure/Meters.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>

namespace tbem::measure {
namespace {

/// Reads a small file without a buffer on the heap of unknown size: /proc and /sys files say size 0.
tl::expected<std::string, std::string> readSmall(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return tl::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
  std::string text;
  char piece[8192];
  ssize_t got = 0;
  while ((got = ::read(fd, piece, sizeof piece)) > 0) text.append(piece, static_cast<std::size_t>(got));
  const int reason = errno;
  ::close(fd);
  if (got < 0) return tl::unexpected(fmt::format("{}: {}", path, std::strerror(reason)));
  return text;
}

tl::expected<std::uint64_t, std::string> readNumber(const std::string& path) {
  auto text = readSmall(path);
  if (!text) return tl::unexpected(text.error());
  std::uint64_t value = 0;
  if (std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc())
    return tl::unexpected(fmt::format("{}: not a number", path));
  return value;
}

/// "VmHWM:      2004 kB" of /proc/PID/status; its kB are of 1024 bytes.
tl::expected<std::uint64_t, std::string> field(std::string_view text, std::string_view name) {
  std::size_t at = text.starts_with(name) ? 0 : text.find(fmt::format("\n{}", name));
  if (at == std::string_view::npos) return tl::unexpected(fmt::format("/proc/self/status has no {}", name));
  at = text.find_first_of("0123456789\n", text.find(name, at));
  std::uint64_t value = 0;
  if (at == std::string_view::npos || std::from_chars(text.data() + at, text.data() + text.size(), value).ec != std::errc())
    return tl::unexpected(fmt::format("/proc/self/status: {} has no number", name));
  return value * 1024;
}

}  // namespace

tl::expected<ProcessMemory, std::string> parseStatus(const std::string& text) {
  auto resident = field(text, "VmRSS:");
  if (!resident) return tl::unexpected(resident.error());
  auto peak = field(text, "VmHWM:");
  if (!peak) return tl::unexpected(peak.error());
  return ProcessMemory{*resident, *peak};
}

tl::expected<ProcessMemory, std::string> readMemory() {
  auto text = readSmall("/proc/self/status");
  if (!text) return tl::unexpected(text.error());
  return parseStatus(*text);
}

tl::expected<void, std::string> resetPeak() {
  const char* path = "/proc/self/clear_refs";
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return tl::unexpected(fmt::format("{}: {}", path, std::strerror(errno)));
  const ssize_t written = ::write(fd, "5", 1);
  const int reason = errno;
  ::close(fd);
  if (written != 1) return tl::unexpected(fmt::format("{}: {}", path, std::strerror(reason)));
  return {};
}

double monotonicSeconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double unixSeconds() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string powercapFolder() {
  const char* folder = std::getenv("TBEM_POWERCAP");
  return folder != nullptr && *folder != '\0' ? folder : "/sys/class/powercap";
}

EnergyMeter::EnergyMeter(const std::string& root) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::string unreadable;
  for (fs::directory_iterator it(root, failed), end; !failed && it != end; it.increment(failed)) {
    const std::string zone = it->path().filename();
    // Packages are `intel-rapl:0`; `intel-rapl:0:0` are parts of one, and `psys` counts what the packages count again.
    if (!zone.starts_with("intel-rapl:") || std::count(zone.begin(), zone.end(), ':') != 1) continue;
    auto name = readSmall(it->path() / "name");
    if (!name || !name->starts_with("package")) continue;
    const std::string file = it->path() / "energy_uj";
    auto now = readNumber(file);
    auto range = readNumber(it->path() / "max_energy_range_uj");
    if (!now || !range) {
      unreadable = now ? range.error() : now.error();
      continue;
    }
    domains.push_back({file, *range, *now});
  }
  if (!unreadable.empty()) {
    domains.clear();  // a part of the packages would be a wrong number
    why = fmt::format("RAPL counters cannot be read: {} (root may; or grant read access)", unreadable);
  } else if (domains.empty()) {
    why = fmt::format("no RAPL package counters under {}", root);
  }
}

void EnergyMeter::start() {
  look();
  total = 0;
  broken = false;
}

void EnergyMeter::look() {
  for (Domain& domain : domains) {
    auto now = readNumber(domain.file);
    if (!now) {
      broken = true;
      why = now.error();
      continue;
    }
    const std::uint64_t used = *now >= domain.last ? *now - domain.last : *now + (domain.range - domain.last);
    total += static_cast<double>(used);
    domain.last = *now;
  }
}

std::optional<double> EnergyMeter::joules() const {
  if (domains.empty() || broken) return std::nullopt;
  return total * 1e-6;
}

}  // namespace tbem::measure
