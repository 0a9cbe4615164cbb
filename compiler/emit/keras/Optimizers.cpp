// Optimisers: Keras's own where they compute the same, else classes of the program that write our update out.
#include "compiler/emit/keras/Training.h"
#include "compiler/emit/python/Schedule.h"
#include "compiler/emit/python/Wrap.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::emit::keras {

namespace {

/// A class with an update of its own. Lines of the update read `gradient`, `variable`, `learning_rate` and a state by its name;
/// those that begin with "NAME := " move it.
struct Update {
  std::string type, about;
  std::vector<std::string> states;
  std::string initial;  ///< number that states begin with; empty: 0
  std::vector<std::string> lines;
};

class OptimizerReader {
public:
  OptimizerReader(const graph::Row& row, const graph::Call& call, std::vector<Hole>& holes)
      : row(row), scribe(holes), read(row, call, scribe) {}

  tl::expected<StepText, Refusal> write(StepText step) {
    const std::string& word = read.call.decl->name.text;
    const sema::Value* const rate = parameterOf(read.call, "lr");
    constexpr auto kWords = std::to_array<std::string_view>({"sgd", "adam", "adamw", "rmsprop", "adagrad"});
    if (!read.call.isStandard || std::find(kWords.begin(), kWords.end(), word) == kWords.end())
      return tl::unexpected(Refusal{read.call.use, "`" + word + "`",
                                    "Programs of Keras have the optimisers of the standard library: sgd, adam, adamw, rmsprop "
                                    "and adagrad."});
    parts = step.parts;
    if (rate->is(sema::ValueKind::Tensor)) {
      const tl::expected<std::string, Refusal> statements = rateText(row, static_cast<graph::TensorId>(rate->id));
      if (!statements) return tl::unexpected(statements.error());
      step.rate = *statements;
    }
    if (has("clip_norm") && parts > 1)
      return tl::unexpected(Refusal{read.call.use, "`clip_norm` beside `accumulate`",
                                    "Keras adds gradients up behind the place where a program can cut them together."});
    // Keras's velocity has the rate of its own step in it, and TensorFlow's gradients of tables are cut row by row before they
    // are added up.
    const bool isOwn =
        word != "sgd" || has("weight_decay") || has("dampening") || cutsInApply() || (has("momentum") && !step.rate.empty());
    std::string arguments = step.rate.empty() ? text("lr") : "1.0";
    if (!isOwn && has("momentum")) arguments += ", momentum=" + text("momentum");
    if (!isOwn && read.flag("nesterov")) arguments += ", nesterov=True";
    if (has("clip_value") && !cutsInApply()) arguments += ", clipvalue=" + text("clip_value");
    if (parts > 1) arguments += fmt::format(", gradient_accumulation_steps={}", parts);
    const Update update = isOwn ? updateOf(word) : Update{};
    step.optimizer = fmt::format("{}({})", isOwn ? update.type : "keras.optimizers.SGD", arguments);
    if (isOwn) step.optimizerClass = classText(update);
    return step;
  }

private:
  bool has(std::string_view word) const { return read.real(word).toDouble() != 0; }
  std::string text(std::string_view word) const { return pythonReal(read.real(word)); }
  std::string rest(std::string_view word) const { return pythonRest(read.real(word)); }

  /// Whether gradients are cut before Keras has them. Those of micro-batches it adds up first, and cuts their elements itself.
  bool cutsInApply() const { return has("clip_norm") || (has("clip_value") && parts == 1); }

  /// Steps of the weights that are done, counted from 1 in this one.
  static std::string countedSteps() { return "step = ops.cast(self.iterations + 1, variable.dtype)"; }

  Update updateOf(std::string_view word) const {
    if (word == "sgd") return sgd();
    if (word == "rmsprop") return rmsprop();
    return word == "adagrad" ? adagrad() : adam(word == "adamw");
  }

  Update sgd() const {
    Update update{"SGD", "Stochastic gradient descent whose velocity is of gradients alone.", {}, "", {}};
    decay(update);
    std::string step = "gradient";
    if (has("momentum")) {
      update.states = {"velocity"};
      const std::string share = has("dampening") ? rest("dampening") + " * gradient" : "gradient";
      update.lines.push_back(fmt::format("velocity := {} * velocity + {}", text("momentum"), share));
      step = read.flag("nesterov") ? fmt::format("(gradient + {} * velocity)", text("momentum")) : "velocity";
    }
    update.lines.push_back(fmt::format("variable -= learning_rate * {}", step));
    return update;
  }

  Update adam(bool isDecoupled) const {
    Update update{isDecoupled ? "AdamW" : "Adam",
                  "Adam with epsilon beside the root of the corrected mean of squares.",
                  {"mean", "squares"},
                  "",
                  {}};
    if (!isDecoupled) decay(update);
    update.lines.push_back(fmt::format("mean := {} * mean + {} * gradient", text("beta1"), rest("beta1")));
    update.lines.push_back(fmt::format("squares := {} * squares + {} * ops.square(gradient)", text("beta2"), rest("beta2")));
    update.lines.push_back(countedSteps());
    update.lines.push_back(fmt::format("root = ops.sqrt(squares) / ops.sqrt(1 - {}**step)", text("beta2")));
    update.lines.push_back(fmt::format("rate = learning_rate / (1 - {}**step)", text("beta1")));
    if (isDecoupled && has("weight_decay"))
      update.lines.push_back(fmt::format("variable -= learning_rate * {} * variable", text("weight_decay")));
    update.lines.push_back(fmt::format("variable -= rate * mean / (root + {})", text("eps")));
    return update;
  }

  Update rmsprop() const {
    Update update{"RMSprop", "RMSprop with epsilon beside the root.", {"squares"}, "", {}};
    decay(update);
    update.lines.push_back(fmt::format("squares := {} * squares + {} * ops.square(gradient)", text("alpha"), rest("alpha")));
    std::string power = "squares";
    if (read.flag("centered")) {
      update.states.push_back("average");
      update.lines.push_back(fmt::format("average := {} * average + {} * gradient", text("alpha"), rest("alpha")));
      power = "squares - ops.square(average)";
    }
    update.lines.push_back(fmt::format("ratio = gradient / (ops.sqrt({}) + {})", power, text("eps")));
    if (has("momentum")) {
      update.states.push_back("velocity");
      update.lines.push_back(fmt::format("velocity := {} * velocity + ratio", text("momentum")));
    }
    update.lines.push_back(fmt::format("variable -= learning_rate * {}", has("momentum") ? "velocity" : "ratio"));
    return update;
  }

  Update adagrad() const {
    Update update{"Adagrad", "AdaGrad with epsilon beside the root.", {"squares"}, has("initial") ? text("initial") : "", {}};
    decay(update);
    update.lines.push_back("squares := squares + ops.square(gradient)");
    std::string rate = "learning_rate";
    if (has("lr_decay")) {
      update.lines.push_back(countedSteps());
      rate = fmt::format("learning_rate / (1 + (step - 1) * {})", text("lr_decay"));
    }
    update.lines.push_back(fmt::format("variable -= {} * gradient / (ops.sqrt(squares) + {})", rate, text("eps")));
    return update;
  }

  /// That of the loss, added to the gradient.
  void decay(Update& update) const {
    if (has("weight_decay")) update.lines.push_back(fmt::format("gradient = gradient + {} * variable", text("weight_decay")));
  }

  std::string classText(const Update& update) const {
    std::string out = fmt::format("\n\nclass {}(keras.optimizers.Optimizer):\n    \"\"\"{}\"\"\"\n", update.type, update.about);
    if (!update.states.empty()) {
      out += "\n    def build(self, variables):\n        if self.built:\n            return\n        super().build(variables)\n";
      for (const std::string& state : update.states) {
        const std::string initial =
            update.initial.empty() ? "" : fmt::format(", initializer=keras.initializers.Constant({})", update.initial);
        out += wrapped(8, fmt::format("self.all_{} = self.add_optimizer_variables(variables, \"{}\"{})", state, state, initial));
      }
    }
    if (cutsInApply()) {
      out += "\n    def apply(self, grads, trainable_variables=None):\n";
      out += wrapped(8, "grads = [ops.zeros(grad.shape) + grad for grad in grads]");
      if (has("clip_norm")) {
        out += wrapped(8, "norm = ops.sqrt(sum(ops.sum(ops.square(grad)) for grad in grads))");
        out += wrapped(8, fmt::format("scale = ops.minimum(1.0, {} / (norm + 1e-06))", text("clip_norm")));
        out += wrapped(8, "grads = [scale * grad for grad in grads]");
      }
      if (has("clip_value"))
        out += wrapped(8, fmt::format("grads = [ops.clip(grad, -{0}, {0}) for grad in grads]", text("clip_value")));
      out += wrapped(8, "super().apply(grads, trainable_variables)");
    }
    out += "\n    def update_step(self, gradient, variable, learning_rate):\n";
    for (const std::string& state : update.states)
      out += wrapped(8, fmt::format("{} = self.all_{}[self._get_variable_index(variable)]", state, state));
    // TensorFlow's gradient of a table is a list of rows until it is added to something.
    if (!cutsInApply()) out += wrapped(8, "gradient = ops.zeros(variable.shape) + gradient");
    for (const std::string& line : update.lines) {
      const std::size_t moves = line.find(" := "), subtracts = line.find(" -= ");
      if (moves != std::string::npos) {
        out += wrapped(8, fmt::format("self.assign({}, {})", line.substr(0, moves), line.substr(moves + 4)));
      } else if (subtracts != std::string::npos) {
        out += wrapped(8, fmt::format("self.assign_sub({}, {})", line.substr(0, subtracts), line.substr(subtracts + 4)));
      } else {
        out += wrapped(8, line);
      }
    }
    return out;
  }

  const graph::Row& row;
  Scribe scribe;
  const CallReader read;
  std::int64_t parts = 1;
};

}  // namespace

tl::expected<StepText, Refusal> withOptimizer(const graph::Row& row, const graph::Call& optimizer, StepText step) {
  std::vector<Hole> holes;
  return OptimizerReader(row, optimizer, holes).write(std::move(step));
}

}  // namespace tbem::emit::keras
