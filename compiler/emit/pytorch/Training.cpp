#include "compiler/emit/pytorch/Training.h"

#include "compiler/emit/python/Reader.h"
#include "compiler/emit/python/Schedule.h"
#include "compiler/emit/pytorch/Groups.h"
#include "compiler/support/Bug.h"

#include <fmt/format.h>

namespace tbem::emit {

namespace {

/// A parameter of an optimiser, and PyTorch's for it.
struct Setting {
  std::string_view word, keyword;
  std::string_view standard;  ///< PyTorch's own, as text
};
struct Optimizer {
  std::string_view word, type;
  std::vector<Setting> settings;
};

const std::vector<Optimizer>& optimizers() {
  static const std::vector<Optimizer> table = {
      {"sgd",
       "SGD",
       {{"lr", "lr", ""},
        {"momentum", "momentum", "0.0"},
        {"weight_decay", "weight_decay", "0.0"},
        {"nesterov", "nesterov", "False"}}},
      {"adam", "Adam", {{"lr", "lr", ""}, {"eps", "eps", "1e-08"}, {"weight_decay", "weight_decay", "0.0"}}},
      {"adamw", "AdamW", {{"lr", "lr", ""}, {"eps", "eps", "1e-08"}, {"weight_decay", "weight_decay", "0.01"}}},
      {"rmsprop",
       "RMSprop",
       {{"lr", "lr", ""},
        {"alpha", "alpha", "0.99"},
        {"eps", "eps", "1e-08"},
        {"weight_decay", "weight_decay", "0.0"},
        {"momentum", "momentum", "0.0"},
        {"centered", "centered", "False"}}},
      {"adagrad",
       "Adagrad",
       {{"lr", "lr", ""},
        {"lr_decay", "lr_decay", "0.0"},
        {"weight_decay", "weight_decay", "0.0"},
        {"initial", "initial_accumulator_value", "0.0"},
        {"eps", "eps", "1e-10"}}}};
  return table;
}

class OptimizerReader {
public:
  OptimizerReader(const graph::Row& row, const graph::Call& call) : row(row), call(call) {}

  tl::expected<OptimizerText, Refusal> read(StepText& step) const {
    const std::string& word = call.decl->name.text;
    const Optimizer* const known = rowOf(optimizers(), word);
    if (!call.isStandard || known == nullptr)
      return tl::unexpected(Refusal{call.use, "`" + word + "`",
                                    "PyTorch has no optimiser of this name; it has sgd, adam, adamw, rmsprop and adagrad."});
    OptimizerText text;
    text.type = fmt::format("torch.optim.{}", known->type);
    const auto give = [&text](std::string_view keyword, std::string value) {
      text.keywords.emplace_back(keyword);
      text.values.push_back(std::move(value));
    };
    for (const Setting& setting : known->settings) {
      const sema::Value& value = valueOf(setting.word);
      if (value.is(sema::ValueKind::Tensor)) {
        const tl::expected<std::string, Refusal> rate = rateText(row, static_cast<graph::TensorId>(value.id));
        if (!rate) return tl::unexpected(rate.error());
        step.rate = *rate;
        give(setting.keyword, "1.0");
        continue;
      }
      const std::string number = textOf(value);
      if (number != setting.standard) give(setting.keyword, number);
    }
    if (parameterOf(call, "beta1") != nullptr) {  // PyTorch has one pair of them
      const std::string betas = fmt::format("({}, {})", textOf(valueOf("beta1")), textOf(valueOf("beta2")));
      if (betas != "(0.9, 0.999)") give("betas", betas);
    }
    if (number("dampening") != 0)
      return tl::unexpected(
          Refusal{call.use, "`dampening`", "PyTorch leaves it out in the first step, and this optimiser does not."});
    return text;
  }

  /// The statement that cuts gradients; empty: they stay.
  tl::expected<std::string, Refusal> clip() const {
    const double norm = number("clip_norm"), value = number("clip_value");
    if (norm != 0 && value != 0)
      return tl::unexpected(Refusal{call.use, "`clip_norm` beside `clip_value`", "One of the two is written, not both."});
    if (norm != 0) return fmt::format("nn.utils.clip_grad_norm_(model.parameters(), {})", textOf(valueOf("clip_norm")));
    if (value != 0) return fmt::format("nn.utils.clip_grad_value_(model.parameters(), {})", textOf(valueOf("clip_value")));
    return "";
  }

private:
  const sema::Value& valueOf(std::string_view word) const {
    const sema::Value* const value = parameterOf(call, word);
    TBEM_CHECK(value != nullptr);
    return *value;
  }
  std::string textOf(const sema::Value& value) const {
    return value.is(sema::ValueKind::Bool) ? pythonText(row.values[value.expr].num != 0) : pythonReal(row.values[value.expr]);
  }
  double number(std::string_view word) const {
    const sema::Value* const value = parameterOf(call, word);
    return value != nullptr ? row.values[value->expr].toDouble() : 0;
  }

  const graph::Row& row;
  const graph::Call& call;
};

/// The step's optimisers: one for all weights that learn, or one for each parameter group. One that moves no weight is none.
tl::expected<StepText, Refusal> withOptimizers(const graph::Row& row, StepText step) {
  const std::vector<graph::Call>& calls = row.structure->optimizers;
  const std::vector<std::uint32_t> moving = movingOptimizers(row.graph());
  std::vector<OptimizerText> texts;
  for (const std::uint32_t number : moving) {
    const graph::Call& call = calls[number];
    const OptimizerReader reader(row, call);
    tl::expected<OptimizerText, Refusal> text = reader.read(step);
    if (!text) return tl::unexpected(text.error());
    texts.push_back(std::move(*text));
    const tl::expected<std::string, Refusal> clip = reader.clip();
    if (!clip) return tl::unexpected(clip.error());
    if (texts.size() == 1)
      step.clip = *clip;
    else if (step.clip != *clip)
      return tl::unexpected(Refusal{call.use, "an optimiser that cuts gradients in another way than the first",
                                    "A step of PyTorch cuts the gradients of all parameters together."});
  }
  step.freeze = freezeFunction(row);
  if (texts.size() == 1) {
    std::string arguments = "model.parameters()";
    for (std::size_t k = 0; k < texts[0].keywords.size(); ++k)
      arguments += fmt::format(", {}={}", texts[0].keywords[k], texts[0].values[k]);
    step.optimizer = fmt::format("optimizer = {}({})", texts[0].type, arguments);
    return step;
  }
  if (!step.rate.empty())
    return tl::unexpected(Refusal{calls[moving[0]].use, "a rate that depends on the step beside parameter groups",
                                  "The scheduler of a program moves the rates of all groups alike."});
  GroupsText groups = groupsText(row, moving, texts);
  step.groups = std::move(groups.function);
  step.optimizer = std::move(groups.made);
  step.isList = groups.isList;
  return step;
}

}  // namespace

tl::expected<StepText, Refusal> stepText(const graph::Row& row) {
  StepText step;
  step.parts = row.graph().microBatches;
  step.inputs = inputNames(row, pyTorchWords());
  const graph::Call* const loss = lossOf(row);
  if (loss == nullptr) return step;
  if (const std::optional<Refusal> refusal = severalLosses(row, *loss)) return tl::unexpected(*refusal);
  if (!hasPyTorch(row, *loss))
    return tl::unexpected(
        Refusal{loss->use, "the loss `" + loss->decl->name.text + "`", "PyTorch has the losses of the standard library."});
  step.wantsShares = loss->decl->name.text == "bce";
  std::vector<Hole> holes;
  Scribe scribe(holes);
  const Code code = pyTorchCall(row, *loss, scribe);
  step.loss = lossText(*loss, code, holes, step.parts > 1 ? "target_part" : "target");
  return row.structure->optimizers.empty() ? step : withOptimizers(row, std::move(step));
}

}  // namespace tbem::emit
