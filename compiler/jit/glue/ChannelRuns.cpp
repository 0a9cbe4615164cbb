#include "compiler/jit/glue/ChannelRuns.h"

#include "compiler/count/Layout.h"
#include "compiler/jit/glue/LoopGroups.h"
#include "compiler/lower/program/Reach.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

namespace tbem::jit {
namespace {

using estimate::BufferId;
using estimate::Extent;
using estimate::FusedLoop;
using estimate::kNoBuffer;
using estimate::NativeCall;
using estimate::Program;
using estimate::Reach;
using estimate::Step;
using Kind = ChannelPart::Kind;

/// A block takes a channel. As many of 1024 threads, each with 32 bytes of its own, have the two megabytes on their way that it
/// takes to use the bandwidth of the fastest card (4.8 TB/s for 0.4 us, an H200's memory) ..
constexpr std::int64_t kEnoughChannels = 64;
/// .. and of so few elements a launch takes longer than they do.
constexpr std::int64_t kFewElements = 4096;
/// Of a run: each part has two dozen pointers at most (Fuse.cpp), and a kernel takes 544 of them.
constexpr std::size_t kMostParts = 16;

/// What a step reads or writes at one buffer.
struct Access {
  enum class Of : std::uint8_t {
    Images,  ///< each thread what belongs to its channel, of the images
    Vector,  ///< the channel's number
    Others   ///< other places
  } of{};
  Extent extent;
  std::uint64_t elementBytes = 0;
  bool writes = false;
};

bool isRowMajor(const FusedLoop& loop) {
  tbem_operand space = estimate::plainOperand(TBEM_F32, loop.dims);
  const std::uint64_t bytes = space.layout.bytes;
  space.layout = loop.layout;
  space.layout.bytes = bytes;  // a loop's are of no element type
  return estimate::isRowMajor(space);
}

/// Of dims [samples, channels, ..]; nothing: these are none, or the kernel has no numbers for them.
std::optional<ChannelImages> imagesOf(std::span<const std::int64_t> dims) {
  if (dims.size() < 2) return std::nullopt;
  const std::span<const std::int64_t> inPlane = dims.subspan(2);
  const auto plane = std::accumulate(inPlane.begin(), inPlane.end(), std::int64_t{1}, std::multiplies<>());
  const ChannelImages images{dims[0], dims[1], plane};
  const double elements = static_cast<double>(images.samples) * static_cast<double>(images.channels) * static_cast<double>(plane);
  if (elements < 1 || elements > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  return images;
}

bool isWorthABlockEach(const ChannelImages& images) {
  return images.channels >= kEnoughChannels || images.samples * images.plane <= kFewElements;
}

/// A step that may be part of a run.
struct Candidate {
  ChannelPart part;
  ChannelImages images;          ///< of a Vector its channels alone
  std::vector<Access> accesses;  ///< all that it touches; the kernel has no use for a sum's workspace
};

class Finder {
public:
  Finder(const Program& program, const std::vector<LoopNest>& nests) : program(program), nests(nests) {}

  std::vector<ChannelRun> run() {
    for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
      const Step& step = program.steps[i];
      if (step.branch != 0 || i == program.micro.steps) close();
      if (step.branch != 0) continue;
      std::optional<Candidate> candidate = candidateOf(step);
      if (candidate && isOpen() && joins(*candidate)) {
        take(i, std::move(*candidate));
        continue;
      }
      const bool begins = candidate && candidate->part.kind != Kind::Vector && isWorthABlockEach(candidate->images);
      // A step that has nothing to do with the run goes before it.
      if (begins || (isOpen() && !areApart(reachOf(program, step), reach))) close();
      if (begins) take(i, std::move(*candidate));
    }
    close();
    return std::move(runs);
  }

private:
  bool isOpen() const { return !open.steps.empty(); }

  void close() {
    const auto isSum = [](const ChannelPart& part) { return part.kind == Kind::Moments || part.kind == Kind::GradientSums; };
    if (open.steps.size() > 1 && std::ranges::any_of(open.work.parts, isSum)) runs.push_back(std::move(open));
    open = {};
    accesses.clear();
    reach = {};
  }
  void take(std::uint32_t step, Candidate candidate) {
    if (!isOpen()) open.work.images = candidate.images;
    open.steps.push_back(step);
    giveElements(candidate.part.nest, open.work.images);
    open.work.parts.push_back(std::move(candidate.part));
    accesses.insert(accesses.end(), candidate.accesses.begin(), candidate.accesses.end());
    for (const Access& access : candidate.accesses) (access.writes ? reach.writes : reach.reads).push_back(access.extent);
  }

  bool joins(Candidate& candidate) const {
    const bool isLoop = candidate.part.kind == Kind::Image || candidate.part.kind == Kind::Vector;
    if (candidate.part.kind == Kind::Vector && candidate.images.channels == open.work.images.channels)
      candidate.images = open.work.images;
    if (candidate.images != open.work.images || open.work.parts.size() == kMostParts) return false;
    bool meets = false;
    for (const Access& access : candidate.accesses) {
      for (const Access& before : accesses) {
        if (!access.extent.meets(before.extent)) continue;
        meets = true;
        if ((access.writes || before.writes) && !areOfOneChannel(access, before)) return false;
      }
    }
    return meets || !isLoop;  // a loop that shares nothing with the run is as well alone
  }
  /// What one block reads or writes there no other block does.
  static bool areOfOneChannel(const Access& a, const Access& b) {
    return a.of != Access::Of::Others && a.of == b.of && a.extent.begin == b.extent.begin && a.elementBytes == b.elementBytes;
  }

  std::optional<Candidate> candidateOf(const Step& step) const {
    return step.kind == Step::Kind::Loop ? ofLoop(program.loops[step.index], nests[step.index])
                                         : ofCall(program.calls[step.index]);
  }

  Access accessOf(BufferId buffer, Access::Of of, bool writes) const {
    return {of, extentOf(program, buffer), estimate::elementBytes(program[buffer].operand.dtype), writes};
  }

  /// Not one that only updates what outlives the step: many of those are one launch (LoopGroups.h).
  std::optional<Candidate> ofLoop(const FusedLoop& loop, const LoopNest& nest) const {
    const bool isPlain = nest.count > 0 && isAlwaysAlike(nest) && isRowMajor(loop) && !onlyUpdates(program, loop);
    if (!isPlain) return std::nullopt;
    std::vector<Access::Of> places;
    for (const FusedLoop::Input& input : loop.inputs) places.push_back(placesOf(loop, input));
    Candidate candidate;
    if (loop.dims.size() == 1) {
      candidate.part = {.kind = Kind::Vector, .nest = fitToPlane(nest, 1), .pointers = nest.pointers};
      candidate.images.channels = loop.dims.front();
    } else {
      const auto images = imagesOf(loop.dims);
      if (!images) return std::nullopt;
      candidate.images = *images;
      candidate.part = {.kind = Kind::Image, .nest = fitToPlane(nest, images->plane), .pointers = nest.pointers};
      std::vector<bool> isVector(places.size());
      for (std::size_t i = 0; i < places.size(); ++i) isVector[i] = places[i] == Access::Of::Vector;
      takeNumbersOfChannels(candidate.part, isVector);
    }
    for (std::size_t i = 0; i < places.size(); ++i)
      candidate.accesses.push_back(accessOf(loop.inputs[i].buffer, places[i], false));
    const Access::Of written = loop.dims.size() == 1 ? Access::Of::Vector : Access::Of::Images;
    for (const FusedLoop::Output& output : loop.outputs) candidate.accesses.push_back(accessOf(output.buffer, written, true));
    return candidate;
  }
  /// Of an input of a loop in row-major order.
  Access::Of placesOf(const FusedLoop& loop, const FusedLoop::Input& input) const {
    const tbem_operand& operand = program[input.buffer].operand;
    if (!estimate::isRowMajor(operand)) return Access::Of::Others;
    const std::size_t rank = loop.dims.size();
    const std::int32_t ofChannels = rank == 1 ? 0 : 1;
    if (operand.rank == 1 && input.axes.front() == ofChannels &&
        operand.dims[0] == loop.dims[static_cast<std::size_t>(ofChannels)])
      return Access::Of::Vector;
    std::vector<std::int32_t> all(rank);
    std::iota(all.begin(), all.end(), 0);
    const bool isWhole = rank > 1 && input.axes == all && std::ranges::equal(estimate::dimsOf(operand), loop.dims);
    return isWhole ? Access::Of::Images : Access::Of::Others;
  }

  std::optional<Candidate> ofCall(const NativeCall& call) const {
    const bool areMoments = call.primitive == TBEM_PRIMITIVE_channel_moments;
    const bool isSum = call.own.symbol.empty() && (areMoments || call.primitive == TBEM_PRIMITIVE_channel_gradient_sums);
    if (!isSum || !call.sizes.empty()) return std::nullopt;
    const auto isPlain = [&](BufferId buffer) {
      if (buffer == kNoBuffer) return false;
      const estimate::Buffer& of = program[buffer];
      return of.operand.dtype == TBEM_F32 && estimate::isRowMajor(of.operand) && !of.window && !of.outside;
    };
    if (!std::ranges::all_of(call.operands, isPlain)) return std::nullopt;
    const auto images = imagesOf(estimate::dimsOf(program[call.operands.front()].operand));
    if (!images) return std::nullopt;
    Candidate candidate{.images = *images};
    candidate.part.kind = areMoments ? Kind::Moments : Kind::GradientSums;
    if (!areMoments) candidate.part.eps = call.scalars.front();
    const std::size_t ofImages = areMoments ? 1 : 2;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const Access::Of of = i < ofImages ? Access::Of::Images : Access::Of::Vector;
      candidate.accesses.push_back(accessOf(call.operands[i], of, i >= call.inputs));
      candidate.part.pointers.push_back(extentOf(program, call.operands[i]).begin);
    }
    return candidate;
  }

  const Program& program;
  const std::vector<LoopNest>& nests;
  std::vector<ChannelRun> runs;
  ChannelRun open;
  std::vector<Access> accesses;  ///< of the open run
  Reach reach;                   ///< of the open run
};

}  // namespace

std::vector<ChannelRun> channelRuns(const Program& program, const std::vector<LoopNest>& nests) {
  return Finder(program, nests).run();
}

}  // namespace tbem::jit
