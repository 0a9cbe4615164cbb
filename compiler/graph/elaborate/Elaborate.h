// From a program and a design to graphs: designs are read, structures elaborated once, rows evaluated and checked.
#pragma once

#include "compiler/diagnostics/Session.h"
#include "compiler/graph/ir/Calls.h"
#include "compiler/graph/ir/Graph.h"
#include "compiler/graph/pass/Checkpoint.h"
#include "compiler/graph/pass/Mixed.h"
#include "compiler/graph/pass/ParameterGroups.h"
#include "compiler/sema/Modules.h"
#include "compiler/sema/Value.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tbem::graph {

/// One level of a factor.
struct Level {
  sema::Value value;                     ///< its expressions lie in ExperimentSpec::pool
  std::string text;                      ///< as reports print it: "16", "sgd(lr: 0.01)"
  std::optional<Rational> number;        ///< where it is a number
  const ast::Expr* expr = nullptr;       ///< nullptr where it comes from a range
  const sema::Module* module = nullptr;  ///< where that means what it says
  SrcRange range;
  bool absent = false;  ///< of a nested factor: it has no value in the row
};

/// A nested factor (`under parent = level`) exists in rows only where its parent does and has one of some levels. Its last level
/// stands for its absence elsewhere.
struct FactorSpec {
  std::string name;
  std::vector<Level> levels;
  SrcRange range;
  bool binds = false;                       ///< a parameter of the network
  bool isReal = false;                      ///< numbers that need not be whole
  std::optional<std::uint32_t> parent;      ///< position; nothing: it exists in every row
  std::vector<std::uint32_t> parentLevels;  ///< under which it exists, ascending

  /// Levels but for the absence.
  std::span<const Level> values() const { return {levels.data(), levels.size() - (parent ? 1 : 0)}; }
  /// Whether each of them is a number.
  bool numeric() const;
};

/// The shape of an input: an expression over the factors, or numbers that a dataset gives. One `under parent = level` counts in
/// rows where the parent has one of these levels.
struct InputSpec {
  std::string name;
  SrcRange range;
  const ast::Expr* shape = nullptr;  ///< null: `dims`
  std::vector<std::int64_t> dims;
  std::optional<std::uint32_t> parent;
  std::vector<std::uint32_t> parentLevels;  ///< ascending

  bool counts(std::span<const std::uint32_t> levels) const;
};

/// What graphs are built for. Evaluate: the loss of a network that does not train, with its running statistics. Move, Learn and
/// Discriminate: a search for inputs that make it slow (SearchSpec).
enum class Task : std::uint8_t { Infer, Train, Evaluate, Move, Learn, Discriminate };

/// How a training step treats gates (docs/training.md). Arms are mixed by the gates' decisions, whose gradients are the scores'
/// (StraightThrough); by the scores (Soft); or by decisions drawn with the scores as probabilities, whose gradients are those of
/// what they are a limit of (Gumbel), or none, as a reward moves the scores (Reinforce).
struct GateTraining {
  enum class Mode : std::uint8_t { StraightThrough, Soft, Gumbel, Reinforce } mode = Mode::StraightThrough;
  Rational temperature{1};            ///< Gumbel
  const ast::Expr* reward = nullptr;  ///< Reinforce: an operator of the decisions, and of what the loss takes
  /// Reinforce: what the network earns with the decisions that it takes at inference is taken off each reward (Rennie et al.
  /// 2017, "Self-Critical Sequence Training for Image Captioning", section 3.2; BlockDrop, Wu et al. 2018, section 3.2).
  bool isSelfCritical = false;
  Rational weight{1};           ///< Reinforce: of its part of the loss
  std::vector<Rational> exits;  ///< the weight of each exit's loss, the last result's behind them; empty: 1 each
  SrcRange exitsRange;
};

/// What a search for slow inputs makes less (docs/perturb.md). All are sums over samples.
enum class Objective : std::uint8_t {
  None,         ///< the network is not looked at
  Margins,      ///< minus the margins of its gates, weighted by `shares`
  Flops,        ///< minus the share of its FLOPs with the logistic function of the margin in place of each decision
  Uncertainty,  ///< the cross entropy of its exits, but for the last result, to the uniform distribution
  Closed,       ///< minus a norm of how likely its closed gates open (GradMDM)
  Gates         ///< the cross entropy between what its gates give and 1, in the mean over gates (DeepPerform as released)
};

/// The graphs of one method of a search, around a network whose weights stay as they are and which is at inference.
///
/// Task::Move: inputs NAME (the point; with an objective, or where it proposes), NAME.seed (the example), NAME.label (where
/// `keep` is not 0) and NAME.state[i]; outputs: the next point, and as many next states. Task::Learn: one step of the weights of
/// `through`, which makes points of NAME.seed. Their paths begin with `path`. Task::Discriminate: one step of the weights of
/// `discriminator`, which sees NAME.seed and what `through` makes of it.
struct SearchSpec {
  Objective objective = Objective::None;
  /// Flops: the scale of the logistic function. The best of those tried on Shallow-Deep networks
  /// (docs/measurements/slow_inputs.md).
  Rational temperature{3, 10};
  Rational power{7, 2};  ///< Closed: of the norm
  Rational distance{0};  ///< weight of the squared distance between points and seeds
  Rational keep{0};      ///< weight of the cross entropy of every result to the seed's prediction
  /// By gate, in program order: the FLOPs that a margin above 0 adds (or saves, below 0), as a share of what all gates decide.
  std::vector<Rational> shares;
  /// The operator of std.nn that makes the next point, or that places what `through` gives, and its parameters.
  std::string move;
  std::vector<std::pair<std::string, Rational>> parameters;
  std::uint32_t states = 0;            ///< how many `move` has
  bool proposes = false;               ///< `move` changes the best point so far, and what that costs decides whether it stays
  Rational covered{1, 20};             ///< where it proposes: the share of an image that the first squares cover
  Rational rate{1, 1000};              ///< of adam, where the spec has no optimiser
  const ast::Expr* through = nullptr;  ///< the network that makes points; null: `generator`
  std::string generator;               ///< of std.nn; "": points are not made by a network
  std::string path;                    ///< of the weights of that network
  /// Learn, Discriminate: the network that learns to tell points from seeds while the other learns to make them; null: none.
  /// Paths of its weights begin with `path`.discriminator.
  const ast::Expr* discriminator = nullptr;
  Rational adversarial{1};  ///< weight, in the objective of points, of how well it tells them
  SrcRange range;           ///< of the method in the program

  /// Whether points are made by a network.
  bool generates() const { return through != nullptr || !generator.empty(); }
};

/// A network and what its graphs are built from. Move only: values refer to its pool.
struct ExperimentSpec {
  std::string name;
  SrcRange range;  ///< of the name
  const sema::Module* module = nullptr;
  std::vector<FactorSpec> factors;
  const ast::Expr* of = nullptr;  ///< null: an array for any experiment
  std::vector<InputSpec> inputs;
  Task task = Task::Infer;
  const ast::Expr* loss = nullptr;
  std::string standardLoss;  ///< of std.nn, where the program names none
  const ast::Expr* optimizer = nullptr;
  /// The factor, if any, that stands for the optimiser's `lr`, so that the rate is a run-time scalar of its own.
  std::optional<std::uint32_t> rateFactor;
  ParameterGroups groups;                    ///< clauses `freeze` and `optimizer .. on ..`
  std::optional<tbem_dtype> dtype;           ///< clause `dtype`
  std::optional<std::uint32_t> dtypeFactor;  ///< the factor that it names instead
  std::optional<tbem_dtype> mixed;           ///< clause `mixed`: what f32 steps compute in (Mixed.h)
  SrcRange mixedRange;
  bool tf32 = false;                         ///< clause `math tf32`
  std::optional<CheckpointSpec> checkpoint;  ///< clause `checkpoint`
  const ast::Expr* accumulate = nullptr;     ///< clause `accumulate`; it may name factors
  GateTraining gates = {};                   ///< of a training
  std::optional<SearchSpec> search;          ///< of Move and Learn
  bool keepsFirstLayer = false;              ///< Infer: what the first layer computes (FirstLayer.h) is the last output
  std::unique_ptr<sema::ExprPool> pool;

  bool hasNetwork() const { return of != nullptr; }
  /// Of clause `accumulate`, or the name.
  SrcRange accumulateRange() const { return accumulate != nullptr ? accumulate->range : range; }
  /// Position of the factor, or nothing.
  std::optional<std::uint32_t> find(std::string_view factor) const;
  /// Whether factor `f` exists at these levels (nested ones may not).
  bool active(std::uint32_t f, std::span<const std::uint32_t> levels) const { return !factors[f].levels[levels[f]].absent; }
  /// The first nested factor that has a value where it does not exist, or none where it does; nothing: a row can have these
  /// levels.
  std::optional<std::uint32_t> misplaced(std::span<const std::uint32_t> levels) const;
};

/// A design as its rows need it.
struct DesignSpec : ExperimentSpec {
  const ast::Design* decl = nullptr;
  int strength = 2;
  bool strengthGiven = false;
  bool full = false;
  std::optional<std::int64_t> covering;  ///< strength of a covering array
  std::optional<std::int64_t> rows;
  std::string array;  ///< "L36"; empty: chosen
  std::uint64_t seed = 0;
  std::optional<double> within;  ///< seconds for the search
  std::vector<const ast::Expr*> where;
};

/// The type that a clause `mixed` names, beside the clause `dtype`. Nothing after a report.
std::optional<tbem_dtype> mixedType(DiagnosticSink& sink, const sema::ExprPool& pool, const sema::Value& type, SrcRange range,
                                    std::optional<tbem_dtype> dtype);

/// What a clause `math` asks for, beside the clause `dtype`: `tf32`, that products and convolutions of f32 may round their
/// factors. False after a report.
bool readMath(DiagnosticSink& sink, const SourceManager& sources, const ast::Expr& math, std::optional<tbem_dtype> dtype);

/// Clause `checkpoint`; nothing after a report. Its names mean something in `module`.
std::optional<CheckpointSpec> readCheckpoint(Session& session, const sema::Program& program, const sema::Module& module,
                                             sema::ExprPool& pool, const ast::Expr& expr);

/// Reads a design: levels, task, clauses. Nothing where it has errors, which were reported.
std::optional<DesignSpec> readDesign(Session& session, const sema::Program& program, const ast::Design& design);

/// One graph and the rows it serves.
struct Structure {
  sema::ExprPool pool;
  Graph graph;
  std::vector<Call> calls;  ///< of the forward pass and the loss, where ExperimentOptions::recordCalls asks for them
  /// As well, of a training step: the step's own optimiser, then those of groups (Graph::Weight::optimizer). A schedule among
  /// the parameters of one is its rate, a Tensor.
  std::vector<Call> optimizers;
  /// Symbol i is factor symbolFactor[i].
  std::vector<std::uint32_t> symbolFactor;
  /// It holds for rows in which these factors have these levels: {factor, level}.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> guards;
};

/// A structure and the values of its expressions at one row's levels.
struct Row {
  const Structure* structure = nullptr;
  sema::Values values;
  std::vector<std::uint32_t> levels;
  std::optional<Graph> recomputed;  ///< the step with activations computed again, once that is chosen for a device
  const Graph& graph() const { return recomputed ? *recomputed : structure->graph; }
  std::int64_t integer(ExprId id) const { return values.integer(id); }
  /// The shape of a tensor in this row, in elements.
  std::vector<std::int64_t> shape(TensorId id) const;
};

/// Whose updates a graph has. First: of the first weight of each optimiser; of the others there are the optimiser's states, for
/// readers to whom an update is one operator over all weights.
enum class Updates : std::uint8_t { All, First };

/// What stands over the clauses of the spec.
struct ExperimentOptions {
  std::optional<tbem_dtype> dtype;           ///< the floating type of `tensor[...]`
  std::optional<tbem_dtype> mixed;           ///< as clause `mixed`
  std::optional<std::int64_t> microBatches;  ///< as clause `accumulate`, of training steps
  MixedRules rules = MixedRules::Own;        ///< of `mixed`
  Updates updates = Updates::All;            ///< of training steps
  /// Of training steps: inputs whose gradients are wanted beside those of weights (Graph::wanted). They are of a floating type;
  /// one that the network has not is reported, and so is a clause `accumulate`, whose steps see parts of the inputs.
  std::vector<std::string> wanted = {};
  bool recordCalls = false;  ///< Structure::calls
};

/// Makes rows. Structures live as long as the experiment; rows point into them.
class Experiment {
public:
  Experiment(Session& session, const sema::Program& program, const ExperimentSpec& spec, ExperimentOptions options = {});
  ~Experiment();
  /// The row at these level positions, one a factor. Nothing where it breaks a condition, which was reported once for
  /// all rows that break it in the same place.
  std::optional<Row> row(std::span<const std::uint32_t> levels);
  std::size_t structureCount() const;
  /// The structure that serves these levels, if it has been elaborated.
  const Structure* known(std::span<const std::uint32_t> levels) const;
  /// The structure that serves these levels, elaborated if need be; what it breaks is neither looked at nor reported. nullptr
  /// where a mistake at these levels ends the elaboration.
  const Structure* structureAt(std::span<const std::uint32_t> levels);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// The graph as text, one operator a line, with symbolic shapes. For tests and `--emit graph`.
std::string dump(const Structure& structure);

/// "[4, 3, 32, 32]" in a row; "[batch, 3, 32, 32]" without values.
std::string shapeText(const Graph& graph, TensorId tensor, const sema::Values& values);
std::string shapeText(const sema::ExprPool& pool, const Graph& graph, TensorId tensor);

}  // namespace tbem::graph
