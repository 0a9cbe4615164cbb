// cuDNN on the card of this process: which engines it has for a problem, and problems that are prepared and run.
#pragma once

#include "runtime/cudnn/Engines.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tbem::cudnn {

/// A problem that is prepared with one engine. Belongs to its `Card`, which outlives it.
class Plan {
public:
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  /// Bytes, exact.
  std::uint64_t workspace() const;
  /// Puts it behind what the card's stream was given before. `tensors`: addresses on the card, of a convolution x, weight and y
  /// as `Convolution` names them; of attention query, key, value, y, log_sums; of its gradient dy, those five, dquery, dkey,
  /// dvalue. "" or cuDNN's words. One thread at a time for all plans of a card.
  std::string run(std::span<void* const> tensors, void* workspace);

private:
  friend class Card;
  struct Impl;
  explicit Plan(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// One thread at a time.
class Card {
public:
  /// `stream` (a CUstream): where plans run. The card's context is current on this thread and those that use the plans. Errors:
  /// cuDNN cannot use the card, in its words.
  static tl::expected<Card, std::string> make(const Library& library, void* stream);
  ~Card();
  Card(Card&&) noexcept;
  Card& operator=(Card&&) noexcept;

  /// As Device::engines.
  tl::expected<std::vector<Engine>, std::string> engines(const Problem& problem, List list = List::Heuristic) const;
  /// Prepares the problem with an engine of that list; this takes a second and more where the engine is compiled at run time.
  /// Errors: cuDNN refuses, in its words.
  tl::expected<Plan, std::string> plan(const Problem& problem, const Engine& engine) const;

private:
  struct Impl;
  explicit Card(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

}  // namespace tbem::cudnn
