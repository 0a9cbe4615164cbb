#include "compiler/serve/Completion.h"

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

bool inWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }
bool isBlank(char c) { return c == ' ' || c == '\t'; }

std::size_t lineBegin(std::string_view text, std::size_t place) {
  return place == 0 ? 0 : text.rfind('\n', place - 1) + 1;  // npos + 1 is 0
}

std::size_t wordBegin(std::string_view text, std::size_t end) {
  while (end > 0 && inWord(text[end - 1])) --end;
  return end;
}

std::string_view wordBefore(std::string_view text, std::size_t end) {
  while (end > 0 && isBlank(text[end - 1])) --end;
  const std::size_t begin = wordBegin(text, end);
  return text.substr(begin, end - begin);
}

/// The call whose arguments hold the place: where its parenthesis opens, or npos.
std::size_t openCall(std::string_view text, std::size_t place) {
  constexpr std::size_t kFarthest = 4096;  // bytes: no call is longer
  int depth = 0;
  for (std::size_t at = place; at > 0 && place - at < kFarthest; --at) {
    const char c = text[at - 1];
    if (c == ')' || c == ']' || c == '}') ++depth;
    if (c != '(' && c != '[' && c != '{') continue;
    if (depth == 0) return c == '(' ? at - 1 : std::string_view::npos;
    --depth;
  }
  return std::string_view::npos;
}

/// The words before a colon among arguments, but not those inside other brackets.
std::set<std::string_view> namedArguments(std::string_view arguments) {
  std::set<std::string_view> named;
  int depth = 0;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const char c = arguments[at];
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (c == ':' && depth == 0) named.insert(wordBefore(arguments, at));
  }
  return named;
}

class Completer {
public:
  Completer(const Reading& reading, std::size_t place)
      : reading(reading), text(reading.source.text), place(std::min(place, text.size())) {}

  Completions all() {
    found.begin = wordBegin(text, place);
    if (isWritten()) return found;
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
  /// Whether the place lies in a comment or in a string, where nothing is offered.
  bool isWritten() const {
    const auto inside = [&](SrcRange range) {
      return range.begin - reading.source.base < place && place <= range.end - reading.source.base;
    };
    if (std::ranges::any_of(reading.workspace.file().comments, inside)) return true;
    const std::size_t margin = lineBegin(text, place);
    return std::ranges::count(text.substr(margin, place - margin), '"') % 2 == 1;
  }

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
