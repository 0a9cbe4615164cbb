#include "compiler/repl/Dialogue.h"

#include "compiler/diagnostics/Render.h"
#include "compiler/diagnostics/Repeats.h"
#include "compiler/pipeline/Stages.h"
#include "compiler/sema/Walk.h"
#include "compiler/sema/check/Uses.h"
#include "compiler/show/reference/DocText.h"
#include "compiler/syntax/parse/Parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace tbem::repl {

namespace {

std::pair<std::string, std::string> shownDeclaration(const SourceManager& sources, const ast::Decl& decl) {
  const auto* imported = ast::dynCast<ast::Import>(&decl);
  if (imported == nullptr) return {driver::kindOf(decl), decl.name.text};
  std::string text = sourceText(sources, decl.range);
  constexpr std::string_view kWord = "import ";
  return {"import", text.starts_with(kWord) ? text.substr(kWord.size()) : text};
}

/// A mistake by what it says and the line on which it lies: other declarations may move that line.
std::string mistakeOf(const Diagnostic& diagnostic, const SourceManager& sources) {
  return fmt::format("{}\n{}", renderBrief(diagnostic), sources.line(diagnostic.range.begin));
}

void addNumbers(const sema::Value& value, const sema::ExprPool& pool, std::vector<double>& numbers) {
  if (value.is(sema::ValueKind::Number)) {
    if (const std::optional<Rational> number = pool.constantValue(value.expr)) numbers.push_back(number->toDouble());
  } else if (value.is(sema::ValueKind::List) || value.is(sema::ValueKind::Tuple)) {
    for (const sema::Value& item : value.items) addNumbers(item, pool, numbers);
  }
}

/// A number whose fraction nobody reads (that of `sqrt(2)` has 32 digits) as the shortest decimal of the same double.
std::string shownText(const sema::ExprPool& pool, const sema::Value& value) {
  constexpr std::size_t kReadable = 20;
  std::string text = sema::print(pool, value);
  const std::optional<Rational> number =
      value.is(sema::ValueKind::Number) && value.unit == sema::UnitPowers{} ? pool.constantValue(value.expr) : std::nullopt;
  if (number && text.size() > kReadable && text.find('/') != std::string::npos) text = fmt::format("{}", number->toDouble());
  return text;
}

/// Lines that import the names which a program's own file takes from the standard library beyond what is in scope everywhere.
std::string importsOf(const driver::Workspace& workspace) {
  const sema::Program& program = *workspace.program;
  const sema::Module& main = program.main();
  std::map<std::string, std::set<std::string>> names;
  const sema::Uses uses = sema::findUses(program, main);
  for (const sema::Use& use : uses.all()) {
    if (use.kind < sema::NameKind::Constant || use.isDeclaration()) continue;
    const std::string name(workspace.session.sources.text(use.range));
    if (main.own.contains(name) || main.imported.contains(name) || main.modules.contains(name)) continue;
    const sema::Resolved meaning = program.resolve(main, name);
    if (!meaning || meaning.decl == nullptr || !meaning.module->isStandard || meaning.module->name == "std.nn") continue;
    if (meaning.decl->name.range == use.declaration) names[meaning.module->name].insert(name);
  }
  std::string text;
  for (const auto& [module, imported] : names) text += fmt::format("import {}: {}\n", module, fmt::join(imported, ", "));
  return text;
}

/// The declarations in which a declaration of the program is used, but for itself.
std::vector<std::string> usersOf(const driver::Workspace& workspace, const std::string& name) {
  const std::vector<const ast::Decl*>& all = workspace.file().declarations;
  const auto used = std::ranges::find_if(all, [&](const ast::Decl* decl) { return decl->name.text == name; });
  if (used == all.end()) return {};
  const sema::Program& program = *workspace.program;
  const std::vector<SrcRange> places = sema::findUses(program, program.main()).usesOf((*used)->name.range);
  std::vector<std::string> users;
  for (const ast::Decl* decl : all) {
    const bool uses = std::ranges::any_of(
        places, [&](SrcRange place) { return place.begin >= decl->range.begin && place.end <= decl->range.end; });
    if (!uses || decl == *used) continue;
    const auto [kind, own] = shownDeclaration(workspace.session.sources, *decl);
    users.push_back(own.empty() ? kind : own);
  }
  return users;
}

}  // namespace

Dialogue::Dialogue(sema::LoadOptions load, Events& events)
    : loadOptions(std::move(load)), events(events), session(loadOptions, events) {}

const driver::Workspace& Dialogue::read(const std::string& text) {
  toSay = nullptr;
  return session.read(kName, text);
}

std::optional<Declared> Dialogue::take(SessionProgram next, const std::vector<Piece>& pieces, std::vector<std::string> replaced) {
  const driver::Workspace& workspace = read(next.text());
  const Session& checked = session.check();
  toSay = &checked;
  const std::vector<SessionProgram::Place> places = next.placesOf(pieces);
  const Loc base = workspace.file().source->base;
  const auto isOwn = [&](SrcRange range) {
    return std::ranges::any_of(places, [&](const SessionProgram::Place& place) {
      return range.begin >= base + place.begin && range.begin <= base + place.end;
    });
  };
  const auto& all = checked.sink.all();
  const bool refused =
      std::ranges::any_of(all, [&](const Diagnostic& said) { return said.severity == Severity::Error && isOwn(said.range); });
  // Of what was declared before, what was said once is not said again.
  std::set<std::string> mistakes;
  for (const Diagnostic& said : all) {
    if (said.severity == Severity::Error && !isOwn(said.range)) mistakes.insert(mistakeOf(said, checked.sources));
  }
  session.keepSaid([&](const Diagnostic& said) {
    return isOwn(said.range) || (said.severity == Severity::Error && !broken.contains(mistakeOf(said, checked.sources)));
  });
  if (refused) return std::nullopt;
  broken = std::move(mistakes);
  Declared declared;
  for (const ast::Decl* decl : workspace.file().declarations) {
    if (isOwn(decl->range)) declared.declarations.push_back(shownDeclaration(checked.sources, *decl));
  }
  declared.replaced = std::move(replaced);
  declared.parts = session.parts();
  change(std::move(next));
  return declared;
}

std::optional<Declared> Dialogue::declare(const Entry& entry) {
  const std::vector<Piece> pieces = piecesOf(entry.text);
  SessionProgram next = current;
  std::vector<std::string> replaced = next.put(pieces);
  std::optional<Declared> declared = take(std::move(next), pieces, std::move(replaced));
  if (!declared) return declared;
  for (const auto& [kind, name] : declared->declarations) tensors.remove(name);
  return declared;
}

std::optional<Declared> Dialogue::load(const std::string& text) {
  sayMistakes(text);
  if (toSay->sink.hasErrors()) return std::nullopt;
  SessionProgram next;
  const std::vector<Piece> pieces = piecesOf(text);
  next.put(pieces);
  return take(std::move(next), pieces, {});
}

void Dialogue::sayMistakes(const std::string& text) {
  unread = std::make_unique<Session>();
  syntax::parse(unread->sources.add(kEntry, text), unread->sink);
  toSay = unread.get();
}

std::optional<ShownValue> Dialogue::evaluate(const std::string& expression) {
  const driver::Workspace& workspace = read(current.text());
  const std::size_t before = workspace.session.sink.all().size();
  session::Evaluation evaluation;
  for (const auto& [name, tensor] : tensors.all()) evaluation.names.push_back({name, tensors.record(tensor, evaluation.pool)});
  session.evaluate(kEntry, expression, evaluation);
  std::size_t place = 0;
  session.keepSaid([&](const Diagnostic&) { return place++ >= before; });
  toSay = &workspace.session;
  if (toSay->sink.hasErrors() || evaluation.value.isPoison()) return std::nullopt;
  ShownValue shown;
  shown.text = shownText(evaluation.pool, evaluation.value);
  addNumbers(evaluation.value, evaluation.pool, shown.numbers);
  return shown;
}

bool Dialogue::readsTensors(const std::string& expression) const {
  Session typed;
  const std::unique_ptr<ast::File> file = syntax::parse(typed.sources.add(kEntry, expression), typed.sink);
  bool reads = false;
  if (file->expression == nullptr) return reads;
  sema::forEachInside(*file->expression, [&](const ast::Expr& inside) {
    const auto* name = ast::dynCast<ast::NameRef>(&inside);
    reads = reads || (name != nullptr && tensors.find(name->name.text) != nullptr);
  });
  return reads;
}

std::optional<RuntimeCall> Dialogue::runtimeCall(const std::string& expression) {
  Session typed;
  const Source& source = typed.sources.add(kEntry, expression);
  const std::unique_ptr<ast::File> file = syntax::parse(source, typed.sink);
  if (typed.sink.hasErrors() || file->expression == nullptr) return std::nullopt;
  const driver::Workspace& workspace = read(current.text());
  return repl::runtimeCall(workspace, *file->expression, source, [&](std::string_view name) {
    const Tensor* tensor = tensors.find(name);
    return tensor == nullptr ? nullptr : &tensor->type;
  });
}

tl::expected<std::optional<CallCost>, Failed> Dialogue::cost(const RuntimeCall& call, const std::string& backend) {
  toSay = nullptr;
  estimated = nullptr;
  driver::Request request;
  request.rows.design = call.design;
  request.target.backend = backend;
  driver::PipelineState state(request, events);
  state.tellsUnbuilt = false;
  const std::string before = current.text();
  state.workspace = driver::workspaceOf("-", kName, before + call.text, loadOptions);
  state.bugContext.emplace(programOf, &state.workspace->session);
  state.done.insert("load");
  tl::expected<void, Failed> lowered = driver::runStages(state, "lower");
  std::optional<CallCost> cost;
  if (lowered && state.rows.size() == 1 && state.rows.front().program) {
    auto counted = callCost(state);
    if (counted) cost = std::move(*counted);
    if (!counted) lowered = failed(kProgramErrors, counted.error());
  }
  mergeRepeats(state.sink());
  // Of the declarations before it everything was said when they were made.
  const Loc own = static_cast<Loc>(state.workspace->file().source->base + before.size());
  keepOnly(state.sink(), [&](const Diagnostic& said) { return said.severity == Severity::Error || said.range.begin >= own; });
  state.bugContext.reset();
  estimated = std::move(state.workspace);
  toSay = &estimated->session;
  if (!lowered && !lowered.error().messages.empty()) return tl::unexpected(lowered.error());
  return cost;
}

std::string Dialogue::standalone(const std::string& added) {
  const std::string text = current.text() + added;
  return importsOf(read(text)) + text;
}

std::optional<Forgotten> Dialogue::forget(const std::string& name) {
  Forgotten forgotten;
  if (tensors.remove(name)) return forgotten;
  SessionProgram next = current;
  if (!next.remove(name)) return std::nullopt;
  forgotten.users = usersOf(read(current.text()), name);
  change(std::move(next));
  if (forgotten.users.empty()) return forgotten;
  const sema::Program& program = *read(current.text()).program;
  if (const sema::Resolved meaning = program.resolve(program.main(), name); meaning.module != nullptr)
    forgotten.instead = meaning.module->name;
  return forgotten;
}

void Dialogue::change(SessionProgram next) {
  before.push_back(std::exchange(current, std::move(next)));
  after.clear();
}

bool Dialogue::undo() {
  if (before.empty()) return false;
  after.push_back(std::exchange(current, std::move(before.back())));
  before.pop_back();
  return true;
}

bool Dialogue::redo() {
  if (after.empty()) return false;
  before.push_back(std::exchange(current, std::move(after.back())));
  after.pop_back();
  return true;
}

}  // namespace tbem::repl
