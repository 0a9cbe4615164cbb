// tbemc replay: a recorded history of PyTorch's CUDA caching allocator under the options it was recorded with, and under others.
#include "compiler/diagnostics/Hints.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/pytorch/rows/AllocConf.h"
#include "compiler/show/Out.h"
#include "compiler/show/memory/Replays.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::driver {

namespace {

struct ReplayOptions : CommandOptions {
  EagerRequest eager;                       ///< options to compare, and the version whose rules hold
  std::string capacity, card;               ///< of the card
  std::optional<std::string> recordedConf;  ///< the options of the recording
  std::string traceName;                    ///< only histories whose name has this
};

void declare(OptionList& list, ReplayOptions& o) {
  list.add("FILE", o.program.files, "snapshots of torch.cuda.memory, or histories as JSON lines; plain or .gz").required();
  list.add("--alloc-conf", o.eager.allocConf, "options to compare, as in PYTORCH_ALLOC_CONF; again for more").type("TEXT").single();
  list.add("--capacity", o.capacity, "what the card can hand out (default: what an out of memory tells, else no end)").type("SIZE");
  list.add("--card", o.card, "memory of the card, which per_process_memory_fraction is a share of (default: --capacity)")
      .type("SIZE");
  list.add("--recorded-conf", o.recordedConf, "the options of the recording, where it does not say them").type("TEXT");
  list.add("--torch", o.eager.torch, "rules of this PyTorch (default: the recording's, else the newest)").type("VERSION");
  list.add("--trace", o.traceName, "only the histories whose name has this: 'card 1', 'resnet50 f32'").type("TEXT");
  addDisplay(list, o, {.width = nullptr});
}

std::string unheeded(const Given& /*given*/, const ReplayOptions& /*options*/) { return {}; }

using estimate::AllocatorOptions;
using estimate::AllocatorTrace;
using estimate::AllocatorVersion;

/// What is asked for on the command line, read.
struct Wanted {
  std::optional<std::uint64_t> capacity, card;
  const AllocatorVersion* version = nullptr;  ///< nullptr: each trace's own
};

std::optional<std::uint64_t> readBytes(show::Out& out, const char* name, const std::string& text, bool& good) {
  if (text.empty()) return std::nullopt;
  const auto value = report::parseBytes(text);
  if (value && *value > 0 && *value <= std::uint64_t{1} << 50U) return *value;
  out.failure(fmt::format("{} {}: {}", name, text, value ? "from 1 B to 1 PiB" : value.error()));
  good = false;
  return std::nullopt;
}

std::optional<Wanted> readWanted(show::Out& out, const ReplayOptions& options) {
  bool good = true;
  Wanted wanted;
  wanted.capacity = readBytes(out, "--capacity", options.capacity, good);
  wanted.card = readBytes(out, "--card", options.card, good);
  if (!options.eager.torch.empty()) {
    const auto version = readTorch(options.eager.torch);
    if (!version) out.fail(version.error());
    good = good && version;
    wanted.version = version.value_or(nullptr);
  }
  if (!good) return std::nullopt;
  return wanted;
}

const AllocatorVersion* versionOf(show::Out& out, const Wanted& wanted, const AllocatorTrace& trace, const std::string& path) {
  if (wanted.version != nullptr) return wanted.version;
  if (trace.version.empty()) return &estimate::allocatorVersions().back();
  const AllocatorVersion* version = estimate::allocatorVersion(trace.version);
  if (version == nullptr)
    out.failure(fmt::format("{}: recorded with PyTorch {}; the rules of {} and later are known (--torch takes those of another)",
                            path, trace.version, estimate::allocatorVersions().front().name));
  return version;
}

/// An exit status.
int replayTrace(show::Out& out, const ReplayOptions& options, const Wanted& wanted, const std::string& path, ReplayedTrace& traced) {
  const AllocatorTrace& trace = *traced.trace;
  const AllocatorVersion* version = versionOf(out, wanted, trace, path);
  if (version == nullptr) return kProgramErrors;
  traced.rules = version->name;
  const std::string recorded = options.recordedConf.value_or(trace.settings.value_or(""));
  const auto own = readAllocConf(options.recordedConf ? "--recorded-conf" : path + ", its options", recorded, *version);
  if (!own) {
    out.fail(own.error());
    return options.recordedConf ? kUsage : kProgramErrors;
  }
  std::vector<std::pair<std::string, AllocatorOptions>> others;
  for (const std::string& text : options.eager.allocConf) {
    auto read = readAllocConf("--alloc-conf", text, *version);
    if (!read) return out.fail(read.error());
    others.emplace_back(text, *std::move(read));
  }
  const std::uint64_t unknown = estimate::CardMemory{}.total;
  traced.history = estimate::historyOf(trace, *own, wanted.capacity, wanted.card.value_or(wanted.capacity.value_or(unknown)));
  if (traced.history.capacity) traced.card.capacity = *traced.history.capacity;
  traced.card.total = wanted.card.value_or(traced.history.capacity.value_or(unknown));
  traced.check = estimate::checkTrace(trace, traced.history, *own, traced.card);
  const auto add = [&](const std::string& text, const AllocatorOptions& with, bool asItWas) {
    traced.replays.push_back({text, asItWas, estimate::replay(traced.history.events, with, traced.card), with.ignored});
  };
  add(recorded, *own, true);
  for (const auto& [text, with] : others) add(text, with, false);
  return traced.check.verdict == estimate::TraceCheck::Verdict::Differs ? kVerdictAgainst : kOk;
}

int run(show::Out& out, const ReplayOptions& options) {
  const auto wanted = readWanted(out, options);
  if (!wanted) return kUsage;
  int status = kOk;
  for (const std::string& path : options.program.files) {
    auto mapped = data::MappedFile::open(path);
    if (!mapped) {
      out.failure(mapped.error());
      return kEnvironment;
    }
    const auto file = readTraceFile(path, *std::move(mapped));
    if (!file) {
      out.failure(file.error());
      return kProgramErrors;
    }
    bool any = false;
    for (const AllocatorTrace& trace : file->traces) {
      if (!options.traceName.empty() && trace.name.find(options.traceName) == std::string::npos) continue;
      any = true;
      ReplayedTrace traced;
      traced.file = &*file;
      traced.trace = &trace;
      const int one = replayTrace(out, options, *wanted, path, traced);
      if (one == kUsage || one == kProgramErrors) return one;
      if (options.display.json)
        printReplayJson(out, path, traced);
      else
        printReplay(out, options.recordedConf.has_value(), path, traced);
      status = std::max(status, one);
    }
    if (!any) {
      std::vector<std::string> names;
      for (const AllocatorTrace& trace : file->traces) names.push_back(trace.name);
      out.failure(names.empty() ? fmt::format("{}: it has no history", path)
                                : fmt::format("{}: no history is called `{}`; there are {}", path, options.traceName,
                                              nearestFew(options.traceName, std::move(names))));
      return kUsage;
    }
  }
  return status;
}

}  // namespace

const Command kReplay = {"replay", "a recorded history of PyTorch's CUDA allocator under the same and other options", Takes::Own, false,
    invocation<ReplayOptions, declare, unheeded, run>};

}  // namespace tbem::driver
