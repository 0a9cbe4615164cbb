// Calls that tensors flow through, and commands of the command line: both are run by this program once more, so that whatever
// happens to them the dialogue goes on.
#include "compiler/repl/console/Repl.h"
#include "compiler/repl/console/Words.h"
#include "compiler/support/PrivateFolder.h"
#include "runtime/data/ArrayFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tbem::repl {

std::optional<RuntimeCall> Repl::callOf(const std::string& expression) {
  if (expression.empty()) {
    fail("of what? give a call with the shapes of its inputs: relu([8, 16]), net(image: [8, 3, 224, 224])");
    return std::nullopt;
  }
  if (readEntry(expression).kind != EntryKind::Expression) {
    dialogue.sayMistakes(expression);
    if (say()) fail(fmt::format("`{}` is no expression", expression));
    return std::nullopt;
  }
  std::optional<RuntimeCall> call = dialogue.runtimeCall(expression);
  if (call) return call;
  // A mistake in it says more than that it is no call.
  dialogue.evaluate(expression);
  if (say())
    fail(fmt::format("no tensor flows in `{}`: give the shapes of its inputs, as in net(image: [8, 3, 224, 224])", expression));
  return std::nullopt;
}

std::optional<CallCost> Repl::costOf(const RuntimeCall& call) {
  const auto cost = dialogue.cost(call, backend);
  const bool right = say();
  if (!cost) {
    out.fail(cost.error());
    return std::nullopt;
  }
  return right ? *cost : std::nullopt;
}

std::optional<std::vector<data::Array>> Repl::runCall(const RuntimeCall& call) {
  // Mistakes of the call are told here, with the names that were typed.
  if (!costOf(call)) return std::nullopt;
  const auto folder = TemporaryFolder::make();
  if (!folder) {
    fail(folder.error());
    return std::nullopt;
  }
  const std::string results = folder->path() + "/results.npz", given = folder->path() + "/inputs.npz";
  std::vector<std::string> arguments = {"step", "-", "--quiet", "--design", call.design, "--save", results};
  std::vector<data::Array> inputs;
  for (const RuntimeCall::Input& input : call.inputs) {
    if (input.tensor.empty()) continue;
    inputs.push_back(dialogue.tensors.find(input.tensor)->array);
    inputs.back().name = "input/" + input.name;
  }
  if (!inputs.empty()) {
    if (const auto written = data::writeArrayFile(given, std::move(inputs), {}); !written) {
      fail(written.error());
      return std::nullopt;
    }
    arguments.insert(arguments.end(), {"--load", given});
  }
  if (!backend.empty()) arguments.insert(arguments.end(), {"--on", backend});
  const auto ended = outside.process.runSelf({std::move(arguments), dialogue.standalone(call.text), true});
  if (!endedWell(ended)) return std::nullopt;
  const auto file = data::ArrayFile::open(results);
  if (!file) {
    fail(file.error());
    return std::nullopt;
  }
  std::vector<data::Array> outputs;
  for (const data::ArrayView& view : file->arrays) {
    if (view.name != "output" && !view.name.starts_with("output_")) continue;
    outputs.push_back({view.name, view.dtype, view.shape, {view.bytes.begin(), view.bytes.end()}});
  }
  return outputs;
}

bool Repl::nameResults(const std::string& name, const RuntimeCall& call) {
  std::optional<std::vector<data::Array>> results = runCall(call);
  if (!results) return false;
  std::size_t number = 0;
  for (data::Array& result : *results) {
    const std::string own = ++number == 1 ? name : fmt::format("{}_{}", name, number);
    if (const auto taken = dialogue.tensors.put(own, std::move(result)); !taken) return fail(taken.error());
    showNamed(own);
  }
  return true;
}

bool Repl::endedWell(const tl::expected<Ended, std::string>& ended) {
  if (!ended) return fail(ended.error());
  if (ended->signal != 0) return fail(fmt::format("the command was ended by signal {}; the session goes on", ended->signal));
  return ended->status == kOk;
}

bool Repl::hand(std::vector<std::string> arguments, std::string program) {
  const bool has = std::ranges::find(arguments, "--on") != arguments.end();
  if (!backend.empty() && !has && takesBackend(arguments.front())) arguments.insert(arguments.end(), {"--on", backend});
  // On standard input `plan` expects buffers.
  if (arguments.front() == "plan") {
    const auto input = std::ranges::find(arguments, "-");
    if (input != arguments.end()) *input = "-e" + std::exchange(program, {});
  }
  if (out.display.json) arguments.emplace_back("--json");
  out.flush();
  return endedWell(outside.process.runSelf({std::move(arguments), std::move(program), false}));
}

bool Repl::handCall(const std::string& expression, std::vector<std::string> arguments) {
  std::optional<RuntimeCall> call = callOf(expression);
  if (!call || !costOf(*call)) return false;
  // The design that stands for the call says its task itself.
  if (const auto task = std::ranges::find(arguments, "--task"); task != arguments.end() && task + 1 != arguments.end()) {
    call->setTask(*(task + 1));
    arguments.erase(task, task + 2);
  }
  arguments.insert(arguments.end(), {"--design", call->design});
  return hand(std::move(arguments), dialogue.standalone(call->text));
}

bool Repl::outsideCommand(const OutsideCommand& command, const std::string& rest) {
  const auto words = splitWords(rest);
  if (!words) return fail(words.error());
  if (!command.takesProgram) {
    std::vector<std::string> arguments = {command.name};
    arguments.insert(arguments.end(), words->begin(), words->end());
    return hand(std::move(arguments), "");
  }
  // What stands before the first option says of what: a design, a call, a network's expression.
  const std::size_t options = std::min(beginOfOptions(rest), rest.size());
  std::string about = rest.substr(0, options);
  about.resize(about.find_last_not_of(' ') + 1);
  const auto given = splitWords(rest.substr(options));
  if (!given) return fail(given.error());
  std::vector<std::string> arguments = {command.name, "-"};
  arguments.insert(arguments.end(), given->begin(), given->end());
  if (about.empty()) return hand(std::move(arguments), dialogue.standalone());
  if (command.name == "spec") {
    arguments.insert(arguments.begin() + 2, about);
    return hand(std::move(arguments), dialogue.standalone());
  }
  if (isDesign(about)) {
    arguments.insert(arguments.end(), {"--design", about});
    return hand(std::move(arguments), dialogue.standalone());
  }
  if (readEntry(about).kind == EntryKind::Expression && dialogue.runtimeCall(about)) return handCall(about, std::move(arguments));
  // A mistake in it is told as it was typed.
  dialogue.evaluate(about);
  if (!say()) return false;
  arguments.insert(arguments.end(), {"-e", about});
  // The names of the expression are imported as those of a program that has it.
  return hand(std::move(arguments), dialogue.standalone(fmt::format("let entry_of_command_ = {}\n", about)));
}

}  // namespace tbem::repl
