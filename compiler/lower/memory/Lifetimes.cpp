// From which step to which a memory is needed; copies that go because both ends may be one memory; results that take the place of
// an operand.
#include "compiler/lower/memory/Allocator.h"

#include <algorithm>
#include <utility>

namespace tbem::estimate {

/// A join's copies to the same places: between rows of the same samples, or of a batch of one sample.
void Allocator::noteCopy(const Item& item, std::uint32_t step) {
  if (item.branch == graph::kAllSamples) return;
  if (item.primitive == TBEM_PRIMITIVE_move_rows && item.reads[1] == kNone) scatters.push_back({step, &item});
  const bool sameRows = item.primitive == TBEM_PRIMITIVE_move_rows && item.reads[1] == item.reads[2];
  const bool whole = item.primitive == TBEM_PRIMITIVE_reorder && state.samplesIn[item.branch] == 1 &&
                     samePlaces(state.versions[item.reads[0]].operand, state.versions[item.writes[0]].operand);
  if (sameRows || whole)
    copies.push_back({step, item.branch, state.versions[item.reads[0]].memory, state.versions[item.writes[0]].memory});
}

void Allocator::measureLives() {
  const auto end = static_cast<std::uint32_t>(program.steps.empty() ? 0 : program.steps.size() - 1);
  for (std::size_t m = 0; m < lives.size(); ++m) {
    const Memory& memory = state.memories[m];
    if (memory.persistent) {
      lives[m].at(0);
      lives[m].at(end);
    } else if (lives[m].used) {
      if (memory.kept) lives[m].at(end);
      if (memory.fromStart) lives[m].at(0);
    }
  }
}

/// Lets copies go whose ends may be one memory.
void Allocator::coalesce() {
  std::vector<bool> gone(program.steps.size(), false);
  for (const Scatter& scatter : scatters) gone[scatter.step] = scatterInLoop(scatter);
  // A join's last copy first: the result shares with what is computed, and then perhaps with what is left.
  for (auto at = copies.rbegin(); at != copies.rend(); ++at) {
    const CopyStep& copy = *at;
    const std::uint32_t from = owner(copy.from), to = owner(copy.to);
    const Memory &source = state.memories[from], &target = state.memories[to];
    if (from == to || source.persistent || target.persistent || source.kept || source.bytes != target.bytes) continue;
    if (!mayCoalesce(state.branches, copy, usesOf[from], usesOf[to], state.samplesIn)) continue;
    lives[to].shares = from;
    lives[from].first = std::min(lives[from].first, lives[to].first);
    lives[from].last = std::max(lives[from].last, lives[to].last);
    state.memories[from].kept = target.kept;
    usesOf[from].insert(usesOf[from].end(), usesOf[to].begin(), usesOf[to].end());
    gone[copy.step] = true;
  }
  dropSteps(gone);
}

/// A loop whose result is only scattered to its places writes it there itself.
bool Allocator::scatterInLoop(const Scatter& scatter) {
  const Item& item = *scatter.item;
  const Version& value = state.versions[item.reads[0]];
  const std::uint32_t from = value.memory, to = state.versions[item.writes[0]].memory;
  const std::vector<MemoryUse>& uses = usesOf[from];
  if (uses.size() != 2 || uses[0].step == scatter.step || uses[0].branch != item.branch || state.memories[from].kept)
    return false;
  Step& producer = program.steps[uses[0].step];
  if (producer.kind != Step::Kind::Loop || value.operand.dims[0] != state.samplesIn[item.branch]) return false;
  FusedLoop& loop = program.loops[producer.index];
  if (!loop.perSample || hasOneElementASample(loop)) return false;
  // A loop writes elements of its own shape: not those of a view of what it made.
  const tbem_operand& joined = state.versions[item.writes[0]].operand;
  for (const FusedLoop::Output& output : loop.outputs) {
    const Version& made = state.versions[versionOf[static_cast<std::uint32_t>(output.buffer)]];
    if (made.memory == from && !std::ranges::equal(dimsOf(made.operand), dimsOf(joined))) return false;
  }
  // From the loop on, the rows that it writes must be nobody else's.
  for (const MemoryUse& other : usesOf[to]) {
    const bool disjoint = state.branches.exclusive(other.branch, item.branch);
    if (other.step >= uses[0].step && other.step < scatter.step && !(other.rowsOnly && disjoint)) return false;
  }
  for (FusedLoop::Output& output : loop.outputs) {
    if (state.versions[versionOf[static_cast<std::uint32_t>(output.buffer)]].memory != from) continue;
    output.buffer = bufferOf[item.writes[0]];
    output.rows = bufferOf[item.reads[2]];
  }
  for (MemoryUse& use : usesOf[to]) {
    if (use.step == scatter.step) use.step = uses[0].step;
  }
  lives[to].at(uses[0].step);
  lives[from].shares = to;
  usesOf[from].clear();
  return true;
}

void Allocator::dropSteps(const std::vector<bool>& gone) {
  if (std::find(gone.begin(), gone.end(), true) == gone.end()) return;
  std::vector<std::uint32_t> place(gone.size());  // of a step that stays, or of the next one that does
  std::vector<Step> steps;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    place[i] = static_cast<std::uint32_t>(steps.size());
    if (!gone[i]) steps.push_back(std::move(program.steps[i]));
  }
  program.steps = std::move(steps);
  const auto end = static_cast<std::uint32_t>(program.steps.size() - 1);
  for (Life& life : lives) {
    if (!life.used) continue;
    life.first = std::min(place[life.first], end);
    life.last = gone[life.last] && place[life.last] > life.first ? place[life.last] - 1 : std::min(place[life.last], end);
  }
  for (LoopUse& loop : loopReads) loop.step = place[loop.step];
  for (Workspace& workspace : workspaces) workspace.first = workspace.last = place[workspace.first];
}

/// A result of a loop takes the place of an operand that dies there, where both have the same places.
void Allocator::shareInPlace() {
  for (const LoopUse& loop : loopReads) {
    const FusedLoop& code = program.loops[program.steps[loop.step].index];
    std::vector<std::uint32_t> taken;
    for (const std::uint32_t write : loop.writes) {
      const std::uint32_t target = state.versions[write].memory;
      if (state.memories[target].persistent || lives[target].shares != kNone || lives[target].first != loop.step) continue;
      for (std::size_t i = 0; i < loop.reads.size(); ++i) {
        const std::uint32_t source = owner(state.versions[loop.reads[i]].memory);
        if (!canTake(loop, code, source, i, write) || std::find(taken.begin(), taken.end(), source) != taken.end()) continue;
        taken.push_back(source);
        lives[target].shares = source;
        lives[source].last = std::max(lives[source].last, lives[target].last);
        state.memories[source].kept = state.memories[target].kept;  // a later loop must not take it again, not even the last
        if (state.memories[target].kind == Kind::Gradients) state.memories[source].kind = Kind::Gradients;
        break;
      }
    }
  }
}

/// A card may run sums of channels' gradients in one launch with the loop before them (jit/glue/ChannelRuns.h), so these small
/// vectors must not lie where that still reads. Between the two stands one step at most that has nothing to do with them.
void Allocator::vectorsAhead() {
  if (program.target.empty()) return;
  constexpr std::uint32_t kSteps = 2;
  for (std::uint32_t s = 0; s < program.steps.size(); ++s) {
    if (program.steps[s].kind != Step::Kind::Call) continue;
    const NativeCall& call = program.calls[program.steps[s].index];
    if (call.primitive != TBEM_PRIMITIVE_channel_gradient_sums || !call.own.symbol.empty()) continue;
    const tbem_operand& images = program[call.operands.front()].operand;
    if (images.dtype != TBEM_F32 || !isRowMajor(images)) continue;
    for (std::size_t i = call.inputs; i < call.operands.size(); ++i) {
      if (call.operands[i] == kNoBuffer) continue;
      Life& life = lives[owner(state.versions[versionOf[static_cast<std::uint32_t>(call.operands[i])]].memory)];
      life.first = std::min(life.first, s - std::min(s, kSteps));
    }
  }
}

bool Allocator::canTake(const LoopUse& loop, const FusedLoop& code, std::uint32_t source, std::size_t input,
                        std::uint32_t write) {
  const Memory& memory = state.memories[source];
  const tbem_operand& from = state.versions[loop.reads[input]].operand;
  tbem_operand to = state.versions[write].operand;
  if (memory.persistent || memory.kept || lives[source].last != loop.step) return false;
  if (elementBytes(from.dtype) != elementBytes(to.dtype) || memory.bytes != to.layout.bytes) return false;
  to.dtype = from.dtype;
  if (!samePlaces(from, to)) return false;
  for (std::size_t i = 0; i < loop.reads.size(); ++i) {
    if (owner(state.versions[loop.reads[i]].memory) == source && !sameElement(code, i, state.versions[loop.reads[i]].operand))
      return false;
  }
  return true;
}

bool Allocator::sameElement(const FusedLoop& code, std::size_t input, const tbem_operand& operand) {
  const std::vector<std::int32_t>& axes = code.inputs[input].axes;
  if (axes.size() != code.dims.size()) return false;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (operand.dims[k] != code.dims[k] || (axes[k] != static_cast<std::int32_t>(k) && code.dims[k] != 1)) return false;
  }
  return true;
}

std::uint32_t Allocator::owner(std::uint32_t memory) const {
  while (lives[memory].shares != kNone) memory = lives[memory].shares;
  return memory;
}

}  // namespace tbem::estimate
