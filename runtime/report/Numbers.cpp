#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>

namespace tbem::report {
namespace {

struct Unit {
  double size;
  std::string_view name;
};

constexpr Unit kBytes[] = {{1, "B"},
                           {1024, "KiB"},
                           {1048576, "MiB"},
                           {1073741824, "GiB"},
                           {1099511627776, "TiB"},
                           {1125899906842624, "PiB"},
                           {1152921504606846976, "EiB"}};
constexpr Unit kFlops[] = {{1, "FLOP"},     {1e3, "kFLOP"},  {1e6, "MFLOP"}, {1e9, "GFLOP"},
                           {1e12, "TFLOP"}, {1e15, "PFLOP"}, {1e18, "EFLOP"}};
constexpr Unit kSeconds[] = {{1e-9, "ns"}, {1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}};
constexpr Unit kJoules[] = {{1e-6, "µJ"}, {1e-3, "mJ"}, {1, "J"}, {1e3, "kJ"}, {1e6, "MJ"}};

/// `value` >= 0 with four digits; its digits before the point decide how many stand behind it.
std::string fourDigits(double value) {
  for (int behind = 3; behind > 0; --behind) {
    std::string text = fmt::format("{:.{}f}", value, behind);
    if (text.size() <= 5) return text;  // four digits and the point
  }
  return fmt::format("{:.0f}", value);
}

/// In the largest unit not above the value as it will be written: 1023.96 KiB rounds to 1.000 MiB.
std::string scaled(double value, std::span<const Unit> units) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (value < 0) return "-" + scaled(-value, units);
  std::size_t at = 0;
  while (at + 1 < units.size() && value >= units[at + 1].size) ++at;
  if (value == 0)
    at = static_cast<std::size_t>(std::find_if(units.begin(), units.end(), [](const Unit& u) { return u.size == 1; }) -
                                  units.begin());
  std::string digits = fourDigits(value / units[at].size);
  if (at + 1 < units.size() && std::stod(digits) * units[at].size >= units[at + 1].size)
    digits = fourDigits(value / units[++at].size);
  const bool whole = units[at].size == 1 && value == std::floor(value) && value < 10000;
  if (whole) digits = fmt::format("{:.0f}", value);
  return fmt::format("{} {}", digits, units[at].name);
}

/// "2 min 5 s": the largest unit and the one below it.
std::string longTime(double value) {
  const auto whole = static_cast<std::uint64_t>(std::llround(value));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  const std::uint64_t minutes = (whole + 30) / 60;
  if (minutes < 24 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  const std::uint64_t hours = (whole + 1800) / 3600;
  return fmt::format("{} d {} h", hours / 24, hours % 24);
}

struct Named {
  std::string_view name;
  double size;
};
constexpr Named kByteNames[] = {
    {"", 1},     {"B", 1},    {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824}, {"TiB", 1099511627776},
    {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6},   {"GB", 1e9},      {"TB", 1e12}};
constexpr Named kTimeNames[] = {{"ns", 1e-9}, {"us", 1e-6}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1},
                                {"min", 60},  {"m", 60},    {"h", 3600},  {"d", 86400}};

const Named* unitNamed(std::span<const Named> units, std::string_view name) {
  for (const Named& unit : units)
    if (unit.name == name) return &unit;
  return nullptr;
}

void skipSpaces(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
}

/// Takes a number and the letters behind it off the front. Letters are what is neither digit, point nor space.
bool take(std::string_view& text, double& value, std::string_view& unit) {
  skipSpaces(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value) || value < 0 || !(text[0] >= '0' && text[0] <= '9')) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  skipSpaces(text);
  unit = text.substr(0, text.find_first_of("0123456789. "));
  text.remove_prefix(unit.size());
  skipSpaces(text);
  return true;
}

}  // namespace

std::string bytes(std::uint64_t value) { return scaled(static_cast<double>(value), kBytes); }
std::string signedBytes(double value) { return value < 0 ? "-" + scaled(-value, kBytes) : scaled(value, kBytes); }
std::string flops(double value) { return scaled(value, kFlops); }
std::string joules(double value) { return scaled(value, kJoules); }
std::string seconds(double value) { return value >= 59.995 && std::isfinite(value) ? longTime(value) : scaled(value, kSeconds); }
std::string percent(double fraction) { return fmt::format("{} %", number(fraction * 100, 3)); }

std::string grouped(std::int64_t value) {
  std::string digits = fmt::format("{}", value);
  const std::size_t sign = value < 0 ? 1 : 0;
  if (digits.size() - sign < 5) return digits;
  for (std::size_t at = digits.size() - 3; at > sign; at -= 3) {
    digits.insert(at, "\u202F");
    if (at < 3 + sign) break;
  }
  return digits;
}

std::string notFinite(double value) {
  if (std::isfinite(value)) return {};
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

std::string number(double value, int digits) {
  if (!std::isfinite(value)) return fmt::format("{}", value);
  if (value == 0) return "0";
  const double size = std::fabs(value);
  std::string text;
  if (size < 1e-4 || size >= 1e7) {
    text = fmt::format("{:.{}e}", value, digits - 1);
    const auto e = text.find('e');
    std::string mantissa = text.substr(0, e);
    if (mantissa.find('.') != std::string::npos) mantissa.erase(mantissa.find_last_not_of("0") + 1);
    if (mantissa.ends_with('.')) mantissa.pop_back();
    return mantissa + text.substr(e);
  }
  const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
  text = fmt::format("{:.{}f}", value, std::max(0, digits - before));
  if (text.find('.') != std::string::npos) text.erase(text.find_last_not_of("0") + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

tl::expected<std::uint64_t, std::string> parseBytes(std::string_view text) {
  std::string_view rest = text, unit;
  double value = 0;
  if (!take(rest, value, unit) || !rest.empty())
    return tl::unexpected(fmt::format("`{}` is not a size; write for example 22GiB, 512MiB or 4096", text));
  const Named* named = unitNamed(kByteNames, unit);
  if (named == nullptr)
    return tl::unexpected(
        fmt::format("`{}` is not a unit of memory: B, KiB, MiB, GiB, TiB, or kB, MB, GB, TB in powers of 1000", unit));
  const double size = value * named->size;
  if (size >= 18446744073709551616.0) return tl::unexpected(fmt::format("`{}` is more than 2^64 bytes", text));
  if (size != std::floor(size) && named->size == 1)
    return tl::unexpected(fmt::format("`{}` is not a whole number of bytes", text));
  std::uint64_t exact = 0;  // a plain count of bytes keeps all its digits
  if (named->size == 1 &&
      std::from_chars(text.data() + text.find_first_not_of(' '), text.data() + text.size(), exact).ec == std::errc())
    return exact;
  return static_cast<std::uint64_t>(std::llround(size));
}

tl::expected<double, std::string> parseSeconds(std::string_view text) {
  std::string_view rest = text, unit;
  double total = 0, value = 0, before = std::numeric_limits<double>::infinity();
  do {
    if (!take(rest, value, unit))
      return tl::unexpected(fmt::format("`{}` is not a time; write for example 90s, 5min, 2h or 1h30min", text));
    const Named* named = unitNamed(kTimeNames, unit.empty() ? "s" : unit);
    if (named == nullptr) return tl::unexpected(fmt::format("`{}` is not a unit of time: ms, s, min, h or d", unit));
    if (named->size >= before)
      return tl::unexpected(fmt::format("`{}`: units of time go from large to small, as in 1h30min", text));
    before = named->size;
    total += value * named->size;
  } while (!rest.empty());
  return total;
}

}  // namespace tbem::report
