#include "compiler/jit/glue/DeviceGlue.h"

#include <llvm/IR/IRBuilder.h>

#include <algorithm>

namespace tbem::jit {
namespace {

using estimate::BufferId;
using estimate::Program;
using estimate::Step;
using llvm::BasicBlock;
using llvm::Type;
using llvm::Value;

/// i32 tbem_step(ptr context, ptr arena, ptr scalars, i64 seed); `arena` and `scalars` are addresses of the device.
/// One class: micro-batches and branches nest in one function whose builder, counts and exits they share.
class DeviceGlue {
public:
  DeviceGlue(llvm::Module& module, const Program& program, const DeviceLoops& loops, bool marks)
      : module(module), b(module.getContext()), program(program), loops(loops), marks(marks) {}

  void run() {
    Type *pointer = b.getPtrTy(), *i64 = b.getInt64Ty(), *i32 = b.getInt32Ty();
    const auto declare = [&](const char* name, Type* result, const std::vector<Type*>& parameters) {
      return module.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
    };
    call = declare("tbem_rt_call", i32, {pointer, i32, i64, i64});
    launch = declare("tbem_rt_launch", i32, {pointer, i32, pointer, i32, i64, i32});
    zero = declare("tbem_rt_zero", i32, {pointer, pointer, i64});
    move = declare("tbem_rt_move", i32, {pointer, pointer, pointer, i64});
    count = declare("tbem_rt_count", i32, {pointer, pointer, pointer});
    join = declare("tbem_rt_join", i32, {pointer});
    micro = declare("tbem_rt_micro_batch", i32, {pointer, i64});
    mark = declare("tbem_rt_mark", b.getVoidTy(), {pointer, i32, i64});
    step = llvm::Function::Create(llvm::FunctionType::get(i32, {pointer, pointer, pointer, i64}, false),
                                  llvm::Function::ExternalLinkage, "tbem_step", module);
    b.SetInsertPoint(block("entry"));
    makeRoom();
    for (std::size_t i = 1; i < program.branches.size(); ++i)
      ask(zero, {context(), placeOf(program.branches[i].rows), number(sizeof(std::int64_t))});
    if (program.micro.parts > 1) beginMicroBatches();
    std::uint32_t branch = 0;
    for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
      if (program.micro.parts > 1 && i == program.micro.steps) endMicroBatch();
      if (program.steps[i].branch != branch) {
        leave();
        branch = program.steps[i].branch;
        if (branch != 0) enter(branch);
      }
      oneStep(i);
    }
    leave();
    if (program.micro.parts > 1 && program.steps.size() == program.micro.steps) endMicroBatch();
    b.CreateRet(b.getInt32(TBEM_OK));
  }

private:
  Value* context() { return step->getArg(0); }
  Value* number(std::uint64_t value) { return b.getInt64(value); }
  BasicBlock* block(const char* name) { return BasicBlock::Create(module.getContext(), name, step); }
  Value* placeAt(std::uint64_t offset) { return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), step->getArg(1), offset); }
  Value* placeOf(BufferId buffer) { return placeAt(program.allocations[program[buffer].allocation].offset); }
  Value* moved(Value* base, Value* times, std::uint64_t bytes) {
    return b.CreateInBoundsGEP(b.getInt8Ty(), base, b.CreateMul(times, number(bytes)));
  }

  /// For the arguments of any launch, and a count of samples.
  void makeRoom() {
    std::size_t most = 0;
    for (const DeviceLoop& loop : loops.loops) most = std::max(most, loop.nest.pointers.size());
    for (const DeviceRun& run : loops.runs) most = std::max(most, run.pointers.size());
    constexpr std::size_t kBehindPointers = 5;
    arguments = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), most + kBehindPointers));
    samplesAt = b.CreateAlloca(b.getInt64Ty());
  }

  /// Asks the runtime, and ends the step where that fails.
  void ask(llvm::FunctionCallee function, llvm::ArrayRef<Value*> parameters) {
    Value* status = b.CreateCall(function, parameters);
    BasicBlock *failed = block("failed"), *next = block("next");
    b.CreateCondBr(b.CreateICmpEQ(status, b.getInt32(TBEM_OK)), next, failed);
    b.SetInsertPoint(failed);
    b.CreateRet(status);
    b.SetInsertPoint(next);
  }

  void beginMicroBatches() {
    for (const BufferId sum : program.micro.zeroed)
      ask(zero, {context(), placeOf(sum), number(program[sum].operand.layout.bytes)});
    BasicBlock* before = b.GetInsertBlock();
    microBatch = block("micro_batch");
    b.CreateBr(microBatch);
    b.SetInsertPoint(microBatch);
    microNumber = b.CreatePHI(b.getInt64Ty(), 2);
    microNumber->addIncoming(number(0), before);
    atMicroBatch = microNumber;
    ask(micro, {context(), microNumber});
  }
  void endMicroBatch() {
    for (const auto& collected : program.micro.collected) {
      const std::uint64_t rows = program[collected.from].operand.layout.bytes;
      Value* from = placeOf(collected.from);
      if (program[collected.from].window) from = moved(from, microNumber, rows);
      ask(move, {context(), moved(placeOf(collected.to), microNumber, rows), from, number(rows)});
    }
    Value* next = b.CreateAdd(microNumber, number(1));
    microNumber->addIncoming(next, b.GetInsertBlock());
    BasicBlock* once = block("once");
    b.CreateCondBr(b.CreateICmpSLT(next, number(static_cast<std::uint64_t>(program.micro.parts))), microBatch, once);
    b.SetInsertPoint(once);
    atMicroBatch = nullptr;
    ask(micro, {context(), number(0)});
  }

  /// What follows runs where the branch has samples.
  void enter(std::uint32_t branch) {
    ask(count, {context(), placeOf(program.branches[branch].rows), samplesAt});
    samples = b.CreateAlignedLoad(b.getInt64Ty(), samplesAt, llvm::Align(8));
    BasicBlock* inside = block("branch");
    behind = block("after");
    b.CreateCondBr(b.CreateICmpSGT(samples, number(0)), inside, behind);
    b.SetInsertPoint(inside);
  }
  void leave() {
    if (behind == nullptr) return;
    b.CreateBr(behind);
    b.SetInsertPoint(behind);
    behind = nullptr;
    samples = nullptr;
    ask(join, {context()});
  }

  void oneStep(std::uint32_t at) {
    const Step& s = program.steps[at];
    for (const DeviceGroup& group : loops.groups) {
      if (group.step == at) run(group);
    }
    for (const DeviceRun& channels : loops.runs) {
      if (channels.step == at) run(channels);
    }
    if (loops.taken[at]) return;
    if (s.kind == Step::Kind::Loop) {
      loop(loops.loops[s.index]);
    } else {
      const bool perSample = !program.calls[s.index].sizes.empty();
      constexpr int kAllThreads = -1;
      ask(call,
          {context(), b.getInt32(s.index), perSample ? samples : number(0), b.getInt64(static_cast<std::uint64_t>(kAllThreads))});
    }
    if (marks) b.CreateCall(mark, {context(), b.getInt32(at), number(static_cast<std::uint64_t>(-1))});
  }

  void loop(const DeviceLoop& loop) {
    const LoopNest& nest = loop.nest;
    if (nest.count == 0) return;
    std::vector<Value*> values;
    for (std::size_t i = 0; i < nest.pointers.size(); ++i) {
      Value* address = placeAt(nest.pointers[i]);
      if (nest.moves[i] != 0 && atMicroBatch != nullptr) address = moved(address, atMicroBatch, nest.moves[i]);
      values.push_back(address);
    }
    Value* items = number(static_cast<std::uint64_t>(nest.count));
    if (nest.perSample.unit != 0) items = b.CreateMul(samples, number(static_cast<std::uint64_t>(nest.perSample.unit)));
    values.insert(values.end(), {step->getArg(2), step->getArg(3), items});
    if (nest.elements != 0) {
      Value* first = number(0);
      if (atMicroBatch != nullptr) first = b.CreateMul(atMicroBatch, number(static_cast<std::uint64_t>(nest.elements)));
      values.push_back(first);
    }
    run(loop.kernel, values, items);
  }
  void run(const DeviceGroup& group) {
    Value* places = number(static_cast<std::uint64_t>(group.places));
    run(group.kernel, {step->getArg(1), step->getArg(2), step->getArg(3), places}, places);
  }
  void run(const DeviceRun& channels) {
    std::vector<Value*> values;
    for (const std::uint64_t offset : channels.pointers) values.push_back(placeAt(offset));
    values.insert(values.end(), {step->getArg(2), step->getArg(3)});
    const ChannelImages& images = channels.images;
    for (const std::int64_t size : {images.samples, images.channels, images.plane})
      values.push_back(number(static_cast<std::uint64_t>(size)));
    const std::int64_t threads = channelThreads(images);
    run(channels.kernel, values, number(static_cast<std::uint64_t>(images.channels * threads)), threads);
  }
  void run(std::uint32_t kernel, const std::vector<Value*>& values, Value* items, std::int64_t threads = 0) {
    for (std::size_t i = 0; i < values.size(); ++i)
      b.CreateAlignedStore(values[i], b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), arguments, i), llvm::Align(8));
    ask(launch, {context(), b.getInt32(kernel), arguments, b.getInt32(static_cast<std::uint32_t>(values.size())), items,
                 b.getInt32(static_cast<std::uint32_t>(threads))});
  }

  llvm::Module& module;
  llvm::IRBuilder<> b;
  const Program& program;
  const DeviceLoops& loops;
  bool marks;
  llvm::FunctionCallee call, launch, zero, move, count, join, micro, mark;
  llvm::Function* step = nullptr;
  Value *arguments = nullptr, *samplesAt = nullptr;
  Value* samples = nullptr;          ///< of the branch at hand; null among all samples
  BasicBlock* behind = nullptr;      ///< the branch at hand
  BasicBlock* microBatch = nullptr;  ///< where the next one begins
  llvm::PHINode* microNumber = nullptr;
  Value* atMicroBatch = nullptr;  ///< the number of the one at hand; null behind them, where it counts as 0
};

}  // namespace

void emitDeviceStep(llvm::Module& module, const Program& program, const DeviceLoops& loops, bool marks) {
  DeviceGlue(module, program, loops, marks).run();
}

void emitImage(llvm::Module& module, const DeviceImage& image) {
  llvm::LLVMContext& context = module.getContext();
  const auto add = [&](llvm::StringRef name, llvm::Constant* value) {
    module.getOrInsertGlobal(name, value->getType(), [&] {
      return new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::ExternalLinkage, value, name);
    });
  };
  add("tbem_image", llvm::ConstantDataArray::getString(context, image.ptx, true));
  add("tbem_kernels", llvm::ConstantInt::get(Type::getInt32Ty(context), image.kernels));
  if (image.machineCode.empty()) return;
  add("tbem_machine_code", llvm::ConstantDataArray::getString(context, image.machineCode, false));
  add("tbem_machine_code_bytes", llvm::ConstantInt::get(Type::getInt64Ty(context), image.machineCode.size()));
}

}  // namespace tbem::jit
