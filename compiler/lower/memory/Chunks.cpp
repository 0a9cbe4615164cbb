// Steps behind a gate that run for a few samples at a time.
//
// The samples that go on lie anywhere in the batch: their rows are gathered, computed and scattered. For all of them at once,
// each of the three passes over more memory than a core's cache holds, and thin blocks pay for that as much as for their
// arithmetic. A few samples at a time, a row is still in the cache when it is needed again. Steps can run so if whatever they
// hand to each other is used up among them, and if each touches its own samples' rows only. (What counts samples, or draws
// random numbers by their places, does not stand behind a gate: SampleUse.h.)
//
// Several threads that shared each of those short steps would wait for each other after every one. So each takes samples of its
// own through all of them, in memory of its own, by calls prepared for one thread.
#include "compiler/lower/Query.h"
#include "compiler/lower/memory/Allocator.h"
#include "compiler/plan/Plan.h"

namespace tbem::estimate {

using graph::kAllSamples;

namespace {
/// A step that reads more of what all samples share (weights) than this share of the cache reads it anew for each few samples.
constexpr std::uint64_t kSharedPart = 4;

bool movesRows(const Program& program, const Step& step) {
  return step.kind == Step::Kind::Call && program.calls[step.index].primitive == TBEM_PRIMITIVE_move_rows;
}

bool hasRows(const Program& program, const FusedLoop::Input& input) {
  for (std::size_t k = 0; k < input.axes.size(); ++k) {
    if (input.axes[k] == 0 && program[input.buffer].operand.dims[k] != 1) return true;
  }
  return false;
}

/// Bytes in which every thread has so many of its own.
std::uint64_t forThreads(const Chunk& chunk, std::uint64_t bytes) {
  return alignUp(bytes) * static_cast<std::uint64_t>(chunk.threads - 1) + bytes;
}
}  // namespace

std::uint32_t Allocator::ownerOf(BufferId buffer) const {
  const std::uint32_t version = versionOf[static_cast<std::uint32_t>(buffer)];
  return version == kNone ? kNone : owner(state.versions[version].memory);
}

/// Made and used up in the segment.
bool Allocator::isInside(const Segment& segment, BufferId buffer) const {
  const std::uint32_t memory = ownerOf(buffer);
  if (memory == kNone) return true;  // a workspace
  return !state.memories[memory].persistent && segment.first <= lives[memory].first && lives[memory].last <= segment.last;
}

bool Allocator::isList(std::uint32_t branch, BufferId buffer) const {
  return buffer == program.branches[branch].rows || buffer == program.branches[branch].origin;
}

/// A gather into the segment, a scatter out of it, or rows that are copied past it.
bool Allocator::movesFit(const Segment& segment, const NativeCall& call) const {
  for (const std::size_t list : {1U, 2U}) {
    if (call.operands[list] != kNoBuffer && !isList(segment.branch, call.operands[list])) return false;
  }
  const bool gathers = call.operands[1] != kNoBuffer, scatters = call.operands[2] != kNoBuffer;
  return isInside(segment, call.operands[0]) == !gathers && isInside(segment, call.operands[3]) == !scatters;
}

bool Allocator::hasOneElementASample(const FusedLoop& loop) {
  return std::all_of(loop.dims.begin() + 1, loop.dims.end(), [](std::int64_t dim) { return dim == 1; });
}

bool Allocator::loopFits(const Segment& segment, const FusedLoop& loop) const {
  if (!loop.perSample) return false;
  if (hasOneElementASample(loop)) return false;  // the chunk has no room for the whole batch
  for (const FusedLoop::Input& input : loop.inputs) {
    if (hasRows(program, input) && !isInside(segment, input.buffer)) return false;
  }
  return std::all_of(loop.outputs.begin(), loop.outputs.end(), [&](const FusedLoop::Output& output) {
    return output.rows == kNoBuffer ? isInside(segment, output.buffer)
                                    : isList(segment.branch, output.rows) && !isInside(segment, output.buffer);
  });
}

bool Allocator::fits(const Segment& segment, const Step& step) const {
  if (step.kind == Step::Kind::Loop) return loopFits(segment, program.loops[step.index]);
  const NativeCall& call = program.calls[step.index];
  if (movesRows(program, step)) return movesFit(segment, call);
  if (call.sizes.empty() || !call.own.symbol.empty()) return false;
  std::uint64_t shared = 0;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (call.operands[i] == kNoBuffer) continue;
    if (call.perSample[i] ? !isInside(segment, call.operands[i]) : i >= call.inputs) return false;
    if (!call.perSample[i]) shared += program[call.operands[i]].operand.layout.bytes;
  }
  return shared <= state.options.chunkBytes / kSharedPart;
}

/// As many samples as a core's cache holds: what the segment keeps at once of each, and the row that is read or written outside.
std::int64_t Allocator::chunkSize(const Segment& segment) const {
  std::vector<std::uint64_t> live(segment.last - segment.first + 1, 0);
  std::uint64_t outside = 0;
  std::vector<std::uint32_t> seen;
  for (std::uint32_t s = segment.first; s <= segment.last; ++s) {
    for (const BufferId* id : program.buffersOf(program.steps[s])) {
      const std::uint32_t memory = ownerOf(*id);
      if (memory == kNone || state.memories[memory].persistent || std::find(seen.begin(), seen.end(), memory) != seen.end())
        continue;
      seen.push_back(memory);
      const std::uint64_t bytes = state.memories[memory].bytes;
      if (!isInside(segment, *id)) {
        outside = std::max(outside, bytes);
        continue;
      }
      for (std::uint32_t at = lives[memory].first; at <= lives[memory].last; ++at) live[at - segment.first] += bytes;
    }
  }
  const std::uint64_t bytes = *std::max_element(live.begin(), live.end()) + outside;
  const auto samples = static_cast<std::uint64_t>(state.samplesIn[segment.branch]);
  return static_cast<std::int64_t>(state.options.chunkBytes * samples / std::max<std::uint64_t>(bytes, 1));
}

/// What is there before or after the segment is there for all of its rounds. What is inside has room for the samples at hand, and
/// where threads are at different steps, none of it may lie where another was.
void Allocator::placeChunk(const Segment& segment, const Chunk& chunk) {
  for (std::uint32_t s = segment.first; s <= segment.last; ++s) {
    for (const BufferId* id : program.buffersOf(program.steps[s])) {
      const std::uint32_t memory = ownerOf(*id);
      const bool inside = isInside(segment, *id);
      if (memory == kNone || (inside && chunk.threads == 1)) continue;
      lives[memory].at(segment.first);
      lives[memory].at(segment.last);
    }
  }
  std::vector<std::uint32_t> shortened;
  for (std::uint32_t s = segment.first; s <= segment.last; ++s) {
    for (const BufferId* id : program.buffersOf(program.steps[s])) {
      const std::uint32_t memory = ownerOf(*id);
      if (memory == kNone || !isInside(segment, *id)) continue;
      program.buffers[static_cast<std::uint32_t>(*id)].samples = state.samplesIn[segment.branch];
      const std::uint64_t rows = program[*id].operand.layout.bytes / static_cast<std::uint64_t>(state.samplesIn[segment.branch]) *
                                 static_cast<std::uint64_t>(chunk.samples);
      if (chunk.threads > 1) program.buffers[static_cast<std::uint32_t>(*id)].part = alignUp(rows);
      if (std::find(shortened.begin(), shortened.end(), memory) != shortened.end()) continue;
      shortened.push_back(memory);
      state.memories[memory].bytes = forThreads(chunk, rows);
    }
  }
}

/// A list of the chunk's samples, in the place of the branch's.
BufferId Allocator::copyOfList(const Chunk& chunk, BufferId list) {
  const auto id = static_cast<BufferId>(program.buffers.size());
  const tbem_operand operand = program[list].operand;
  program.buffers.push_back({graph::kNoTensor, "temporary", operand, 0});
  if (chunk.threads > 1) program.buffers.back().part = alignUp(operand.layout.bytes);
  versionOf.push_back(kNone);
  workspaces.push_back({{id}, chunk.first, chunk.last, forThreads(chunk, operand.layout.bytes)});
  return id;
}

void Allocator::listRows(Chunk& chunk) {
  const Branch& branch = program.branches[chunk.branch];
  for (std::uint32_t s = chunk.first; s <= chunk.last; ++s) {
    for (BufferId* id : program.buffersOf(program.steps[s])) {
      if (!isList(chunk.branch, *id)) continue;
      BufferId& list = *id == branch.rows ? chunk.rows : chunk.origin;
      if (list == kNoBuffer) list = copyOfList(chunk, *id);
      *id = list;
    }
  }
}

SizedCall Allocator::sizedCall(const NativeCall& call) const {
  SizedCall sized{call.primitive, {}, call.perSample, call.inputs, call.attributes, call.algorithm, call.samples};
  for (const BufferId id : call.operands) sized.operands.push_back(id == kNoBuffer ? tbem_operand{} : program[id].operand);
  return sized;
}

/// Calls are prepared for what is left over behind the threads' own samples, or of one thread for all samples at hand; and of
/// several for each one's own. False where the device has none for these numbers.
bool Allocator::sizeCalls(const Chunk& chunk, bool change) {
  for (std::uint32_t s = chunk.first; s <= chunk.last; ++s) {
    if (program.steps[s].kind != Step::Kind::Call || movesRows(program, program.steps[s])) continue;
    NativeCall& call = program.calls[program.steps[s].index];
    const bool several = chunk.threads > 1;
    const std::int64_t most =
        *std::lower_bound(call.sizes.begin(), call.sizes.end(), several ? chunk.threads - 1 : chunk.samples);
    if (most > chunk.samples * chunk.threads || most == state.samplesIn[chunk.branch]) return false;
    std::uint64_t together = 0, part = 0;
    const SizedCall sized = sizedCall(call);
    std::vector<std::int64_t> partSizes;
    if (several) partSizes = state.sizesOf(sized, 1, chunk.samples, part);
    if (several && (partSizes.empty() || partSizes.back() != chunk.samples)) return false;
    if (!change) continue;
    call.sizes = state.sizesOf(sized, state.options.threads, most, together);
    call.partSizes = std::move(partSizes);
    setWorkspace(call, s, std::max(together, part == 0 ? 0 : forThreads(chunk, part)), part);
  }
  return true;
}

void Allocator::setWorkspace(NativeCall& call, std::uint32_t step, std::uint64_t bytes, std::uint64_t part) {
  if (call.workspace == kNoBuffer) {
    if (bytes == 0) return;
    addWorkspace(call, step, bytes);
  }
  const auto extent = static_cast<std::int64_t>(bytes);
  Buffer& buffer = program.buffers[static_cast<std::uint32_t>(call.workspace)];
  buffer.operand = plainOperand(TBEM_U8, {&extent, 1});
  buffer.part = alignUp(part);
  for (Workspace& workspace : workspaces) {
    if (workspace.buffers.front() == call.workspace) workspace.bytes = bytes;
  }
}

/// A thread runs one call at a time, another thread any other one meanwhile: of several threads each has one workspace for all
/// calls, and it lies where nothing else of the chunk ever does.
void Allocator::shareWorkspace(const Chunk& chunk) {
  Workspace all{{}, chunk.first, chunk.last, 0};
  std::uint64_t part = 0;
  std::erase_if(workspaces, [&](const Workspace& one) {
    if (one.first < chunk.first || chunk.last < one.last) return false;
    all.buffers.push_back(one.buffers.front());
    all.bytes = std::max(all.bytes, one.bytes);
    part = std::max(part, program[one.buffers.front()].part);
    return true;
  });
  for (const BufferId buffer : all.buffers) program.buffers[static_cast<std::uint32_t>(buffer)].part = part;
  if (!all.buffers.empty()) workspaces.push_back(std::move(all));
}

void Allocator::addChunks(Segment segment) {
  // A step that does not fit parts the segment; what then crosses the part is no longer made and used up in one of its ends.
  for (std::uint32_t s = segment.first; s <= segment.last; ++s) {
    if (fits(segment, program.steps[s])) continue;
    if (s > segment.first) addChunks({segment.first, s - 1, segment.branch});
    if (s < segment.last) addChunks({s + 1, segment.last, segment.branch});
    return;
  }
  const auto begin = program.steps.begin() + segment.first, end = program.steps.begin() + segment.last + 1;
  if (std::all_of(begin, end, [this](const Step& step) { return movesRows(program, step); })) return;
  Chunk chunk{segment.first, segment.last, segment.branch, chunkSize(segment), state.options.threads};
  const std::int64_t samples = state.samplesIn[segment.branch];
  if (samples == 1 || chunk.samples >= samples) return;
  chunk.samples = std::min(chunk.samples, samples / chunk.threads);
  while (chunk.samples > 0 && !sizeCalls(chunk, false)) --chunk.samples;
  if (chunk.samples == 0) return;
  sizeCalls(chunk, true);
  if (chunk.threads > 1) shareWorkspace(chunk);
  placeChunk(segment, chunk);
  listRows(chunk);
  program.chunks.push_back(chunk);
}

void Allocator::findChunks() {
  if (state.backend.device != nullptr) return;  // chunks are for the caches and threads of a processor
  if (!state.branches.gated() || state.options.chunkBytes == 0) return;
  for (std::uint32_t s = 0; s < program.steps.size();) {
    const std::uint32_t first = s, branch = program.steps[s].branch;
    while (s < program.steps.size() && program.steps[s].branch == branch) ++s;
    if (branch != kAllSamples) addChunks({first, s - 1, branch});
  }
}

}  // namespace tbem::estimate
