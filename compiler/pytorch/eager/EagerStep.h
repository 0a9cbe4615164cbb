// What eager PyTorch allocates and frees in a training step: every tensor of forward, backward and optimiser, in order.
//
// The order is that of autograd's engine (torch/csrc/autograd/engine.cpp of PyTorch 2.15): gradients flow from the operator made
// last to the first; what an operator kept is released when its gradient is computed, a gradient when it is consumed; a
// weight's gradient is taken over where it is made. Gradients are set to None before a step (the default of zero_grad), and the
// optimiser's state is made in the first step. What Python's variables hold longer than that is not counted; workspaces of
// convolutions and matrix products are, and buffers of the sums that gradients of biases are, where the options say what they
// are: they are taken while a tensor is computed, and given back.
#pragma once

#include "compiler/pytorch/allocator/CachingAllocator.h"
#include "compiler/pytorch/eager/EagerOperators.h"
#include "compiler/pytorch/eager/SumBuffers.h"

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::estimate {

/// How torch.optim updates: `foreach` takes one operator over all weights, `fused` one for everything, `loop` a weight at a time.
enum class EagerUpdate : std::uint8_t { Foreach, Fused, Loop };

/// Bytes that a library takes while it computes one tensor: with the engine that it is expected to take, and with those of its
/// engines that take least and most.
struct EagerWorkspace {
  std::uint64_t bytes = 0, least = 0, most = 0;
  /// Of the engines behind the expected one, in the order in which PyTorch tries them where there is no room; each takes less
  /// than those before. Equal problems share a list, which whoever answers EagerOptions::convolutions keeps.
  std::span<const std::uint64_t> smaller;
};
/// Of an operator and its gradients.
struct OperatorWorkspaces {
  EagerWorkspace forward, dataGradient, weightGradient;
  /// The weight's gradient is made before the operand's: so do PyTorch's own kernels of depthwise convolutions.
  bool weightFirst = false;
};

/// What PyTorch hands cuBLAS for matrix products; bytes. 2.15 gives it back after each (aten/src/ATen/cuda/CublasHandlePool.cpp:
/// parseChosenWorkspaceSize, parseCUDABlasLtWorkspaceSize, isCUDABlasWorkspaceCachingEnabled). Older versions keep it: a thread's
/// first product takes `product`; forward and backward are two threads. What cuBLASLt takes they keep too, or give back.
struct ProductWorkspaces {
  std::uint64_t product = 0;   ///< through cuBLAS: CUBLAS_WORKSPACE_CONFIG's default
  std::uint64_t withBias = 0;  ///< a linear layer with a bias goes through cuBLASLt: CUBLASLT_WORKSPACE_SIZE's default
  bool kept = false, withBiasKept = false;
};
/// On a GPU of this compute capability (90: 9.0).
ProductWorkspaces productWorkspaces(std::int64_t capability, const AllocatorVersion& version);

/// Which operators write over an operand that nothing else needs: `Activations` stands for torch.nn.ReLU(inplace=True) and its
/// like, `All` also for `x += y`. Live memory is the same for most networks; the order in which blocks come and go is not, and
/// with it what the allocator reserves.
enum class EagerWrites : std::uint8_t { Anew, Activations, All };

struct EagerOptions {
  EagerDevice device = EagerDevice::Cuda;
  EagerUpdate update = EagerUpdate::Foreach;
  EagerWrites writes = EagerWrites::Anew;
  /// Of a forward operator `conv2d` of the graph; empty: none is counted.
  std::function<OperatorWorkspaces(graph::OpId)> convolutions;
  ProductWorkspaces products;
  SumUnits sums;
};

enum class EagerKind : std::uint8_t {
  Weights,
  Buffers,
  Input,
  Optimizer,
  Gradients,            ///< of weights, and of inputs for which they are wanted
  Activations,          ///< results, and what operators keep
  ActivationGradients,  ///< of results
  Temporaries,          ///< within the optimiser's update, and of sums
  Cudnn,                ///< workspaces of convolutions
  Cublas                ///< workspaces of matrix products
};
constexpr std::size_t kEagerKinds = static_cast<std::size_t>(EagerKind::Cublas) + 1;
std::string_view eagerKindName(EagerKind kind);

/// Which engines libraries take: those that are expected, or for every tensor the one that takes least or most. `Last` are those
/// that PyTorch tries last where there is no room for the expected ones: `least`, but only where the engines are known.
enum class EagerEngines : std::uint8_t { Expected, Least, Most, Last };

/// A tensor's memory, allocated once. Bytes as asked for; they differ by engines for workspaces alone, which may be 0.
struct EagerTensor {
  EagerWorkspace size;
  EagerKind kind{};
  std::uint32_t op = 0;  ///< index into EagerStep's operators, where it is made; kNoEagerOp: none
  std::uint64_t bytes(EagerEngines engines = EagerEngines::Expected) const {
    switch (engines) {
      case EagerEngines::Least:
        return size.least;
      case EagerEngines::Most:
        return size.most;
      case EagerEngines::Last:
        return size.smaller.empty() ? size.bytes : size.smaller.back();
      case EagerEngines::Expected:
        break;
    }
    return size.bytes;
  }
};
constexpr std::uint32_t kNoEagerOp = UINT32_MAX;

struct EagerEvent {
  std::uint32_t tensor = 0;  ///< index into EagerStep::tensors
  bool frees = false;
};

/// From `event` on.
struct EagerMark {
  std::string phase;  ///< "model", "forward", "backward", "optimizer"
  std::size_t event = 0;
  int step = 0;  ///< 1 or 2; 0 before the first
};

/// The first step, in which the optimiser's state is made, and the second, after which nothing changes. Without training: the
/// forward pass, once each. Gradients of weights, and of inputs that require them (Graph::wanted), are there until the next step
/// begins.
struct EagerStep {
  std::shared_ptr<const EagerOperators> operators;
  std::vector<EagerTensor> tensors;
  std::vector<EagerEvent> events;
  std::vector<EagerMark> marks;
  std::string optimizer;     ///< of the update, as declared: "adam"
  std::size_t notAsked = 0;  ///< convolutions whose workspaces nobody knows: conv1d, conv3d, conv_transpose2d
};
/// Of a row of the reader's graph, which was made for the same device and keeps what it reads of the row.
tl::expected<EagerStep, NoValue> eagerStep(EagerReader& reader, const sema::Values& values, const EagerOptions& options);

/// Blocks of the caching allocator are multiples of so many bytes.
constexpr std::uint64_t kEagerBlock = 512;

/// The largest sum of live tensors, each rounded up to a multiple of `granule` bytes (kEagerBlock, or 1 for bytes
/// alone).
struct EagerPeak {
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, kEagerKinds> kinds{};  ///< at the peak
  std::size_t event = 0;                           ///< that reaches it
  std::uint32_t op = kNoEagerOp;                   ///< at work then
};
EagerPeak eagerPeak(const EagerStep& step, std::uint64_t granule, EagerEngines engines = EagerEngines::Expected);

/// The event from which on sums of sizes, rounded to blocks and segments, are no longer sure to fit 64 bits. A tensor alone has
/// at most 2^54 bytes (readDims).
std::optional<std::size_t> leavesSums(const EagerStep& step);

/// The step as the caching allocator meets it, on one stream. Events are those of the step; ids are its tensors.
std::vector<AllocatorEvent> allocatorEvents(const EagerStep& step, EagerEngines engines = EagerEngines::Expected);
/// What PyTorch asks for where a workspace has no room. Those that are expected alone: bounds are of the engines that they name.
/// The step outlives it.
SmallerSizes smallerWorkspaces(const EagerStep& step, EagerEngines engines);

}  // namespace tbem::estimate
