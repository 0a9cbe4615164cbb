#include "compiler/show/Dump.h"

#include "compiler/count/Static.h"
#include "compiler/run/State.h"
#include "compiler/show/TextOut.h"
#include "compiler/show/measured/MeasureReport.h"
#include "compiler/show/measured/PredictionReport.h"
#include "compiler/show/measured/RegressionReport.h"
#include "compiler/show/measured/TrainReport.h"
#include "compiler/show/memory/WhatIfReport.h"
#include "compiler/show/perturb/PerturbReport.h"
#include "compiler/show/proofs/ProofReport.h"
#include "compiler/show/rows/FitReport.h"
#include "compiler/show/rows/ScreenReport.h"
#include "compiler/syntax/format/Format.h"
#include "runtime/core/Layout.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <set>

namespace tbem::driver {

std::string dumpSyntax(const State& state) {
  // The tree in canonical layout is its plainest text.
  DiagnosticSink ignored;
  const Source& source = *state.workspace->file().source;
  return syntax::format(source, ignored).value_or(source.text);
}

std::string dumpNames(const State& state) {
  std::string text;
  for (const auto& module : state.workspace->program->modules()) {
    std::set<std::string> names;
    for (const auto& [name, decl] : module->own) names.insert(name);
    text += fmt::format("{}: {}\n", module->name.empty() ? "program" : module->name, fmt::join(names, " "));
  }
  return text;
}

std::string dumpDesigns(const State& state) {
  std::string text;
  for (const auto& run : state.designs.runs) {
    text += fmt::format("{}: {}\n", run->spec.name, run->array.name);
    for (const std::size_t row : run->chosen) text += fmt::format("  {}: {}\n", row + 1, run->levelsText(row));
  }
  return text;
}

std::string dumpGraphs(const State& state) {
  std::string text;
  std::set<const graph::Structure*> seen;
  for (const RowState& row : state.rows) {
    if (!seen.insert(row.elaborated->structure).second) continue;
    text +=
        fmt::format("# {} ({})\n{}", row.run->spec.name, row.run->levelsText(row.row), graph::dump(*row.elaborated->structure));
  }
  return text;
}

namespace {

std::string bufferText(const estimate::Program& program, estimate::BufferId id) {
  if (id == estimate::kNoBuffer) return "-";
  const estimate::Buffer& buffer = program[id];
  const estimate::Allocation& place = program.allocations[buffer.allocation];
  std::string dims;
  for (int k = 0; k < buffer.operand.rank; ++k) dims += fmt::format("{}{}", k == 0 ? "" : "x", buffer.operand.dims[k]);
  std::string blocks;
  for (int b = 0; b < buffer.operand.layout.blocks; ++b) {
    blocks += fmt::format("/{}:{}", buffer.operand.layout.block_dim[b], buffer.operand.layout.block_size[b]);
  }
  return fmt::format("{}:{}[{}{}]@{}", buffer.name, runtime::dtypeName(buffer.operand.dtype), dims, blocks, place.offset);
}

/// " (where unit[3].skip is false, 4 samples at a time)"; "" of a step for all samples
std::string branchText(const estimate::Program& program, std::uint32_t step) {
  if (program.steps[step].branch == 0) return {};
  const estimate::Branch& branch = program.branches[program.steps[step].branch];
  std::string text = fmt::format(" (where {} is {}", branch.path, branch.condition ? "true" : "false");
  for (const estimate::Chunk& chunk : program.chunks) {
    if (step < chunk.first || chunk.last < step) continue;
    text += fmt::format(", {} samples at a time", chunk.samples);
    if (chunk.threads > 1) text += " a thread";
  }
  return text + ")";
}

std::string stepText(const estimate::Program& program, const estimate::Step& step) {
  std::string text;
  if (step.kind == estimate::Step::Kind::Call) {
    const estimate::NativeCall& call = program.calls[step.index];
    for (const estimate::BufferId id : call.operands) text += " " + bufferText(program, id);
    if (call.workspace != estimate::kNoBuffer) text += " workspace " + bufferText(program, call.workspace);
    if (!call.implementation.empty()) text += fmt::format(" ({})", call.implementation);
    return text;
  }
  const estimate::FusedLoop& loop = program.loops[step.index];
  text += fmt::format(" {} nodes:", loop.nodes.size());
  for (const auto& input : loop.inputs) text += " " + bufferText(program, input.buffer);
  text += " ->";
  for (const auto& output : loop.outputs) text += " " + bufferText(program, output.buffer);
  return text;
}

}  // namespace

std::string dumpPrograms(const State& state) {
  std::string text;
  for (const RowState& row : state.rows) {
    text += fmt::format("# {} ({}) on {}\n", row.run->spec.name, row.run->levelsText(row.row), state.backendName);
    const estimate::Program& program = *row.program;
    text += fmt::format("arena {} live {} peak at step {}\n", program.arena, program.live, program.peakStep);
    if (program.micro.parts > 1)
      text += fmt::format("steps before {} run for each of {} micro-batches\n", program.micro.steps, program.micro.parts);
    for (std::uint32_t i = 0; i < program.steps.size(); ++i) {
      const estimate::Step& step = program.steps[i];
      text += fmt::format("{:4} {}{}{}\n", i, step.name, branchText(program, i), stepText(program, step));
    }
  }
  return text;
}

std::string dumpCode(const State& state) {
  std::string text;
  for (const RowState& row : state.rows) {
    if (row.compiled)
      text += fmt::format("; {} ({}) on {}\n{}", row.run->spec.name, row.run->levelsText(row.row), state.backendName,
                          row.compiled->ir);
  }
  return text;
}

std::string dumpCases(const State& state) {
  std::string text;
  for (const CaseRow& row : state.measured.rows) {
    const DesignRun& run = *row.plan->run;
    text += fmt::format("{} row {} ({}) on {}, tune {}: ", run.spec.name, row.row + 1, run.levelsText(row.row), row.backend,
                        driver::text(row.plan->tuning));
    text += row.skip.empty() ? fmt::format("arena {}, {}", report::bytes(row.arena), report::flops(row.flops))
                             : "skipped: " + row.skip;
    text += fmt::format(", {}\n", row.identity);
  }
  return text;
}

std::string dumpStored(const State& state) {
  show::TextOut out;
  printMeasurements(out, *state.measured.stored, state.measured.plans, state.measured.rows);
  return out.all();
}

std::string dumpRegressions(const State& state) {
  show::TextOut out;
  printFitted(out, state.measured.fits, false);
  return out.all();
}

std::string dumpPredictions(const State& state) {
  show::TextOut out;
  printPredictions(out, state.measured.predicted);
  return out.all();
}

std::string dumpTrained(const State& state) {
  show::TextOut out;
  TrainReport report(out, state.backendName);
  for (const Trained& trained : state.trained) {
    out.say("{}\n", trainingTitle(*trained.training));
    if (trained.outcome) {
      report.trainingEnds(*trained.training, &*trained.outcome, "");
    } else {
      out.fail(trained.outcome.error());
    }
  }
  return out.all();
}

std::string dumpPerturbed(const State& state) {
  show::TextOut out;
  for (const Perturbed& perturbed : state.perturbed) printPerturbed(out, perturbed);
  return out.all();
}

std::string dumpProofs(const Workspace& workspace, const Proofs& proofs) {
  show::TextOut out;
  printProofs(out, workspace, proofs, false);
  return out.all();
}

std::string dumpScreening(const State& state, const Screening& screening) {
  show::TextOut out;
  printScreening(out, state, screening, {});
  return out.all();
}

std::string dumpFits(const FitAnswers& answers) {
  show::TextOut out;
  printFits(out, answers);
  return out.all();
}

std::string dumpWhatIf(const WhatIfRequest& request, const WhatIfAnswers& answers) {
  show::TextOut out;
  printWhatIf(out, request, answers);
  return out.all();
}

}  // namespace tbem::driver
