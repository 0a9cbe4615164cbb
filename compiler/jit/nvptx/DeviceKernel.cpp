#include "compiler/jit/nvptx/DeviceKernel.h"

#include "compiler/count/Layout.h"
#include "compiler/jit/cpu/LoopBody.h"
#include "compiler/jit/loop/Tables.h"
#include "compiler/jit/nvptx/Places.h"

#include <llvm/IR/IRBuilder.h>

#include <limits>

namespace tbem::jit {
namespace {

using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

/// Where a place is less than eight bytes, so many of them that a thread has as much on its way.
std::uint64_t placesTogether(const LoopNest& nest) {
  constexpr std::uint64_t kEnough = 8;
  std::uint64_t bytes = 0;
  for (const LoopOutput& output : nest.outputs) bytes += estimate::elementBytes(output.dtype);
  for (const LoopOperand& input : nest.inputs) {
    const bool isSame = input.indirect.empty() && (input.offset.stride.empty() || input.offset.stride.back() == 0);
    if (!isSame) bytes += estimate::elementBytes(input.dtype);  // one for a whole row is in the cache
  }
  bytes *= static_cast<std::uint64_t>(nest.width);
  return bytes == 0 || bytes >= kEnough ? 1 : kEnough / bytes;
}

class DeviceEmitter {
public:
  DeviceEmitter(llvm::Module& module, const LoopNest& nest, const std::vector<NodeType>& types)
      : module(module), b(module.getContext()), nest(nest), body(b, nest, types, findTables(nest, types), false) {}

  llvm::Function* run(const std::string& name) {
    std::vector<Type*> parameters = ownParameters();
    if (nest.elements != 0) parameters.push_back(b.getInt64Ty());
    begin(addKernel(module, parameters, name));
    shareOut(
        b, function, argument(2), [&](Value* place) { body.atPlace(positionOf(place), static_cast<unsigned>(nest.width)); },
        placesTogether(nest));
    b.CreateRetVoid();
    return function;
  }

  llvm::Function* runAtPlace(const std::string& name) {
    std::vector<Type*> parameters = ownParameters();
    parameters.insert(parameters.end(), nest.given.size(), b.getDoubleTy());
    auto* type = llvm::FunctionType::get(b.getVoidTy(), parameters, false);
    llvm::Function* callee = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module);
    for (unsigned i = 0; i <= nest.pointers.size(); ++i) callee->addParamAttr(i, llvm::Attribute::NoAlias);
    callee->addFnAttr(llvm::Attribute::AlwaysInline);
    std::vector<Value*> given;
    for (std::size_t i = 0; i < nest.given.size(); ++i)
      given.push_back(callee->getArg(static_cast<unsigned>(nest.pointers.size() + 3 + i)));
    begin(callee, given);
    body.atPlace(positionOf(argument(2)), static_cast<unsigned>(nest.width));
    b.CreateRetVoid();
    return function;
  }

private:
  /// Pointers, scalars, the seed, and how many places there are or which is meant.
  std::vector<Type*> ownParameters() {
    std::vector<Type*> parameters(nest.pointers.size() + 1, b.getPtrTy());
    parameters.insert(parameters.end(), 2, b.getInt64Ty());
    return parameters;
  }
  void begin(llvm::Function* of, const std::vector<Value*>& given = {}) {
    function = of;
    function->addParamAttr(static_cast<unsigned>(nest.pointers.size()), llvm::Attribute::ReadOnly);
    b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", function));
    body.begin(function, argument(0), argument(1), given);
  }
  Value* argument(std::size_t behindPointers) {
    return function->getArg(static_cast<unsigned>(nest.pointers.size() + behindPointers));
  }

  /// A card divides 64-bit numbers in some seventy instructions, and 32-bit numbers by a constant in three.
  Position positionOf(Value* place) {
    Position at = body.origin();
    if (nest.elements != 0) at.number = argument(3);
    const bool narrow = nest.count <= std::numeric_limits<std::int32_t>::max() && !nest.isOneRow();
    Type* type = narrow ? b.getInt32Ty() : b.getInt64Ty();
    Value* left = b.CreateTrunc(place, type);
    const std::size_t inner = nest.trips.size() - 1;
    for (std::size_t v = nest.trips.size(); v-- > 0;) {
      const std::int64_t width = v == inner ? nest.width : 1;
      Value* trips = llvm::ConstantInt::get(type, static_cast<std::uint64_t>(nest.trips[v] / width));
      Value* value = v == 0 ? left : b.CreateURem(left, trips);
      if (v != 0) left = b.CreateUDiv(left, trips);
      value = b.CreateZExt(value, b.getInt64Ty());
      if (width > 1) value = b.CreateNSWMul(value, b.getInt64(static_cast<std::uint64_t>(width)));
      at = body.advance(at, v, value);
      if (v == 0) body.findRows(value);
    }
    return at;
  }

  llvm::Module& module;
  Builder b;
  const LoopNest& nest;
  LoopBody body;
  llvm::Function* function = nullptr;
};

}  // namespace

llvm::Function* emitDeviceKernel(llvm::Module& module, const LoopNest& nest, const std::vector<NodeType>& types,
                                 const std::string& name) {
  return DeviceEmitter(module, nest, types).run(name);
}

llvm::Function* emitPlace(llvm::Module& module, const LoopNest& nest, const std::vector<NodeType>& types,
                          const std::string& name) {
  return DeviceEmitter(module, nest, types).runAtPlace(name);
}

}  // namespace tbem::jit
