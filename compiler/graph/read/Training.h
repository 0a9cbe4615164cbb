// A `train` declaration as its run needs it: the network, what it reads, how its weights are moved.
#pragma once

#include "compiler/graph/elaborate/Elaborate.h"
#include "compiler/graph/perturb/Method.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tbem::graph {

/// What a training reads: a split of a `dataset`.
struct DataSpec {
  std::string name;                            ///< "fashion.train(count: 1000)": as the program writes it
  const ast::Callable* declaration = nullptr;  ///< `dataset fashion_mnist(...)` of the library
  std::string reader;                          ///< its `native` name
  /// Every parameter of the declaration with its value, defaults included. Expressions are constants of the spec's pool.
  std::vector<std::pair<std::string, sema::Value>> settings;
  bool test = false;                  ///< `.test`; else `.train`
  std::optional<std::int64_t> count;  ///< the first so many examples; nothing: all
  SrcRange range;                     ///< of what follows `on`
  SrcRange callRange;                 ///< of the dataset's own call
};

constexpr std::int64_t kUsualRepeats = 10, kMostRepeats = 1000;  ///< of clause `examples`

/// Clause `examples` of a measurement: `examples fashion.test(count: 1000), weights: t, repeats: 10, energy: 0.2`. Move only:
/// values of `data` refer to its pool.
struct ExamplesSpec {
  std::unique_ptr<sema::ExprPool> pool;
  DataSpec data;
  std::vector<ast::Name> weights;         ///< the training that made them, or one for each level of `chosenBy`
  std::optional<std::uint32_t> chosenBy;  ///< position of the design's factor whose level says which; nothing: all rows have one
  std::string weightsText;                ///< as a person writes it
  SrcRange weightsRange;
  std::int64_t repeats = kUsualRepeats;  ///< of each batch, for its time; 0: it is not measured
  double energySeconds = 0;              ///< how long runs of each batch last for its energy; 0: it is not counted
  SrcRange range;
};
/// Of a measurement of this design. Nothing where it has errors, which were reported.
std::optional<ExamplesSpec> readExamples(Session& session, const sema::Program& program, const ast::Clause& clause,
                                         const DesignSpec& design);

/// How the learning rate moves, as a factor on the optimiser's `lr`. Lengths are in epochs and need not be whole.
struct ScheduleSpec {
  enum class Kind : std::uint8_t { Constant, Linear, Cosine, Step } kind = Kind::Constant;
  double warmup = 0;  ///< rises linearly from almost 0 over so many epochs first (Goyal et al. 2017, section 2.2)
  double floor = 0;   ///< Linear, Cosine (Loshchilov & Hutter 2017, equation 5): what it falls to at the end
  double every = 1;   ///< Step: is multiplied by `factor` every so many epochs
  double factor = 0.1;
  std::string text;  ///< as the program writes it
  SrcRange range;
};

/// Clause `weights`: where a training begins in place of the initialisers.
struct StartSpec {
  const ast::Name* training = nullptr;  ///< another training of the program; null: `file`
  std::string file, names;              ///< of arrays, and the table of their names ("": none), as the program writes them
  bool partial = false;                 ///< what does not fit, or is not there, stays as it was initialised
  std::string text;
  SrcRange range;
};

/// Clause `turn`: weights that a step of their own moves, in front of the step of all others and on the same examples.
struct TurnSpec {
  std::vector<WeightPlace> places;
  const ast::Expr* loss = nullptr;       ///< null: that of the training
  const ast::Expr* optimizer = nullptr;  ///< null: that of the training
  std::string lossText, optimizerText;
  std::optional<Rational> rate;  ///< of its optimiser, where it is a number
  std::int64_t repeat = 1;       ///< steps in a row
  SrcRange range;
};

/// Move only: values refer to its pool.
struct TrainingSpec {
  const ast::Train* decl = nullptr;
  const sema::Module* module = nullptr;
  const ast::Callable* network = nullptr;
  const ast::Expr* optimizer = nullptr;
  ParameterGroups groups;           ///< clauses `freeze` and `optimizer .. on ..`
  const ast::Expr* loss = nullptr;  ///< null: cross_entropy where there are classes, else mse
  std::optional<tbem_dtype> dtype;
  const ast::Expr* mixedText = nullptr;  ///< of clause `mixed`
  const ast::Expr* mathText = nullptr;   ///< of clause `math`
  bool tf32 = false;
  std::optional<tbem_dtype> mixed;
  const ast::Expr* accumulate = nullptr;    ///< clause `accumulate`
  GateTraining gates = {};                  ///< clauses `gates` and `exits`
  std::vector<TurnSpec> turns;              ///< clauses `turn`, in order
  std::optional<Hardening> harden;          ///< clause `harden`
  std::optional<StartSpec> start;           ///< clause `weights`
  std::optional<CheckpointSpec> recompute;  ///< clause `checkpoint`, but for its number
  std::optional<Rational> rate;             ///< the optimiser's `lr`, where it is a number
  std::unique_ptr<sema::ExprPool> pool;
  DataSpec data;
  std::optional<std::int64_t> epochs, steps;  ///< exactly one
  std::int64_t batch = 0;
  std::uint64_t seed = 0;
  bool seedGiven = false;
  double validate = 0;                   ///< the share of the examples that is held out
  std::optional<std::int64_t> patience;  ///< epochs without a better validation loss after which it stops
  std::int64_t every = 0;                ///< steps between reports of the loss; 0: none but at the end of an epoch
  std::int64_t checkpoint = 1;           ///< epochs between checkpoints
  ScheduleSpec schedule;
  const ast::Clause* tune = nullptr;  ///< clause `tune`, which the driver reads
  bool flip = false;                  ///< `augment flip`: left and right
  std::int64_t crop = 0;              ///< `augment crop(4)`: a window of the image padded by so many zeros on each side
  SrcRange augmentation;              ///< the text of the last of these
  std::string networkText, optimizerText, lossText;  ///< as a person writes them, whatever the program's layout
};

/// Reads a training: clauses, dataset, learning rate. Nothing where it has errors, which were reported.
std::optional<TrainingSpec> readTraining(Session& session, const sema::Program& program, const ast::Train& decl);

/// What the data have, of one example.
struct DataShape {
  std::vector<std::vector<std::int64_t>> inputs;
  std::vector<std::int64_t> target;
  std::int64_t classes = 0;  ///< 0: the target is numbers
};

/// The graphs of a training at this batch: its step (Task::Train; the learning rate of each optimiser is a run-time scalar of its
/// own, "optimizer.lr") or its loss at inference (Task::Evaluate). `turn`: the step is that of this clause. Nothing after a
/// report: the network has not as many inputs as the data.
std::optional<ExperimentSpec> experimentOf(Session& session, const TrainingSpec& spec, Task task, const DataShape& data,
                                           std::int64_t batch, const TurnSpec* turn = nullptr);

/// Whether the target and the outputs of the training's step, or of that of one of its turns, are what the data have. Reports
/// what differs.
bool checkTarget(Session& session, const TrainingSpec& spec, const Row& row, const DataShape& data,
                 const TurnSpec* turn = nullptr);

/// Whether the loss is a mean over the labels that have a class.
bool isMeanOfLabels(const TrainingSpec& spec, const DataShape& data);

/// The dimension of a row's output that counts the classes of each label: its other dimensions are those of the target. Where
/// several could, the one that the library's loss takes. Nothing: none does, as with a loss that sums outputs up, or it is not
/// known which a program's own loss takes.
std::optional<std::size_t> classAxis(const TrainingSpec& spec, const Row& row, const DataShape& data);

}  // namespace tbem::graph
