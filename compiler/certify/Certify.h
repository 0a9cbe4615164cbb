// Certified cost: a bound of the FLOPs that a network with gates executes for any input in a ball around an example.
//
// The bound is sound for networks whose operators compute as docs/design/certified_cost.md says: sums of products in any order,
// in f32 or wider; it is not for convolutions by Winograd's or Fourier's transforms, nor for TF32 and bf16. Threads: `bound` may
// run in several threads on one Network, which is never changed.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::certify {

struct Steps;  // Steps.h

enum class Norm : std::uint8_t { Linf, L2 };

/// The inputs within `radius` of an example and from `low` to `high` each, and those that they are rounded to in f32, as a sum of
/// an example and a perturbation is.
struct Ball {
  Norm norm = Norm::Linf;
  double radius = 0;
  double low = 0, high = 1;
};

/// How bounds of values are found. Interval: operator by operator. Linear: by linear relaxations carried back to the input as
/// well.
enum class Method : std::uint8_t { Interval, Linear };

struct Limits {
  Method method = Method::Linear;
  /// Multiply-adds of convolutions for intermediate values' bounds, after which only gates' own are carried back. 2e9 take about
  /// a second of one core. It is a count and not a time, so that it is the same on every machine.
  std::int64_t products = 1'000'000'000;
  /// So often the costliest case is taken apart at a skip that is not decided: one case for each of its arms, and as many
  /// products again for both together. Nothing is taken apart by intervals alone.
  std::int64_t splits = 8;
};

/// Values of weights and running statistics by path, row-major; nothing where they are not known. Asked for while the network is
/// made.
using ArraysByPath = std::function<std::optional<std::span<const double>>(std::string_view path)>;

/// A network at inference, for one sample, with its weights.
class Network {
public:
  /// Of a row of a design whose task is `infer`, with one real input of batch 1. `flops`: as estimate::branchFlopsOfSample has
  /// them, of a sample that shares a batch with others (what is made of weights alone is then made once for all of them); empty:
  /// those of the row.
  /// Errors, in words: what the network is instead, or which array is missing or has another size.
  static tl::expected<Network, std::string> of(const graph::Row& row, const ArraysByPath& arrays, std::vector<double> flops = {});

  /// Elements of an example.
  std::size_t inputSize() const;
  /// Paths of the gates in program order: those of Bound::decided.
  std::vector<std::string> gates() const;
  const Steps& parts() const { return *steps; }

  Network(Network&& other) noexcept;
  Network& operator=(Network&& other) noexcept;
  ~Network();

private:
  explicit Network(std::unique_ptr<const Steps> steps);
  std::unique_ptr<const Steps> steps;
};

struct Bound {
  double flops = 0;  ///< no input in the ball costs more
  double least = 0;  ///< nor less
  /// By gate in program order. 1: its condition is true for every input of the ball that comes to it (the sample leaves, the arm
  /// is left out); 0: it is false for every one; -1: not decided; -2: no input comes to it. Of a gate at places: at all of those
  /// that some input comes to.
  std::vector<std::int8_t> decided;
  /// By gate: the same of each row that it decides about, which are the places of an image, or one.
  std::vector<std::vector<std::int8_t>> rows;
  /// By gate, of a condition `score >= threshold` or another comparison with a number: between which values its score lies (at
  /// whichever place); infinite ends where that is not known. For people who want to see how far a decision is from being
  /// certain.
  struct Score {
    double low = 0, high = 0;
  };
  std::vector<std::optional<Score>> scores;
  std::vector<std::string> unsupported;  ///< operators without bounds that a gate which is reached depends on, each once
  std::int64_t forms = 0;                ///< linear forms that were carried back, in all cases
  std::int64_t products = 0;             ///< multiply-adds of convolutions for them
};

/// By branch and bound over skips that are not decided: no input costs more than the costliest case. A gate is decided where it
/// is so in all cases in which inputs come to it. `example`: elements in row-major order, finite, as many as Network::inputSize.
/// What a perturbation moves out of the box is moved back to the box's edge.
Bound bound(const Network& network, std::span<const float> example, const Ball& ball, const Limits& limits = {});

}  // namespace tbem::certify
