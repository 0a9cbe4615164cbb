#include "compiler/pytorch/rows/ReplayRecorded.h"

#include "compiler/diagnostics/Hints.h"
#include "compiler/pytorch/rows/AllocConf.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace tbem::driver {

namespace {

using estimate::AllocatorOptions;
using estimate::AllocatorTrace;
using estimate::AllocatorVersion;

std::optional<std::uint64_t> readBytes(const char* name, const std::string& text, Failed& wrong) {
  if (text.empty()) return std::nullopt;
  const auto value = report::parseBytes(text);
  if (value && *value > 0 && *value <= std::uint64_t{1} << 50U) return *value;
  wrong.messages.push_back(fmt::format("{} {}: {}", name, text, value ? "from 1 B to 1 PiB" : value.error()));
  return std::nullopt;
}

tl::expected<const AllocatorVersion*, Failed> versionOf(const ReplayWish& wish, const AllocatorTrace& trace,
                                                        const std::string& path) {
  if (wish.version != nullptr) return wish.version;
  if (trace.version.empty()) return &estimate::allocatorVersions().back();
  const AllocatorVersion* version = estimate::allocatorVersion(trace.version);
  if (version != nullptr) return version;
  return failed(kProgramErrors,
                fmt::format("{}: recorded with PyTorch {}; the rules of {} and later are known (--torch takes those of another)",
                            path, trace.version, estimate::allocatorVersions().front().name));
}

}  // namespace

tl::expected<ReplayWish, Failed> readReplay(const ReplayRequest& request) {
  Failed wrong{kUsage, {}};
  ReplayWish wish;
  wish.capacity = readBytes("--capacity", request.capacity, wrong);
  wish.card = readBytes("--card", request.card, wrong);
  if (!request.eager.torch.empty()) {
    auto version = readTorch(request.eager.torch);
    if (version)
      wish.version = *version;
    else
      std::ranges::move(version.error().messages, std::back_inserter(wrong.messages));
  }
  if (!wrong.messages.empty()) return tl::unexpected(std::move(wrong));
  return wish;
}

tl::expected<std::vector<const AllocatorTrace*>, Failed> tracesOf(const TraceFile& file, const std::string& path,
                                                                  const ReplayRequest& request) {
  std::vector<const AllocatorTrace*> traces;
  std::vector<std::string> names;
  for (const AllocatorTrace& trace : file.traces) {
    names.push_back(trace.name);
    if (request.traceName.empty() || trace.name.find(request.traceName) != std::string::npos) traces.push_back(&trace);
  }
  if (!traces.empty()) return traces;
  return failed(kUsage, names.empty() ? fmt::format("{}: it has no history", path)
                                      : fmt::format("{}: no history is called `{}`; there are {}", path, request.traceName,
                                                    nearestFew(request.traceName, std::move(names))));
}

tl::expected<ReplayedTrace, Failed> replayRecorded(const TraceFile& file, const AllocatorTrace& trace, const std::string& path,
                                                   const ReplayWish& wish, const ReplayRequest& request) {
  const auto version = versionOf(wish, trace, path);
  if (!version) return tl::unexpected(version.error());
  const std::string recorded = request.recordedConf.value_or(trace.settings.value_or(""));
  const auto own = readAllocConf(request.recordedConf ? "--recorded-conf" : path + ", its options", recorded, **version);
  if (!own) return tl::unexpected(Failed{request.recordedConf ? kUsage : kProgramErrors, own.error().messages});
  std::vector<std::pair<std::string, AllocatorOptions>> others;
  for (const std::string& text : request.eager.allocConf) {
    auto read = readAllocConf("--alloc-conf", text, **version);
    if (!read) return tl::unexpected(std::move(read).error());
    others.emplace_back(text, *std::move(read));
  }
  ReplayedTrace traced;
  traced.file = &file;
  traced.trace = &trace;
  traced.rules = (*version)->name;
  const std::uint64_t unknown = estimate::CardMemory{}.total;
  traced.history = estimate::historyOf(trace, *own, wish.capacity, wish.card.value_or(wish.capacity.value_or(unknown)));
  if (traced.history.capacity) traced.card.capacity = *traced.history.capacity;
  traced.card.total = wish.card.value_or(traced.history.capacity.value_or(unknown));
  traced.check = estimate::checkTrace(trace, traced.history, *own, traced.card);
  const auto add = [&](const std::string& text, const AllocatorOptions& with, bool asItWas) {
    traced.replays.push_back({text, asItWas, estimate::replay(traced.history.events, with, traced.card), with.ignored});
  };
  add(recorded, *own, true);
  for (const auto& [text, with] : others) add(text, with, false);
  return traced;
}

}  // namespace tbem::driver
