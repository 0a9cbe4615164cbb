// tbemc emit --as json|dot|llvm|asm|pytorch|keras: other forms of the same network, one row.
#include "compiler/emit/Emit.h"
#include "compiler/diagnostics/tables/Graph.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/foreign/Frameworks.h"
#include "compiler/graph/ir/Walk.h"
#include "compiler/pytorch/rows/EagerSteps.h"
#include "compiler/run/Lowered.h"
#include "compiler/run/OwnLibraries.h"
#include "compiler/show/Out.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

namespace tbem::driver {

namespace {

struct EmitOptions : CommandOptions {
  std::string as;     ///< "json", "dot", "llvm", "asm", or a framework's word
  std::string gates;  ///< "masks" or "compact"; empty: the first

  /// The code of the step, and not its graph.
  bool isCode() const { return as == "llvm" || as == "asm"; }
};

void declare(OptionList& list, EmitOptions& o) {
  addProgram(list, o);
  addRows(list, o,
          {.on = "backend of --as llvm and asm: cpu (default), cuda, ref or fake; of json and dot: pytorch or pytorch-cpu, whose "
                 "autocast's rules "
                 "the graph has then",
           .planned = "with --as llvm or asm: "});
  addKeepGradients(list, o, "with --as llvm or asm: ");
  list.add("--as", o.as,
           "json, dot, llvm, asm: the loops of llvm for this processor; pytorch, keras: a Python program of the network")
      .oneOf({"json", "dot", "llvm", "asm", "pytorch", "keras"})
      .excludes("--emit");
  list.add("--gates", o.gates,
           "with --as pytorch: how gates are written: masks (default), all is computed for all samples; compact, for the samples "
           "that come there")
      .oneOf({"masks", "compact"});
  addDisplay(list, o);
}

std::string unheeded(const Given& given, const EmitOptions& options) {
  if (options.as != "pytorch" && given.firstOf({"--gates"}) != nullptr) return "--gates is of --as pytorch";
  if (options.isCode()) return unheededRows(given, options, {});
  const std::string notPlanned = fmt::format("`tbemc emit` does not --as {}", options.as);
  // The graph is another one by PyTorch's rules of autocast.
  if (isPyTorch(options.target.backend))
    return unheededRows(given, options, {.notPlanned = notPlanned, .ofPlan = {"--keep-gradients"}});
  return unheededRows(given, options, {.notPlanned = notPlanned, .ofPlan = {"--on", "--keep-gradients"}});
}

/// What stands behind a gate must work sample by sample, which lowering looks at: by `ref`, which has all types. False: it does
/// not, which was reported.
bool worksBySample(State& state, const RowState& row) {
  const Opened ref = openBackend(state.request, "ref");
  graph::Row lowered = *row.elaborated;  // activations that are computed again are not written
  const auto program = lowerRow(lowered, row.run->spec, *ref.backend,
                                lowerOptions(state.events, state.request.target, ref, nullptr, row.run->tuning));
  if (!program) program.error().report(state.sink());
  return program.has_value();
}

int run(show::Out& out, const EmitOptions& options) {
  if (options.as.empty() && options.stages.emitStage.empty()) {
    out.failure(
        "say what to emit: --as json (the graph with its shapes), --as dot (for Graphviz), --as llvm (the step's "
        "code), --as asm (its loops for this processor), --as pytorch or keras (a program of that framework)");
    return kUsage;
  }
  EmitOptions request = options;
  const foreign::Framework* const framework = foreign::frameworkOf(options.as);
  request.target.recordCalls = framework != nullptr;
  PipelineState state(request, out);
  state.keepIr = options.isCode();
  state.firstRowOnly = true;
  if (const Progressed done = runPipeline(out, state, options.stages, options.isCode() ? "code" : "graph"); !done.proceed)
    return done.status;
  const RowState* const first = firstRow(
      out, state, "there is no network to emit: the program has no design of one (or give --input, and --task, for its network)");
  if (first == nullptr) return finish(out, state, kUsage);
  const RowState& row = *first;
  noteUnknownWorkspaces(out, state.unknownWorkspaces());
  const graph::Graph& graph = row.elaborated->graph();
  if (options.as == "json") {
    const std::string text = emit::emitJson(graph, row.elaborated->values, state.workspace->session.sources);
    out.jsonLine(options.display.json ? Json::parse(text).dump() : text.substr(0, text.find_last_not_of('\n') + 1));
    return finish(out, state, kOk);
  }
  std::string text;
  if (framework != nullptr) {
    const std::string name = framework->title;
    const emit::GateForm gates = options.gates == "compact" ? emit::GateForm::Compact : emit::GateForm::Masks;
    if (options.as == "pytorch" && graph::firstGate(graph) != nullptr && !worksBySample(state, row))
      return finish(out, state, kProgramErrors);
    tl::expected<emit::Emitted, emit::Refusal> program =
        framework->emit(*row.elaborated, emit::stepClauses(row.run->spec, gates));
    if (!program) {
      const emit::Refusal& refusal = program.error();
      state.sink().report(diag::not_in_framework, refusal.at, refusal.what, name).note(refusal.why);
      return finish(out, state, kProgramErrors);
    }
    for (const emit::Refusal& left : program->leftOut)
      state.sink().report(diag::left_out_of_framework, left.at, left.what, name).note(left.why);
    text = std::move(program->text);
  } else {
    text = options.as == "llvm"  ? row.compiled->ir
           : options.as == "asm" ? row.compiled->assembly
                                 : emit::emitDot(graph, row.elaborated->values);
  }
  if (options.display.json) {
    out.json("emit", {{"as", options.as}, {"network", graph.network}, {"text", text}});
  } else {
    out.data(text);
  }
  return finish(out, state, kOk);
}

}  // namespace

const Command kEmit = {"emit", "the network as json, dot, llvm, asm or a program of PyTorch or Keras", Takes::Program, false,
                       invocation<EmitOptions, declare, unheeded, run>};

}  // namespace tbem::driver
