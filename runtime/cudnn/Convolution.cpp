#include "runtime/cudnn/Convolution.h"

#include "runtime/core/Fields.h"
#include "runtime/core/Layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::cudnn {

namespace {

constexpr std::array<std::string_view, 3> kPasses{"forward", "data_gradient", "weight_gradient"};
constexpr std::array<std::string_view, 2> kOrders{"nchw", "nhwc"};
constexpr std::int64_t kMost = std::int64_t{1} << 40;  // of any size: products of four stay far from overflow in tests only

constexpr std::array<std::int32_t, 3> kTypes{TBEM_F32, TBEM_F16, TBEM_BF16};

template <std::size_t N>
bool takeNumbers(std::string_view word, char between, std::int64_t least, std::array<std::int64_t, N>& numbers) {
  for (std::size_t i = 0; i < N; ++i) {
    if (!runtime::readNumber(runtime::takeUntil(word, between), numbers[i]) || numbers[i] < least || numbers[i] > kMost)
      return false;
  }
  return word.empty();
}

template <std::size_t N>
std::optional<std::size_t> indexOf(const std::array<std::string_view, N>& names, std::string_view word) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == word) return i;
  }
  return std::nullopt;
}

}  // namespace

std::array<std::int64_t, 4> Convolution::y() const {
  const auto size = [&](std::size_t axis, std::int64_t in) {
    const std::int64_t beyondFirst = in + pad[axis] + pad[axis + 2] - dilation[axis] * (kernel[axis] - 1) - 1;
    return beyondFirst < 0 ? 0 : beyondFirst / stride[axis] + 1;
  };
  return {n, out, size(0, h), size(1, w)};
}

std::string describe(const Convolution& p) {
  return fmt::format("{} {} {} {}x{}x{}x{} {}x{}x{}x{} stride {},{} pad {},{},{},{} dilation {},{} groups {}",
                     kPasses[static_cast<std::size_t>(p.pass)], runtime::dtypeName(p.dtype),
                     kOrders[static_cast<std::size_t>(p.order)], p.n, p.c, p.h, p.w, p.out, p.c / p.groups, p.kernel[0],
                     p.kernel[1], p.stride[0], p.stride[1], p.pad[0], p.pad[1], p.pad[2], p.pad[3], p.dilation[0], p.dilation[1],
                     p.groups);
}

std::optional<Convolution> readConvolution(std::string_view line) {
  const auto word = [&line] { return runtime::takeUntil(line, ' '); };
  Convolution p;
  const auto pass = indexOf(kPasses, word());
  const std::string_view type = word();
  const auto order = indexOf(kOrders, word());
  std::array<std::int64_t, 4> x{}, weight{};
  std::array<std::int64_t, 1> groups{};
  if (!pass || !order || !takeNumbers(word(), 'x', 1, x) || !takeNumbers(word(), 'x', 1, weight)) return std::nullopt;
  const bool rest = word() == "stride" && takeNumbers(word(), ',', 1, p.stride) && word() == "pad" &&
                    takeNumbers(word(), ',', 0, p.pad) && word() == "dilation" && takeNumbers(word(), ',', 1, p.dilation) &&
                    word() == "groups" && takeNumbers(word(), ',', 1, groups) && line.empty();
  if (!rest || weight[1] > kMost / groups[0] || weight[1] * groups[0] != x[1]) return std::nullopt;
  p.pass = static_cast<Pass>(*pass);
  const auto* const dtype =
      std::find_if(kTypes.begin(), kTypes.end(), [&](std::int32_t one) { return runtime::dtypeName(one) == type; });
  if (dtype == kTypes.end()) return std::nullopt;
  p.dtype = *dtype;
  p.order = static_cast<Order>(*order);
  std::tie(p.n, p.c, p.h, p.w) = std::tie(x[0], x[1], x[2], x[3]);
  p.out = weight[0];
  p.kernel = {weight[2], weight[3]};
  p.groups = groups[0];
  return p;
}

std::string notesOf(const Engine& engine) {
  constexpr std::array<std::pair<Numerical, std::string_view>, 6> kNotes{{{Numerical::TensorCore, "tensor core"},
                                                                          {Numerical::DownConvertInputs, "inputs rounded"},
                                                                          {Numerical::ReducedPrecisionReduction, "sums rounded"},
                                                                          {Numerical::Fft, "FFT"},
                                                                          {Numerical::Winograd, "Winograd"},
                                                                          {Numerical::Nondeterministic, "nondeterministic"}}};
  std::string text;
  for (const auto& [note, name] : kNotes) {
    if (engine.has(note)) text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  }
  if (engine.has(Behaviour::CompiledAtRunTime)) text += fmt::format("{}compiled at run time", text.empty() ? "" : ", ");
  return text;
}

}  // namespace tbem::cudnn
