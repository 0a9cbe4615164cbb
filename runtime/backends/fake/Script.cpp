#include "runtime/backends/fake/Script.h"

#include "runtime/core/Primitive.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

namespace tbem::fake {
namespace {

bool readCount(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 1;
}

bool readReal(std::string_view text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

bool readBytes(std::string_view text, std::uint64_t& bytes) {
  std::uint64_t unit = 1;
  struct Unit {
    std::string_view name;
    std::uint64_t bytes;
  };
  constexpr Unit units[] = {{"KiB", 1ULL << 10}, {"MiB", 1ULL << 20}, {"GiB", 1ULL << 30}, {"B", 1}};
  for (const Unit& u : units) {
    if (text.ends_with(u.name)) {
      text.remove_suffix(u.name.size());
      unit = u.bytes;
      break;
    }
  }
  double value = 0;
  if (!readReal(text, value) || value < 0 || value * static_cast<double>(unit) > 1e18) return false;
  bytes = static_cast<std::uint64_t>(value * static_cast<double>(unit));
  return true;
}

/// A primitive's name, or `step` where that is allowed.
bool readPrimitive(std::string_view text, bool orStep, int& primitive) {
  for (primitive = 0; primitive < TBEM_PRIMITIVE_COUNT; ++primitive) {
    if (runtime::signature(static_cast<tbem_primitive>(primitive)).name == text) return true;
  }
  return orStep && text == "step";
}

bool readEvent(Deed deed, std::string_view value, Script& script) {
  Event event{deed, TBEM_PRIMITIVE_COUNT, 1};
  const auto colon = value.find(':');
  if (colon != std::string_view::npos && !readCount(value.substr(colon + 1), event.count)) return false;
  if (!readPrimitive(value.substr(0, colon), deed != Deed::Wrong, event.primitive)) return false;
  script.events.push_back(event);
  return true;
}

bool readDirective(std::string_view name, std::string_view value, Script& script) {
  if (name == "oom_at") return readBytes(value, script.memory);
  if (name == "slow") return readReal(value, script.slow) && script.slow >= 1;
  if (name == "probe") return script.absent = value == "fail";
  if (name == "fail") return readEvent(Deed::Fail, value, script);
  if (name == "wrong") return readEvent(Deed::Wrong, value, script);
  if (name == "crash") return readEvent(Deed::Crash, value, script);
  if (name == "hang") return readEvent(Deed::Hang, value, script);
  if (name == "unsupported") {
    int primitive = 0;
    if (!readPrimitive(value, false, primitive)) return false;
    script.unsupported.push_back(primitive);
    return true;
  }
  return false;
}

}  // namespace

Script readScript(const std::string& text) {
  Script script;
  script.text = text;
  std::string_view rest = text;
  while (!rest.empty() && script.wrong.empty()) {
    const auto comma = rest.find(',');
    const std::string_view directive = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    const auto equals = directive.find('=');
    if (equals == std::string_view::npos || !readDirective(directive.substr(0, equals), directive.substr(equals + 1), script)) {
      script.wrong = fmt::format(
          "TBEM_FAKE: `{}` is no directive; there are oom_at=BYTES, fail|crash|hang=PRIMITIVE|step[:COUNT], "
          "wrong=PRIMITIVE[:COUNT], unsupported=PRIMITIVE, slow=FACTOR, probe=fail",
          directive);
    }
  }
  return script;
}

}  // namespace tbem::fake
