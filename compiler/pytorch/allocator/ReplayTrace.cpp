#include "compiler/pytorch/allocator/ReplayTrace.h"

#include "runtime/data/Gzip.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace tbem::driver {

namespace {

using estimate::AllocatorAction;
using estimate::AllocatorTrace;
using estimate::kAddressLimit;
using Parsed = nlohmann::json;
using Failure = tl::unexpected<std::string>;

constexpr std::uint64_t kMostPools = 1024;
constexpr std::string_view kBlank = " \t\r\n";

/// Bytes that a file may unpack to: what is read of it takes as much again, and more.
std::size_t mostUnpacked() {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 32U, kLeast = std::uint64_t{64} << 20U;
  const auto memory = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  return std::clamp(memory / 8, kLeast, kMost);
}

/// Whether a history can begin so: JSON lines, or a pickle of protocol 2 or above.
std::string lookAt(std::string_view beginning) {
  const std::size_t at = beginning.find_first_not_of(kBlank);
  const bool known = at != std::string_view::npos && (beginning[at] == '{' || (at == 0 && beginning[0] == '\x80'));
  return known ? "" : "it is packed by gzip, and neither a snapshot (a pickle) nor a history (JSON lines) is in it";
}

/// A whole number from 0 to the limit of addresses.
std::optional<std::uint64_t> amount(const Parsed& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= kAddressLimit) return std::nullopt;
  return value.get<std::uint64_t>();
}

std::optional<std::uint64_t> member(const Parsed& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) return std::nullopt;
  return amount(object[key]);
}

/// False where it is no event.
bool readEvent(const Parsed& event, const std::vector<std::optional<AllocatorAction::Kind>>& actions, std::size_t number,
               AllocatorTrace& trace) {
  if (!event.is_array() || event.size() < 4 || event.size() > 5) return false;
  const auto action = amount(event[0]), address = amount(event[1]), bytes = amount(event[2]);
  const auto pool = event.size() == 5 ? amount(event[4]) : std::uint64_t{0};
  if (!action || *action >= actions.size() || !address || !bytes || !event[3].is_number_integer() || !pool || *pool >= kMostPools)
    return false;
  const auto kind = actions[*action];
  if (!kind) return true;
  trace.entries.push_back(
      {*kind, static_cast<std::uint32_t>(*pool), *address, *bytes,
       event[3].is_number_unsigned() ? event[3].get<std::uint64_t>() : static_cast<std::uint64_t>(event[3].get<std::int64_t>())});
  trace.recordedAt.push_back(number);
  return true;
}

/// What is still in use at the end; false where it is of another form.
bool readSegments(const Parsed& segments, AllocatorTrace& trace) {
  if (!segments.is_array()) return false;
  for (const Parsed& segment : segments) {
    auto at = member(segment, "address");
    if (!at || !segment.contains("blocks") || !segment["blocks"].is_array()) return false;
    for (const Parsed& block : segment["blocks"]) {
      if (!block.is_array() || block.size() != 3 || !block[2].is_string()) return false;
      const auto bytes = amount(block[0]);
      if (!bytes || *at + *bytes >= 2 * kAddressLimit) return false;
      const auto requested = amount(block[1]);
      if (block[2] == "active_allocated")
        trace.left.push_back(
            {*at, requested && *requested > 0 && *requested <= *bytes ? *requested : *bytes,
             segment.contains("stream") && segment["stream"].is_number_unsigned() ? segment["stream"].get<std::uint64_t>() : 0,
             0});
      *at += *bytes;
    }
  }
  return true;
}

/// What the case of `first_card torch` names: its network and what is unusual.
std::string nameOf(const Parsed& value) {
  if (!value.is_object()) return value.is_string() ? value.get<std::string>() : std::string();
  std::string text;
  for (const char* key : {"net", "precision", "layout", "optimiser", "allocator"}) {
    if (value.contains(key) && value[key].is_string()) text += (text.empty() ? "" : " ") + value[key].get<std::string>();
  }
  return text;
}

}  // namespace

tl::expected<AllocatorTrace, std::string> readJsonTrace(std::string_view line) {
  const Parsed object = Parsed::parse(line, nullptr, false);
  if (object.is_discarded() || !object.is_object()) return Failure("no JSON object: a line for each history");
  if (!object.contains("events") || !object["events"].is_array() || !object.contains("actions") || !object["actions"].is_array())
    return Failure("it has no lists `actions` and `events`: a history has both");
  AllocatorTrace trace;
  std::vector<std::optional<AllocatorAction::Kind>> actions;
  for (const Parsed& action : object["actions"]) {
    if (!action.is_string()) return Failure("`actions` holds what is no text: it is a list of names");
    actions.push_back(estimate::actionOf(action.get<std::string>()));
  }
  std::size_t number = 0;
  for (const Parsed& event : object["events"]) {
    if (!readEvent(event, actions, number, trace))
      return Failure(
          fmt::format("event {} is no [action, address, bytes, stream]: whole numbers, the action a place in `actions`", number));
    ++number;
  }
  if (object.contains("phases") && object["phases"].is_object()) {
    for (const auto& [name, end] : object["phases"].items()) {
      if (const auto count = amount(end)) trace.phases.emplace_back(name, *count);
    }
    std::sort(trace.phases.begin(), trace.phases.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  }
  if (object.contains("segments") && !readSegments(object["segments"], trace))
    return Failure("`segments` is no list of {address, stream, blocks of [bytes, requested, state]}");
  if (object.contains("settings")) {
    const Parsed& settings = object["settings"];
    if (settings.is_object() && settings.contains("PYTORCH_CUDA_ALLOC_CONF") && settings["PYTORCH_CUDA_ALLOC_CONF"].is_string())
      trace.settings = settings["PYTORCH_CUDA_ALLOC_CONF"].get<std::string>();
  }
  if (object.contains("torch") && object["torch"].is_string()) trace.version = object["torch"].get<std::string>();
  if (object.contains("case")) trace.name = nameOf(object["case"]);
  return trace;
}

tl::expected<TraceFile, std::string> readTraceFile(const std::string& path, data::MappedFile mapped) {
  TraceFile file;
  file.mapped = std::make_unique<data::MappedFile>(std::move(mapped));
  std::string_view text = file.mapped->text();
  if (data::isGzip(text)) {
    auto unpacked = data::unpackGzip(text, mostUnpacked(), lookAt);
    if (!unpacked) return Failure(fmt::format("cannot read {}: {}", path, unpacked.error()));
    file.unpacked = std::make_unique<std::string>(*std::move(unpacked));
    text = *file.unpacked;
  }
  if (text.find_first_not_of(kBlank) == std::string_view::npos)
    return Failure(fmt::format("{} is empty: torch.cuda.memory._dump_snapshot(\"FILE\") writes a history", path));
  if (text[text.find_first_not_of(kBlank)] == '{') {
    for (std::size_t at = 0, line = 1; at < text.size(); ++line) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view one = text.substr(at, end - at);
      at = end + 1;
      if (one.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      auto trace = readJsonTrace(one);
      if (!trace) return Failure(fmt::format("{}:{}: {}", path, line, trace.error()));
      file.traces.push_back(*std::move(trace));
    }
    return file;
  }
  auto snapshot = estimate::readSnapshot(text);
  if (!snapshot) {
    const data::PickleFault& fault = snapshot.error();
    return Failure(fmt::format("{}, byte {}: {}: {}", path, fault.offset, fault.cause, fault.wayOut));
  }
  file.snapshot = *std::move(snapshot);
  file.traces = std::move(file.snapshot.cards);
  return file;
}

}  // namespace tbem::driver
