// Convolutions as cuDNN is asked for them, and what it answers: plain data. A question is a `Convolution`; the answer is a list
// of engines that can compute it, best first by cuDNN's own judgement, each with the exact bytes of its workspace.
#pragma once

#include "tbem/backend.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::cudnn {

enum class Pass : std::uint8_t { Forward, DataGradient, WeightGradient };
/// How images and weights lie: row-major, or with the channels innermost.
enum class Order : std::uint8_t { Nchw, Nhwc };

/// One 2-D cross-correlation, or a gradient of it. Sizes are those of the forward pass whatever the pass: x[n, c, h, w],
/// weight[out, c / groups, kernel], y[n, out, ..]. Accumulation is in f32.
struct Convolution {
  Pass pass = Pass::Forward;
  std::int32_t dtype = TBEM_F32;  ///< of all three tensors: TBEM_F32, TBEM_F16 or TBEM_BF16
  Order order = Order::Nchw;
  std::int64_t n = 1, c = 1, h = 1, w = 1, out = 1;
  std::array<std::int64_t, 2> kernel{1, 1}, stride{1, 1}, dilation{1, 1};
  std::array<std::int64_t, 4> pad{0, 0, 0, 0};  ///< top, left, bottom, right
  std::int64_t groups = 1;

  std::array<std::int64_t, 4> x() const { return {n, c, h, w}; }
  std::array<std::int64_t, 4> weight() const { return {out, c / groups, kernel[0], kernel[1]}; }
  std::array<std::int64_t, 4> y() const;  ///< 0 along an axis with no room for a window
  bool operator==(const Convolution&) const = default;
};

/// One line without tabs that names the problem: "forward f32 nchw 32x64x56x56 64x64x3x3 stride 1,1 pad 1,1,1,1 dilation 1,1
/// groups 1". Equal lines are equal problems.
std::string describe(const Convolution& problem);
/// The problem of such a line; nothing where it is none.
std::optional<Convolution> readConvolution(std::string_view line);

/// What cuDNN says of an engine's arithmetic (cudnnBackendNumericalNote_t), as numbered there.
enum class Numerical : std::uint8_t {
  TensorCore = 0,
  DownConvertInputs = 1,
  ReducedPrecisionReduction = 2,
  Fft = 3,
  Nondeterministic = 4,
  Winograd = 5,
};
/// What it says of an engine's behaviour (cudnnBackendBehaviorNote_t), as numbered there.
enum class Behaviour : std::uint8_t { CompiledAtRunTime = 0 };

struct Engine {
  std::int64_t index = 0;           ///< cuDNN's number of the engine within its kind of operation
  std::vector<std::int64_t> knobs;  ///< type, value, type, value, ..
  std::uint64_t workspace = 0;      ///< bytes, exact
  std::uint32_t numerical = 0;      ///< bit i: cuDNN's numerical note i
  std::uint32_t behaviour = 0;      ///< bit i: cuDNN's behaviour note i

  bool has(Numerical note) const { return (numerical >> static_cast<unsigned>(note) & 1U) != 0; }
  bool has(Behaviour note) const { return (behaviour >> static_cast<unsigned>(note) & 1U) != 0; }
  bool operator==(const Engine&) const = default;
};

/// "tensor core, nondeterministic"; "" where there is nothing to say.
std::string notesOf(const Engine& engine);

}  // namespace tbem::cudnn
