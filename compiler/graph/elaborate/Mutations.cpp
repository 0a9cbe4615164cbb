#include "compiler/graph/elaborate/Mutations.h"

#include "compiler/diagnostics/Hints.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/diagnostics/tables/Sema.h"
#include "compiler/graph/elaborate/Elaborator.h"

#include <algorithm>
#include <utility>

namespace tbem::graph {

namespace {

/// The place in every turn of the loops around it: "se.gate" for "stage[0].unit[1].se.gate".
std::string withoutTurns(const std::string& place) {
  std::vector<PathPart> parts = pathParts(place);
  std::erase_if(parts, [](const PathPart& part) { return part.turn.has_value(); });
  return parts.empty() ? place : pathText(parts);
}

Change::Word wordOf(const ast::Mutate::Operation& operation) {
  static constexpr std::pair<std::string_view, Change::Word> kWords[] = {{"repeat", Change::Word::Repeat},
                                                                         {"drop", Change::Word::Drop},
                                                                         {"insert", Change::Word::Insert},
                                                                         {"swap", Change::Word::Swap},
                                                                         {"widen", Change::Word::Widen}};
  for (const auto& [text, word] : kWords) {
    if (operation.word.text == text) return word;
  }
  return Change::Word::Widen;  // the parser knows no other word
}

/// Names that a body assigns, each once, in order of text.
void assignedIn(const ast::Block& block, std::vector<std::string_view>& names) {
  for (const ast::Stmt* statement : block) {
    if (const auto* assign = ast::dynCast<ast::Assign>(statement)) {
      for (const ast::Name& name : assign->pattern.names) {
        if (std::find(names.begin(), names.end(), name.text) == names.end()) names.push_back(name.text);
      }
    } else if (const auto* loop = ast::dynCast<ast::For>(statement)) {
      assignedIn(loop->body, names);
    } else if (const auto* branch = ast::dynCast<ast::IfStmt>(statement)) {
      assignedIn(branch->then, names);
      assignedIn(branch->otherwise, names);
    }
  }
}

Local* findLocal(std::vector<Local>& locals, std::string_view name) {
  const auto at = std::find_if(locals.begin(), locals.end(), [&](const Local& local) { return local.name == name; });
  return at == locals.end() ? nullptr : &*at;
}

/// A level that was given inside a network is an instance there; each place makes one of its own.
Value partialOf(const Instance& instance) {
  Value partial = Value::ofKind(ValueKind::Partial);
  partial.decl = instance.decl;
  partial.module = instance.module;
  for (const Local& parameter : instance.parameters) {
    partial.words.push_back(std::string(parameter.name));
    partial.items.push_back(parameter.value);
  }
  return partial;
}

bool isTensorArgument(const Value& value) {
  return value.isRuntime() || (value.is(ValueKind::List) && !value.items.empty() && value.items.front().isRuntime());
}

// ---- Operations as they are written -----------------------------------------------------------------------------------

/// A place as it is written. Empty after a report.
std::vector<PathPart> placeOf(Elaborator& e, const sema::Module& module, const ast::Expr& expr) {
  if (const auto* name = ast::dynCast<ast::NameRef>(&expr)) return {{name->name.text, std::nullopt}};
  if (const auto* member = ast::dynCast<ast::Member>(&expr)) {
    std::vector<PathPart> parts = placeOf(e, module, *member->object);
    if (!parts.empty()) parts.push_back({member->member.text, std::nullopt});
    return parts;
  }
  const auto* turn = ast::dynCast<ast::Index>(&expr);
  if (turn != nullptr && turn->items.size() == 1) {
    std::vector<PathPart> parts = placeOf(e, module, *turn->object);
    if (parts.empty()) return {};
    const auto number =
        e.forceInt(e.evaluateIn(module, *turn->items.front(), {}), "a turn of a loop", turn->items.front()->range);
    if (!number) return {};
    parts.back().turn = *number;
    return parts;
  }
  e.fail(diag::wrong_kind, expr.range, "a place", "a path such as `stage[2].conv2d`", sourceText(e.session.sources, expr.range));
  return {};
}

/// The operation with its level: what steers the structure is decided here, a factor of widths may stay open.
std::optional<Change> readChange(Elaborator& e, const sema::Derivation& made, const ast::Mutate::Operation& operation,
                                 Value level) {
  Change change;
  change.word = wordOf(operation);
  change.operation = &operation;
  change.place = placeOf(e, *made.module, *operation.path);
  if (change.place.empty()) return std::nullopt;
  const std::string what = "`" + operation.as.text + "`";
  switch (change.word) {
    case Change::Word::Repeat: {
      const auto times = e.forceInt(level, what, operation.range);
      if (!times) return std::nullopt;
      if (*times < 1) {
        e.fail(diag::mutation_place, operation.range, "repeat", pathText(change.place),
               "it is to be there " + std::to_string(*times) + " times (`drop` leaves it out)");
        return std::nullopt;
      }
      change.times = *times;
      return change;
    }
    case Change::Word::Drop:
    case Change::Word::Insert: {
      const auto done = e.forceBool(level, what, operation.range);
      if (!done) return std::nullopt;
      change.done = *done;
      if (operation.inserted == nullptr) return change;
      // Outside of any activation: a callable with its parameters, from which each place makes one of its own.
      const Elaborator::Detour detour(e);
      e.now.current = nullptr;
      change.value = e.evaluateIn(*made.module, *operation.inserted, {});
      if (change.value.isPoison()) return std::nullopt;
      const bool callable = change.value.is(ValueKind::Declaration) || change.value.is(ValueKind::Partial);
      if (callable && change.value.decl->kind == ast::NodeKind::Callable) return change;
      e.wrongKind(operation.inserted->range, "`insert`", "a network, block or operator", change.value);
      return std::nullopt;
    }
    case Change::Word::Swap:
      change.value = level.is(ValueKind::Instance) ? partialOf(e.instance(level)) : std::move(level);
      return change;
    case Change::Word::Widen:
      change.value = std::move(level);
      return change;
  }
  return std::nullopt;
}

std::vector<PathPart> partsBelow(const Mutation& mutation, const std::string& path) {
  std::string_view below = path;
  if (!mutation.root.empty()) below.remove_prefix(std::min(below.size(), mutation.root.size() + 1));
  return pathParts(below);
}

Value cannotChange(Elaborator& e, const Change& change, const std::string& why) {
  return e.fail(diag::mutation_place, change.operation->range, change.operation->word.text, pathText(change.place), why);
}

void reportUnmet(Elaborator& e, const Mutation& mutation, const Change& change) {
  const SrcRange range = change.operation->path->range;
  e.fail(diag::mutation_unmet, range, mutation.derivation->base.decl->name.text, pathText(change.place));
  Diagnostic* const report = e.told(diag::mutation_unmet, range);
  if (report == nullptr || !report->notes.empty()) return;
  std::vector<std::string> seen(mutation.seen.begin(), mutation.seen.end());
  const std::string word = change.place.back().name;
  const auto first = std::stable_partition(seen.begin(), seen.end(),
                                           [&](const std::string& place) { return pathParts(place).back().name == word; });
  std::stable_partition(first, seen.end(), [&](const std::string& place) { return place.find(word) != std::string::npos; });
  std::string near = nearest(pathText(change.place), seen);
  if (near.empty() && first != seen.begin()) near = withoutTurns(seen.front());
  if (!near.empty()) report->note("did you mean `" + near + "`?").fix(range, near);
  if (change.word == Change::Word::Widen) report->note("`widen` changes the parameter `out` of what is applied there");
  report->note(seen.empty() ? "it applies nothing that has a path" : "its places are " + firstFew(seen));
}

bool isInserted(const Change& change, std::string_view where) { return change.done && change.operation->where.text == where; }

/// The tensor behind what is inserted.
Value applyInserted(Elaborator& e, Change& change, Value tensor) {
  sema::Arguments arguments;
  arguments.use = change.operation->inserted->range;
  arguments.list.push_back({"", std::move(tensor), arguments.use});
  change.isInProgress = true;
  Value result = e.applyCallable(*change.operation->inserted, change.value, std::move(arguments));
  change.isInProgress = false;
  if (!result.isPoison() && !result.is(ValueKind::Tensor))
    return cannotChange(e, change, "what is inserted must give one tensor");
  return result;
}

/// The one tensor that a loop carries from turn to turn; null after a report.
Local* carriedBy(Elaborator& e, const ast::For& loop, const Change& change) {
  std::vector<std::string_view> names;
  assignedIn(loop.body, names);
  std::vector<Local*> tensors;
  std::string list;
  for (const std::string_view name : names) {
    Local* const local = e.frame->find(name);
    if (local == nullptr || !local->isVar || !local->value.is(ValueKind::Tensor)) continue;
    tensors.push_back(local);
    list += (list.empty() ? " (`" : ", `") + std::string(name) + "`";
  }
  if (tensors.size() == 1) return tensors.front();
  const std::string named = list.empty() ? "" : list + ")";
  cannotChange(e, change, "the loop carries " + std::to_string(tensors.size()) + " tensors" + named + ", not one");
  return nullptr;
}

bool insertInTurn(Elaborator& e, const ast::For& loop, Change& change) {
  Local* const carried = carriedBy(e, loop, change);
  if (carried == nullptr) return false;
  Value result = applyInserted(e, change, carried->value);
  if (result.isPoison()) return false;
  carried->value = std::move(result);
  return true;
}

/// Of the arguments for `callee`, those that `change` has a place for: tensors, and parameters that its own do not say.
std::vector<sema::BoundArgument> argumentsFor(const Change& change, const ast::Callable& callee, sema::Arguments& arguments) {
  const auto& other = *static_cast<const ast::Callable*>(change.value.decl);
  std::vector<sema::BoundArgument> kept;
  std::size_t position = 0;
  for (std::size_t i = 0; i < arguments.list.size(); ++i) {
    sema::BoundArgument& argument = arguments.list[i];
    const bool tensor =
        argument.name.empty() && (arguments.separator ? i < *arguments.separator : isTensorArgument(argument.value));
    if (!tensor && argument.name.empty() && position < callee.parameters.size())
      argument.name = callee.parameters[position++].name.text;
    const bool declared = std::any_of(other.parameters.begin(), other.parameters.end(),
                                      [&](const auto& parameter) { return parameter.name.text == argument.name; });
    const auto& own = change.value.words;
    if (tensor || (declared && std::find(own.begin(), own.end(), argument.name) == own.end()))
      kept.push_back(std::move(argument));
  }
  return kept;
}

}  // namespace

// ---- Beginning and end ------------------------------------------------------------------------------------------------

bool Mutations::begin(Elaborator& e, const ast::Callable& decl, std::vector<Local>& parameters, const std::string& path) {
  std::vector<const sema::Derivation*> chain;
  for (const auto* made = e.program.derivation(&decl); made != nullptr; made = e.program.derivation(made->base.decl))
    chain.insert(chain.begin(), made);
  for (const sema::Derivation* made : chain) {
    Mutation mutation{made, path, {}};
    for (const ast::Mutate::Operation& operation : made->mutation->operations) {
      Local* const level = findLocal(parameters, operation.as.text);
      if (level == nullptr) return false;
      std::optional<Change> change = readChange(e, *made, operation, std::move(level->value));
      if (!change) return false;
      mutation.changes.push_back(std::move(*change));
      parameters.erase(parameters.begin() + (level - parameters.data()));
    }
    active.push_back(std::move(mutation));
  }
  return true;
}

void Mutations::end(Elaborator& e, std::size_t before, bool complete) {
  for (; active.size() > before; active.pop_back()) {
    for (const Change& change : active.back().changes) {
      if (!change.met && complete) reportUnmet(e, active.back(), change);
    }
  }
}

/// The changes that name this place exactly, swaps and widenings left out.
std::vector<Change*> Mutations::changesAt(const std::string& path, std::string_view declaration) {
  std::vector<Change*> changes;
  for (Mutation& mutation : active) {
    const std::vector<PathPart> parts = partsBelow(mutation, path);
    std::vector<PathPart> plain;
    for (const PathPart& part : parts) {
      if (!part.turn || part.name != "for") plain.push_back(part);
    }
    mutation.seen.insert(pathText(plain));
    for (Change& change : mutation.changes) {
      if (change.isInProgress || change.word == Change::Word::Swap || change.word == Change::Word::Widen) continue;
      if (fits(change.place, parts, declaration) != Fit::Exact) continue;
      change.met = true;
      changes.push_back(&change);
    }
  }
  return changes;
}

// ---- Applications -----------------------------------------------------------------------------------------------------

/// Multiplies the parameter `out` by what widens this place; those changes, which what is inside then escapes.
std::vector<Change*> Mutations::widen(Elaborator& e, Application& application) {
  std::vector<Change*> done;
  Local* const out = findLocal(application.parameters, "out");
  if (out == nullptr || !out->value.is(ValueKind::Number)) return done;
  for (Mutation& mutation : active) {
    const std::vector<PathPart> parts = partsBelow(mutation, application.path);
    for (Change& change : mutation.changes) {
      if (change.word != Change::Word::Widen || change.isInProgress ||
          fits(change.place, parts, application.decl.name.text) == Fit::None)
        continue;
      change.met = true;
      out->value.expr = e.pool.make(ExprOp::Mul, out->value.expr, change.value.expr);
      done.push_back(&change);
    }
  }
  return done;
}

Value Mutations::apply(Elaborator& e, Application application) {
  const std::string& name = application.decl.name.text;
  std::vector<Value>& tensors = application.tensors;
  const std::vector<Change*> changes = changesAt(application.path, name);
  const bool oneTensor = tensors.size() == 1 && tensors.front().is(ValueKind::Tensor);
  for (Change* change : changes) {
    const bool changesResult = change->done || change->times > 1;
    if (changesResult && !oneTensor) return cannotChange(e, *change, "it does not take one tensor");
    if (change->word == Change::Word::Drop && change->done) return tensors.front();
  }
  for (Change* change : changes) {
    if (!isInserted(*change, "before")) continue;
    tensors.front() = applyInserted(e, *change, tensors.front());
    if (tensors.front().isPoison()) return {};
  }
  const std::vector<Change*> widened = widen(e, application);
  for (Change* change : widened) change->isInProgress = true;
  Value result = e.applyOnce(application);
  for (Change* change : changes) {
    if (result.isPoison()) break;
    if ((change->done || change->times > 1) && !result.is(ValueKind::Tensor))
      return cannotChange(e, *change, "it does not give one tensor");
    for (std::int64_t turn = 1; turn < change->times && !result.isPoison(); ++turn) {
      Application again = application;
      again.tensors = {result};
      again.path = e.paths.under(e.paths.fresh(name));
      result = e.applyOnce(std::move(again));
    }
    if (!result.isPoison() && isInserted(*change, "after")) result = applyInserted(e, *change, result);
  }
  for (Change* change : widened) change->isInProgress = false;
  return result;
}

Value Mutations::swapped(Elaborator& e, Value callee, std::string_view wantedName, sema::Arguments& arguments) {
  const auto& decl = *static_cast<const ast::Callable*>(callee.decl);
  const auto hasName = [&](const std::vector<PathPart>& place, const Mutation& mutation, std::string_view name) {
    const std::vector<PathPart> parts = partsBelow(mutation, e.paths.under(e.paths.next(name)));
    return fits(place, parts, decl.name.text) == Fit::Exact;
  };
  const bool makesInstance = std::none_of(arguments.list.begin(), arguments.list.end(),
                                          [](const sema::BoundArgument& argument) { return isTensorArgument(argument.value); });
  for (Mutation& mutation : active) {
    for (Change& change : mutation.changes) {
      if (change.word != Change::Word::Swap) continue;
      const bool here =
          hasName(change.place, mutation, decl.name.text) || (makesInstance && hasName(change.place, mutation, wantedName));
      if (!here) continue;
      change.met = true;
      if (change.value.is(ValueKind::Declaration) && change.value.decl == callee.decl) continue;
      arguments.list = argumentsFor(change, decl, arguments);
      return change.value;
    }
  }
  return callee;
}

// ---- Turns of loops ---------------------------------------------------------------------------------------------------

std::size_t Mutations::beginTurn(Elaborator& e, const ast::For& loop) {
  std::size_t times = 1;
  for (Change* change : changesAt(e.paths.here(), "")) {
    if (change->word == Change::Word::Repeat) times *= static_cast<std::size_t>(change->times);
    if (change->word == Change::Word::Drop && change->done) times = 0;
    const bool before = change->word == Change::Word::Insert && isInserted(*change, "before");
    if (before && !insertInTurn(e, loop, *change)) return 0;
  }
  return times;
}

bool Mutations::endTurn(Elaborator& e, const ast::For& loop) {
  if (e.frame->returned) return true;
  const std::vector<Change*> changes = changesAt(e.paths.here(), "");
  const auto isDropped = [](const Change* change) { return change->word == Change::Word::Drop && change->done; };
  if (std::any_of(changes.begin(), changes.end(), isDropped)) return true;
  return std::all_of(changes.begin(), changes.end(), [&](Change* change) {
    const bool after = change->word == Change::Word::Insert && isInserted(*change, "after");
    return !after || insertInTurn(e, loop, *change);
  });
}

}  // namespace tbem::graph
