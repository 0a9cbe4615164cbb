#include "runtime/core/Init.h"

#include "runtime/core/Layout.h"
#include "runtime/core/Philox.h"
#include "runtime/core/Random.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem::runtime {

std::uint64_t pathHash(std::string_view path) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (char c : path) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

Fans fans(std::span<const std::int64_t> dims) {
  Fans result;
  for (std::size_t k = 0; k < dims.size(); ++k) {
    if (k != 0) result.in *= static_cast<double>(dims[k]);
    if (k != 1) result.out *= static_cast<double>(dims[k]);
  }
  return result;
}

namespace {

struct Distribution {
  enum class Kind : std::uint8_t { Constant, Normal, Uniform } kind;
  double a, b;
};

tl::expected<Distribution, std::string> distribution(const InitDesc& init, Fans fan) {
  using Kind = Distribution::Kind;
  auto spread = [](Kind kind, double s) { return kind == Kind::Normal ? Distribution{kind, 0, s} : Distribution{kind, -s, s}; };
  if (init.kind == "zeros") return Distribution{Kind::Constant, 0, 0};
  if (init.kind == "ones") return Distribution{Kind::Constant, 1, 0};
  if (init.kind == "constant") return Distribution{Kind::Constant, init.a, 0};
  if (init.kind == "normal") return Distribution{Kind::Normal, init.a, init.b};
  if (init.kind == "uniform") return Distribution{Kind::Uniform, init.a, init.b};
  if (init.kind == "he_normal") return spread(Kind::Normal, std::sqrt(2 / fan.in));
  if (init.kind == "he_uniform") return spread(Kind::Uniform, std::sqrt(6 / fan.in));
  if (init.kind == "xavier_normal") return spread(Kind::Normal, std::sqrt(2 / (fan.in + fan.out)));
  if (init.kind == "xavier_uniform") return spread(Kind::Uniform, std::sqrt(6 / (fan.in + fan.out)));
  if (init.kind == "torch_uniform") return spread(Kind::Uniform, 1 / std::sqrt(fan.in));
  return tl::make_unexpected(fmt::format("no initialiser is called '{}'", init.kind));
}

}  // namespace

bool isConstant(const InitDesc& init) {
  const auto chosen = distribution(init, {});
  return chosen && chosen->kind == Distribution::Kind::Constant;
}

tl::expected<void, std::string> fillInit(const InitDesc& init, std::span<const std::int64_t> dims, std::uint64_t seed,
                                         std::string_view path, std::span<double> values, std::uint64_t first) {
  if (values.empty()) return {};
  const auto chosen = distribution(init, fans(dims));
  if (!chosen) return tl::make_unexpected(chosen.error());
  const auto [kind, a, b] = *chosen;
  if (!std::isfinite(a) || !std::isfinite(b) || (kind == Distribution::Kind::Normal && b < 0) ||
      (kind == Distribution::Kind::Uniform && b < a)) {
    return tl::make_unexpected(fmt::format("initialiser '{}' of '{}' has parameters {} and {}", init.kind, path, a, b));
  }
  if (kind == Distribution::Kind::Constant) {
    std::fill(values.begin(), values.end(), a);
    return {};
  }
  const bool normal = kind == Distribution::Kind::Normal;
  (normal ? normals : uniforms)(seed, pathHash(path), first, values);
  const double scale = normal ? b : b - a;
  for (double& value : values) value = a + scale * value;
  return {};
}

tl::expected<void, std::string> fillInput(std::int32_t dtype, std::int64_t bound, std::uint64_t seed, std::string_view path,
                                          std::span<double> values, std::uint64_t first) {
  const bool floating = tbem_is_floating(dtype) != 0;
  if (dtype == TBEM_BOOL) bound = 2;
  constexpr std::int64_t kMostDrawn = std::int64_t{1} << 32;
  if (!floating && bound <= 0) {
    return tl::make_unexpected(fmt::format(
        "no stand-in values can be drawn for the integer input `{}`: nothing that reads it says below which number they "
        "lie, as the axis of a `gather` or an `embedding` does, the classes of a `cross_entropy`, or a `coordinate` that "
        "is compared with them; give it values with `tbemc step --load FILE`, or from a dataset in a `train`",
        path));
  }
  if (!floating && bound >= kMostDrawn) {
    return tl::make_unexpected(fmt::format(
        "no stand-in values can be drawn for the integer input `{}`: what reads it takes values below {}, and they are "
        "drawn below 2^32; give it values with `tbemc step --load FILE`",
        path, bound));
  }
  const std::uint64_t stream = pathHash(path);
  if (floating) {
    normals(seed, stream, first, values);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(philoxBelow(philoxAt(seed, stream, 0, first + i), bound));
  }
  return {};
}

}  // namespace tbem::runtime
