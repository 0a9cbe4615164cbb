#include "compiler/jit/nvptx/GroupKernel.h"

#include "compiler/jit/nvptx/DeviceKernel.h"
#include "compiler/jit/nvptx/Places.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>

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
      : module(module),
        b(module.getContext()),
        nests(nests),
        partPlaces(partOf(nests)),
        pointers(nests.front()->pointers.size()),
        name(name) {}

  llvm::Function* run(llvm::Function* atPlace) {
    addTables();
    std::vector<llvm::Type*> parameters{b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getInt64Ty()};
    llvm::Function* kernel = addKernel(module, parameters, name);
    b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", kernel));
    shareOut(b, kernel, kernel->getArg(3), [&](Value* place) { oneOf(kernel, atPlace, place); });
    b.CreateRetVoid();
    return kernel;
  }

private:
  /// By part: its loop and its first place; by loop: its offsets in the arena, then its count.
  void addTables() {
    std::vector<std::uint32_t> ofParts;
    std::vector<std::uint64_t> ofLoops;
    for (std::size_t loop = 0; loop < nests.size(); ++loop) {
      const LoopNest& nest = *nests[loop];
      ofLoops.insert(ofLoops.end(), nest.pointers.begin(), nest.pointers.end());
      ofLoops.push_back(static_cast<std::uint64_t>(nest.count));
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

  void oneOf(llvm::Function* kernel, llvm::Function* atPlace, Value* place) {
    const auto number = [&](std::size_t value) { return b.getInt64(value); };
    Value* part = b.CreateUDiv(place, b.getInt64(partPlaces));
    Value* entry = b.CreateNUWMul(part, number(2));
    Value* loop = b.CreateNUWMul(read(parts, b.getInt32Ty(), entry), number(pointers + 1));
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
    arguments.insert(arguments.end(), {kernel->getArg(1), kernel->getArg(2), within});
    b.CreateCall(atPlace, arguments);
    b.CreateBr(behind);
    b.SetInsertPoint(behind);
  }

  llvm::Module& module;
  llvm::IRBuilder<> b;
  const std::vector<const LoopNest*>& nests;
  std::int64_t partPlaces;
  std::size_t pointers;
  const std::string& name;
  llvm::GlobalVariable *parts = nullptr, *loops = nullptr;
};

}  // namespace

std::int64_t groupPlaces(const std::vector<const LoopNest*>& nests) { return placesIn(nests, partOf(nests)); }

llvm::Function* emitGroupKernel(llvm::Module& module, const std::vector<const LoopNest*>& nests,
                                const std::vector<NodeType>& types, const std::string& name) {
  llvm::Function* atPlace = emitPlace(module, *nests.front(), types, name + "_place");
  return GroupEmitter(module, nests, name).run(atPlace);
}

}  // namespace tbem::jit
