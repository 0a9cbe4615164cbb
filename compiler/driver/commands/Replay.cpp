// tbemc replay: a recorded history of PyTorch's CUDA caching allocator under the options it was recorded with, and under others.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/pytorch/rows/ReplayRecorded.h"
#include "compiler/show/Out.h"
#include "compiler/show/memory/ReplayReport.h"

#include <algorithm>
#include <string>

namespace tbem::driver {

namespace {

struct ReplayOptions : CommandOptions {
  ReplayRequest replay;
};

void declare(OptionList& list, ReplayOptions& o) {
  list.add("FILE", o.program.files, "snapshots of torch.cuda.memory, or histories as JSON lines; plain or .gz").required();
  list.add("--alloc-conf", o.replay.eager.allocConf, "options to compare, as in PYTORCH_ALLOC_CONF; again for more")
      .type("TEXT")
      .single();
  list.add("--capacity", o.replay.capacity, "what the card can hand out (default: what an out of memory tells, else no end)")
      .type("SIZE");
  list.add("--card", o.replay.card, "memory of the card, which per_process_memory_fraction is a share of (default: --capacity)")
      .type("SIZE");
  list.add("--recorded-conf", o.replay.recordedConf, "the options of the recording, where it does not say them").type("TEXT");
  list.add("--torch", o.replay.eager.torch, "rules of this PyTorch (default: the recording's, else the newest)").type("VERSION");
  list.add("--trace", o.replay.traceName, "only the histories whose name has this: 'card 1', 'resnet50 f32'").type("TEXT");
  addDisplay(list, o, {.width = nullptr});
}

std::string unheeded(const Given& /*given*/, const ReplayOptions& /*options*/) { return {}; }

/// An exit status.
int replayTraces(show::Out& out, const TraceFile& file, const std::string& path, const ReplayWish& wish,
                 const ReplayRequest& request) {
  const auto traces = tracesOf(file, path, request);
  if (!traces) return out.fail(traces.error());
  int status = kOk;
  for (const estimate::AllocatorTrace* trace : *traces) {
    const auto traced = replayRecorded(file, *trace, path, wish, request);
    if (!traced) return out.fail(traced.error());
    if (out.display.json)
      printReplayJson(out, path, *traced);
    else
      printReplay(out, request.recordedConf.has_value(), path, *traced);
    if (traced->check.verdict == estimate::TraceCheck::Verdict::Differs) status = kVerdictAgainst;
  }
  return status;
}

int run(show::Out& out, const ReplayOptions& options) {
  const auto wish = readReplay(options.replay);
  if (!wish) return out.fail(wish.error());
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
    const int replayed = replayTraces(out, *file, path, *wish, options.replay);
    if (replayed != kOk && replayed != kVerdictAgainst) return replayed;
    status = std::max(status, replayed);
  }
  return status;
}

}  // namespace

const Command kReplay = {"replay", "a recorded history of PyTorch's CUDA allocator under the same and other options", Takes::Own,
                         false, invocation<ReplayOptions, declare, unheeded, run>};

}  // namespace tbem::driver
