#include "compiler/jit/glue/HostGlue.h"

#include <fmt/format.h>
#include <llvm/IR/IRBuilder.h>

namespace tbem::jit {
namespace {

using estimate::Program;
using estimate::Step;
using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

constexpr unsigned kStepsPerBlock = 32;  // code generation is super-linear in the length of a block

constexpr int kAllThreads = -1;  // of a call or mark outside of parts

/// i32 tbem_step(ptr context, ptr arena, ptr scalars, i64 seed)
/// One class: micro-batches, gates and chunks nest in one function whose builder, counts and exits they share.
class HostGlue {
public:
  HostGlue(llvm::Module& module, const std::vector<LoopReport>& loops, bool marks)
      : module(module), b(module.getContext()), loops(loops), marks(marks) {}

  void run(const Program& program) {
    Type *pointer = b.getPtrTy(), *i64 = b.getInt64Ty(), *i32 = b.getInt32Ty();
    call = module.getOrInsertFunction("tbem_rt_call", llvm::FunctionType::get(i32, {pointer, i32, i64, i64}, false));
    parallel = module.getOrInsertFunction(
        "tbem_rt_parallel", llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, pointer, pointer, i64, i64}, false));
    shared = module.getOrInsertFunction("tbem_rt_parts",
                                        llvm::FunctionType::get(i32, {pointer, pointer, pointer, pointer, i64, i64}, false));
    mark = module.getOrInsertFunction("tbem_rt_mark", llvm::FunctionType::get(b.getVoidTy(), {pointer, i32, i64}, false));
    step = llvm::Function::Create(llvm::FunctionType::get(i32, {pointer, pointer, pointer, i64}, false),
                                  llvm::Function::ExternalLinkage, "tbem_step", module);
    b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", step));
    zeroCounts(program);
    const auto& micro = program.micro;
    if (micro.parts > 1) beginMicroBatches(program);
    part = number(kAllThreads);
    std::uint32_t branch = 0;
    auto chunk = program.chunks.begin();
    for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
      if (micro.parts > 1 && i == micro.steps) endMicroBatch(program);
      if (program.steps[i].branch != branch) {
        leave();
        branch = program.steps[i].branch;
        if (branch != 0) enter(program, branch);
      }
      if (chunk != program.chunks.end() && chunk->first == i) {
        chunked(program, *chunk);
        i = chunk++->last;
      } else {
        oneStep(program, i);
      }
    }
    leave();
    if (micro.parts > 1 && program.steps.size() == micro.steps) endMicroBatch(program);
    b.CreateRet(b.getInt32(TBEM_OK));
  }

private:
  Value* placeOf(const Program& program, estimate::BufferId buffer) {
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), step->getArg(1), program.allocations[program[buffer].allocation].offset);
  }
  bool inPart() const { return !llvm::isa<llvm::ConstantInt>(part); }

  void oneStep(const Program& program, std::uint32_t at) {
    const Step& s = program.steps[at];
    if (s.kind == Step::Kind::Call) {
      nativeCall(s.index, !program.calls[s.index].sizes.empty());
      inBlock = 0;
    } else {
      if (++inBlock % kStepsPerBlock == 0) jumpTo("part");
      loop(s.index);
    }
    if (marks) b.CreateCall(mark, {step->getArg(0), b.getInt32(at), part});
  }
  BasicBlock* jumpTo(const char* name) {
    auto* next = BasicBlock::Create(module.getContext(), name, step);
    b.CreateBr(next);
    b.SetInsertPoint(next);
    inBlock = 0;
    return next;
  }

  /// What follows runs once for each micro-batch.
  void beginMicroBatches(const Program& program) {
    for (const estimate::BufferId sum : program.micro.zeroed)
      b.CreateMemSet(placeOf(program, sum), b.getInt8(0), program[sum].operand.layout.bytes, llvm::Align(64));
    BasicBlock* before = b.GetInsertBlock();
    microBatch = BasicBlock::Create(module.getContext(), "micro_batch", step);
    b.CreateBr(microBatch);
    b.SetInsertPoint(microBatch);
    microNumber = b.CreatePHI(b.getInt64Ty(), 2);
    microNumber->addIncoming(b.getInt64(0), before);
    b.CreateAlignedStore(microNumber, placeOf(program, program.micro.number), llvm::Align(8));
  }
  void endMicroBatch(const Program& program) {
    for (const auto& one : program.micro.collected) {
      const std::uint64_t rows = program[one.from].operand.layout.bytes;
      const auto moved = [&](Value* base) {
        return b.CreateInBoundsGEP(b.getInt8Ty(), base, b.CreateMul(microNumber, b.getInt64(rows)));
      };
      Value* from = placeOf(program, one.from);
      if (program[one.from].window) from = moved(from);
      b.CreateMemCpy(moved(placeOf(program, one.to)), llvm::Align(1), from, llvm::Align(1), rows);
    }
    Value* next = b.CreateAdd(microNumber, b.getInt64(1));
    microNumber->addIncoming(next, b.GetInsertBlock());
    auto* after = BasicBlock::Create(module.getContext(), "once", step);
    const auto parts = static_cast<std::uint64_t>(program.micro.parts);
    b.CreateCondBr(b.CreateICmpSLT(next, b.getInt64(parts)), microBatch, after);
    b.SetInsertPoint(after);
    b.CreateAlignedStore(b.getInt64(0), placeOf(program, program.micro.number), llvm::Align(8));
  }
  /// Where the number of a branch's samples is kept.
  Value* countOf(const Program& program, std::uint32_t branch) { return placeOf(program, program.branches[branch].rows); }
  /// A gate that is not reached leaves its branches without samples.
  void zeroCounts(const Program& program) {
    for (std::uint32_t i = 1; i < program.branches.size(); ++i)
      b.CreateAlignedStore(b.getInt64(0), countOf(program, i), llvm::Align(8));
  }
  /// What follows runs where the branch has samples.
  void enter(const Program& program, std::uint32_t branch) {
    samples = b.CreateAlignedLoad(b.getInt64Ty(), countOf(program, branch), llvm::Align(8));
    auto* inside = BasicBlock::Create(module.getContext(), "branch", step);
    after = BasicBlock::Create(module.getContext(), "after", step);
    b.CreateCondBr(b.CreateICmpSGT(samples, b.getInt64(0)), inside, after);
    b.SetInsertPoint(inside);
  }
  void leave() {
    if (after == nullptr) return;
    b.CreateBr(after);
    b.SetInsertPoint(after);
    after = nullptr;
    samples = nullptr;
  }

  /// The steps of a chunk: each thread takes its own samples through them; then all run them for what is left over.
  void chunked(const Program& program, const estimate::Chunk& chunk) {
    Value* all = samples;
    if (chunk.threads == 1) {
      rounds(program, chunk, number(0), all);
    } else {
      Value* each = b.CreateUDiv(all, number(chunk.threads));
      ifBelow(number(0), each, [&] { shareOut(program, chunk, each); });
      Value* done = b.CreateNSWMul(each, number(chunk.threads));
      ifBelow(done, all, [&] { rounds(program, chunk, done, all); });
    }
    samples = all;
  }
  template <class Body>
  void ifBelow(Value* low, Value* high, const Body& body) {
    auto* inside = BasicBlock::Create(module.getContext(), "some", step);
    auto* behind = BasicBlock::Create(module.getContext(), "behind", step);
    b.CreateCondBr(b.CreateICmpSLT(low, high), inside, behind);
    b.SetInsertPoint(inside);
    body();
    b.CreateBr(behind);
    b.SetInsertPoint(behind);
    inBlock = 0;
  }

  /// Runs a function of its own for every thread: `each` samples, in rounds.
  void shareOut(const Program& program, const estimate::Chunk& chunk, Value* each) {
    llvm::Function* outer = step;
    BasicBlock* before = b.GetInsertBlock();
    Type *pointer = b.getPtrTy(), *i64 = b.getInt64Ty();
    step = llvm::Function::Create(llvm::FunctionType::get(b.getInt32Ty(), {pointer, pointer, pointer, i64, i64, i64}, false),
                                  llvm::Function::InternalLinkage, fmt::format("tbem_part_{}", chunk.first), module);
    b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", step));
    part = step->getArg(4);
    Value* from = b.CreateNSWMul(part, step->getArg(5));
    rounds(program, chunk, from, b.CreateNSWAdd(from, step->getArg(5)));
    b.CreateRet(b.getInt32(TBEM_OK));
    llvm::Function* code = step;
    step = outer;
    part = number(kAllThreads);
    b.SetInsertPoint(before);
    returnFailure(b.CreateCall(shared, {step->getArg(0), code, step->getArg(1), step->getArg(2), step->getArg(3), each}));
    // Waiting for the other threads counts as the last step's.
    if (marks) b.CreateCall(mark, {step->getArg(0), b.getInt32(chunk.last), part});
  }

  /// The steps for the branch's samples [from, to), for some of them at a time, whose lists are made first.
  void rounds(const Program& program, const estimate::Chunk& chunk, Value* from, Value* to) {
    BasicBlock* before = b.GetInsertBlock();
    BasicBlock* round = jumpTo("round");
    llvm::PHINode* done = b.CreatePHI(b.getInt64Ty(), 2, "done");
    done->addIncoming(from, before);
    const std::int64_t most = inPart() ? chunk.samples : chunk.samples * chunk.threads;
    samples = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWSub(to, done), number(most));
    const estimate::Branch& branch = program.branches[chunk.branch];
    for (const auto& [source, target] : {std::pair{branch.rows, chunk.rows}, std::pair{branch.origin, chunk.origin}}) {
      if (target != estimate::kNoBuffer) copyList(program, source, target, done);
    }
    for (std::uint32_t i = chunk.first; i <= chunk.last; ++i) oneStep(program, i);
    Value* reached = b.CreateNSWAdd(done, samples);
    done->addIncoming(reached, b.GetInsertBlock());
    auto* behind = BasicBlock::Create(module.getContext(), "behind", step);
    b.CreateCondBr(b.CreateICmpSLT(reached, to), round, behind);
    b.SetInsertPoint(behind);
  }
  void copyList(const Program& program, estimate::BufferId source, estimate::BufferId target, Value* done) {
    Value *from = placeOf(program, source), *to = placeOf(program, target);
    if (inPart()) to = b.CreateInBoundsGEP(b.getInt8Ty(), to, b.CreateMul(part, b.getInt64(program[target].part)));
    b.CreateAlignedStore(samples, to, llvm::Align(8));
    b.CreateMemCpy(b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), to, 1), llvm::Align(8),
                   b.CreateInBoundsGEP(b.getInt64Ty(), from, b.CreateNSWAdd(done, number(1))), llvm::Align(8),
                   b.CreateNSWMul(samples, number(8)));
  }

  void nativeCall(std::uint32_t index, bool perSample) {
    returnFailure(b.CreateCall(call, {step->getArg(0), b.getInt32(index), perSample ? samples : b.getInt64(0), part}));
  }
  void returnFailure(Value* status) {
    auto* failed = BasicBlock::Create(module.getContext(), "failed", step);
    auto* next = BasicBlock::Create(module.getContext(), "next", step);
    b.CreateCondBr(b.CreateICmpEQ(status, b.getInt32(TBEM_OK)), next, failed);
    b.SetInsertPoint(failed);
    b.CreateRet(status);
    b.SetInsertPoint(next);
  }

  void loop(std::uint32_t index) {
    const LoopReport& report = loops[index];
    if (report.count == 0) return;
    llvm::Function* function = module.getFunction(inPart() ? partLoopName(index) : loopName(index));
    Value *arena = step->getArg(1), *scalars = step->getArg(2), *seed = step->getArg(3),
          *count = b.getInt64(static_cast<std::uint64_t>(report.count));
    if (report.perSample.unit != 0) count = countFor(report.perSample);
    const auto direct = [&] { b.CreateCall(function, {arena, scalars, seed, b.getInt64(0), count}); };
    const auto onThreads = [&] { b.CreateCall(parallel, {step->getArg(0), function, arena, scalars, seed, count}); };
    if (inPart()) {
      b.CreateCall(function, {arena, scalars, seed, b.getInt64(0), count, part});
      return;
    }
    if (!report.parallel) return direct();
    if (report.perSample.unit == 0) return onThreads();
    auto* few = BasicBlock::Create(module.getContext(), "few", step);
    auto* many = BasicBlock::Create(module.getContext(), "many", step);
    auto* done = BasicBlock::Create(module.getContext(), "done", step);
    b.CreateCondBr(b.CreateICmpSLT(samples, number(report.perSample.threadsFrom)), few, many);
    b.SetInsertPoint(few);
    direct();
    b.CreateBr(done);
    b.SetInsertPoint(many);
    onThreads();
    b.CreateBr(done);
    b.SetInsertPoint(done);
  }
  Value* number(std::int64_t value) { return b.getInt64(static_cast<std::uint64_t>(value)); }
  Value* countFor(const PerSample& loop) {
    Value* items = b.CreateMul(samples, number(loop.unit));
    return loop.chunk == 1 ? items : b.CreateUDiv(b.CreateAdd(items, number(loop.chunk - 1)), number(loop.chunk));
  }

  llvm::Module& module;
  llvm::IRBuilder<> b;
  const std::vector<LoopReport>& loops;
  bool marks;
  llvm::FunctionCallee call, parallel, shared, mark;
  llvm::Function* step = nullptr;        ///< or one thread's part of a chunk; the first four arguments are the same
  unsigned inBlock = 0;                  ///< steps in the basic block at hand
  Value* samples = nullptr;              ///< of the branch at hand, or of the round
  BasicBlock* after = nullptr;           ///< behind the branch at hand; null among all samples
  Value* part = nullptr;                 ///< the thread whose part of a chunk this is; a constant outside of parts
  BasicBlock* microBatch = nullptr;      ///< where the next one begins
  llvm::PHINode* microNumber = nullptr;  ///< the number of the one at hand
};

}  // namespace

std::string loopName(std::uint32_t index) { return fmt::format("tbem_loop_{}", index); }
std::string partLoopName(std::uint32_t index) { return loopName(index) + "_part"; }

void emitHostStep(llvm::Module& module, const Program& program, const std::vector<LoopReport>& loops, bool marks) {
  HostGlue(module, loops, marks).run(program);
}

}  // namespace tbem::jit
