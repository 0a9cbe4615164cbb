// A training: its network and clauses.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/graph/clauses/ClauseReader.h"
#include "compiler/graph/clauses/ReadGates.h"
#include "compiler/graph/clauses/ReadGroups.h"
#include "compiler/graph/perturb/ReadMethod.h"
#include "compiler/graph/read/ReadDataset.h"
#include "compiler/graph/read/ReadTurn.h"
#include "compiler/graph/read/Training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace tbem::graph {

using sema::Value;
using sema::ValueKind;

namespace {

struct ScheduleForm {
  std::string_view name;
  ScheduleSpec::Kind kind;
  std::vector<std::string_view> parameters;
};
constexpr std::int64_t kMostEpochs = 1'000'000'000;  // epochs are numbered in 32 bits

const std::vector<ScheduleForm>& scheduleForms() {
  static const std::vector<ScheduleForm> list = {
      {"constant", ScheduleSpec::Kind::Constant, {"warmup"}},
      {"linear", ScheduleSpec::Kind::Linear, {"warmup", "floor"}},
      {"cosine", ScheduleSpec::Kind::Cosine, {"warmup", "floor"}},
      {"step", ScheduleSpec::Kind::Step, {"every", "factor", "warmup"}},
  };
  return list;
}

/// Reads one `train`. One class: clauses are read in order, and what one says is checked against the others.
class TrainingReader {
public:
  TrainingReader(Session& session, const sema::Program& program, const ast::Train& decl, TrainingSpec& spec)
      : e(session, program, program.main(), *spec.pool), decl(decl), spec(spec) {}

  bool run() {
    const std::size_t errors = e.sink.errorCount();
    spec.decl = &decl;
    spec.module = &e.module;
    readNetwork();
    readDataset(e, *decl.data, spec.data);
    readClauses();
    if (e.sink.errorCount() == errors) checkClauses();
    if (e.sink.errorCount() == errors) readRates();
    return e.sink.errorCount() == errors;
  }

private:
  void readNetwork() {
    const Value found = e.value(*decl.network);
    if (found.isPoison()) return;
    spec.networkText = sema::print(e.pool, found);
    const auto* callable =
        found.is(ValueKind::Declaration) || found.is(ValueKind::Partial) ? ast::dynCast<ast::Callable>(found.decl) : nullptr;
    const bool builds = callable != nullptr &&
                        (callable->callable == ast::CallableKind::Network || callable->callable == ast::CallableKind::Block);
    if (!builds) {
      e.fail(diag::unknown_network, decl.network->range, kindName(found));
      return;
    }
    spec.network = callable;
  }

  // ---- Clauses ---------------------------------------------------------------------------------------------------------

  void readClauses() {
    std::map<std::string, SrcRange> seen;
    for (const ast::Clause& clause : decl.clauses) {
      if (readRepeated(clause)) continue;
      const auto [first, fresh] = seen.emplace(clause.word.text, clause.word.range);
      if (!fresh) {
        e.sink.report(diag::argument_twice, clause.word.range, clause.word.text).label(first->second, "given here first");
        continue;
      }
      readClause(clause);
    }
    if (spec.mathText != nullptr) spec.tf32 = readMath(e.sink, e.session.sources, *spec.mathText, spec.dtype);
    if (spec.mixedText == nullptr) return;
    const Value type = e.value(*spec.mixedText);
    spec.mixed = mixedType(e.sink, e.pool, type, spec.mixedText->range, spec.dtype);
  }

  /// Clauses of which there may be several, of several places. False: it is none.
  bool readRepeated(const ast::Clause& clause) {
    if (clause.on != nullptr)
      readGroup(e, clause, spec.groups);
    else if (clause.word.text == "freeze")
      readFreeze(e, clause, spec.groups);
    else if (clause.word.text != "turn")
      return false;
    else if (std::optional<TurnSpec> turn = readTurn(e, clause))
      spec.turns.push_back(std::move(*turn));
    return true;
  }

  void readClause(const ast::Clause& clause) {
    const std::string& word = clause.word.text;
    if (word == "epochs") {
      readEpochs(clause);
    } else if (word == "steps") {
      spec.steps = e.whole(clause, 1);
    } else if (word == "batch") {
      spec.batch = e.whole(clause, 1).value_or(0);
    } else if (word == "seed") {
      spec.seed = static_cast<std::uint64_t>(e.whole(clause, 0).value_or(0));
      spec.seedGiven = true;
    } else if (word == "every") {
      spec.every = e.whole(clause, 1).value_or(0);
    } else if (word == "checkpoint") {
      for (const ast::Argument& one : clause.items) readCheckpointItem(one);
    } else if (word == "patience") {
      spec.patience = e.whole(clause, 1);
      patienceRange = clause.range;
    } else if (word == "validate") {
      readValidate(clause);
    } else if (word == "optimizer") {
      spec.optimizer = e.single(clause, "an optimiser");
    } else if (word == "loss") {
      spec.loss = e.single(clause, "a loss");
      if (spec.loss != nullptr) spec.lossText = sema::print(e.pool, e.value(*spec.loss));
    } else if (word == "schedule") {
      if (const ast::Expr* expr = e.single(clause, "a schedule")) readSchedule(*expr);
    } else if (word == "augment") {
      for (const ast::Argument& one : clause.items) readAugmentation(one);
    } else if (word == "dtype") {
      readDtype(clause);
    } else if (word == "mixed") {
      spec.mixedText = e.single(clause, "`bf16` or `f16`");
    } else if (word == "math") {
      spec.mathText = e.single(clause, "`tf32`");
    } else if (word == "tune") {
      spec.tune = &clause;
    } else if (word == "accumulate") {
      spec.accumulate = e.single(clause, "a whole number");
    } else if (word == "gates") {
      if (const ast::Expr* mode = e.single(clause, kGateModes)) readGateMode(e, *mode, spec.gates);
    } else if (word == "weights") {
      readStart(clause);
    } else if (word == "harden") {
      spec.harden = readHardening(e, clause);
    } else if (word == "exits") {
      if (const ast::Expr* weights = e.single(clause, "a list of weights")) readExitWeights(e, *weights, spec.gates);
    } else {
      e.fail(diag::not_there_yet, clause.range, "the clause `" + word + "` of a training is");
    }
  }

  /// `weights first`, or `weights "model.safetensors", names: "resnet50.names", partial: true`.
  void readStart(const ast::Clause& clause) {
    StartSpec start;
    start.range = clause.range;
    const auto refuse = [&](SrcRange range, const char* wanted) {
      e.fail(diag::design_clause_value, range, "weights", wanted, "`" + e.text(range) + "`");
    };
    std::map<std::string, SrcRange> seen;
    for (const ast::Argument& item : clause.items) {
      const bool isFirst = &item == &clause.items.front();
      const auto* name = ast::dynCast<ast::NameRef>(item.value);
      const auto* text = ast::dynCast<ast::String>(item.value);
      if (!seen.emplace(item.name.text, item.range).second) {
        e.fail(diag::argument_twice, item.range, item.name.empty() ? "weights" : item.name.text);
        return;
      }
      if (isFirst && item.name.empty() && name != nullptr)
        start.training = &name->name;
      else if (isFirst && item.name.empty() && text != nullptr && !text->value.empty())
        start.file = text->value;
      else if (!isFirst && item.name.text == "names" && text != nullptr)
        start.names = text->value;
      else if (!isFirst && item.name.text == "partial" && item.value != nullptr)
        start.partial = e.forceBool(e.value(*item.value), "partial", item.value->range).value_or(false);
      else
        return refuse(item.range, isFirst ? "a training above, or a file of arrays" : "`names: FILE` or `partial: true`");
    }
    if (clause.items.empty()) return refuse(clause.range, "a training above, or a file of arrays");
    start.text = start.training != nullptr ? start.training->text : start.file;
    if (!start.names.empty()) start.text += ", names: " + start.names;
    if (start.partial) start.text += ", partial";
    spec.start = std::move(start);
  }

  void readEpochs(const ast::Clause& clause) {
    spec.epochs = e.whole(clause, 1);
    if (!spec.epochs || *spec.epochs <= kMostEpochs) return;
    const ast::Expr& expr = *clause.items[0].value;
    e.fail(diag::design_clause_value, expr.range, clause.word.text, fmt::format("at most {} epochs", kMostEpochs), e.text(expr));
    spec.epochs.reset();
  }

  /// A number is how often the training is written to its file; all else says what the backward pass computes again.
  void readCheckpointItem(const ast::Argument& item) {
    if (!item.name.empty() || item.value == nullptr) {
      e.fail(diag::design_clause_value, item.range, "checkpoint", "epochs between files, or what is computed again",
             e.text(item.range));
    } else if (item.value->kind == ast::NodeKind::Number) {
      spec.checkpoint = e.whole("checkpoint", *item.value, 1).value_or(1);
    } else {
      spec.recompute = readCheckpoint(e.session, e.program, e.module, e.pool, *item.value);
    }
  }

  void readDtype(const ast::Clause& clause) {
    const ast::Expr* expr = e.single(clause, "an element type to train in");
    if (expr == nullptr) return;
    const Value type = e.value(*expr);
    const bool trains = type.is(ValueKind::DType) && (type.id == TBEM_F64 || type.id == TBEM_F32 || type.id == TBEM_BF16);
    if (trains)
      spec.dtype = static_cast<tbem_dtype>(type.id);
    else if (!type.isPoison())
      e.fail(diag::design_clause_value, expr->range, "dtype", "`f64`, `f32` or `bf16`", sema::print(e.pool, type));
  }

  void readSchedule(const ast::Expr& expr) {
    const auto* call = ast::dynCast<ast::Call>(&expr);
    const auto* word = ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : &expr);
    const auto& forms = scheduleForms();
    const auto form =
        std::find_if(forms.begin(), forms.end(), [&](const auto& one) { return word != nullptr && one.name == word->name.text; });
    spec.schedule.text = e.text(expr);
    spec.schedule.range = expr.range;
    if (form == forms.end()) {
      std::vector<std::string> names;
      names.reserve(forms.size());
      for (const ScheduleForm& one : forms) names.emplace_back(one.name);
      Diagnostic& d = e.sink.report(diag::unknown_schedule, expr.range, word != nullptr ? word->name.text : e.text(expr));
      const std::string near = word != nullptr ? nearest(word->name.text, names) : "";
      if (!near.empty())
        d.note("did you mean `" + near + "`?").fix(word->range, near);
      else
        d.note("there are constant, linear, cosine and step");
      return;
    }
    spec.schedule.kind = form->kind;
    std::size_t position = 0;
    for (const ast::Argument& argument : call != nullptr ? call->arguments : std::vector<ast::Argument>{})
      readScheduleArgument(*form, argument, position);
  }

  void readScheduleArgument(const ScheduleForm& form, const ast::Argument& argument, std::size_t& position) {
    std::string name = argument.name.text;
    if (name.empty() && !argument.rest && position < form.parameters.size()) name = form.parameters[position++];
    if (std::find(form.parameters.begin(), form.parameters.end(), name) == form.parameters.end()) {
      Diagnostic& d = e.sink.report(diag::unknown_argument, argument.range, form.name, name.empty() ? "..." : name);
      if (form.parameters.empty())
        d.note("as a clause it has no parameters");
      else
        d.note(fmt::format("as a clause it has: `{}`; it ends with the training", fmt::join(form.parameters, "`, `")));
      return;
    }
    const auto found = e.real(name, *argument.value, 0, std::nullopt);
    if (!found) return;
    if ((name == "every" || name == "factor") && *found == 0)
      e.fail(diag::design_clause_value, argument.range, name, name == "every" ? "more than 0 epochs" : "a number above 0", "0");
    if (name == "floor" && *found > 1)
      e.fail(diag::design_clause_value, argument.range, name, "a share of the rate, 0 to 1", e.text(*argument.value));
    (name == "warmup"   ? spec.schedule.warmup
     : name == "floor"  ? spec.schedule.floor
     : name == "factor" ? spec.schedule.factor
                        : spec.schedule.every) = *found;
  }

  void readAugmentation(const ast::Argument& item) {
    const auto* call = item.value != nullptr ? ast::dynCast<ast::Call>(item.value) : nullptr;
    const auto* word = item.value != nullptr ? ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : item.value) : nullptr;
    const bool plain = item.name.empty() && word != nullptr;
    spec.augmentation = item.range;
    if (plain && (word->name.text == "flip" ? spec.flip : word->name.text == "crop" && spec.crop > 0)) {
      e.fail(diag::argument_twice, item.range, word->name.text);
    } else if (plain && word->name.text == "flip" && call == nullptr) {
      spec.flip = true;
    } else if (plain && word->name.text == "crop" && call != nullptr && call->arguments.size() == 1 &&
               call->arguments[0].value != nullptr) {
      spec.crop = e.whole("crop", *call->arguments[0].value, 1).value_or(0);
    } else {
      e.fail(diag::design_clause_value, item.range, "augment", "`flip` or `crop(pixels)`", e.text(item.range));
    }
  }

  void readValidate(const ast::Clause& clause) {
    const ast::Expr* const share = e.single(clause, "a share of the examples");
    if (share == nullptr) return;
    if (const auto* part = ast::dynCast<ast::Member>(share); part != nullptr && part->member.text == "test")
      e.fail(diag::design_clause_value, share->range, "validate",
             "a share of the training's examples, such as 0.1 (the test's are for the end)", e.text(share->range));
    else
      spec.validate = e.real("validate", *share, 0, 1).value_or(0);
  }

  void checkClauses() {
    const auto missing = [&](const char* what) {
      e.fail(diag::design_clause_value, decl.name.range, decl.name.text, std::string("a clause ") + what, "none");
    };
    if (spec.epochs && spec.steps)
      e.fail(diag::design_clause_value, decl.name.range, "train", "`epochs` or `steps`", "both");
    else if (!spec.epochs && !spec.steps)
      missing("`epochs` or `steps`");
    if (spec.batch == 0) missing("`batch`");
    if (spec.optimizer == nullptr) missing("`optimizer`");
    if (spec.patience && spec.validate == 0)
      e.fail(diag::design_clause_value, patienceRange, "patience", "examples to be patient about: `validate 0.1`", "none");
  }

  void readRates() {
    const Value optimizer = e.value(*spec.optimizer);
    if (optimizer.isPoison()) return;
    spec.optimizerText = sema::print(e.pool, optimizer);
    spec.rate = rateOf(e, optimizer);
    const auto wantsRate = [&](const std::string& text) {
      e.fail(diag::design_clause_value, spec.schedule.range, "schedule", "an optimiser with a number as its `lr`", text);
    };
    const bool schedules = !spec.schedule.text.empty();
    if (!spec.rate && schedules) wantsRate(spec.optimizerText);
    for (ParameterGroup& group : spec.groups.groups) {
      const Value own = e.value(*group.optimizer);
      if (own.isPoison()) return;
      group.text = sema::print(e.pool, own);
      group.rate = rateOf(e, own);
      if (!group.rate && schedules) wantsRate(group.text);
    }
    for (const TurnSpec& turn : spec.turns) {
      if (turn.optimizer != nullptr && !turn.rate && schedules) wantsRate(turn.optimizerText);
    }
  }

  ClauseReader e;
  const ast::Train& decl;
  TrainingSpec& spec;
  SrcRange patienceRange;
};

}  // namespace

std::optional<TrainingSpec> readTraining(Session& session, const sema::Program& program, const ast::Train& decl) {
  TrainingSpec spec;
  spec.pool = std::make_unique<sema::ExprPool>();
  return TrainingReader(session, program, decl, spec).run() ? std::optional<TrainingSpec>(std::move(spec)) : std::nullopt;
}

}  // namespace tbem::graph
