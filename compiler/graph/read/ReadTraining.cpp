// Clauses of a training, and the dataset that it reads.
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/diagnostics/tables/Train.h"
#include "compiler/graph/read/Training.h"
#include "compiler/sema/evaluate/Evaluator.h"

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

class TrainingReader : public sema::Evaluator {
public:
  TrainingReader(Session& session, const sema::Program& program, const ast::Train& decl, TrainingSpec& spec)
      : Evaluator(program, *spec.pool, session.sink), session(session), decl(decl), spec(spec) {}

  bool run() {
    const std::size_t errors = sink.errorCount();
    spec.decl = &decl;
    spec.module = &program.main();
    readNetwork();
    readData(*decl.data);
    readClauses();
    if (sink.errorCount() == errors) checkClauses();
    if (sink.errorCount() == errors) readRate();
    return sink.errorCount() == errors;
  }

private:
  Value value(const ast::Expr& expr) { return evaluateIn(*spec.module, expr, {}); }
  std::string text(const ast::Expr& expr) const { return std::string(session.sources.text(expr.range)); }

  void readNetwork() {
    const Value found = value(*decl.network);
    if (found.isPoison()) return;
    spec.networkText = sema::print(pool, found);
    const auto* callable =
        found.is(ValueKind::Declaration) || found.is(ValueKind::Partial) ? ast::dynCast<ast::Callable>(found.decl) : nullptr;
    const bool builds = callable != nullptr &&
                        (callable->callable == ast::CallableKind::Network || callable->callable == ast::CallableKind::Block);
    if (!builds) {
      fail(diag::unknown_network, decl.network->range, kindName(found));
      return;
    }
    spec.network = callable;
  }

  // ---- The dataset -----------------------------------------------------------------------------------------------------

  /// `fashion.train`, `fashion.test(count: 1000)`.
  void readData(const ast::Expr& expr) {
    spec.data.name = text(expr);
    spec.data.range = expr.range;
    const auto* call = ast::dynCast<ast::Call>(&expr);
    const auto* member = ast::dynCast<ast::Member>(call != nullptr ? call->callee : &expr);
    const auto* name = ast::dynCast<ast::NameRef>(member != nullptr ? member->object : &expr);
    const ast::Dataset* dataset = name != nullptr ? findDataset(name->name) : nullptr;
    if (name != nullptr && dataset == nullptr) return;
    if (dataset == nullptr || member == nullptr) {
      Diagnostic& d = sink.report(diag::bad_split, expr.range, spec.data.name);
      if (dataset != nullptr) d.note("did you mean `" + spec.data.name + ".train`?").fix(expr.range, spec.data.name + ".train");
      return;
    }
    if (member->member.text != "train" && member->member.text != "test") {
      sink.report(diag::bad_split, member->member.range, member->member.text);
      return;
    }
    spec.data.test = member->member.text == "test";
    if (call != nullptr) readCount(*call);
    readDataset(*dataset);
  }

  const ast::Dataset* findDataset(const ast::Name& name) {
    std::vector<std::string> names;
    for (const auto& file : program.main().files) {
      for (const ast::Decl* one : file->declarations) {
        const auto* dataset = ast::dynCast<ast::Dataset>(one);
        if (dataset == nullptr) continue;
        if (dataset->name.text == name.text) return dataset;
        names.push_back(dataset->name.text);
      }
    }
    Diagnostic& d = sink.report(diag::unknown_dataset, name.range, name.text);
    if (const std::string near = nearest(name.text, names); !near.empty())
      d.note("did you mean `" + near + "`?").fix(name.range, near);
    else
      d.note("declare it: `dataset " + name.text + " = fashion_mnist()`");
    return nullptr;
  }

  void readCount(const ast::Call& call) {
    for (const ast::Argument& argument : call.arguments) {
      if (argument.rest || argument.name.text != "count") {
        fail(diag::unknown_argument, argument.range, spec.data.test ? "test" : "train",
             argument.name.empty() ? text(*argument.value) : argument.name.text);
        continue;
      }
      spec.data.count = whole("count", *argument.value, 1);
    }
  }

  void readDataset(const ast::Dataset& dataset) {
    spec.data.callRange = dataset.value->range;
    const Value found = value(*dataset.value);
    if (found.isPoison()) return;
    const auto* callable =
        found.is(ValueKind::Declaration) || found.is(ValueKind::Partial) ? ast::dynCast<ast::Callable>(found.decl) : nullptr;
    if (callable == nullptr || callable->callable != ast::CallableKind::Dataset) {
      fail(diag::wrong_kind, dataset.value->range, "a dataset", "one of the library's, such as fashion_mnist()", kindName(found));
      return;
    }
    spec.data.declaration = callable;
    const auto* native = callable->native != nullptr ? ast::dynCast<ast::NameRef>(callable->native->callee) : nullptr;
    if (native != nullptr) spec.data.reader = native->name.text;
    sema::Arguments arguments;
    arguments.use = dataset.value->range;
    for (std::size_t i = 0; i < found.items.size(); ++i)
      arguments.list.push_back({found.names[i], found.items[i], dataset.value->range});
    sema::Frame scratch;
    scratch.module = found.module;
    scratch.decl = callable;
    std::vector<Value> none;
    const sema::Signature signature{callable->name.text, found.module, callable, {}, callable->parameters};
    sema::Frame* const before = frame;
    frame = &scratch;
    if (bind(signature, arguments, scratch, none)) {
      for (const ast::Expr* condition : callable->pre) {
        const auto holds = forceBool(evaluate(*condition), "`pre`", condition->range);
        if (holds && !*holds)
          sink.report(diag::pre_violated, dataset.value->range, callable->name.text, text(*condition))
              .label(condition->range, "declared here");
      }
    }
    frame = before;
    for (const sema::Local& local : scratch.locals) spec.data.settings.emplace_back(local.name, local.value);
  }

  // ---- Clauses ---------------------------------------------------------------------------------------------------------

  /// The one value of a clause.
  const ast::Expr* single(const ast::Clause& clause, const char* wants) {
    if (clause.items.size() == 1 && clause.items[0].name.empty() && !clause.items[0].rest) return clause.items[0].value;
    fail(diag::design_clause_value, clause.range, clause.word.text, wants,
         clause.items.empty() ? "nothing" : std::string(session.sources.text(clause.range)));
    return nullptr;
  }

  std::optional<Rational> numberOf(const Value& found) const {
    return found.is(ValueKind::Number) ? pool.constantValue(found.expr) : std::nullopt;
  }
  std::optional<Rational> number(const ast::Expr& expr) {
    const Value found = value(expr);
    if (found.isPoison()) poisoned = true;
    return numberOf(found);
  }

  std::optional<std::int64_t> whole(const std::string& what, const ast::Expr& expr, std::int64_t least) {
    poisoned = false;
    const auto found = number(expr);
    const bool tooMany = found && what == "epochs" && compare(*found, Rational::of(kMostEpochs)) > 0;
    if (found && found->isInt() && found->num >= least && !tooMany) return found->num;
    const std::string wants =
        tooMany ? fmt::format("at most {} epochs", kMostEpochs) : fmt::format("a whole number from {}", least);
    if (!poisoned) fail(diag::design_clause_value, expr.range, what, wants, text(expr));
    return std::nullopt;
  }
  std::optional<std::int64_t> whole(const ast::Clause& clause, std::int64_t least) {
    const ast::Expr* expr = single(clause, "a whole number");
    return expr != nullptr ? whole(clause.word.text, *expr, least) : std::nullopt;
  }

  /// A number with `least <= x` and, where `below` is given, `x < below`.
  std::optional<double> real(const std::string& what, const ast::Expr& expr, double least, std::optional<double> below) {
    poisoned = false;
    const auto found = number(expr);
    if (found && found->toDouble() >= least && (!below || found->toDouble() < *below)) return found->toDouble();
    if (!poisoned)
      fail(diag::design_clause_value, expr.range, what, below ? "a number from 0 to below 1" : "a number from 0", text(expr));
    return std::nullopt;
  }

  void readClauses() {
    std::map<std::string, SrcRange> seen;
    for (const ast::Clause& clause : decl.clauses) {
      const auto [first, fresh] = seen.emplace(clause.word.text, clause.word.range);
      if (!fresh) {
        sink.report(diag::argument_twice, clause.word.range, clause.word.text).label(first->second, "given here first");
        continue;
      }
      readClause(clause);
    }
    if (spec.mixedText == nullptr) return;
    const Value type = value(*spec.mixedText);
    spec.mixed = mixedType(sink, pool, type, spec.mixedText->range, spec.dtype);
  }

  void readClause(const ast::Clause& clause) {
    const std::string& word = clause.word.text;
    if (word == "epochs") {
      spec.epochs = whole(clause, 1);
    } else if (word == "steps") {
      spec.steps = whole(clause, 1);
    } else if (word == "batch") {
      spec.batch = whole(clause, 1).value_or(0);
    } else if (word == "seed") {
      spec.seed = static_cast<std::uint64_t>(whole(clause, 0).value_or(0));
      spec.seedGiven = true;
    } else if (word == "every") {
      spec.every = whole(clause, 1).value_or(0);
    } else if (word == "checkpoint") {
      for (const ast::Argument& one : clause.items) readCheckpointItem(one);
    } else if (word == "patience") {
      spec.patience = whole(clause, 1);
      patienceRange = clause.range;
    } else if (word == "validate") {
      readValidate(clause);
    } else if (word == "optimizer") {
      spec.optimizer = single(clause, "an optimiser");
    } else if (word == "loss") {
      spec.loss = single(clause, "a loss");
      if (spec.loss != nullptr) spec.lossText = sema::print(pool, value(*spec.loss));
    } else if (word == "schedule") {
      if (const ast::Expr* expr = single(clause, "a schedule")) readSchedule(*expr);
    } else if (word == "augment") {
      for (const ast::Argument& one : clause.items) readAugmentation(one);
    } else if (word == "dtype") {
      readDtype(clause);
    } else if (word == "mixed") {
      spec.mixedText = single(clause, "`bf16`");
    } else if (word == "tune") {
      spec.tune = &clause;
    } else if (word == "accumulate") {
      spec.accumulate = single(clause, "a whole number");
    } else {
      fail(diag::not_there_yet, clause.range, "the clause `" + word + "` of a training is");
    }
  }

  /// A number is how often the training is written to its file; all else says what the backward pass computes again.
  void readCheckpointItem(const ast::Argument& item) {
    if (!item.name.empty() || item.value == nullptr) {
      fail(diag::design_clause_value, item.range, "checkpoint", "epochs between files, or what is computed again",
           std::string(session.sources.text(item.range)));
    } else if (item.value->kind == ast::NodeKind::Number) {
      spec.checkpoint = whole("checkpoint", *item.value, 1).value_or(1);
    } else {
      spec.recompute = readCheckpoint(session, program, *spec.module, pool, *item.value);
    }
  }

  void readDtype(const ast::Clause& clause) {
    const ast::Expr* expr = single(clause, "an element type to train in");
    if (expr == nullptr) return;
    const Value type = value(*expr);
    const bool trains = type.is(ValueKind::DType) && (type.id == TBEM_F64 || type.id == TBEM_F32 || type.id == TBEM_BF16);
    if (trains)
      spec.dtype = static_cast<tbem_dtype>(type.id);
    else if (!type.isPoison())
      fail(diag::design_clause_value, expr->range, "dtype", "`f64`, `f32` or `bf16`", sema::print(pool, type));
  }

  void readSchedule(const ast::Expr& expr) {
    const auto* call = ast::dynCast<ast::Call>(&expr);
    const auto* word = ast::dynCast<ast::NameRef>(call != nullptr ? call->callee : &expr);
    const auto& forms = scheduleForms();
    const auto form =
        std::find_if(forms.begin(), forms.end(), [&](const auto& one) { return word != nullptr && one.name == word->name.text; });
    spec.schedule.text = text(expr);
    spec.schedule.range = expr.range;
    if (form == forms.end()) {
      std::vector<std::string> names;
      for (const ScheduleForm& one : forms) names.emplace_back(one.name);
      Diagnostic& d = sink.report(diag::unknown_schedule, expr.range, word != nullptr ? word->name.text : text(expr));
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
      Diagnostic& d = sink.report(diag::unknown_argument, argument.range, form.name, name.empty() ? "..." : name);
      if (form.parameters.empty())
        d.note("as a clause it has no parameters");
      else
        d.note(fmt::format("as a clause it has: `{}`; it ends with the training", fmt::join(form.parameters, "`, `")));
      return;
    }
    const auto found = real(name, *argument.value, 0, std::nullopt);
    if (!found) return;
    if ((name == "every" || name == "factor") && *found == 0)
      fail(diag::design_clause_value, argument.range, name, name == "every" ? "more than 0 epochs" : "a number above 0", "0");
    if (name == "floor" && *found > 1)
      fail(diag::design_clause_value, argument.range, name, "a share of the rate, 0 to 1", text(*argument.value));
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
      fail(diag::argument_twice, item.range, word->name.text);
    } else if (plain && word->name.text == "flip" && call == nullptr) {
      spec.flip = true;
    } else if (plain && word->name.text == "crop" && call != nullptr && call->arguments.size() == 1 &&
               call->arguments[0].value != nullptr) {
      spec.crop = whole("crop", *call->arguments[0].value, 1).value_or(0);
    } else {
      fail(diag::design_clause_value, item.range, "augment", "`flip` or `crop(pixels)`",
           std::string(session.sources.text(item.range)));
    }
  }

  void readValidate(const ast::Clause& clause) {
    const ast::Expr* const share = single(clause, "a share of the examples");
    if (share == nullptr) return;
    if (const auto* part = ast::dynCast<ast::Member>(share); part != nullptr && part->member.text == "test")
      fail(diag::design_clause_value, share->range, "validate",
           "a share of the training's examples, such as 0.1 (the test's are for the end)",
           std::string(session.sources.text(share->range)));
    else
      spec.validate = real("validate", *share, 0, 1).value_or(0);
  }

  void checkClauses() {
    const auto missing = [&](const char* what) {
      fail(diag::design_clause_value, decl.name.range, decl.name.text, std::string("a clause ") + what, "none");
    };
    if (spec.epochs && spec.steps)
      fail(diag::design_clause_value, decl.name.range, "train", "`epochs` or `steps`", "both");
    else if (!spec.epochs && !spec.steps)
      missing("`epochs` or `steps`");
    if (spec.batch == 0) missing("`batch`");
    if (spec.optimizer == nullptr) missing("`optimizer`");
    if (spec.patience && spec.validate == 0)
      fail(diag::design_clause_value, patienceRange, "patience", "examples to be patient about: `validate 0.1`", "none");
  }

  void readRate() {
    const Value optimizer = value(*spec.optimizer);
    if (optimizer.isPoison()) return;
    spec.optimizerText = sema::print(pool, optimizer);
    const auto* callable = optimizer.is(ValueKind::Declaration) || optimizer.is(ValueKind::Partial)
                               ? ast::dynCast<ast::Callable>(optimizer.decl)
                               : nullptr;
    if (callable == nullptr) return;  // elaboration says what is wrong
    const auto given = std::find(optimizer.names.begin(), optimizer.names.end(), "lr");
    for (const ast::Parameter& parameter : callable->parameters) {
      if (parameter.name.text != "lr") continue;
      if (given != optimizer.names.end())
        spec.rate = numberOf(optimizer.items[static_cast<std::size_t>(given - optimizer.names.begin())]);
      else if (parameter.defaultValue != nullptr)
        spec.rate = numberOf(evaluateIn(*optimizer.module, *parameter.defaultValue, {}));
    }
    if (!spec.rate && !spec.schedule.text.empty())
      fail(diag::design_clause_value, spec.schedule.range, "schedule", "an optimiser with a number as its `lr`",
           spec.optimizerText);
  }

  Session& session;
  const ast::Train& decl;
  TrainingSpec& spec;
  SrcRange patienceRange;
  bool poisoned = false;
};

}  // namespace

std::optional<TrainingSpec> readTraining(Session& session, const sema::Program& program, const ast::Train& decl) {
  TrainingSpec spec;
  spec.pool = std::make_unique<sema::ExprPool>();
  return TrainingReader(session, program, decl, spec).run() ? std::optional<TrainingSpec>(std::move(spec)) : std::nullopt;
}

}  // namespace tbem::graph
