#include "compiler/jit/nvptx/ChannelKernel.h"

#include "compiler/jit/cpu/CountedLoop.h"
#include "compiler/jit/loop/Types.h"
#include "compiler/jit/nvptx/DeviceKernel.h"
#include "compiler/jit/nvptx/Places.h"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

namespace tbem::jit {
namespace {

using llvm::BasicBlock;
using llvm::Value;

constexpr unsigned kSharedMemory = 3;  // LLVM's number of it on this target
constexpr std::int64_t kLanes = 32;    // of a warp

using Pair = std::array<Value*, 2>;
/// Two sums that a thread adds to.
using Sums = std::array<llvm::AllocaInst*, 2>;

/// How a thread goes through a channel's places, each so many elements of a plane: 32-bit numbers. As few as that takes, since
/// each is a register that a thread keeps.
struct Walk {
  std::int64_t width = 0;
  Value* inPlane = nullptr;                         ///< places of a plane
  Value* places = nullptr;                          ///< of a channel
  Value *first = nullptr, *inside = nullptr;        ///< in the plane: the thread's first place, how far it is to the next one
  Value *firstPlace = nullptr, *further = nullptr;  ///< the same in channel 0 of all images ..
  Value* beyond = nullptr;                          ///< .. and where that leaves the plane, so much more
};

/// One class: all parts emit into one function, whose builder, thread and channel they share. Of the images' size it knows how
/// many threads they are worth and how many elements lie together; the rest is told to the kernel.
class ChannelEmitter {
public:
  ChannelEmitter(llvm::Module& module, const ChannelWork& work, const std::string& name)
      : module(module),
        b(module.getContext()),
        parts(work.parts),
        name(name),
        ofSums(sumWidth(work.images)),
        threads(channelThreads(work.images)) {}

  tl::expected<llvm::Function*, std::string> run() {
    begin();
    for (const ChannelPart& part : parts) {
      if (part.nest.trips.empty()) {
        functions.push_back(nullptr);
        continue;
      }
      const auto types = inferTypes(part.nest);
      if (!types) return tl::unexpected(types.error());
      functions.push_back(emitPlace(module, part.nest, *types, fmt::format("{}_part_{}", name, functions.size())));
    }
    Value* blocks = special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x);
    Value* first = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x);
    emitCountedLoop(b, kernel, first, channels, blocks, [&](Value* at) {
      channel = at;
      firstPointer = 0;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) barrier();
        emit(parts[i], functions[i]);
        firstPointer += static_cast<unsigned>(parts[i].pointers.size());
      }
      barrier();  // what a warp of this channel still reads, one of the next would write
    });
    b.CreateRetVoid();
    return kernel;
  }

private:
  void begin() {
    std::vector<llvm::Type*> parameters;
    for (const ChannelPart& part : parts) parameters.insert(parameters.end(), part.pointers.size(), b.getPtrTy());
    const auto pointers = static_cast<unsigned>(parameters.size());
    parameters.push_back(b.getPtrTy());
    constexpr std::size_t kNumbers = 4;  // the seed, and three sizes
    parameters.insert(parameters.end(), kNumbers, b.getInt64Ty());
    kernel = addKernel(module, parameters, name);
    // What one part writes another reads, also through another pointer.
    for (unsigned i = 0; i < pointers; ++i) kernel->removeParamAttr(i, llvm::Attribute::NoAlias);
    kernel->addParamAttr(pointers, llvm::Attribute::ReadOnly);
    scalars = kernel->getArg(pointers);
    seed = kernel->getArg(pointers + 1);
    samples = kernel->getArg(pointers + 2);
    channels = kernel->getArg(pointers + 3);
    plane = kernel->getArg(pointers + 4);
    requireThreads();
    b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", kernel));
    for (llvm::AllocaInst*& sum : sums) sum = b.CreateAlloca(b.getDoubleTy());
    for (llvm::AllocaInst** at : {&insideAt, &placeAt}) *at = b.CreateAlloca(b.getInt32Ty());
    thread = special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x);
    auto* type = llvm::ArrayType::get(b.getDoubleTy(), static_cast<std::uint64_t>(threads / kLanes * 2));
    ofWarps = new llvm::GlobalVariable(module, type, false, llvm::GlobalValue::InternalLinkage, llvm::UndefValue::get(type),
                                       fmt::format("{}_sums", name), nullptr, llvm::GlobalValue::NotThreadLocal, kSharedMemory);
  }
  /// And that a multiprocessor need not hold two of them: else ptxas keeps registers in memory so that it can.
  void requireThreads() {
    const auto annotate = [&](const char* what, std::int64_t value) {
      llvm::LLVMContext& context = module.getContext();
      module.getOrInsertNamedMetadata("nvvm.annotations")
          ->addOperand(
              llvm::MDNode::get(context, {llvm::ValueAsMetadata::get(kernel), llvm::MDString::get(context, what),
                                          llvm::ConstantAsMetadata::get(b.getInt32(static_cast<std::uint32_t>(value)))}));
    };
    annotate("reqntidx", threads);
    annotate("minctasm", 1);
  }

  Value* special(llvm::Intrinsic::ID id) { return b.CreateZExt(b.CreateIntrinsic(id, {}, {}), b.getInt64Ty()); }
  Value* number(std::int64_t value) { return b.getInt64(static_cast<std::uint64_t>(value)); }
  Value* pointer(unsigned i) { return kernel->getArg(firstPointer + i); }
  void barrier() { b.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

  void when(Value* condition, const std::function<void()>& body) {
    auto* inside = BasicBlock::Create(module.getContext(), "inside", kernel);
    auto* behind = BasicBlock::Create(module.getContext(), "behind", kernel);
    b.CreateCondBr(condition, inside, behind);
    b.SetInsertPoint(inside);
    body();
    b.CreateBr(behind);
    b.SetInsertPoint(behind);
  }

  void emit(const ChannelPart& part, llvm::Function* atPlace) {
    switch (part.kind) {
      case ChannelPart::Kind::Moments:
        return moments();
      case ChannelPart::Kind::GradientSums:
        return gradientSums(part.eps);
      case ChannelPart::Kind::Image:
        return forPlaces(part.nest.width, [&](Value* place) { call(part, atPlace, place); });
      case ChannelPart::Kind::Vector:
        return when(isFirstThread(), [&] { call(part, atPlace, channel); });
    }
  }
  /// Of a channel.
  Value* elements() { return b.CreateUIToFP(b.CreateNUWMul(samples, plane), b.getDoubleTy()); }
  Value* isFirstThread() { return b.CreateICmpEQ(thread, number(0)); }

  void call(const ChannelPart& part, llvm::Function* atPlace, Value* place) {
    std::vector<Value*> arguments;
    for (unsigned i = 0; i < part.pointers.size(); ++i) {
      const std::uint64_t bytes = part.ofChannel.empty() ? 0 : part.ofChannel[i];
      Value* address = pointer(i);
      if (bytes != 0) address = b.CreateInBoundsGEP(b.getInt8Ty(), address, b.CreateNUWMul(channel, b.getInt64(bytes)));
      arguments.push_back(address);
    }
    arguments.insert(arguments.end(), {scalars, seed, place});
    arguments.insert(arguments.end(), part.nest.given.size(), elements());
    b.CreateCall(atPlace, arguments);
  }

  Value* narrow(Value* value) { return b.CreateTrunc(value, b.getInt32Ty()); }

  /// Emitted once, before all channels: a card divides by what is no constant in some twenty instructions.
  const Walk& walkIn(std::int64_t width) {
    const auto there = std::ranges::find(walks, width, &Walk::width);
    if (there != walks.end()) return *there;
    const llvm::IRBuilderBase::InsertPointGuard guard(b);
    b.SetInsertPoint(kernel->getEntryBlock().getTerminator());
    Walk walk{.width = width};
    walk.inPlane = b.CreateUDiv(narrow(plane), b.getInt32(static_cast<std::uint32_t>(width)));
    walk.places = b.CreateMul(narrow(samples), walk.inPlane);
    Value* ofSample = b.CreateMul(narrow(channels), walk.inPlane);
    const auto divided = [&](Value* places, Value*& inside, Value*& place) {
      inside = b.CreateURem(places, walk.inPlane);
      place = b.CreateAdd(b.CreateMul(b.CreateUDiv(places, walk.inPlane), ofSample), inside);
    };
    divided(narrow(thread), walk.first, walk.firstPlace);
    divided(narrow(number(threads)), walk.inside, walk.further);
    walk.beyond = b.CreateSub(ofSample, walk.inPlane);
    return walks.emplace_back(walk);
  }

  /// Calls body(place) for the channel's places of the whole images, each `width` elements of a plane; threads share them. From
  /// one to the next a thread adds rather than divides.
  void forPlaces(std::int64_t width, const std::function<void(Value*)>& body) {
    const Walk walk = walkIn(width);
    b.CreateStore(walk.first, insideAt);
    b.CreateStore(b.CreateAdd(b.CreateMul(narrow(channel), walk.inPlane), walk.firstPlace), placeAt);
    emitCountedLoop(b, kernel, narrow(thread), walk.places, narrow(number(threads)), [&](Value*) {
      Value *inside = b.CreateLoad(b.getInt32Ty(), insideAt), *place = b.CreateLoad(b.getInt32Ty(), placeAt);
      body(b.CreateZExt(place, b.getInt64Ty()));
      // Behind the plane's end the next sample's begins, beyond the planes of other channels.
      Value *next = b.CreateAdd(inside, walk.inside), *nextPlace = b.CreateAdd(place, walk.further);
      Value* isBehind = b.CreateICmpUGE(next, walk.inPlane);
      b.CreateStore(b.CreateSelect(isBehind, b.CreateSub(next, walk.inPlane), next), insideAt);
      b.CreateStore(b.CreateSelect(isBehind, b.CreateAdd(nextPlace, walk.beyond), nextPlace), placeAt);
    });
  }

  // ---- sums -----------------------------------------------------------------------------------------------------------
  // In f64, as kernels/Channel.cu of the backend has them and for its reasons.

  Value* asDouble(Value* value) { return b.CreateFPExt(value, b.getDoubleTy()); }
  Value* ofChannel(unsigned i) {
    return asDouble(b.CreateLoad(b.getFloatTy(), b.CreateInBoundsGEP(b.getFloatTy(), pointer(i), channel)));
  }
  void storeOfChannel(unsigned i, Value* value) {
    b.CreateStore(b.CreateFPTrunc(value, b.getFloatTy()), b.CreateInBoundsGEP(b.getFloatTy(), pointer(i), channel));
  }
  void add(llvm::AllocaInst* sum, Value* value) { b.CreateStore(b.CreateFAdd(b.CreateLoad(b.getDoubleTy(), sum), value), sum); }

  /// The block's sums of what `terms` makes of each element of the channel in the first `inputs` operands. Every thread has them.
  Pair sumsOf(unsigned inputs, const std::function<Pair(const std::vector<Value*>& values)>& terms) {
    for (llvm::AllocaInst* sum : sums) b.CreateStore(llvm::ConstantFP::get(b.getDoubleTy(), 0), sum);
    auto* type = llvm::FixedVectorType::get(b.getFloatTy(), static_cast<unsigned>(ofSums));
    forPlaces(ofSums, [&](Value* place) {
      std::vector<Value*> loaded;
      for (unsigned i = 0; i < inputs; ++i) {
        Value* address = b.CreateInBoundsGEP(type, pointer(i), place);
        loaded.push_back(b.CreateAlignedLoad(type, address, llvm::Align(static_cast<std::uint64_t>(ofSums) * sizeof(float))));
      }
      for (std::uint64_t lane = 0; lane < static_cast<std::uint64_t>(ofSums); ++lane) {
        std::vector<Value*> values;
        values.reserve(inputs);
        for (Value* vector : loaded) values.push_back(asDouble(b.CreateExtractElement(vector, lane)));
        const auto ofElement = terms(values);
        for (std::size_t k = 0; k < sums.size(); ++k) add(sums[k], ofElement[k]);
      }
    });
    constexpr std::int64_t kEnough = 8;  // elements that a thread waits for at once
    if (inputs * ofSums < kEnough) takeTwoTurnsTogether();
    return joined();
  }

  /// Of the loop that ends here, so that a thread waits for the elements of both at once.
  void takeTwoTurnsTogether() {
    BasicBlock* head = b.GetInsertBlock()->getSinglePredecessor();
    setLoop(llvm::cast<llvm::PHINode>(head->begin())->getIncomingBlock(1)->getTerminator(), unrolling("count", 2));
  }
  llvm::MDNode* unrolling(const char* how, std::optional<std::uint32_t> count = {}) {
    std::vector<llvm::Metadata*> said{llvm::MDString::get(module.getContext(), fmt::format("llvm.loop.unroll.{}", how))};
    if (count) said.push_back(llvm::ConstantAsMetadata::get(b.getInt32(*count)));
    return llvm::MDNode::get(module.getContext(), said);
  }
  void setLoop(llvm::Instruction* branch, llvm::MDNode* property) {
    llvm::MDNode* loop = llvm::MDNode::getDistinct(module.getContext(), {nullptr, property});
    loop->replaceOperandWith(0, loop);
    branch->setMetadata(llvm::LLVMContext::MD_loop, loop);
  }

  Value* exchanged(Value* value, Value* mask) {
    auto* pair = llvm::FixedVectorType::get(b.getInt32Ty(), 2);
    Value *words = b.CreateBitCast(value, pair), *result = llvm::PoisonValue::get(pair);
    for (std::uint64_t i = 0; i < 2; ++i) {
      constexpr std::uint32_t kAllLanes = 0xFFFFFFFF, kWholeWarp = 31;
      Value* word = b.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                                      {b.getInt32(kAllLanes), b.CreateExtractElement(words, i), mask, b.getInt32(kWholeWarp)});
      result = b.CreateInsertElement(result, word, i);
    }
    return b.CreateBitCast(result, b.getDoubleTy());
  }

  /// The sums of as many lanes beside each other, always in the same order. A loop, since assemblers take long over code.
  Pair ofLanes(const Pair& values, std::int64_t lanes) {
    BasicBlock* before = b.GetInsertBlock();
    auto* body = BasicBlock::Create(module.getContext(), "lanes", kernel);
    auto* after = BasicBlock::Create(module.getContext(), "joined", kernel);
    b.CreateBr(body);
    b.SetInsertPoint(body);
    llvm::PHINode* mask = b.CreatePHI(b.getInt32Ty(), 2);
    mask->addIncoming(b.getInt32(static_cast<std::uint32_t>(lanes / 2)), before);
    Pair sum{};
    for (std::size_t k = 0; k < values.size(); ++k) {
      llvm::PHINode* at = b.CreatePHI(b.getDoubleTy(), 2);
      at->addIncoming(values[k], before);
      sum[k] = at;
    }
    Pair next{};
    for (std::size_t k = 0; k < values.size(); ++k) next[k] = b.CreateFAdd(sum[k], exchanged(sum[k], mask));
    for (std::size_t k = 0; k < values.size(); ++k) llvm::cast<llvm::PHINode>(sum[k])->addIncoming(next[k], body);
    Value* half = b.CreateLShr(mask, b.getInt32(1));
    mask->addIncoming(half, body);
    setLoop(b.CreateCondBr(b.CreateICmpNE(half, b.getInt32(0)), body, after), unrolling("disable"));
    b.SetInsertPoint(after);
    return next;
  }

  /// Within each warp, then of the warps, of which there are no more than lanes.
  Pair joined() {
    const Pair ofWarp = ofLanes({b.CreateLoad(b.getDoubleTy(), sums[0]), b.CreateLoad(b.getDoubleTy(), sums[1])}, kLanes);
    const std::int64_t warps = threads / kLanes;
    const auto sumOf = [&](Value* warp, std::size_t k) {
      Value* at = b.CreateNUWAdd(b.CreateNUWMul(warp, number(2)), number(static_cast<std::int64_t>(k)));
      return b.CreateInBoundsGEP(b.getDoubleTy(), ofWarps, at);
    };
    Value* isFirstLane = b.CreateICmpEQ(b.CreateURem(thread, number(kLanes)), number(0));
    when(isFirstLane, [&] {
      for (std::size_t k = 0; k < sums.size(); ++k) b.CreateStore(ofWarp[k], sumOf(b.CreateUDiv(thread, number(kLanes)), k));
    });
    barrier();
    Value* warp = b.CreateURem(thread, number(warps));
    return ofLanes({b.CreateLoad(b.getDoubleTy(), sumOf(warp, 0)), b.CreateLoad(b.getDoubleTy(), sumOf(warp, 1))}, warps);
  }

  /// x; mean, variance.
  void moments() {
    Value* first =
        asDouble(b.CreateLoad(b.getFloatTy(), b.CreateInBoundsGEP(b.getFloatTy(), pointer(0), b.CreateNUWMul(channel, plane))));
    Value* zero = llvm::ConstantFP::get(b.getDoubleTy(), 0);
    Value* size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, first);
    Value* isFinite = b.CreateFCmpOLT(size, llvm::ConstantFP::getInfinity(b.getDoubleTy()));
    Value* shift = b.CreateSelect(isFinite, first, zero);
    const auto [distances, squares] = sumsOf(1, [&](const std::vector<Value*>& x) -> Pair {
      Value* distance = b.CreateFSub(x[0], shift);
      return {distance, b.CreateFMul(distance, distance)};
    });
    Value* count = elements();
    Value* mean = b.CreateFDiv(distances, count);
    Value* variance = b.CreateFSub(b.CreateFDiv(squares, count), b.CreateFMul(mean, mean));
    when(isFirstThread(), [&] {
      storeOfChannel(1, b.CreateFAdd(shift, mean));
      storeOfChannel(2, b.CreateSelect(b.CreateFCmpOLT(variance, zero), zero, variance));
    });
  }

  /// dy, x, mean, variance; dweight, dbias.
  void gradientSums(std::uint32_t eps) {
    Value* mean = ofChannel(2);
    const Pair total = sumsOf(2, [&](const std::vector<Value*>& of) -> Pair {
      return {b.CreateFMul(of[0], b.CreateFSub(of[1], mean)), of[0]};
    });
    when(isFirstThread(), [&] {
      Value* of = b.CreateLoad(b.getDoubleTy(), b.CreateConstInBoundsGEP1_64(b.getDoubleTy(), scalars, eps));
      Value* deviation = b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, b.CreateFAdd(ofChannel(3), of));
      storeOfChannel(4, b.CreateFDiv(total[0], deviation));
      storeOfChannel(5, total[1]);
    });
  }

  llvm::Module& module;
  llvm::IRBuilder<> b;
  const std::vector<ChannelPart>& parts;
  const std::string& name;
  const std::int64_t ofSums, threads;
  llvm::Function* kernel = nullptr;
  std::vector<llvm::Function*> functions;  ///< by part; null: it has none
  Value *scalars = nullptr, *seed = nullptr, *thread = nullptr;
  Value *samples = nullptr, *channels = nullptr, *plane = nullptr;
  std::vector<Walk> walks;
  llvm::AllocaInst *insideAt = nullptr, *placeAt = nullptr;  ///< of a loop over places
  Value* channel = nullptr;                                  ///< at hand
  unsigned firstPointer = 0;                                 ///< of the part at hand
  Sums sums{};
  llvm::GlobalVariable* ofWarps = nullptr;
};

}  // namespace

tl::expected<llvm::Function*, std::string> emitChannelKernel(llvm::Module& module, const ChannelWork& work,
                                                             const std::string& name) {
  return ChannelEmitter(module, work, name).run();
}

}  // namespace tbem::jit
