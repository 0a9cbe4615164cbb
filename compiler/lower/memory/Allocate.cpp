// Groups become steps, versions buffers, memories allocations with offsets.
#include "compiler/lower/Query.h"
#include "compiler/lower/memory/Allocator.h"
#include "compiler/plan/Plan.h"
#include "compiler/support/Bug.h"
#include "runtime/include/tbem/primitives.h"

#include <numeric>

namespace tbem::estimate {

using graph::index;
using graph::kNoTensor;

namespace {
constexpr std::size_t kMaxName = 80;
}

bool Allocator::run() {
  sortGroups();
  findStored();
  for (std::uint32_t step = 0; step < order.size(); ++step) {
    const Group& group = state.groups[order[step]];
    const bool ok = state.items[group.items.front()].isLoop ? addLoop(group, step) : addCall(group, step);
    if (!ok) return false;
  }
  markMicroBatches();
  measureLives();
  coalesce();
  shareInPlace();
  vectorsAhead();
  listBranches();
  findChunks();
  makeAllocations();
  listMicroBatches();
  nameBuffers();
  place();
  return true;
}

void Allocator::sortGroups() {
  for (std::uint32_t g = 0; g < state.groups.size(); ++g) {
    if (state.groups[g].alive) order.push_back(g);
  }
  std::sort(order.begin(), order.end(),
            [this](std::uint32_t a, std::uint32_t b) { return state.groups[a].position < state.groups[b].position; });
}

/// A value made and used up within one loop is never stored.
void Allocator::findStored() {
  stored.assign(state.versions.size(), false);
  std::vector<std::uint32_t> madeIn(state.versions.size(), kNone);
  for (std::uint32_t i = 0; i < state.items.size(); ++i) {
    for (const std::uint32_t write : state.items[i].writes) {
      if (write == kNone) continue;
      madeIn[write] = state.groupOf[i];
      const Memory& memory = state.memories[state.versions[write].memory];
      if (memory.persistent || memory.kept || !state.items[i].isLoop) stored[write] = true;
    }
  }
  for (std::uint32_t i = 0; i < state.items.size(); ++i) {
    for (const std::uint32_t read : state.items[i].reads) {
      if (read != kNone && madeIn[state.versions[read].root] != state.groupOf[i]) stored[state.versions[read].root] = true;
    }
  }
  for (const Lowering::Collected& one : state.collected) stored[state.versions[one.from].root] = true;
}

BufferId Allocator::buffer(std::uint32_t version) {
  if (version == kNone) return kNoBuffer;
  if (bufferOf[version] == kNoBuffer) {
    bufferOf[version] = static_cast<BufferId>(program.buffers.size());
    program.buffers.push_back(
        {state.versions[version].tensor, {}, state.versions[version].operand, 0, state.versions[version].window});
    versionOf.push_back(version);
  }
  return bufferOf[version];
}

bool Allocator::addCall(const Group& group, std::uint32_t step) {
  const Item& item = state.items[group.items.front()];
  NativeCall call;
  call.primitive = item.primitive;
  call.attributes = item.attributes;
  call.scalars = item.scalars;
  call.implementation = item.implementation;
  call.algorithm = item.algorithm;
  call.choice = item.choice;
  call.assumed = item.assumed;
  if (item.own) call.own = state.graph[item.op].own;
  call.unknownWorkspace = item.unknownWorkspace;
  call.inputs = static_cast<std::uint32_t>(item.reads.size());
  const bool moves = item.primitive == TBEM_PRIMITIVE_move_rows;
  for (std::size_t i = 0; i < item.reads.size(); ++i)
    call.operands.push_back(use(item.reads[i], step, false, moves && i == 0 && item.reads[1] != kNone));
  for (const std::uint32_t version : item.writes)
    call.operands.push_back(use(version, step, false, moves && item.reads[2] != kNone));
  call.sizes = item.sizes;
  if (item.perSample) {
    call.samples = state.samplesIn[item.branch];
    for (const std::vector<std::uint32_t>* list : {&item.reads, &item.writes}) {
      for (const std::uint32_t version : *list)
        call.perSample.push_back(version != kNone && state.versions[version].space != graph::kAllSamples);
    }
  }
  if (item.workspace != 0) addWorkspace(call, step, item.workspace);
  noteCopy(item, step);
  program.steps.push_back({Step::Kind::Call, static_cast<std::uint32_t>(program.calls.size()), {}, state.rangeOf(item), {}});
  Step& made = program.steps.back();
  made.branch = item.branch;
  if (item.op == graph::kNoOp) {
    made.name = runtime::signature(item.primitive).name;
  } else {
    made.ops = {item.op};
    if (state.standsFor != nullptr) {
      if (const auto stands = state.standsFor->find(item.op); stands != state.standsFor->end()) made.ops = stands->second;
    }
    made.name = state.graph[item.op].declaration;
  }
  program.calls.push_back(std::move(call));
  return true;
}

void Allocator::addWorkspace(NativeCall& call, std::uint32_t step, std::uint64_t bytes) {
  const auto extent = static_cast<std::int64_t>(bytes);
  call.workspace = static_cast<BufferId>(program.buffers.size());
  program.buffers.push_back({kNoTensor, "workspace", plainOperand(TBEM_U8, {&extent, 1}), 0});
  versionOf.push_back(kNone);
  workspaces.push_back({{call.workspace}, step, step, bytes});
}

bool Allocator::addLoop(const Group& group, std::uint32_t step) {
  FusedLoop loop;
  std::vector<std::uint32_t> reads;
  std::vector<std::uint32_t> writes;
  if (!state.buildLoop(group, stored, loop, reads, writes)) return false;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    loop.inputs[i].buffer = use(reads[i], step, sameElement(loop, i, state.versions[reads[i]].operand));
  }
  for (std::size_t i = 0; i < writes.size(); ++i) loop.outputs[i].buffer = use(writes[i], step, true);
  Step made{Step::Kind::Loop,
            static_cast<std::uint32_t>(program.loops.size()),
            {},
            state.rangeOf(state.items[group.items.front()]),
            {}};
  made.branch = state.items[group.items.front()].branch;
  std::string last;
  for (const std::uint32_t id : group.items) {
    made.ops.push_back(state.items[id].op);
    const std::string& word = state.graph[state.items[id].op].declaration;
    if (word == last || made.name.size() > kMaxName) continue;
    made.name += (made.name.empty() ? "" : "+") + word;
    last = word;
  }
  program.steps.push_back(std::move(made));
  program.loops.push_back(std::move(loop));
  loopReads.push_back({step, std::move(reads), std::move(writes)});
  return true;
}

BufferId Allocator::use(std::uint32_t version, std::uint32_t step, bool atSameElement, bool rowsOnly) {
  if (version == kNone) return kNoBuffer;
  const std::uint32_t memory = state.versions[version].memory;
  lives[memory].at(step);
  const std::uint32_t branch = state.items[state.groups[order[step]].items.front()].branch;
  if (state.branches.gated()) usesOf[memory].push_back({step, branch, atSameElement, rowsOnly});
  return buffer(version);
}

void Allocator::makeAllocations() {
  // Persistent ones first: they come to lie at the bottom of the arena.
  for (const bool persistent : {true, false}) {
    for (std::uint32_t m = 0; m < lives.size(); ++m) {
      const Memory& memory = state.memories[m];
      if (memory.persistent != persistent || !lives[m].used || lives[m].shares != kNone) continue;
      lives[m].allocation = static_cast<std::uint32_t>(program.allocations.size());
      program.allocations.push_back({memory.kind, memory.bytes, 0, lives[m].first, lives[m].last, memory.persistent});
    }
  }
  for (const Workspace& workspace : workspaces) {
    for (const BufferId buffer : workspace.buffers)
      program.buffers[static_cast<std::uint32_t>(buffer)].allocation = static_cast<std::uint32_t>(program.allocations.size());
    program.allocations.push_back({Kind::Workspace, workspace.bytes, 0, workspace.first, workspace.last, false});
  }
  for (std::uint32_t m = 0; m < state.memories.size(); ++m) {
    if (state.memories[m].persistent) bufferForPersistent(m);
  }
  for (const std::uint32_t result : state.results) buffer(result);
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    if (versionOf[b] != kNone) program.buffers[b].allocation = lives[owner(state.versions[versionOf[b]].memory)].allocation;
  }
}

/// A weight or an input that no step touches still has a buffer: the runtime fills it, the caller may read it.
void Allocator::bufferForPersistent(std::uint32_t memory) {
  for (std::uint32_t v = 0; v < state.versions.size(); ++v) {
    if (state.versions[v].memory == memory && state.versions[v].tensor != kNoTensor && bufferOf[v] == kNoBuffer) buffer(v);
  }
}

void Allocator::nameBuffers() {
  const graph::Graph& graph = state.graph;
  program.bufferOf.assign(graph.tensors.size(), kNoBuffer);
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
    // What the caller reads is the last version made for it (row-major, where it is an output).
    for (const std::uint32_t version : state.versionsOf[t]) {
      if (bufferOf[version] == kNoBuffer) continue;
      const Memory& memory = state.memories[state.versions[version].memory];
      const BufferId known = program.bufferOf[t];
      // A storage is what outlives the step, not the copy of it in another layout.
      const bool better = known != kNoBuffer && memory.persistent && !program.allocations[program[known].allocation].persistent;
      if (known == kNoBuffer || memory.kept || better) program.bufferOf[t] = bufferOf[version];
    }
  }
  for (std::uint32_t b = 0; b < program.buffers.size(); ++b) {
    Buffer& buffer = program.buffers[b];
    if (buffer.tensor == kNoTensor) {
      if (buffer.name.empty()) buffer.name = "temporary";
      continue;
    }
    const graph::Tensor& tensor = graph[buffer.tensor];
    const graph::Storage& storage = graph[tensor.storage];
    if (!storage.path.empty()) {
      buffer.name = storage.kind == graph::StorageClass::Gradient ? storage.path + " gradient" : storage.path;
    } else if (tensor.producer != graph::kNoOp) {
      const graph::Op& op = graph[tensor.producer];
      const std::string& path = graph.scopes.empty() ? std::string() : graph.scopes[index(op.scope)].path;
      buffer.name = (path.empty() ? "" : path + ".") + op.declaration + "." + tensor.name;
    } else {
      buffer.name = tensor.name;
    }
  }
}

/// Which steps each micro-batch runs, and what is copied behind them.
void Allocator::markMicroBatches() {
  MicroBatches& micro = program.micro;
  micro.parts = state.graph.microBatches;
  if (micro.parts == 1) return;
  const auto once = std::find_if(order.begin(), order.end(),
                                 [this](std::uint32_t group) { return state.groups[group].items.front() >= state.once; });
  micro.steps = static_cast<std::uint32_t>(once - order.begin());
  for (const Lowering::Collected& one : state.collected) {
    // The copy is made behind the last step of the micro-batch: nothing may take the value's place in that.
    state.memories[state.versions[one.from].memory].kept = true;
    lives[state.versions[one.to].memory].at(micro.steps - 1);
    micro.collected.push_back({buffer(one.from), buffer(one.to)});
  }
  lives[state.versions[state.part].memory].at(0);
  micro.number = buffer(state.part);
}

void Allocator::listMicroBatches() {
  if (program.micro.parts == 1) return;
  for (std::uint32_t s = 0; s < state.memoryOf.size(); ++s) {
    if (!state.graph.storages[s].carried || state.memoryOf[s] == kNone) continue;
    for (std::uint32_t v = 0; v < state.versions.size(); ++v) {
      if (state.versions[v].memory != state.memoryOf[s] || bufferOf[v] == kNoBuffer) continue;
      program.micro.zeroed.push_back(bufferOf[v]);
      break;
    }
  }
}

void Allocator::listBranches() {
  if (!state.branches.gated()) return;
  program.samples = state.samplesIn[graph::kAllSamples];
  for (std::size_t b = 0; b < state.branches.list.size(); ++b) {
    const graph::Branch& branch = state.branches.list[b];
    const BranchState& known = state.branchStates[b];
    const auto bufferAt = [this](std::uint32_t version) { return version == kNone ? kNoBuffer : bufferOf[version]; };
    const graph::Op* gate = branch.gate == graph::kNoOp ? nullptr : &state.graph[branch.gate];
    program.branches.push_back({branch.parent, branch.gate, gate == nullptr ? "" : gate->path,
                                gate != nullptr && gate->kind == graph::OpKind::Exit, branch.condition, state.samplesIn[b],
                                known.ofEachSample, bufferAt(known.rows), bufferAt(known.origin)});
  }
}

void Allocator::place() {
  std::vector<Request> requests;
  std::vector<std::uint32_t> which;
  std::uint64_t persistent = 0;
  std::uint64_t persistentLive = 0;
  for (std::uint32_t a = 0; a < program.allocations.size(); ++a) {
    Allocation& allocation = program.allocations[a];
    if (allocation.persistent) {
      allocation.offset = persistent;
      persistent += alignUp(allocation.bytes);
      persistentLive += allocation.bytes;
    } else {
      requests.push_back({allocation.bytes, allocation.first, allocation.last});
      which.push_back(a);
    }
  }
  const Plan plan = planOffsets(requests);
  if (const auto fault = checkOverlap(requests, plan.offsets)) TBEM_BUG("the plan of the arena is wrong: {}", *fault);
  for (std::size_t i = 0; i < which.size(); ++i) program.allocations[which[i]].offset = persistent + plan.offsets[i];
  program.arena = persistent + plan.peak;
  program.live = persistentLive + liveBound(requests, 1, &program.peakStep);
  std::uint64_t sum = 0;
  for (const Allocation& allocation : program.allocations) {
    if (!allocation.persistent && (allocation.first > program.peakStep || program.peakStep > allocation.last)) continue;
    program.kinds[static_cast<std::size_t>(allocation.kind)] += allocation.bytes;
    sum += allocation.bytes;
  }
  program.gaps = program.arena - sum;
}

bool Lowering::allocate(Program& program) { return Allocator(*this, program).run(); }

}  // namespace tbem::estimate
