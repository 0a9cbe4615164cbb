#include "compiler/driver/FitLimit.h"

#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace tbem::driver {

namespace {

/// No name begins like a number.
bool isSize(const std::string& text) { return text.empty() || std::isalpha(static_cast<unsigned char>(text.front())) == 0; }

}  // namespace

std::string FitLimit::text() const {
  return device ? fmt::format("the {} of {}", report::bytes(bytes), device->name) : report::bytes(bytes);
}

std::string wrongLimit(const std::string& text) {
  if (!isSize(text)) return {};
  const auto bytes = report::parseBytes(text);
  return bytes ? std::string() : bytes.error();
}

tl::expected<FitLimit, int> readLimit(State& state, const std::string& text) {
  if (isSize(text)) {
    FitLimit limit;
    limit.bytes = report::parseBytes(text).value_or(0);
    return limit;
  }
  auto device = namedDevice(*state.workspace, text);
  if (!device) {
    if (!device.error().message.empty())
      printFailure(fmt::format("--max {}: neither a size such as 24GiB nor a device: {}", text, device.error().message));
    return tl::unexpected(device.error().status);
  }
  if (device->memory == 0) {
    printFailure(fmt::format("--max {}: the record does not say how much memory it has", text));
    return tl::unexpected(static_cast<int>(kUsage));
  }
  return limitOf(*device);
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
