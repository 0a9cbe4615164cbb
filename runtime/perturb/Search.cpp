#include "runtime/perturb/Search.h"

#include "runtime/perturb/Bounds.h"

#include <fmt/format.h>

#include <utility>

namespace tbem::perturb {

using Kind = Failure::Kind;

namespace {
Candidate unmoved(const Batch& batch, const std::vector<Answer>& clean, std::size_t place) {
  const std::span<const float> example = batch.input(static_cast<std::int64_t>(place));
  return {clean[place], {example.begin(), example.end()}};
}
}  // namespace

bool Search::looksAfter(std::int64_t step) const { return step == method.steps || (method.look > 0 && step % method.look == 0); }

Result<void> Search::look(const Batch& batch, const std::vector<Answer>& clean, std::int64_t step,
                          std::vector<std::optional<Candidate>>& best) {
  for (std::int64_t i = 0; i < batch.count; ++i) {
    const std::string problem = outsideOfBounds(plan, batch.input(i), batch.rowOf(mover.points(), i));
    if (problem.empty()) continue;
    return failure(Kind::Run, fmt::format("the point of example {} {}, after step {} of {}",
                                          batch.examples[static_cast<std::size_t>(i)], problem, step, method.steps));
  }
  auto answers = network.ask(mover.points());
  if (!answers) return tl::unexpected(answers.error());
  for (std::size_t i = 0; i < best.size(); ++i) {
    Answer& answer = (*answers)[i];
    if (plan.keepLabel && answer.prediction != clean[i].prediction) continue;
    if (best[i] && !(answer.flops > best[i]->answer.flops || (method.fromBest && answer.flops == best[i]->answer.flops)))
      continue;
    const std::span<const float> input = batch.rowOf(mover.points(), static_cast<std::int64_t>(i));
    best[i] = Candidate{std::move(answer), {input.begin(), input.end()}};
  }
  if (!method.fromBest) return {};
  for (std::size_t i = 0; i < best.size(); ++i) mover.put(static_cast<std::int64_t>(i), best[i]->input);
  return {};
}

Result<std::optional<std::vector<Candidate>>> Search::run(const Batch& batch, const std::vector<Answer>& clean,
                                                          const std::function<bool(std::int64_t step)>& next) {
  std::vector<std::int64_t> predictions;
  predictions.reserve(clean.size());
  for (const Answer& answer : clean) predictions.push_back(answer.prediction);
  mover.begin(batch, std::move(predictions));
  std::vector<std::optional<Candidate>> best(static_cast<std::size_t>(batch.count));
  if (method.fromBest) {
    for (std::size_t i = 0; i < best.size(); ++i) best[i] = unmoved(batch, clean, i);
  }
  for (std::int64_t step = 1; step <= method.steps; ++step) {
    if (!next(step)) return std::optional<std::vector<Candidate>>();
    // A number that no other step of another batch has: random() is keyed by it, and by the place in the batch.
    if (auto done = mover.step(static_cast<std::uint64_t>(batch.number * method.steps + step)); !done)
      return tl::unexpected(done.error());
    if (!looksAfter(step)) continue;
    if (auto done = look(batch, clean, step, best); !done) return tl::unexpected(done.error());
  }
  std::vector<Candidate> kept;
  kept.reserve(best.size());
  for (std::size_t i = 0; i < best.size(); ++i) {
    // Who looks on the way need not take what costs less than the example.
    if (best[i] && (method.look == 0 || best[i]->answer.flops >= clean[i].flops)) {
      kept.push_back(std::move(*best[i]));
      continue;
    }
    kept.push_back(unmoved(batch, clean, i));
  }
  return std::optional(std::move(kept));
}

}  // namespace tbem::perturb
