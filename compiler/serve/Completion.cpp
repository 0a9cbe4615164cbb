#include "compiler/serve/Completion.h"

#include "compiler/budget/Clauses.h"
#include "compiler/serve/CallText.h"
#include "compiler/serve/Hover.h"
#include "compiler/show/reference/DocText.h"
#include "compiler/syntax/layout/Words.h"

#include <embedded/tbem_stdlib.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace tbem::serve {

namespace {

using Kind = Completion::Kind;

class Completer {
public:
  Completer(const Reading& reading, std::size_t place)
      : reading(reading), text(reading.source.text), place(std::min(place, text.size())) {}

  Completions all() {
    found.begin = wordBegin(text, place);
    if (isWritten(reading, place)) return found;
    const std::size_t margin = lineBegin(text, place);
    const std::string_view line = text.substr(margin, found.begin - margin);
    if (line.starts_with("import ")) {
      imports(line);
    } else if (found.begin > 0 && text[found.begin - 1] == '.') {
      members(wordBefore(text, found.begin - 1));
    } else {
      names();
      if (line.find_first_not_of(" \t") == std::string_view::npos) words(margin == found.begin);
    }
    return std::move(found);
  }

private:
  void add(Kind kind, std::string_view label, std::string detail = {}, std::string documentation = {},
           std::string_view behind = {}) {
    if (label.empty() || !known.emplace(label).second) return;
    found.list.push_back(
        {kind, std::string(label), std::string(label) + std::string(behind), std::move(detail), std::move(documentation)});
  }

  static Kind kindOf(const ast::Decl& decl) {
    switch (decl.kind) {
      case ast::NodeKind::Constant:
        return Kind::Constant;
      case ast::NodeKind::Function:
        return Kind::Function;
      case ast::NodeKind::Callable:
        return Kind::Callable;
      default:
        return Kind::Declaration;
    }
  }

  void add(const ast::Decl& decl) {
    add(kindOf(decl), decl.name.text, declarationText(reading, decl.name.range), driver::firstSentence(decl));
  }

  void modules() {
    for (const auto& file : stdlib::files()) add(Kind::Module, fmt::format("std.{}", file.name.substr(0, file.name.find('/'))));
  }

  /// Of a module that the program need not have loaded.
  void membersOf(const std::string& name) {
    if (const sema::Module* module = reading.program().find(name)) {
      for (const auto& [member, decl] : module->own) {
        if (!decl->isPrivate) add(*decl);
      }
      return;
    }
    driver::Workspace other;
    const Source& source = other.session.sources.add("", "import " + name + "\n");
    other.program = sema::load(other.session.sources, other.session.sink, source, reading.workspace.load);
    if (other.program->find(name) != nullptr) Completer(Reading(other), 0).takeMembers(name, *this);
  }
  void takeMembers(const std::string& name, Completer& to) {
    membersOf(name);
    for (Completion& one : found.list) {
      if (to.known.insert(one.label).second) to.found.list.push_back(std::move(one));
    }
  }

  void imports(std::string_view line) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      const std::size_t begin = std::string_view("import ").size();
      // The path is one word here: `std.vi` is replaced by `std.vision`.
      found.begin = found.begin - line.size() + begin;
      modules();
      return;
    }
    std::string_view path = line.substr(0, colon);
    path.remove_prefix(std::string_view("import ").size());
    while (path.ends_with(' ')) path.remove_suffix(1);
    membersOf(std::string(path));
  }

  void members(std::string_view object) {
    const sema::Resolved module = reading.program().resolve(reading.program().main(), object);
    if (module && module.decl == nullptr) membersOf(module.module->name);
  }

  void names() {
    quantities();
    parameters();
    locals();
    const sema::Module& main = reading.program().main();
    for (const auto& [name, decl] : main.own) add(*decl);
    for (const std::string& name : reading.program().names(main)) {
      const sema::Resolved meaning = reading.program().resolve(main, name);
      if (meaning.decl != nullptr)
        add(*meaning.decl);
      else
        add(Kind::Module, name);
    }
  }

  /// What a clause `budget` limits.
  void quantities() {
    if (wordBefore(text, found.begin) != "budget" || ast::dynCast<ast::Design>(beforePlace()) == nullptr) return;
    using driver::BudgetPlace;
    for (const BudgetPlace budgetPlace : {BudgetPlace::Shapes, BudgetPlace::Plan, BudgetPlace::PyTorch}) {
      for (const driver::BudgetQuantity& quantity : driver::budgetQuantities(budgetPlace)) add(Kind::Word, quantity.name);
    }
  }

  /// Of the callable in whose arguments the place lies, or of the network whose factors a design lists.
  void parameters() {
    const std::size_t open = openCall(text, place);
    std::string_view callee = open == std::string_view::npos ? std::string_view() : wordBefore(text, open);
    if (callee.empty() && wordBefore(text, found.begin) == "factor") callee = experimentOf();
    if (callee.empty()) return;
    const ast::Decl* decl = reading.program().resolve(reading.program().main(), callee).decl;
    const std::set<std::string_view> given =
        namedArguments(open == std::string_view::npos ? "" : text.substr(open + 1, place - open - 1));
    const auto offer = [&](const std::vector<ast::Parameter>& list) {
      for (const ast::Parameter& one : list) {
        if (!given.contains(one.name.text))
          add(Kind::Parameter, one.name.text, sourceText(reading.sources(), one.range), "", ": ");
      }
    };
    if (const auto* callable = ast::dynCast<ast::Callable>(decl)) {
      offer(callable->parameters);
      offer(callable->tensors);
    } else if (const auto* function = ast::dynCast<ast::Function>(decl)) {
      offer(function->parameters);
    }
  }

  /// The last declaration that begins before the place: the text behind it may be broken.
  const ast::Decl* beforePlace() const {
    const ast::Decl* last = nullptr;
    for (const ast::Decl* decl : reading.workspace.file().declarations) {
      if (decl->range.begin - reading.source.base <= place) last = decl;
    }
    return last;
  }

  /// The network of the design in which the place lies, by its name.
  std::string_view experimentOf() const {
    const auto* design = ast::dynCast<ast::Design>(beforePlace());
    if (design == nullptr || design->of == nullptr) return {};
    const auto* name = ast::dynCast<ast::NameRef>(design->of);
    return name == nullptr ? std::string_view() : std::string_view(name->name.text);
  }

  void locals() {
    const ast::Decl* const decl = beforePlace();
    if (decl == nullptr) return;
    const Loc at = static_cast<Loc>(reading.source.base + found.begin);
    for (const sema::Use& use : reading.uses().all()) {
      if (use.range.begin < decl->range.begin || use.range.begin >= at) continue;
      if (!use.isDeclaration() || use.kind > sema::NameKind::Factor) continue;
      add(Kind::Local, reading.sources().text(use.range), declarationText(reading, use.declaration));
    }
  }

  /// Words that begin a clause; at the beginning of a line those that begin a declaration too.
  void words(bool atMargin) {
    for (const syntax::SoftWord& word : syntax::softWords()) {
      const bool declares = word.kind == syntax::WordClass::Declaration;
      if (word.kind != syntax::WordClass::Connector && (atMargin || !declares)) add(Kind::Word, word.text);
    }
    for (const std::string_view word : syntax::reservedWords()) add(Kind::Word, word);
  }

  const Reading& reading;
  std::string_view text;
  std::size_t place;
  Completions found;
  std::set<std::string, std::less<>> known;
};

}  // namespace

Completions completionsAt(const Reading& reading, std::size_t place) { return Completer(reading, place).all(); }

}  // namespace tbem::serve
