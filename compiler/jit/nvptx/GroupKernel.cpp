#include "compiler/jit/nvptx/GroupKernel.h"

#include "compiler/jit/loop/Types.h"
#include "compiler/jit/nvptx/DeviceKernel.h"
#include "compiler/jit/nvptx/Places.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>

#include <algorithm>
#include <unordered_map>

namespace tbem::jit {
namespace {

using llvm::Value;

constexpr unsigned kGlobalMemory = 1;  // LLVM's number of it on this target

constexpr std::int64_t kLeastPart = 128;   // places, of neighbouring threads
constexpr std::int64_t kMostParts = 4096;  // their table is read again and again: it has to stay near

std::int64_t partsOf(const LoopNest& nest, std::int64_t part) { return (nest.count + part - 1) / part; }

std::int64_t placesIn(const std::vector<const LoopNest*>& nests, std::int64_t part) {
  std::int64_t places = 0;
  for (const LoopNest* nest : nests) places += partsOf(*nest, part) * part;
  return places;
}

/// Places of one loop that are a part: a power of two, the smallest that makes few parts.
std::int64_t partOf(const std::vector<const LoopNest*>& nests) {
  const auto smallest = static_cast<std::int64_t>(nests.size());
  std::int64_t part = kLeastPart;
  while (placesIn(nests, part) / part > std::max(kMostParts, smallest)) part *= 2;
  return part;
}

/// A constant table of the kernel's module.
template <class Number>
llvm::GlobalVariable* addTable(llvm::Module& module, const std::vector<Number>& numbers, const std::string& name) {
  llvm::Constant* values = llvm::ConstantDataArray::get(module.getContext(), numbers);
  return new llvm::GlobalVariable(module, values->getType(), true, llvm::GlobalValue::InternalLinkage, values, name, nullptr,
                                  llvm::GlobalValue::NotThreadLocal, kGlobalMemory);
}

class GroupEmitter {
public:
  GroupEmitter(llvm::Module& module, const std::vector<const LoopNest*>& nests, const std::string& name)
      : module(module), b(module.getContext()), nests(nests), partPlaces(partOf(nests)), name(name) {
    for (const LoopNest* nest : nests) pointers = std::max(pointers, nest->pointers.size());
  }

  tl::expected<llvm::Function*, std::string> run() {
    if (std::string wrong = addBodies(); !wrong.empty()) return tl::unexpected(wrong);
    addTables();
    std::vector<llvm::Type*> parameters{b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty()};
    llvm::Function* kernel = addKernel(module, parameters, name);
    b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", kernel));
    shareOut(b, kernel, kernel->getArg(3), [&](Value* place) { oneOf(kernel, place); });
    b.CreateRetVoid();
    return kernel;
  }

private:
  /// What equal loops do at a place.
  struct Body {
    llvm::Function* atPlace = nullptr;
    std::size_t pointers = 0;
  };

  /// "", or what is wrong.
  std::string addBodies() {
    std::unordered_map<std::string, std::uint64_t> known;
    for (const LoopNest* nest : nests) {
      const auto [at, isNew] = known.try_emplace(kernelKey(*nest), bodies.size());
      bodyOf.push_back(at->second);
      if (!isNew) continue;
      const auto types = inferTypes(*nest);
      if (!types) return types.error();
      const std::string ofBody = fmt::format("{}_place_{}", name, bodies.size());
      bodies.push_back({emitPlace(module, *nest, *types, ofBody), nest->pointers.size()});
    }
    return {};
  }

  /// By part: its loop and its first place; by loop: its offsets in the arena, its count, then what it does.
  void addTables() {
    std::vector<std::uint32_t> ofParts;
    std::vector<std::uint64_t> ofLoops;
    for (std::size_t loop = 0; loop < nests.size(); ++loop) {
      const LoopNest& nest = *nests[loop];
      ofLoops.insert(ofLoops.end(), nest.pointers.begin(), nest.pointers.end());
      ofLoops.resize(loop * ofLoop() + pointers, 0);
      ofLoops.insert(ofLoops.end(), {static_cast<std::uint64_t>(nest.count), bodyOf[loop]});
      for (std::int64_t part = 0; part < partsOf(nest, partPlaces); ++part) {
        ofParts.push_back(static_cast<std::uint32_t>(loop));
        ofParts.push_back(static_cast<std::uint32_t>(part * partPlaces));
      }
    }
    parts = addTable(module, ofParts, name + "_parts");
    loops = addTable(module, ofLoops, name + "_loops");
  }
  Value* read(llvm::GlobalVariable* table, llvm::IntegerType* type, Value* at) {
    const std::uint64_t bytes = type->getBitWidth() / 8;
    return b.CreateZExt(b.CreateAlignedLoad(type, b.CreateInBoundsGEP(type, table, at), llvm::Align(bytes)), b.getInt64Ty());
  }

  /// Numbers of a loop in its table.
  std::size_t ofLoop() const { return pointers + 2; }

  void oneOf(llvm::Function* kernel, Value* place) {
    const auto number = [&](std::size_t value) { return b.getInt64(value); };
    Value* part = b.CreateUDiv(place, b.getInt64(partPlaces));
    Value* entry = b.CreateNUWMul(part, number(2));
    Value* loop = b.CreateNUWMul(read(parts, b.getInt32Ty(), entry), number(ofLoop()));
    Value* first = read(parts, b.getInt32Ty(), b.CreateNUWAdd(entry, number(1)));
    Value* within = b.CreateNUWAdd(first, b.CreateURem(place, b.getInt64(partPlaces)));
    auto* inside = llvm::BasicBlock::Create(module.getContext(), "inside", kernel);
    auto* behind = llvm::BasicBlock::Create(module.getContext(), "behind", kernel);
    Value* count = read(loops, b.getInt64Ty(), b.CreateNUWAdd(loop, number(pointers)));
    b.CreateCondBr(b.CreateICmpULT(within, count), inside, behind);
    b.SetInsertPoint(inside);
    std::vector<Value*> arguments;
    for (std::size_t i = 0; i < pointers; ++i) {
      Value* offset = read(loops, b.getInt64Ty(), b.CreateNUWAdd(loop, number(i)));
      arguments.push_back(b.CreateInBoundsGEP(b.getInt8Ty(), kernel->getArg(0), offset));
    }
    const auto call = [&](const Body& body) {
      std::vector<Value*> own(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(body.pointers));
      own.insert(own.end(), {kernel->getArg(1), kernel->getArg(2), within});
      b.CreateCall(body.atPlace, own);
      b.CreateBr(behind);
    };
    if (bodies.size() == 1) {
      call(bodies.front());
    } else {
      // Neighbouring threads are of one part, and so of one loop.
      Value* which = read(loops, b.getInt64Ty(), b.CreateNUWAdd(loop, number(pointers + 1)));
      llvm::SwitchInst* chosen = b.CreateSwitch(which, behind, static_cast<unsigned>(bodies.size()));
      for (std::size_t i = 0; i < bodies.size(); ++i) {
        auto* body = llvm::BasicBlock::Create(module.getContext(), "body", kernel);
        chosen->addCase(b.getInt64(i), body);
        b.SetInsertPoint(body);
        call(bodies[i]);
      }
    }
    b.SetInsertPoint(behind);
  }

  llvm::Module& module;
  llvm::IRBuilder<> b;
  const std::vector<const LoopNest*>& nests;
  std::int64_t partPlaces;
  const std::string& name;
  std::size_t pointers = 0;           ///< the most that a loop has
  std::vector<Body> bodies;           ///< of loops that differ
  std::vector<std::uint64_t> bodyOf;  ///< by loop
  llvm::GlobalVariable *parts = nullptr, *loops = nullptr;
};

}  // namespace

std::int64_t groupPlaces(const std::vector<const LoopNest*>& nests) { return placesIn(nests, partOf(nests)); }

tl::expected<llvm::Function*, std::string> emitGroupKernel(llvm::Module& module, const std::vector<const LoopNest*>& nests,
                                                           const std::string& name) {
  return GroupEmitter(module, nests, name).run();
}

}  // namespace tbem::jit
