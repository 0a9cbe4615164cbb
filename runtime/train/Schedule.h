// The learning rate, step by step, as a factor on the optimiser's own. Lengths are in steps; they need not be whole.
#pragma once

#include <cstdint>

namespace tbem::train {

struct Schedule {
  enum class Kind : std::uint8_t { Constant, Linear, Cosine, Step } kind = Kind::Constant;
  double warmup = 0;  ///< steps of warm-up
  double total = 1;   ///< steps of the whole training, warm-up included
  double floor = 0;   ///< Linear, Cosine: the factor at the end
  double every = 1;   ///< Step: steps between falls, counted from the first step of the training
  double factor = 1;  ///< Step: by which it falls

  /// Of step `step`, counted from 0. Warm-up: (step + 1) / warmup while that is below 1 (Goyal et al. 2017, section 2.2). Then,
  /// with t = (step - warmup) / (total - warmup): Linear 1 - (1 - floor) t; Cosine floor + (1 - floor) (1 + cos(pi t)) / 2
  /// (Loshchilov & Hutter 2017, equation 5, without restarts); Step factor^floor(step / every).
  double at(std::int64_t step) const;
};

}  // namespace tbem::train
