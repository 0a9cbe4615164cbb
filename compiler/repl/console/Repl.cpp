#include "compiler/repl/console/Repl.h"

#include "compiler/repl/console/Answers.h"
#include "compiler/repl/console/Pixels.h"
#include "compiler/show/reference/DocPage.h"
#include "compiler/support/Bug.h"
#include "compiler/syntax/parse/Parse.h"
#include "runtime/report/Table.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

namespace tbem::repl {

namespace {

/// Ctrl-C while an entry was at work.
class Stopped : public std::exception {
public:
  const char* what() const noexcept override { return "stopped"; }
};

/// The value of `let NAME = VALUE`, where an entry is that and no more.
struct OneConstant {
  std::string name, value;
};

std::optional<OneConstant> oneConstant(const std::string& text) {
  Session typed;
  const Source& source = typed.sources.add("", text);
  const std::unique_ptr<ast::File> file = syntax::parse(source, typed.sink);
  if (file->declarations.size() != 1) return std::nullopt;
  const auto* constant = ast::dynCast<ast::Constant>(file->declarations.front());
  if (constant == nullptr) return std::nullopt;
  return OneConstant{constant->name.text, std::string(typed.sources.text(constant->value->range))};
}

}  // namespace

/// Hands on what happens to the output, and ends the work at Ctrl-C.
class Repl::Listener final : public Events {
public:
  Listener(Events& to, const Interrupts* interrupts) : to(to), interrupts(interrupts) {}
  void stageBegins(std::string_view /*name*/, std::string_view /*help*/) override { look(); }
  void progress(std::size_t done, std::size_t total, std::string_view what) override {
    look();
    to.progress(done, total, what);
  }
  void rest() override { to.rest(); }
  void note(std::string_view text) override { to.note(text); }
  bool opensLibrary(const OwnLibrary& library) override { return to.opensLibrary(library); }

private:
  void look() const {
    if (interrupts != nullptr && interrupts->asked()) throw Stopped();
  }
  Events& to;
  const Interrupts* interrupts;
};

Repl::Repl(show::Out& out, const Outside& outside, const sema::LoadOptions& load)
    : out(out),
      outside(outside),
      listener(std::make_unique<Listener>(out, outside.interrupts)),
      dialogue(load, *listener),
      completing(load, nobody),
      reader(outside.isTerminal ? terminalReader(outside.process.history, outside.interrupts,
                                                 [this](const std::string& line) { return complete(line); })
                                : pipeReader()),
      echoes(outside.echoes) {}

Repl::~Repl() = default;

bool Repl::begin(const std::string& path, const std::string& text) {
  std::optional<Declared> declared;
  const bool done = guarded([&] {
    declared = dialogue.load(text);
    return true;
  });
  const bool right = say();
  if (!done || !declared) return fail(fmt::format("{} cannot be read as a program", path));
  showDeclared(out, *declared);
  return right;
}

std::size_t Repl::run() {
  while (!ended) {
    const std::optional<std::string> entry = readWhole();
    if (!entry) break;
    answer(*entry);
  }
  return failures;
}

std::optional<std::string> Repl::readWhole() {
  pending.clear();
  for (;;) {
    Line line;
    if (pushedBack) {
      line = {Line::Kind::Text, *std::exchange(pushedBack, std::nullopt)};
    } else {
      line = reader->read(pending.empty() ? kPrompt : kMorePrompt);
    }
    if (outside.interrupts != nullptr && outside.interrupts->endAsked()) return std::nullopt;
    if (line.kind == Line::Kind::Interrupted) {
      pending.clear();
      continue;
    }
    if (line.kind == Line::Kind::End) {
      if (pending.empty()) return std::nullopt;
      return pending;
    }
    if (!pending.empty() && beginsAnother(line.text)) {
      pushedBack = line.text;
      return pending;
    }
    pending += line.text + "\n";
    if (isWhole(pending)) return pending;
  }
}

void Repl::answer(const std::string& text) {
  const Entry entry = readEntry(text);
  if (entry.kind == EntryKind::Nothing) return;
  reader->keep(entry.text);
  if (echoes) {
    std::string shown = kPrompt + entry.text;
    for (std::size_t at = shown.find('\n'); at != std::string::npos; at = shown.find('\n', at + 1))
      shown.insert(at + 1, kMorePrompt);
    out.plain(shown + "\n");
  }
  ++entries;
  const bool right = guarded([&] { return answerEntry(entry); });
  if (!right) ++failures;
  const bool ofSession = entry.kind == EntryKind::Command && (entry.word == "save" || entry.word == "load");
  if (right && !ofSession) typed.push_back(entry.text);
  if (out.display.json) out.json("entry", {{"number", entries}, {"ok", right}});
  out.flush();
}

bool Repl::guarded(const std::function<bool()>& work) {
  const Interruptible asking(outside.interrupts);
  try {
    return work();
  } catch (const Stopped&) {
    out.rest();
    return fail("stopped");
  } catch (const std::bad_alloc&) {
    out.rest();
    return fail("out of memory");
  } catch (const Bug& bug) {
    out.rest();
    out.error(fmt::format("tbemc: this is a bug in tbemc, not in your program\n  {}\n", bug.what()));
    const std::string path = bug.program().empty() ? std::string() : writeReproducer(bug.program());
    if (!path.empty()) out.error(fmt::format("  what reproduces it: {}\n", path));
    return false;
  }
}

bool Repl::answerEntry(const Entry& entry) {
  switch (entry.kind) {
    case EntryKind::Nothing:
      return true;
    case EntryKind::Command:
      return command(entry);
    case EntryKind::Question:
      return ask(entry.rest);
    case EntryKind::Plot:
      return plot(entry.rest);
    case EntryKind::Declarations:
      return declare(entry);
    case EntryKind::Expression:
      return express(entry.text);
    case EntryKind::Mistake:
      dialogue.sayMistakes(entry.text);
      return say();
  }
  return false;
}

bool Repl::declare(const Entry& entry) {
  if (const std::optional<OneConstant> constant = oneConstant(entry.text)) {
    if (const std::optional<RuntimeCall> call = dialogue.runtimeCall(constant->value)) return nameResults(constant->name, *call);
    // The program knows no tensors: what an expression says of them becomes a number there.
    if (dialogue.readsTensors(constant->value)) {
      const std::optional<ShownValue> value = dialogue.evaluate(constant->value);
      if (!say() || !value) return false;
      return declareEntry(readEntry(fmt::format("let {} = {}", constant->name, value->text)));
    }
  }
  return declareEntry(entry);
}

bool Repl::declareEntry(const Entry& entry) {
  const std::optional<Declared> declared = dialogue.declare(entry);
  const bool right = say();
  if (declared) showDeclared(out, *declared);
  return declared && right;
}

bool Repl::express(const std::string& expression) {
  if (const Tensor* tensor = dialogue.tensors.find(expression)) {
    showTensor(out, expression, *tensor);
    return true;
  }
  if (const std::optional<RuntimeCall> call = dialogue.runtimeCall(expression)) {
    const bool hasNumbers =
        std::ranges::all_of(call->inputs, [](const RuntimeCall::Input& input) { return !input.tensor.empty(); });
    if (!hasNumbers) {
      const std::optional<CallCost> cost = costOf(*call);
      if (cost) showCost(out, *cost);
      return cost.has_value();
    }
    std::optional<std::vector<data::Array>> results = runCall(*call);
    for (data::Array& result : results ? *results : std::vector<data::Array>()) {
      Tensors passing;
      if (const auto taken = passing.put("", std::move(result)); !taken) return fail(taken.error());
      showTensor(out, "", *passing.find(""));
    }
    return results.has_value();
  }
  const std::optional<ShownValue> value = dialogue.evaluate(expression);
  const bool right = say();
  if (value) showValue(out, *value);
  return value && right;
}

bool Repl::plot(const std::string& expression) {
  const auto show = [this](const std::vector<double>& numbers, bool inARow) {
    showPlot(out, numbers, inARow, [this] { return pixels(); });
  };
  if (const Tensor* tensor = dialogue.tensors.find(expression)) {
    show(tensor->numbers(), tensor->array.shape.size() == 1);
    return true;
  }
  if (const std::optional<RuntimeCall> call = dialogue.runtimeCall(expression)) {
    const std::optional<std::vector<data::Array>> results = runCall(*call);
    if (!results) return false;
    Tensors passing;
    if (const auto taken = passing.put("", results->front()); !taken) return fail(taken.error());
    show(passing.find("")->numbers(), results->front().shape.size() == 1);
    return true;
  }
  const std::optional<ShownValue> value = dialogue.evaluate(expression);
  if (!say() || !value) return false;
  if (value->numbers.empty()) return fail(fmt::format("`{}` has no numbers: plot a tensor or a list of numbers", expression));
  show(value->numbers, true);
  return true;
}

std::optional<report::CellSize> Repl::pixels() {
  if (!askedForPixels && reader->isTerminal() && report::useColor(out.display.color, STDOUT_FILENO)) {
    out.flush();
    cell = askSixelCells();
  }
  askedForPixels = true;
  return cell;
}

bool Repl::ask(const std::string& name) {
  if (name.empty()) return help("");
  if (name == "std") return listModules();
  const auto printed = driver::printDoc(out, program(), name);
  if (!printed) out.fail(printed.error());
  return printed.has_value();
}

bool Repl::listModules() {
  std::vector<std::string> names;
  for (const auto& module : program().program->modules()) {
    if (module->isStandard) names.push_back(module->name);
  }
  std::ranges::sort(names);
  showText(out, "help", fmt::format("{}\n", fmt::join(names, " ")));
  return true;
}

const driver::Workspace& Repl::program() { return completing.read(Dialogue::kName, dialogue.program().text()); }

bool Repl::say() {
  const Session* said = dialogue.said();
  if (said == nullptr || said->sink.all().empty()) return true;
  for (const Diagnostic& diagnostic : said->sink.all()) {
    if (diagnostic.severity == Severity::Error) lastCode = info(diagnostic.kind).code;
  }
  out.flush();  // what is told of an entry stands behind it
  out.diagnostics(*said);
  return !said->sink.hasErrors();
}

bool Repl::fail(std::string_view why) {
  out.flush();
  out.failure(why);
  return false;
}

serve::Completions Repl::complete(const std::string& line) {
  serve::Completions found;
  const std::size_t colon = line.find_first_not_of(' ');
  if (colon != std::string::npos && line[colon] == ':' && line.find(' ', colon) == std::string::npos) {
    found.begin = colon + 1;
    const auto add = [&](const std::string& name, const char* help) {
      found.list.push_back({serve::Completion::Kind::Word, name, name + " ", help, ""});
    };
    for (const ReplCommand& each : commands()) add(each.name, each.help);
    for (const OutsideCommand& each : outside.commands) add(each.name, each.help.c_str());
    return found;
  }
  // A command or a question is about an expression, which stands there as if it were typed alone.
  std::string typedLine = line;
  if (colon != std::string::npos && pending.empty() && (line[colon] == ':' || line[colon] == '?')) {
    const std::size_t end = line[colon] == ':' ? line.find(' ', colon) : colon + 1;
    for (std::size_t at = colon; at < std::min(end, typedLine.size()); ++at) typedLine[at] = ' ';
  }
  const std::string before = dialogue.program().text() + pending;
  try {
    const driver::Workspace& workspace = completing.read(Dialogue::kName, before + typedLine);
    found = serve::completionsAt(serve::Reading(workspace), before.size() + typedLine.size());
  } catch (const Bug&) {
    return {};  // it is told when the entry is read
  }
  found.begin -= std::min(found.begin, before.size());
  for (const auto& [name, tensor] : dialogue.tensors.all())
    found.list.push_back({serve::Completion::Kind::Local, name, "", "", ""});
  return found;
}

}  // namespace tbem::repl
