// Losses: Keras's own where they compute the same, else functions of the program.
#include "compiler/emit/keras/Training.h"

#include <fmt/format.h>

#include <array>

namespace tbem::emit::keras {

namespace {

/// A loss of Keras, with the arguments that make it ours.
struct Known {
  std::string_view word, text;
};
constexpr auto kKnown = std::to_array<Known>({{"mse", "keras.losses.MeanSquaredError()"},
                                              {"l1", "keras.losses.MeanAbsoluteError()"},
                                              {"bce_with_logits", "keras.losses.BinaryCrossentropy(from_logits=True)"}});

std::string function(std::string_view body) { return fmt::format("\n\ndef task_loss(target, output):\n{}", body); }

/// The mean over the targets that have a class; -100 is none.
std::string ofClasses(const CallReader& call, std::string_view losses) {
  return function(fmt::format(R"(    hits = ops.one_hot(ops.cast(target, "int32"), {}, dtype=output.dtype)
{}    counted = ops.cast(target != -100, output.dtype)
    total = ops.sum(losses * counted)
    return total / ops.maximum(ops.sum(counted), 1)
)",
                              call.shape(0)[call.shape(0).size() == 3 ? 2 : 1], losses));
}

std::string smoothed(const CallReader& call) {
  const std::int64_t classes = call.shape(0)[call.shape(0).size() == 3 ? 2 : 1];
  return ofClasses(call, fmt::format(R"(    shares = {} * hits + {} / {}
    losses = -ops.sum(shares * ops.log_softmax(output), axis=-1)
)",
                                     pythonRest(call.real("smoothing")), pythonReal(call.real("smoothing")), classes));
}

std::string divergence(const CallReader& call) {
  Numbers axes;
  for (std::size_t axis = 1; axis < call.shape(0).size(); ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  const std::string sum = axes.empty() ? "parts" : fmt::format("ops.sum(parts, axis={})", pythonText(axes));
  return function(fmt::format(R"(    parts = ops.where(target > 0, target * (ops.log(target) - output), 0.0)
    return ops.mean({})
)",
                              sum));
}

constexpr std::string_view kShares = R"(    hit = target * ops.maximum(ops.log(output), -100.0)
    miss = (1 - target) * ops.maximum(ops.log(1 - output), -100.0)
    return -ops.mean(hit + miss)
)";

}  // namespace

tl::expected<StepText, Refusal> withLoss(const graph::Row& row, const graph::Call& loss, StepText step) {
  const std::string_view word = loss.decl->name.text;
  std::vector<Hole> holes;
  Scribe scribe(holes);
  const CallReader call(row, loss, scribe);
  step.wantsShares = word == "bce" || word == "bce_with_logits" || word == "kl_div";
  if (const Known* const known = loss.isStandard ? rowOf(kKnown, word) : nullptr) {
    step.loss = known->text;
  } else if (!loss.isStandard) {
    return tl::unexpected(
        Refusal{loss.use, "the loss `" + std::string(word) + "`", "Keras has the losses of the standard library."});
  } else if (word == "cross_entropy" && call.real("smoothing").toDouble() == 0) {
    step.loss = "keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-100)";
  } else if (word == "huber") {
    step.loss = fmt::format("keras.losses.Huber(delta={})", pythonReal(call.real("delta")));
  } else {
    step.loss = "task_loss";
    if (word == "cross_entropy") step.lossFunction = smoothed(call);
    if (word == "nll") step.lossFunction = ofClasses(call, "    losses = -ops.sum(hits * output, axis=-1)\n");
    if (word == "bce") step.lossFunction = function(kShares);
    if (word == "kl_div") step.lossFunction = divergence(call);
    if (word == "smooth_l1") {
      const std::string beta = pythonReal(call.real("beta"));
      step.lossFunction = function(fmt::format("    return keras.losses.huber(target, output, delta={}) / {}\n", beta, beta));
    }
    if (step.lossFunction.empty())
      return tl::unexpected(
          Refusal{loss.use, "the loss `" + std::string(word) + "`", "It has no form in a program of Keras yet."});
  }
  return step;
}

}  // namespace tbem::emit::keras
