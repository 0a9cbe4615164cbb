#include "compiler/explore/FitLimit.h"

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
  const std::string less = reserve == 0 ? "" : fmt::format(" ({} of --reserve taken off)", report::bytes(reserve));
  return (device ? fmt::format("the {} of {}", report::bytes(bytes), device->name) : report::bytes(bytes)) + less;
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

std::string wrongReserve(const std::string& reserve, const std::string& backend, bool limited) {
  if (reserve.empty()) return {};
  const auto bytes = report::parseBytes(reserve);
  if (!bytes) return fmt::format("--reserve {}: {}", reserve, bytes.error());
  if (backend != "pytorch")
    return fmt::format("--reserve is of a card in eager PyTorch (--on pytorch){}",
                       backend.empty() ? std::string() : ", not of --on " + backend);
  if (!limited) return "--reserve is taken off --max: give --max too";
  return {};
}

std::uint64_t reserveOf(const std::string& reserve) { return report::parseBytes(reserve).value_or(0); }

namespace {

/// The memory of --max as it is written. Errors: as readLimit.
tl::expected<FitLimit, Failed> readMemory(Workspace& workspace, const std::string& text, std::string_view what,
                                          std::uint64_t reserve) {
  if (isSize(what)) {
    FitLimit limit;
    limit.bytes = report::parseBytes(what).value_or(0);
    limit.reserve = reserve;
    limit.bytes -= std::min(limit.bytes, reserve);
    return limit;
  }
  auto device = namedDevice(workspace, std::string(what));
  if (!device) {
    Failed why = std::move(device).error();
    for (std::string& message : why.messages)
      message = fmt::format("--max {}: neither a size such as 24GiB nor a device: {}", text, message);
    return tl::unexpected(std::move(why));
  }
  if (device->memory == 0) return failed(kUsage, fmt::format("--max {}: the record does not say how much memory it has", text));
  return limitOf(*device, reserve);
}

}  // namespace

tl::expected<FitLimit, Failed> readLimit(Workspace& workspace, const std::string& max, const std::string& reserve) {
  const LimitText read = readLimitText(max).value_or(LimitText{max});
  auto limit = readMemory(workspace, max, read.what, reserveOf(reserve));
  if (!limit) return limit;
  if (limit->reserve != 0 && limit->bytes == 0)
    return failed(kUsage, fmt::format("--reserve {}: nothing is left of --max {}", reserve, max));
  limit->upper = read.upper;
  limit->reserved = read.reserved;
  if (limit->device) limit->deviceName = read.what;
  return limit;
}

FitLimit limitOf(const estimate::Device& device, std::uint64_t reserve) {
  FitLimit limit;
  limit.device = device;
  limit.bytes = device.memory;
  limit.reserve = reserve;
  limit.bytes -= std::min(limit.bytes, reserve);
  for (const estimate::BesideTensors& part : estimate::besideTensors(device)) {
    limit.bytes -= std::min(limit.bytes, part.bytes.value_or(0));
    if (!part.bytes) limit.unmeasured += fmt::format("{}{}", limit.unmeasured.empty() ? "" : ", ", part.name);
  }
  return limit;
}

}  // namespace tbem::driver
