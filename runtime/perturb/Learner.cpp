#include "runtime/perturb/Learner.h"

#include "runtime/train/Feed.h"
#include "runtime/train/Order.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <span>

namespace tbem::perturb {

using Kind = Failure::Kind;

namespace {

/// One step on the batch. Returns its loss.
Result<double> stepOf(runtime::Instance& learner, const train::Feed& batch, std::uint64_t number, std::int64_t epoch) {
  if (auto done = batch.write(learner); !done) return failure(Kind::Environment, done.error());
  if (auto done = learner.run(number); !done) return failure(Kind::Run, done.error().message);
  const auto loss = learner.read(learner.executable().loss);
  if (!loss) return failure(Kind::Run, loss.error().message);
  const double value = loss->doubles().front();
  if (std::isfinite(value)) return value;
  return failure(Kind::Run, fmt::format("the loss of step {} (epoch {}) is {}: a lower learning rate keeps it finite", number,
                                        epoch + 1, value));
}

}  // namespace

Result<std::optional<double>> learn(const Plan& plan, const data::Dataset& dataset, const Learning& learning,
                                    const Learners& learners, const std::function<void(const std::string&)>& tell,
                                    const std::function<bool()>& stop) {
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t count = std::min(learning.count, dataset.description().train), batches = count / plan.batch;
  if (batches == 0) {
    return failure(Kind::Environment,
                   fmt::format("it learns from {} examples of the training split, which fill no batch of {}", count, plan.batch));
  }
  const std::array<std::string, 1> inputs = {learning.seed};
  train::Feed feed(dataset, inputs);
  std::uint64_t number = 0;
  for (std::int64_t epoch = 0; epoch < learning.epochs; ++epoch) {
    const std::vector<std::int64_t> order = train::shuffled(plan.seed, static_cast<std::uint32_t>(epoch), count);
    for (std::int64_t b = 0; b < batches; ++b) {
      if (stop()) return std::optional<double>();
      const auto examples =
          std::span(order).subspan(static_cast<std::size_t>(b * plan.batch), static_cast<std::size_t>(plan.batch));
      ++number;
      if (auto done = feed.load(data::Split::Train, examples); !done) return failure(Kind::Environment, done.error());
      if (learners.discriminator != nullptr) {
        if (const auto loss = stepOf(*learners.discriminator, feed, number, epoch); !loss) return tl::unexpected(loss.error());
      }
      const auto loss = stepOf(learners.step, feed, number, epoch);
      if (!loss) return tl::unexpected(loss.error());
      tell(fmt::format("epoch {} of {}, loss {:.4f}", epoch + 1, learning.epochs, *loss));
    }
  }
  return std::optional(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace tbem::perturb
