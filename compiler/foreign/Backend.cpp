#include "compiler/foreign/Backend.h"

#include "compiler/backends/Backends.h"
#include "compiler/diagnostics/Hints.h"
#include "compiler/diagnostics/Session.h"
#include "compiler/diagnostics/tables/Run.h"
#include "compiler/support/Rational.h"
#include "compiler/support/Units.h"
#include "compiler/syntax/parse/Parse.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace tbem::foreign {

namespace {

constexpr std::string_view kCommand = "command";
constexpr std::array<std::string_view, 2> kDevices = {"cpu", "cuda"};

/// Reads what stands in the parentheses of a backend. Each member is false after a report.
class ArgumentReader {
public:
  ArgumentReader(Backend& into, DiagnosticSink& sink, const SourceManager& sources) : to(into), sink(sink), sources(sources) {}

  bool command(const ast::Call& call) {
    for (const ast::Argument& argument : call.arguments) {
      const auto* const text = ast::dynCast<ast::String>(argument.value);
      if (argument.name.empty() && to.command.empty() && text != nullptr && !text->value.empty())
        to.command = text->value;
      else if (argument.name.text != "memory" || !bytes(argument))
        return wrong(argument.range, "command",
                     "the text of a command and, if it is limited, `memory`: "
                     "`command(\"python3 run.py\", memory: 2 GiB)`");
    }
    return !to.command.empty() || wrong(call.range, "command", "the text of a command: `command(\"python3 run.py\")`");
  }

  bool framework(const ast::Call& call) {
    const bool chooses = to.framework->engine != nullptr;
    const std::string_view takes =
        chooses ? "`backend: \"jax\"` (or \"tensorflow\", \"torch\"), which it needs, and `python: \"venv/bin/python\"`"
                : "`compile: true`, `device: \"cuda\"` (or \"cpu\") and `python: \"venv/bin/python\"`";
    bool isChosen = !chooses;
    for (const ast::Argument& argument : call.arguments) {
      const bool isEngine = chooses && engine(argument);
      if (!isEngine && !python(argument) && (chooses || !ownComputation(argument)))
        return wrong(argument.range, to.framework->name, takes);
      isChosen = isChosen || isEngine;
    }
    return isChosen || wrong(call.range, to.framework->name, takes);
  }

private:
  bool python(const ast::Argument& argument) {
    const auto* const text = ast::dynCast<ast::String>(argument.value);
    if (argument.name.text != "python" || text == nullptr || text->value.empty()) return false;
    to.python = text->value;
    return true;
  }

  /// Of a framework that computes itself.
  bool ownComputation(const ast::Argument& argument) {
    if (const auto* const text = ast::dynCast<ast::String>(argument.value);
        argument.name.text == "device" && text != nullptr && std::ranges::count(kDevices, text->value) != 0) {
      to.device = text->value;
      return true;
    }
    const auto* const truth = ast::dynCast<ast::Bool>(argument.value);
    if (argument.name.text != "compile" || truth == nullptr) return false;
    to.compile = truth->value;
    return true;
  }

  bool engine(const ast::Argument& argument) {
    const auto* const text = ast::dynCast<ast::String>(argument.value);
    if (argument.name.text != "backend" || text == nullptr) return false;
    const Framework* const chosen = withEngine(*to.framework, text->value);
    if (chosen != nullptr) to.framework = chosen;
    return chosen != nullptr;
  }

  bool bytes(const ast::Argument& argument) {
    const auto* const size = ast::dynCast<ast::Unit>(argument.value);
    const UnitWord* const unit = size == nullptr ? nullptr : findUnit(size->unit.text);
    if (unit == nullptr || unit->dimension != Dimension::Bytes) return false;
    const std::optional<Rational> number = Rational::parse(size->number);
    if (!number) return false;
    const double value = number->toDouble() * unit->factor.toDouble();
    if (value < 1 || value >= 9e18) return false;
    to.memory = static_cast<std::uint64_t>(value);
    return true;
  }

  bool wrong(SrcRange range, std::string_view name, std::string_view expected) {
    sink.report(diag::bad_backend, range, name, expected, sources.text(range));
    return false;
  }

  Backend& to;
  DiagnosticSink& sink;
  const SourceManager& sources;
};

/// A text as the language writes it.
std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

/// The one text of all that mean the same.
std::string nameOf(const Backend& backend) {
  if (backend.framework == nullptr) {
    const std::string memory = backend.memory == 0 ? "" : fmt::format(", memory: {} B", backend.memory);
    return fmt::format("{}({}{})", kCommand, quoted(backend.command), memory);
  }
  std::vector<std::string> arguments;
  if (const Engine* const engine = backend.framework->engine; engine != nullptr)
    arguments.push_back("backend: " + quoted(engine->name));
  if (backend.compile) arguments.emplace_back("compile: true");
  if (backend.device != kDevices.front()) arguments.push_back("device: " + quoted(backend.device));
  if (!backend.python.empty()) arguments.push_back("python: " + quoted(backend.python));
  if (arguments.empty()) return backend.framework->name;
  return fmt::format("{}({})", backend.framework->name, fmt::join(arguments, ", "));
}

void unknown(DiagnosticSink& sink, SrcRange range, const std::string& word) {
  std::vector<std::string> known;
  for (const driver::BackendChoice& choice : driver::knownBackends()) known.emplace_back(choice.name);
  Diagnostic& diagnostic = sink.report(diag::unknown_backend, range, word);
  const std::string close = nearest(word, known);
  if (!close.empty())
    diagnostic.fix(range, close, Applicability::Maybe);
  else
    diagnostic.note("known: " + nearestFew(word, known));
}

/// One of those that `on` names; nothing after a report.
std::optional<Asked> readOne(const ast::Expr& expr, DiagnosticSink& sink, const SourceManager& sources) {
  const auto* const call = ast::dynCast<ast::Call>(&expr);
  const auto* const word = ast::dynCast<ast::NameRef>(call == nullptr ? &expr : call->callee);
  if (word == nullptr) {
    unknown(sink, expr.range, std::string(sources.text(expr.range)));
    return std::nullopt;
  }
  const std::string& name = word->name.text;
  const Framework* const framework = frameworkOf(name);
  if (framework == nullptr && name != kCommand) {
    const auto& list = driver::knownBackends();
    if (std::ranges::none_of(list, [&](const driver::BackendChoice& choice) { return choice.name == name; })) {
      unknown(sink, word->name.range, name);
      return std::nullopt;
    }
    if (call == nullptr) return Asked{name, std::nullopt};
    sink.report(diag::bad_backend, call->range, name, "nothing in parentheses", sources.text(call->range));
    return std::nullopt;
  }
  Backend backend;
  backend.framework = framework;
  ArgumentReader reader(backend, sink, sources);
  ast::Call plain;  // `pytorch` alone is `pytorch()`
  plain.range = expr.range;
  const ast::Call& given = call == nullptr ? plain : *call;
  if (framework == nullptr ? !reader.command(given) : !reader.framework(given)) return std::nullopt;
  std::string text = nameOf(backend);
  return Asked{std::move(text), std::move(backend)};
}

/// Adds it unless it is there: named twice it is measured once.
void add(std::vector<Asked>& list, Asked asked) {
  if (std::ranges::none_of(list, [&](const Asked& other) { return other.name == asked.name; })) list.push_back(std::move(asked));
}

}  // namespace

std::optional<std::vector<Asked>> askedBy(const ast::Measure& decl, DiagnosticSink& sink, const SourceManager& sources) {
  std::vector<Asked> list;
  for (const ast::Name& name : decl.backends) {
    ast::NameRef word;
    word.range = name.range;
    word.name = name;
    auto asked = readOne(word, sink, sources);
    if (!asked) return std::nullopt;
    add(list, std::move(*asked));
  }
  for (const ast::Clause& clause : decl.others) {
    if (clause.word.text != "on") continue;
    for (const ast::Argument& item : clause.items) {
      if (!item.name.empty() || item.value == nullptr) {
        unknown(sink, item.range, std::string(sources.text(item.range)));
        return std::nullopt;
      }
      auto asked = readOne(*item.value, sink, sources);
      if (!asked) return std::nullopt;
      add(list, std::move(*asked));
    }
  }
  return list;
}

tl::expected<std::vector<Asked>, std::string> askedBy(const std::string& option) {
  // The words of the clause, read as one.
  Session session;
  const Source& source = session.sources.add("--on", "measure d {\n  on " + option + "\n}\n");
  const std::unique_ptr<ast::File> file = syntax::parse(source, session.sink);
  std::optional<std::vector<Asked>> list;
  if (!session.sink.hasErrors() && file->declarations.size() == 1) {
    if (const auto* decl = ast::dynCast<ast::Measure>(file->declarations.front()))
      list = askedBy(*decl, session.sink, session.sources);
  }
  if (list && !list->empty() && !session.sink.hasErrors()) return std::move(*list);
  const auto& told = session.sink.all();
  return tl::unexpected(told.empty() ? fmt::format("`{}` is not what `on` takes", option) : told.front().message);
}

}  // namespace tbem::foreign
