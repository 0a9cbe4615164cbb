#include "runtime/core/Soundness.h"

#include "runtime/core/Layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace tbem::runtime {
namespace {

std::string checkCall(const Executable& e, const CallDesc& c, const std::string& name) {
  if (c.operands.size() != c.offsets.size() || c.operands.size() != static_cast<std::size_t>(c.inputs + c.outputs))
    return name + " has the wrong number of operands";
  if (!c.room.empty() && c.room.size() != c.operands.size()) return name + " has the wrong number of rooms";
  if (!c.moves.empty() && (c.moves.size() != c.operands.size() || e.microBatchAt > e.arena - sizeof(std::int64_t)))
    return name + " moves without a number of the micro-batch";
  for (std::size_t k = 0; k < c.operands.size(); ++k) {
    if (c.operands[k].present == 0) continue;
    const std::uint64_t moved = c.moves.empty() ? 0 : c.moves[k] * static_cast<std::uint64_t>(e.microBatches - 1);
    const std::uint64_t extent = c.room.empty() ? extentBytes(c.operands[k]) + moved : c.room[k];
    if (c.offsets[k] > e.arena || extent > e.arena - c.offsets[k]) return fmt::format("{}: operand {} leaves the arena", name, k);
  }
  if (c.workspace != kAbsent && (c.workspace > e.arena || c.workspaceBytes > e.arena - c.workspace))
    return name + ": the workspace leaves the arena";
  if (!c.sizes.empty() && (c.samples < 1 || c.sizes.back() > c.samples || c.perSample.size() != c.operands.size()))
    return name + " is not sized for the batch";
  for (std::size_t k = 0; k < std::min(c.perSample.size(), c.operands.size()); ++k) {
    if (!c.perSample[k] || c.operands[k].present == 0) continue;
    const std::span<const std::int64_t> dims(c.operands[k].dims, static_cast<std::size_t>(c.operands[k].rank));
    const auto rows = std::ranges::find_if(dims, [](std::int64_t size) { return size != 1; });  // as tbem_take_rows finds them
    if (c.samples < 1 || (rows == dims.end() ? 1 : *rows) % c.samples != 0)
      return fmt::format("{}: operand {} has no rows of its samples", name, k);
  }
  if (!c.parts.empty() && (c.parts.size() != c.operands.size() || c.partSizes.empty() != c.sizes.empty()))
    return name + " is not sized for a thread's part";
  for (std::uint32_t slot : c.scalars) {
    if (slot >= std::max<std::size_t>(e.scalars.size(), 1)) return name + " reads a scalar that is not there";
  }
  return {};
}

/// A storage that outlives steps, with its place.
struct Placed {
  const StorageDesc* storage = nullptr;
  const BufferDesc* buffer = nullptr;
  AllocationDesc allocation;
};

std::vector<Placed> persistentOf(const Executable& executable) {
  std::vector<Placed> storages;
  for (const StorageDesc& storage : executable.storages) {
    const BufferDesc& buffer = executable.buffers[storage.buffer];
    if (buffer.allocation >= executable.allocations.size()) continue;
    const AllocationDesc& allocation = executable.allocations[buffer.allocation];
    if (allocation.persistent) storages.push_back({&storage, &buffer, allocation});
  }
  return storages;
}

std::string text(const tbem_operand& operand) {
  return fmt::format("{}[{}]", dtypeName(operand.dtype), fmt::join(operand.dims, operand.dims + operand.rank, ", "));
}

/// How the storage of two executables differs; "" if it does not.
std::string checkSame(const Placed& a, const Placed& b) {
  const tbem_operand &first = a.buffer->operand, &second = b.buffer->operand;
  if (first.dtype != second.dtype || !std::equal(first.dims, first.dims + first.rank, second.dims, second.dims + second.rank))
    return fmt::format("'{}' is {} in one and {} in another", a.storage->path, text(first), text(second));
  if (a.buffer->offset != b.buffer->offset || a.allocation.bytes != b.allocation.bytes)
    return fmt::format("'{}' lies at {} in one and at {} in another", a.storage->path, a.buffer->offset, b.buffer->offset);
  return {};
}

}  // namespace

std::string checkExecutable(const Executable& e) {
  if (e.step == nullptr) return "it has no code";
  for (std::size_t i = 0; i < e.buffers.size(); ++i) {
    const BufferDesc& b = e.buffers[i];
    if (b.operand.present == 0) continue;
    if (std::string wrong = checkLayout(b.operand); !wrong.empty()) return fmt::format("buffer {} ({}): {}", i, b.name, wrong);
    if (b.offset > e.arena || extentBytes(b.operand) > e.arena - b.offset) {
      return fmt::format("buffer {} ({}) at {} with {} B leaves the arena of {} B", i, b.name, b.offset, extentBytes(b.operand),
                         e.arena);
    }
  }
  for (std::size_t i = 0; i < e.calls.size(); ++i) {
    const std::string name = fmt::format("call {} ({})", i, e.calls[i].name);
    if (std::string wrong = checkCall(e, e.calls[i], name); !wrong.empty()) return wrong;
  }
  for (const BranchDesc& b : e.branches) {
    if (b.gate.empty()) continue;
    if (b.samples < 0 || b.ofEachSample < 0) return fmt::format("a branch of '{}' has fewer than no samples", b.gate);
    for (const std::uint32_t list : {b.rows, b.origin}) {
      if (list >= e.buffers.size() || e.buffers[list].operand.dtype != TBEM_I64 ||
          e.buffers[list].operand.dims[0] != 1 + b.samples)
        return fmt::format("a branch of '{}' has no list of its samples", b.gate);
    }
  }
  for (const StorageDesc& s : e.storages) {
    if (s.buffer >= e.buffers.size()) return fmt::format("storage '{}' has no buffer", s.path);
  }
  return {};
}

std::string checkTogether(std::span<const Executable* const> executables) {
  if (executables.size() < 2) return {};
  std::map<std::pair<BufferClass, std::string_view>, Placed> storages;
  std::uint64_t persistent = 0;
  for (const Executable* executable : executables) {
    for (const Placed& storage : persistentOf(*executable)) {
      const auto [known, isNew] = storages.try_emplace({storage.storage->kind, storage.storage->path}, storage);
      if (std::string wrong = checkSame(known->second, storage); !wrong.empty()) return wrong;
      persistent = std::max(persistent, storage.allocation.offset + storage.allocation.bytes);
    }
  }
  std::vector<Placed> byPlace;
  for (const auto& [key, storage] : storages) {
    if (storage.allocation.bytes != 0) byPlace.push_back(storage);
  }
  std::ranges::sort(byPlace, {}, [](const Placed& storage) { return storage.allocation.offset; });
  for (std::size_t i = 1; i < byPlace.size(); ++i) {
    const Placed &below = byPlace[i - 1], &above = byPlace[i];
    if (below.allocation.offset + below.allocation.bytes > above.allocation.offset)
      return fmt::format("'{}' and '{}' lie over each other", below.storage->path, above.storage->path);
  }
  for (const Executable* executable : executables) {
    for (const AllocationDesc& allocation : executable->allocations) {
      if (!allocation.persistent && allocation.bytes != 0 && allocation.offset < persistent)
        return fmt::format("one has a temporary at {}, below the {} B that persist", allocation.offset, persistent);
    }
  }
  return {};
}

}  // namespace tbem::runtime
