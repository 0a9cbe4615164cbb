// Options that exclude or need one another in ways that depend on their values and on the files.
#include "compiler/driver/CliOptions.h"
#include "compiler/experiment/designs/Designs.h"
#include "compiler/pytorch/rows/EagerSteps.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/files/Read.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

class Checks {
public:
  Checks(const CLI::App& app, const Options& options) : app(app), o(options) {}

  /// The first thing that is wrong, or "".
  std::string run() {
    for (const auto check :
         {&Checks::program, &Checks::row, &Checks::pytorch, &Checks::workspace, &Checks::plan, &Checks::others}) {
      if (std::string why = (this->*check)(); !why.empty()) return why;
    }
    return {};
  }

private:
  bool given(const char* name) const {
    const CLI::Option* option = app.get_option_no_throw(name);
    return option != nullptr && option->count() > 0;
  }
  /// The first of these options that was given, or nullptr.
  const char* firstOf(std::initializer_list<const char*> names) const {
    const auto* found = std::find_if(names.begin(), names.end(), [&](const char* name) { return given(name); });
    return found == names.end() ? nullptr : *found;
  }
  bool is(std::string_view command) const { return o.command == command; }

  /// What is read is no program.
  bool readsArrays() const { return is("weights") && !o.program.text && !o.program.files.empty() && data::arrayFormatOf(o.program.files.front()); }
  bool readsBuffers() const { return is("plan") && !o.program.text && !o.program.files.empty() && !o.program.files.front().ends_with(".tbem"); }

  std::string program() const {
    if (!readsArrays() && !readsBuffers()) return {};
    const char* option = firstOf(
        {"--input", "--task", "--emit", "--print-after", "--time", "--design", "--at", "--on", "--threads", "--tune", "--dtype"});
    if (option == nullptr) return {};
    return fmt::format("{}: `{}` is no program (.tbem) but {}", option, o.program.files.front(),
                       readsArrays() ? "a file of arrays" : "a file of buffers");
  }

  /// Commands that look at no device say so.
  std::string row() const {
    const bool planned = !is("check") && !is("design") && !is("weights") && !is("what-if") && !(is("emit") && o.as != "llvm");
    if (planned || !o.stages.emitStage.empty()) return {};
    const char* option = firstOf({"--threads", "--tune"});
    // The graph that emit shows is another one by PyTorch's rules of autocast.
    if (option == nullptr && !is("what-if") && !(is("emit") && isPyTorch(o.target.backend))) option = firstOf({"--on"});
    if (option == nullptr && is("design")) option = firstOf({"--dtype"});
    if (option == nullptr && is("emit")) option = firstOf({"--keep-gradients"});
    if (option == nullptr) return {};
    return fmt::format("{} is of a step that is planned for a device, which `tbemc {}` does not{}", option, o.command,
                       is("emit") ? fmt::format(" --as {}", o.as) : ": --emit lower and --emit code do");
  }

  std::string pytorch() const {
    if (is("replay")) return {};  // its options of the same names are of the recording
    const bool cuda = o.target.backend == "pytorch" || is("what-if") || (is("report") && !isPyTorch(o.target.backend) && given("--device"));
    if (!cuda && o.target.backend != "pytorch-cpu") {
      if (const char* option = firstOf({"--update", "--alloc-conf", "--torch"}))
        return fmt::format("{} is of --on pytorch", option);
    }
    if (!cuda && o.target.backend == "pytorch-cpu") {
      if (const char* option = firstOf({"--alloc-conf", "--torch", "--device", "--cudnn", "--layout", "--tf32"}))
        return fmt::format("{} is of --on pytorch, a GPU, not of pytorch-cpu", option);
    }
    if (isPyTorch(o.target.backend)) {
      if (const char* option = firstOf({"--threads", "--tune", "--convention", "--roofline"}); option != nullptr && !is("report"))
        return fmt::format("{} is of our own steps, not of --on {}", option, o.target.backend);
    }
    return {};
  }

  std::string workspace() const {
    const bool explained = o.explain == "workspace";
    if (!explained) {
      if (const char* option = firstOf({"--workspace-limit", "--nondeterministic"}))
        return fmt::format("{} is of --explain workspace", option);
    }
    if (explained || o.target.backend == "pytorch" || is("what-if") || (is("report") && given("--device"))) return {};
    if (const char* option = firstOf({"--cudnn", "--layout", "--tf32"}))
      return fmt::format("{} is of cuDNN's convolutions: --on pytorch{}", option,
                         is("estimate") ? ", or --explain workspace"
                         : is("report") ? ", or --device"
                                        : "");
    return {};
  }

  std::string plan() const {
    if (!is("plan") || readsBuffers() || o.planDiff) return {};
    if (const char* option = firstOf({"--align", "--effort", "--verify"}))
      return fmt::format("{} is of buffers in a file (CSV): the plan of a program is the one that runs", option);
    return {};
  }

  std::string others() const {
    if (std::string twice = levelTwice(); !twice.empty()) return twice;
    const char* writes = is("fmt") && o.write ? "-w" : is("check") && o.fix ? "--fix" : nullptr;
    const auto inherited = std::ranges::find_if(o.program.files, files::isInherited);
    if (writes == nullptr || inherited == o.program.files.end()) return {};
    return fmt::format("{} writes to files, and {} is what the command was started with (standard input or a shell's pipe)",
                       writes, *inherited);
  }

  /// A form that is none is told by who reads it.
  std::string levelTwice() const {
    const std::string& at = is("predict") ? o.point : o.rows.at;
    std::set<std::string> seen;
    for (const auto& [name, level] : parseAt(at).value_or(std::vector<std::pair<std::string, std::string>>{})) {
      if (!seen.insert(name).second) return fmt::format("--at {}: `{}` has two levels", at, name);
    }
    return {};
  }

  const CLI::App& app;
  const Options& o;
};

}  // namespace

std::string unheeded(const CLI::App& app, const Options& options) { return Checks(app, options).run(); }

}  // namespace tbem::driver
