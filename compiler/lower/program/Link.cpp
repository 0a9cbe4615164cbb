#include "compiler/lower/program/Link.h"

#include "compiler/count/Layout.h"
#include "compiler/count/Static.h"
#include "compiler/plan/Plan.h"
#include "compiler/sema/Value.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace tbem::estimate {

namespace {

using Key = std::pair<graph::StorageClass, std::string>;

/// A storage that functions share, as the first that has it brings it along.
struct Shared {
  std::uint64_t offset = 0, bytes = 0;
  tbem_operand operand{};
  std::string function;
};

/// Each storage of the graph that functions share, with the buffer that holds it.
template <class Visit>
void visitShared(const graph::Graph& graph, const Program& program, Visit visit) {
  std::vector<bool> seen(graph.storages.size(), false);
  for (std::uint32_t t = 0; t < graph.tensors.size(); ++t) {
    const graph::Tensor& tensor = graph.tensors[t];
    const graph::Storage& storage = graph[tensor.storage];
    const bool isFirst = tensor.producer == graph::kNoOp && !seen[graph::index(tensor.storage)];
    if (!isFirst || storage.carried || !isShared(storage.kind) || program.bufferOf[t] == kNoBuffer) continue;
    seen[graph::index(tensor.storage)] = true;
    visit(Key(storage.kind, storage.path), program[program.bufferOf[t]]);
  }
}

std::string text(const tbem_operand& operand) {
  return fmt::format("{}[{}]", sema::kDTypeNames[static_cast<std::size_t>(operand.dtype)], fmt::join(dimsOf(operand), ", "));
}

bool hasSameShape(const tbem_operand& a, const tbem_operand& b) {
  return a.dtype == b.dtype && std::ranges::equal(dimsOf(a), dimsOf(b));
}

class Linker {
public:
  tl::expected<Linked, std::string> run(std::vector<Function> functions) {
    std::vector<std::vector<const Shared*>> sharedOf;  // by function and allocation; null: its own
    for (const Function& function : functions) {
      sharedOf.push_back(share(function));
      if (!wrong.empty()) return tl::unexpected(wrong);
    }
    Linked linked;
    linked.storages = end;
    for (std::size_t f = 0; f < functions.size(); ++f) {
      place(functions[f].program, sharedOf[f]);
      linked.arena = std::max(linked.arena, functions[f].program.arena);
      linked.programs.push_back(std::move(functions[f].program));
    }
    return linked;
  }

private:
  std::vector<const Shared*> share(const Function& function) {
    const Program& program = function.program;
    std::vector<const Shared*> shared(program.allocations.size(), nullptr);
    visitShared(*function.graph, program, [&](Key key, const Buffer& buffer) {
      const std::uint64_t bytes = program.allocations[buffer.allocation].bytes;
      const auto [entry, isNew] = storages.try_emplace(std::move(key), Shared{end, bytes, buffer.operand, function.name});
      if (isNew) end += alignUp(bytes);
      if (wrong.empty()) wrong = difference(entry->first.second, entry->second, buffer.operand, function.name);
      shared[buffer.allocation] = &entry->second;
    });
    return shared;
  }

  static std::string difference(const std::string& path, const Shared& known, const tbem_operand& operand,
                                const std::string& function) {
    if (!hasSameShape(known.operand, operand)) {
      return fmt::format("`{}` is {} in {} and {} in {}", path, text(known.operand), known.function, text(operand), function);
    }
    if (samePlaces(known.operand, operand)) return {};
    return fmt::format("`{}` has one layout in {} and another in {}", path, known.function, function);
  }

  /// Gives the program's allocations their places: storages where they are for all, its own above all storages.
  void place(Program& program, const std::vector<const Shared*>& shared) const {
    std::uint64_t planned = 0, own = end;  // where temporaries begin: in the program's own plan, and here
    std::vector<std::uint32_t> temporaries;
    for (std::uint32_t a = 0; a < program.allocations.size(); ++a) {
      Allocation& allocation = program.allocations[a];
      if (!allocation.persistent) {
        temporaries.push_back(a);
        continue;
      }
      planned += alignUp(allocation.bytes);
      if (shared[a] != nullptr) {
        allocation.offset = shared[a]->offset;
        continue;
      }
      // An input, or what counts and adds up micro-batches: it lives as long as the function runs.
      const auto steps = static_cast<std::uint32_t>(program.steps.size());
      allocation = {allocation.kind, allocation.bytes, own, 0, std::max(steps, 1U) - 1, false};
      own += alignUp(allocation.bytes);
    }
    for (const std::uint32_t a : temporaries) program.allocations[a].offset += own - planned;
    program.arena += own - planned;
    addForeign(program, shared);
  }

  /// Storages of other functions are there while this one runs.
  void addForeign(Program& program, const std::vector<const Shared*>& shared) const {
    for (const auto& [key, storage] : storages) {
      if (std::ranges::find(shared, &storage) != shared.end()) continue;
      program.kinds[static_cast<std::size_t>(kindOf(key.first))] += storage.bytes;
      program.live += storage.bytes;
    }
    program.gaps = program.arena - std::accumulate(std::begin(program.kinds), std::end(program.kinds), std::uint64_t{0});
  }

  std::map<Key, Shared> storages;
  std::uint64_t end = 0;  ///< of the storages
  std::string wrong;
};

}  // namespace

bool isShared(graph::StorageClass kind) {
  switch (kind) {
    case graph::StorageClass::Weight:
    case graph::StorageClass::State:
    case graph::StorageClass::Buffer:
    case graph::StorageClass::Constant:
      return true;
    case graph::StorageClass::Gradient:
    case graph::StorageClass::Activation:
    case graph::StorageClass::Input:
      return false;
  }
  return false;
}

Places placesOf(const graph::Graph& graph, const Program& program) {
  Places places;
  visitShared(graph, program, [&](Key key, const Buffer& buffer) { places.emplace(std::move(key), buffer.operand); });
  return places;
}

tl::expected<Linked, std::string> link(std::vector<Function> functions) { return Linker().run(std::move(functions)); }

}  // namespace tbem::estimate
