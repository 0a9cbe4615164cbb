#include "compiler/driver/FitLimit.h"

#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace tbem::driver {

namespace {

/// No name begins like a number.
bool isSize(std::string_view text) { return text.empty() || std::isalpha(static_cast<unsigned char>(text.front())) == 0; }

}  // namespace

std::string FitLimit::text() const {
  return device ? fmt::format("the {} of {}", report::bytes(bytes), device->name) : report::bytes(bytes);
}

tl::expected<LimitText, std::string> readLimitText(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return LimitText{text};
  const std::string_view word = text.substr(colon + 1);
  if (word != "upper" && word != "reserved")
    return tl::unexpected(std::string("behind the colon stands `upper`, `reserved` or nothing"));
  return LimitText{text.substr(0, colon), word == "upper", word == "reserved"};
}

std::string wrongLimit(const std::string& text) {
  const auto read = readLimitText(text);
  if (!read) return read.error();
  if (!isSize(read->what)) return {};
  const auto bytes = report::parseBytes(read->what);
  return bytes ? std::string() : bytes.error();
}

tl::expected<FitLimit, int> readLimit(State& state, const std::string& text) {
  const LimitText read = readLimitText(text).value_or(LimitText{text});
  if (isSize(read.what)) {
    FitLimit limit;
    limit.bytes = report::parseBytes(read.what).value_or(0);
    limit.upper = read.upper;
    limit.reserved = read.reserved;
    return limit;
  }
  auto device = namedDevice(*state.workspace, std::string(read.what));
  if (!device) {
    if (!device.error().message.empty())
      printFailure(fmt::format("--max {}: neither a size such as 24GiB nor a device: {}", text, device.error().message));
    return tl::unexpected(device.error().status);
  }
  if (device->memory == 0) {
    printFailure(fmt::format("--max {}: the record does not say how much memory it has", text));
    return tl::unexpected(static_cast<int>(kUsage));
  }
  FitLimit limit = limitOf(*device);
  limit.upper = read.upper;
  limit.reserved = read.reserved;
  return limit;
}

FitLimit limitOf(const estimate::Device& device) {
  FitLimit limit;
  limit.device = device;
  limit.bytes = device.memory;
  for (const estimate::BesideTensors& part : estimate::besideTensors(device)) {
    limit.bytes -= std::min(limit.bytes, part.bytes.value_or(0));
    if (!part.bytes) limit.unmeasured += fmt::format("{}{}", limit.unmeasured.empty() ? "" : ", ", part.name);
  }
  return limit;
}

}  // namespace tbem::driver
