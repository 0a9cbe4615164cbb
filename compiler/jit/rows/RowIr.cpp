#include "compiler/jit/rows/RowIr.h"

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>

#include <limits>
#include <vector>

namespace tbem::jit {

using sema::ExprId;
using sema::ExprNode;
using sema::ExprOp;

namespace {

/// Powers are products.
constexpr std::int64_t kLargestPower = 16;

class Emitter {
public:
  Emitter(llvm::IRBuilder<>& b, const sema::ExprPool& pool) : b(b), pool(pool), values(pool.size(), nullptr) {
    type = llvm::FixedVectorType::get(b.getDoubleTy(), kRowLanes);
    without = real(std::numeric_limits<double>::infinity());
    zero = real(0);
    one = real(1);
    largest = zero;
  }

  /// What has no code, in words.
  tl::expected<void, std::string> emit(std::span<const ExprId> roots, llvm::Value* levels) {
    std::vector<bool> wanted(pool.size(), false);
    for (const ExprId root : roots) wanted[slot(root)] = true;
    for (std::size_t i = pool.size(); i-- > 0;) {
      if (!wanted[i]) continue;
      const ExprNode& node = pool[static_cast<ExprId>(i)];
      for (const ExprId operand : {node.a, node.b, node.c}) {
        if (operand != sema::kNoExpr) wanted[slot(operand)] = true;
      }
    }
    for (std::size_t i = 0; i < pool.size(); ++i) {
      if (!wanted[i]) continue;
      const auto id = static_cast<ExprId>(i);
      values[i] = valueOf(pool[id], levels);
      if (values[i] == nullptr) return tl::unexpected(fmt::format("`{}` has no code for many rows", pool.str(id)));
    }
    return {};
  }

  llvm::Value* of(ExprId id) const { return values[slot(id)]; }
  llvm::VectorType* vector() const { return type; }
  llvm::Value* largestWhole() const { return largest; }

private:
  static std::size_t slot(ExprId id) { return static_cast<std::uint32_t>(id); }
  llvm::Value* real(double value) { return llvm::ConstantFP::get(type, value); }
  bool whole(const ExprNode& node) const { return pool.isWhole(node.a) && pool.isWhole(node.b); }

  llvm::Value* valueOf(const ExprNode& node, llvm::Value* levels) {
    if (node.op == ExprOp::Constant) {
      const auto number = node.value.exactDouble();
      return number ? real(*number) : nullptr;
    }
    if (node.op != ExprOp::Symbol) return operation(node);
    llvm::Value* place = b.CreateConstInBoundsGEP1_64(type, levels, static_cast<std::uint32_t>(node.symbol));
    llvm::Value* level = b.CreateAlignedLoad(type, place, llvm::Align(sizeof(double)));
    return unless(b.CreateFCmpUNO(level, zero), level);
  }

  llvm::Value* operation(const ExprNode& node) {
    switch (node.op) {
      case ExprOp::Add:
        return whole(node) ? watched(b.CreateFAdd(of(node.a), of(node.b))) : sum(of(node.a), of(node.b));
      case ExprOp::Sub:
        return whole(node) ? watched(b.CreateFSub(of(node.a), of(node.b))) : sum(of(node.a), b.CreateFNeg(of(node.b)));
      case ExprOp::Mul:
        return product(of(node.a), of(node.b), whole(node));
      case ExprOp::Divide:
        return quotient(of(node.a), of(node.b));
      case ExprOp::FloorDiv:
        return floorQuotient(node, false);
      case ExprOp::CeilDiv:
        return floorQuotient(node, true);
      case ExprOp::Mod:
        return remainder(node);
      case ExprOp::Power:
        return power(node);
      case ExprOp::Min:
        return b.CreateSelect(b.CreateFCmpOLT(of(node.a), of(node.b)), of(node.a), of(node.b));
      case ExprOp::Max:
        return b.CreateSelect(b.CreateFCmpOGT(of(node.a), of(node.b)), of(node.a), of(node.b));
      case ExprOp::Equal:
      case ExprOp::Less:
      case ExprOp::LessEqual:
        return comparison(node.op, of(node.a), of(node.b));
      case ExprOp::And:
        return b.CreateSelect(b.CreateFCmpUNE(of(node.a), zero), truth(node.b), zero);
      case ExprOp::Or:
        return b.CreateSelect(b.CreateFCmpUNE(of(node.a), zero), one, truth(node.b));
      case ExprOp::Not:
        return b.CreateFSub(one, truth(node.a));
      case ExprOp::Select:
        return b.CreateSelect(b.CreateFCmpUNE(of(node.a), zero), of(node.b), of(node.c));
      default:
        return nullptr;  // Step
    }
  }

  llvm::Value* watched(llvm::Value* value) {
    llvm::Value* magnitude = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
    largest = b.CreateSelect(b.CreateFCmpOGT(magnitude, largest), magnitude, largest);
    return value;
  }
  /// The value, in rows where it is exact; the others are marked.
  llvm::Value* unless(llvm::Value* bad, llvm::Value* value) {
    largest = b.CreateSelect(bad, without, largest);
    return value;
  }
  llvm::Value* fused(llvm::Value* x, llvm::Value* y, llvm::Value* z) {
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {x, y, z});
  }

  llvm::Value* sum(llvm::Value* x, llvm::Value* y) {
    llvm::Value* total = b.CreateFAdd(x, y);
    llvm::Value* second = b.CreateFSub(total, x);
    llvm::Value* lost = b.CreateFAdd(b.CreateFSub(x, b.CreateFSub(total, second)), b.CreateFSub(y, second));
    return unless(b.CreateFCmpUNE(lost, zero), total);
  }

  llvm::Value* product(llvm::Value* x, llvm::Value* y, bool wholes) {
    llvm::Value* made = b.CreateFMul(x, y);
    if (wholes) return watched(made);
    return unless(b.CreateFCmpUNE(fused(x, y, b.CreateFNeg(made)), zero), made);
  }

  llvm::Value* quotient(llvm::Value* x, llvm::Value* y) {
    llvm::Value* made = b.CreateFDiv(x, y);
    return unless(b.CreateFCmpUNE(fused(made, y, b.CreateFNeg(x)), zero), made);  // of x / 0 too
  }

  /// floor(x / y). Of whole numbers below 2^53 the rounded quotient never reaches the next whole number: they differ by at least
  /// 1 / y, which is more than half a unit in the last place of x / y. Of fractions what is left, x - y * floor, must lie in [0,
  /// y).
  llvm::Value* floored(llvm::Value* x, llvm::Value* y, bool wholes) {
    llvm::Value* down = b.CreateUnaryIntrinsic(llvm::Intrinsic::floor, b.CreateFDiv(x, y));
    if (wholes) return unless(b.CreateFCmpUEQ(y, zero), down);
    llvm::Value* left = fused(b.CreateFNeg(down), y, x);
    llvm::Value* fits = b.CreateAnd(b.CreateFCmpOGE(left, zero), b.CreateFCmpOLT(left, y));
    return watched(unless(b.CreateNot(fits), down));
  }

  /// ceil(x / y) is -floor(-x / y).
  llvm::Value* floorQuotient(const ExprNode& node, bool up) {
    llvm::Value* x = up ? b.CreateFNeg(of(node.a)) : of(node.a);
    llvm::Value* made = floored(x, of(node.b), whole(node));
    return up ? b.CreateFNeg(made) : made;
  }

  llvm::Value* remainder(const ExprNode& node) {
    if (!whole(node)) return nullptr;
    llvm::Value* down = floored(of(node.a), of(node.b), true);
    return b.CreateFSub(of(node.a), b.CreateFMul(down, of(node.b)));  // no part is larger than the operands
  }

  llvm::Value* power(const ExprNode& node) {
    const auto exponent = pool.constantValue(node.b);
    if (!exponent || !exponent->isInt() || exponent->num < 1 || exponent->num > kLargestPower) return nullptr;
    llvm::Value* made = of(node.a);
    for (std::int64_t i = 1; i < exponent->num; ++i) made = product(made, of(node.a), pool.isWhole(node.a));
    return made;
  }

  llvm::Value* comparison(ExprOp op, llvm::Value* x, llvm::Value* y) {
    llvm::Value* met = op == ExprOp::Equal  ? b.CreateFCmpOEQ(x, y)
                       : op == ExprOp::Less ? b.CreateFCmpOLT(x, y)
                                            : b.CreateFCmpOLE(x, y);
    return b.CreateSelect(met, one, zero);
  }

  /// 0 or 1.
  llvm::Value* truth(ExprId id) {
    llvm::Value* value = of(id);
    if (sema::isTruth(pool[id].op)) return value;
    return b.CreateSelect(b.CreateFCmpUNE(value, zero), one, zero);
  }

  llvm::IRBuilder<>& b;
  const sema::ExprPool& pool;
  std::vector<llvm::Value*> values;
  llvm::VectorType* type = nullptr;
  llvm::Value *without = nullptr, *zero = nullptr, *one = nullptr, *largest = nullptr;
};

}  // namespace

tl::expected<void, std::string> emitRows(llvm::Module& module, const sema::ExprPool& pool, std::span<const ExprId> roots) {
  llvm::LLVMContext& context = module.getContext();
  llvm::IRBuilder<> b(context);
  auto* pointer = llvm::PointerType::getUnqual(context);
  auto* signature = llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, b.getInt64Ty()}, false);
  auto* function = llvm::Function::Create(signature, llvm::Function::ExternalLinkage, kRowFunction, module);
  auto* entry = llvm::BasicBlock::Create(context, "entry", function);
  auto* block = llvm::BasicBlock::Create(context, "block", function);
  auto* end = llvm::BasicBlock::Create(context, "end", function);
  b.SetInsertPoint(entry);
  b.CreateCondBr(b.CreateICmpSGT(function->getArg(2), b.getInt64(0)), block, end);
  b.SetInsertPoint(block);
  llvm::PHINode* number = b.CreatePHI(b.getInt64Ty(), 2, "number");
  number->addIncoming(b.getInt64(0), entry);
  Emitter emitter(b, pool);
  const auto at = [&](llvm::Value* base, std::size_t vectors) {
    return b.CreateInBoundsGEP(emitter.vector(), base, b.CreateMul(number, b.getInt64(vectors)));
  };
  if (auto ok = emitter.emit(roots, at(function->getArg(0), pool.symbolCount())); !ok) return ok;
  llvm::Value* results = at(function->getArg(1), roots.size() + 1);
  const auto store = [&](llvm::Value* value, std::size_t root) {
    b.CreateAlignedStore(value, b.CreateConstInBoundsGEP1_64(emitter.vector(), results, root), llvm::Align(sizeof(double)));
  };
  for (std::size_t root = 0; root < roots.size(); ++root) store(emitter.of(roots[root]), root);
  store(emitter.largestWhole(), roots.size());
  llvm::Value* next = b.CreateAdd(number, b.getInt64(1));
  number->addIncoming(next, block);
  b.CreateCondBr(b.CreateICmpSLT(next, function->getArg(2)), block, end);
  b.SetInsertPoint(end);
  b.CreateRetVoid();
  return {};
}

}  // namespace tbem::jit
