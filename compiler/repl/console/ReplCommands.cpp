// The commands of the dialogue: `:word`.
#include "compiler/repl/console/Answers.h"
#include "compiler/repl/console/Repl.h"
#include "compiler/repl/console/Words.h"
#include "compiler/syntax/format/Format.h"
#include "runtime/files/Read.h"
#include "runtime/files/Write.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tbem::repl {

const std::vector<ReplCommand>& Repl::commands() {
  static const std::vector<ReplCommand> list = {
      {"help", "[WORD]", "what can be typed; of one command, declaration or word of the language", &Repl::help},
      {"list", "", "the program so far, with line numbers", &Repl::list},
      {"tensors", "", "the tensors so far", &Repl::listTensors},
      {"undo", "", "the program before the last change", &Repl::undo},
      {"redo", "", "the change that `:undo` took back", &Repl::redo},
      {"forget", "NAME", "takes a declaration or a tensor away", &Repl::forget},
      {"save", "FILE", "the session as FILE.tbem, a program, or FILE.test, a test for lit", &Repl::save},
      {"load", "FILE", "begins anew with a program", &Repl::load},
      {"shape", "CALL", "the operators of a call, in order, with the shapes of their results", &Repl::shape},
      {"flops", "CALL", "FLOPs by operator", &Repl::flops},
      {"mem", "CALL", "memory by kind, and the operator at the peak", &Repl::mem},
      {"plan", "CALL", "where each buffer lies in the arena", &Repl::plan},
      {"llvm", "CALL", "the code of the step, as LLVM IR", &Repl::llvm},
      {"asm", "CALL", "the same for this processor", &Repl::assembly},
      {"time", "CALL", "runs a call twenty times", &Repl::time},
      {"why", "[CODE]", "explains the last error, or a code", &Repl::why},
      {"on", "[BACKEND]", "where calls are planned and run from now on: cpu, ref; alone: the default", &Repl::on},
      {"quit", "", "ends the session, as Ctrl-D does", &Repl::quit},
  };
  return list;
}

namespace {

/// nullptr: none is called so.
template <class Command>
const Command* findByName(const std::vector<Command>& list, const std::string& word) {
  const auto known = std::ranges::find_if(list, [&](const Command& each) { return each.name == word; });
  return known == list.end() ? nullptr : &*known;
}

constexpr const char* kHelp =
    "declarations, as in a program    network net(x: tensor[n, 3, h, w]) { return x |> conv2d(8, 3) |> relu }\n"
    "an expression, and its value     [2 ** i for i in 0 .. 8]\n"
    "a call with shapes: its cost     net(x: [8, 3, 32, 32])     [8, 64] |> dense(10)\n"
    "a tensor: a call that is run     let y = net(x: [8, 3, 32, 32])    y.mean    relu(y) * 2\n"
    "a plot                           plot y     plot [i * i for i in 0 .. 20]\n"
    "documentation                    ?conv2d    ?std.vision    ?skip    :doc --search attention\n"
    "\n";

}  // namespace

bool Repl::command(const Entry& entry) {
  if (const ReplCommand* own = findByName(commands(), entry.word)) {
    if (*own->arguments == '\0' && !entry.rest.empty())
      return fail(fmt::format(":{} takes nothing, found `{}`", entry.word, entry.rest));
    return (this->*own->run)(entry.rest);
  }
  if (const OutsideCommand* command = findByName(outside.commands, entry.word)) return outsideCommand(*command, entry.rest);
  std::vector<std::string> names;
  for (const ReplCommand& each : commands()) names.emplace_back(each.name);
  for (const OutsideCommand& each : outside.commands) names.push_back(each.name);
  const std::string close = nearest(entry.word, names);
  return fail(close.empty() ? fmt::format("no command is called `:{}` (:help lists them)", entry.word)
                            : fmt::format("no command is called `:{}`: did you mean `:{}`?", entry.word, close));
}

bool Repl::help(const std::string& rest) {
  const std::string word = rest.starts_with(':') ? rest.substr(1) : rest;
  if (!word.empty()) {
    if (const ReplCommand* own = findByName(commands(), word)) {
      showText(out, "help", fmt::format(":{} {}\n  {}\n", own->name, own->arguments, own->help));
      return true;
    }
    if (findByName(outside.commands, word) != nullptr) return hand({word, "--help"}, "");
    return ask(word);
  }
  std::string text = kHelp;
  for (const ReplCommand& each : commands())
    text += fmt::format(":{:<18}{}\n", fmt::format("{} {}", each.name, each.arguments), each.help);
  text += "\ncommands of the command line, of the whole program, a design, a network or a call:\n ";
  for (const OutsideCommand& each : outside.commands) text += fmt::format(" :{}", each.name);
  showText(out, "help", text + "\n  :estimate net(image: [8, 3, 224, 224]) --on pytorch --device h100\n");
  return true;
}

bool Repl::list(const std::string& /*rest*/) {
  showProgram(out, dialogue.program().text());
  return true;
}

bool Repl::listTensors(const std::string& /*rest*/) {
  for (const auto& [name, tensor] : dialogue.tensors.all()) showTensor(out, name, tensor);
  return true;
}

void Repl::showNamed(const std::string& name) {
  if (!out.display.quiet) showTensor(out, name, *dialogue.tensors.find(name));
}

bool Repl::undo(const std::string& /*rest*/) { return dialogue.undo() || fail("nothing to undo"); }
bool Repl::redo(const std::string& /*rest*/) { return dialogue.redo() || fail("nothing to redo"); }

bool Repl::forget(const std::string& rest) {
  const std::optional<Forgotten> forgotten = dialogue.forget(rest);
  if (!forgotten) return fail(fmt::format("nothing that was made here is called `{}`", rest));
  if (forgotten->users.empty() || (out.display.quiet && !out.display.json)) return true;
  const bool several = forgotten->users.size() > 1;
  const std::string state =
      forgotten->instead.empty()
          ? fmt::format("{} no longer, until `{}` is declared again or :undo", several ? "hold" : "holds", rest)
          : fmt::format("{} the one of {} from now on", several ? "take" : "takes", forgotten->instead);
  showText(out, "forgotten",
           fmt::format("{} {} `{}`, and {}\n", fmt::join(forgotten->users, ", "), several ? "use" : "uses", rest, state));
  return true;
}

bool Repl::isDesign(const std::string& name) {
  const driver::Workspace& workspace = program();
  const sema::Resolved meaning = workspace.program->resolve(workspace.program->main(), name);
  return ast::dynCast<ast::Design>(meaning.decl) != nullptr;
}

bool Repl::takesBackend(const std::string& command) {
  constexpr std::array kWith = {"estimate", "fit", "plan", "step", "emit", "measure", "run", "train", "perturb"};
  return std::ranges::find(kWith, command) != kWith.end();
}

namespace {

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Lines of a test that expect these, one behind the other.
std::string expectations(const std::vector<std::string>& lines) {
  std::string text;
  bool first = true;
  for (const std::string& line : lines) {
    text += line.empty() ? "// CHECK-EMPTY:\n" : fmt::format("// CHECK{}{{LITERAL}}: {}\n", first ? "" : "-NEXT", line);
    first = false;
  }
  return text;
}

/// Of what `repl --echo` printed: for each entry the lines of its answer.
std::vector<std::vector<std::string>> answersOf(const std::string& output) {
  std::vector<std::vector<std::string>> answers;
  for (const std::string& line : linesOf(output)) {
    if (line.starts_with(kPrompt))
      answers.emplace_back();
    else if (!answers.empty() && !line.starts_with(kMorePrompt))
      answers.back().push_back(line);
  }
  return answers;
}

}  // namespace

/// The session is played again: what it prints is what the test expects.
tl::expected<std::string, std::string> Repl::asTest() {
  std::string script;
  for (const std::string& entry : typed) script += entry + "\n\n";
  const auto ended = outside.process.runSelf({{"repl", "--echo", "--color", "never"}, script, true});
  if (!ended) return tl::unexpected(ended.error());
  const std::vector<std::vector<std::string>> answers = answersOf(ended->output);
  if (ended->status != kOk || answers.size() != typed.size())
    return tl::unexpected(std::string("the session does not answer again as it did, so no test can hold it"));
  std::string text = "// RUN: tbemc repl < %s | FileCheck %s\n\n";
  for (std::size_t i = 0; i < typed.size(); ++i) text += fmt::format("{}\n\n{}\n", typed[i], expectations(answers[i]));
  return text;
}

bool Repl::save(const std::string& rest) {
  const auto words = splitWords(rest);
  if (!words) return fail(words.error());
  const bool test = words->size() == 1 && words->front().ends_with(".test");
  if (words->size() != 1 || (!test && !words->front().ends_with(".tbem"))) return fail(":save FILE.tbem, or :save FILE.test");
  const auto text = test ? asTest() : tl::expected<std::string, std::string>(dialogue.standalone());
  if (!text) return fail(text.error());
  if (const auto written = files::writeFile(words->front(), *text); !written) return fail(written.error().message);
  if (!out.display.quiet) showText(out, "file", words->front() + (out.display.json ? "" : "\n"));
  return true;
}

bool Repl::load(const std::string& rest) {
  const auto words = splitWords(rest);
  if (!words) return fail(words.error());
  if (words->size() != 1) return fail(":load FILE");
  const auto text = files::readFile(words->front(), kMostText);
  if (!text) return fail(text.error().message);
  const std::optional<Declared> declared = dialogue.load(*text);
  const bool right = say();
  if (declared) showDeclared(out, *declared);
  return declared && right;
}

bool Repl::shape(const std::string& rest) {
  const std::optional<RuntimeCall> call = callOf(rest);
  const std::optional<CallCost> cost = call ? costOf(*call) : std::nullopt;
  if (cost) showShapes(out, *cost);
  return cost.has_value();
}

bool Repl::flops(const std::string& rest) {
  const std::optional<RuntimeCall> call = callOf(rest);
  const std::optional<CallCost> cost = call ? costOf(*call) : std::nullopt;
  if (cost) showFlops(out, *cost);
  return cost.has_value();
}

bool Repl::mem(const std::string& rest) { return handCall(rest, {"estimate", "-"}); }
bool Repl::plan(const std::string& rest) { return handCall(rest, {"plan", "-"}); }
bool Repl::llvm(const std::string& rest) { return handCall(rest, {"emit", "-", "--as", "llvm"}); }
bool Repl::assembly(const std::string& rest) { return handCall(rest, {"emit", "-", "--as", "asm"}); }
bool Repl::time(const std::string& rest) { return handCall(rest, {"step", "-", "--repeat", "20"}); }

bool Repl::why(const std::string& rest) {
  const std::string code = rest.empty() ? lastCode : rest;
  if (code.empty()) return fail("there was no error yet");
  return hand({"explain", code}, "");
}

bool Repl::on(const std::string& rest) {
  constexpr std::array kBackends = {"cpu", "ref", "cuda", "fake"};
  if (!rest.empty() && std::ranges::find(kBackends, rest) == kBackends.end())
    return fail(fmt::format("no backend is called `{}`: {}", rest, fmt::join(kBackends, ", ")));
  backend = rest;
  return true;
}

bool Repl::quit(const std::string& /*rest*/) {
  ended = true;
  return true;
}

}  // namespace tbem::repl
