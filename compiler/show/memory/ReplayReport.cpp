#include "compiler/show/memory/ReplayReport.h"

#include "compiler/show/Out.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace tbem::driver {

namespace {

using estimate::AllocatorAction;
using estimate::AllocatorStatistics;
using estimate::TraceCheck;

std::string actionText(const std::optional<AllocatorAction>& action) {
  if (!action) return "nothing";
  if (action->kind == AllocatorAction::Kind::OutOfMemory)
    return fmt::format("{} of {} B on stream {}", nameOf(action->kind), action->bytes, action->stream);
  return fmt::format("{} of {} B at {:#x} on stream {}", nameOf(action->kind), action->bytes, action->address, action->stream);
}

/// The number of an event in the recording; nothing for blocks from before it.
std::optional<std::size_t> numberOf(const ReplayedTrace& traced, std::size_t event) {
  if (event < traced.history.before || event >= traced.history.entry.size()) return std::nullopt;
  return traced.trace->recordedAt[traced.history.entry[event]];
}

std::string phaseOf(const ReplayedTrace& traced, std::size_t number) {
  for (const auto& [name, end] : traced.trace->phases) {
    if (number < end) return name;
  }
  return {};
}

/// "event 2210 (411.4 MiB on stream 0), in `first step`, train.py:31 forward"
std::string eventText(const ReplayedTrace& traced, std::size_t event) {
  const auto number = numberOf(traced, event);
  if (!number) return "the blocks from before the recording";
  const std::size_t entry = traced.history.entry[event];
  const AllocatorAction& action = traced.trace->entries[entry];
  std::string text = fmt::format("event {} ({} on stream {})", *number, report::bytes(action.bytes), action.stream);
  if (const std::string phase = phaseOf(traced, *number); !phase.empty()) text += fmt::format(", in `{}`", phase);
  if (const std::string place = placeOf(traced.file->snapshot, *traced.trace, entry); !place.empty()) text += ", " + place;
  return text;
}

void printHead(show::Out& out, bool saysOptions, const std::string& path, const ReplayedTrace& traced) {
  const auto& trace = *traced.trace;
  out.print("{}{}: {} events{}, rules of PyTorch {}\n", path, trace.name.empty() ? "" : ", " + trace.name, trace.entries.size(),
            trace.version.empty() ? "" : " of PyTorch " + trace.version, traced.rules);
  switch (traced.check.verdict) {
    case TraceCheck::Verdict::Equal:
      out.print("equal to the recording in all {} actions, sizes, streams and addresses\n", traced.check.equal);
      break;
    case TraceCheck::Verdict::Unknown:
      out.print("not held against the recording: {}\n", traced.check.reason);
      break;
    case TraceCheck::Verdict::Differs: {
      const TraceCheck::Difference& found = *traced.check.difference;
      const std::size_t number = found.entry < trace.recordedAt.size() ? trace.recordedAt[found.entry] : trace.recordedAt.size();
      out.print("differs from the recording after {} equal actions, at event {}: recorded {}, replayed {}\n", traced.check.equal,
                number, actionText(found.recorded), actionText(found.replayed));
      break;
    }
  }
  if (!trace.settings && !saysOptions)
    out.note("the recording does not say its options: taken as none (--recorded-conf says them)");
  if (traced.history.before > 0)
    out.note(fmt::format("{} blocks ({}) were there when the recording began: they are allocated first", traced.history.before,
                         report::bytes(traced.history.beforeBytes)));
  if (traced.history.emptied > 0)
    out.note(fmt::format("the cache was emptied {} times; it is each time (--capacity says where the card was full)",
                         traced.history.emptied));
  if (trace.unknown > 0) out.note(fmt::format("{} events of unknown names were passed over", trace.unknown));
}

void printTable(show::Out& out, const ReplayedTrace& traced) {
  report::Table table;
  table.columns = {
      {"options", report::Align::Left},     {"allocated", report::Align::Decimal}, {"active", report::Align::Decimal},
      {"reserved", report::Align::Decimal}, {"unused", report::Align::Decimal},    {"segments", report::Align::Right},
      {"calls", report::Align::Right},      {"retries", report::Align::Right},     {"ooms", report::Align::Right}};
  for (const ReplayedOptions& one : traced.replays) {
    const AllocatorStatistics& counts = one.replay.statistics;
    const std::string text = one.text.empty() ? "none" : one.text;
    table.add({one.recorded ? "recorded: " + text : text,
               report::bytes(counts.allocated.peak),
               report::bytes(counts.active.peak),
               report::bytes(counts.reserved.peak),
               report::bytes(counts.reserved.peak - one.replay.allocatedAtPeak),
               std::to_string(counts.segments.peak),
               std::to_string(counts.deviceAllocations),
               std::to_string(counts.retries),
               {std::to_string(counts.outOfMemory), counts.outOfMemory > 0 ? report::Tone::Bad : report::Tone::Plain}});
  }
  out.table(table);
}

Json peakJson(const ReplayedTrace& traced, std::size_t event) {
  const auto number = numberOf(traced, event);
  if (!number) return nullptr;
  const std::size_t entry = traced.history.entry[event];
  const AllocatorAction& action = traced.trace->entries[entry];
  const std::string phase = phaseOf(traced, *number), place = placeOf(traced.file->snapshot, *traced.trace, entry);
  return {{"event", *number},
          {"bytes", action.bytes},
          {"stream", action.stream},
          {"phase", phase.empty() ? Json(nullptr) : Json(phase)},
          {"place", place.empty() ? Json(nullptr) : Json(place)}};
}

Json checkJson(const ReplayedTrace& traced) {
  const TraceCheck& check = traced.check;
  const char* names[] = {"equal", "differs", "unknown"};
  Json made = {{"verdict", names[static_cast<std::size_t>(check.verdict)]}, {"equal", check.equal}};
  if (!check.reason.empty()) made["reason"] = check.reason;
  if (check.difference) {
    const std::size_t entry = check.difference->entry;
    made["event"] = entry < traced.trace->recordedAt.size() ? traced.trace->recordedAt[entry] : traced.trace->recordedAt.size();
    made["recorded"] = actionText(check.difference->recorded);
    made["replayed"] = actionText(check.difference->replayed);
  }
  return made;
}

}  // namespace

void printReplay(show::Out& out, bool saysOptions, const std::string& path, const ReplayedTrace& traced) {
  printHead(out, saysOptions, path, traced);
  printTable(out, traced);
  for (const ReplayedOptions& one : traced.replays) {
    for (const std::string& name : one.ignored) out.note(fmt::format("{}: it is not simulated, and changes nothing here", name));
    if (one.replay.outOfMemory.empty()) continue;
    const std::string text = one.text.empty() ? "none" : one.text;
    out.print("{}: out of memory first at {}\n", one.recorded ? "recorded" : text,
              eventText(traced, one.replay.outOfMemory.front()));
  }
  const estimate::Replay& recorded = traced.replays.front().replay;
  if (traced.trace->entries.empty()) return;
  out.print("reserved memory peaks at {}\n", eventText(traced, recorded.reservedPeakAt));
  out.print("allocated memory peaks at {}\n", eventText(traced, recorded.allocatedPeakAt));
}

void printReplayJson(show::Out& out, const std::string& path, const ReplayedTrace& traced) {
  const auto& trace = *traced.trace;
  for (const ReplayedOptions& one : traced.replays) {
    const AllocatorStatistics& counts = one.replay.statistics;
    Json fields = {
        {"file", path},
        {"trace", trace.name},
        {"options", one.text},
        {"recorded", one.recorded},
        {"rules", traced.rules},
        {"events", trace.entries.size()},
        {"before", traced.history.before},
        {"emptied", traced.history.emptied},
        {"capacity", traced.history.capacity ? Json(*traced.history.capacity) : Json(nullptr)},
        {"peak",
         {{"requested", counts.requested.peak},
          {"allocated", counts.allocated.peak},
          {"active", counts.active.peak},
          {"reserved", counts.reserved.peak},
          {"segments", counts.segments.peak}}},
        {"unused_at_peak", counts.reserved.peak - one.replay.allocatedAtPeak},
        {"end",
         {{"requested", counts.requested.now},
          {"allocated", counts.allocated.now},
          {"active", counts.active.now},
          {"reserved", counts.reserved.now},
          {"segments", counts.segments.now}}},
        {"device_allocations", counts.deviceAllocations},
        {"device_frees", counts.deviceFrees},
        {"retries", counts.retries},
        {"out_of_memory", counts.outOfMemory},
        {"out_of_memory_at", one.replay.outOfMemory.empty() ? Json(nullptr) : peakJson(traced, one.replay.outOfMemory.front())},
        {"reserved_peak_at", peakJson(traced, one.replay.reservedPeakAt)},
        {"allocated_peak_at", peakJson(traced, one.replay.allocatedPeakAt)},
        {"ignored", one.ignored}};
    if (one.recorded) fields["check"] = checkJson(traced);
    out.json("replay", std::move(fields));
  }
}

}  // namespace tbem::driver
