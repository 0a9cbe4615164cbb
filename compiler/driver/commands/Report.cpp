// tbemc report: what other commands say of a program, on one offline HTML page.
//
// One run of the stages serves all sections but two, which share its program: screening may take every combination of levels,
// and eager PyTorch has graphs of its own. Views write to the page in place of standard output (PageOut.h): a number stands on
// the page as commands print it.
#include "compiler/count/GateFlops.h"
#include "compiler/diagnostics/Aside.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/driver/commands/Measure.h"
#include "compiler/driver/commands/Screen.h"
#include "compiler/experiment/Campaigns.h"
#include "compiler/experiment/OutFolder.h"
#include "compiler/pytorch/rows/EagerSteps.h"
#include "compiler/run/Measured.h"
#include "compiler/show/PageOut.h"
#include "compiler/show/measured/TrainReport.h"
#include "compiler/show/memory/PyTorchEstimates.h"
#include "compiler/show/perturb/PerturbReport.h"
#include "compiler/show/proofs/ProofReport.h"
#include "compiler/show/rows/DesignReport.h"
#include "compiler/show/rows/EstimateReport.h"
#include "compiler/support/Version.h"
#include "runtime/report/Html.h"
#include "runtime/report/Svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

namespace tbem::driver {

namespace {

struct ReportOptions : CommandOptions {
  EagerRequest eager;
  EngineRequest engines;
  EstimateView view;
  std::string out;  ///< the page's folder
};

void declare(OptionList& list, ReportOptions& o) {
  addProgram(list, o);
  addRows(list, o, {.on = fmt::format("{}; pytorch or pytorch-cpu: a section on eager PyTorch, on a GPU or here", kOwnBackends)});
  addStore(list, o.campaign.store);
  addPython(list, o.campaign.python);
  list.add("--out", o.out, "folder for the page (default: NAME.out beside the program)").type("DIR");
  addSeed(list, o, "the seed with which rows were measured (default: 0)");
  addPyTorch(list, o.eager, o.engines,
             {.eager = "with --device or --on pytorch: ",
              .cudnn = "with --device or --on pytorch: ",
              .device = "a section on eager PyTorch on this GPU: a100, h200, rtx4090, .., or a record of the program"});
  addCounting(list, o.view.gates, o.view.convention);
  addRoofline(list, o.view.roofline);
  addDisplay(list, o, {.json = false});
}

std::string unheeded(const Given& given, const ReportOptions& options) {
  const bool device = given.has("--device");
  return unheededRows(given, options,
                      {.card = device && !isPyTorch(options.target.backend),
                       .asksCudnn = device,
                       .everyBackend = true,
                       .cudnnToo = ", or --device"});
}

/// A later failure does not hide an earlier one; a verdict against the program is weaker than a failure.
int worse(int a, int b) { return a == kOk || (a == kVerdictAgainst && b != kOk) ? b : a; }

/// Work of the page's proofs.
constexpr std::uint64_t kEffort = 20'000'000;

/// Whether some design of a network has rows to compare.
bool canScreen(const State& state) {
  return std::ranges::any_of(state.designs.runs, [](const auto& run) {
    const auto varies = [](const graph::FactorSpec& factor) { return factor.values().size() > 1; };
    return run->experiment != nullptr && run->chosen.size() > 1 && std::ranges::any_of(run->spec.factors, varies);
  });
}

/// The sections of one page.
class Sections {
public:
  /// `state` has passed `design`. `request`: of the program's own steps, as the state's.
  Sections(show::PageOut& out, report::Page& page, const ReportOptions& options, PipelineState& state)
      : out(out), page(page), options(options), state(state) {}

  /// The worst exit status of all.
  int all() {
    const bool networks = std::ranges::any_of(state.designs.runs, [](const auto& run) { return run->experiment != nullptr; });
    const bool builds = networks || !state.trainings.empty();
    page.section("Designs");
    printDesigns(out, state);
    status = finish(out, state, kOk);  // with what the stages have told so far
    section("Specifications", [this] { return specifications(); });
    if (builds) section("Estimates", [this] { return estimates(); });
    const std::string& device = options.engines.device;
    if (builds && (isPyTorch(options.target.backend) || !device.empty()))
      section(device.empty() ? "Eager PyTorch" : "Eager PyTorch on " + device, [this] { return pytorch(); });
    if (canScreen(state)) section("Screening", [this] { return screening(); });
    const bool stored = StoreFile(*state.workspace, options.campaign.store).exists();
    if (networks && stored) section("Measurements", [this] { return measurements(); });
    if (!state.trainings.empty())
      section("Trainings", [this] {
        for (const auto& training : state.trainings) printHistory(out, state, *training, options.view.folder);
        return kOk;
      });
    if (!state.perturbations.empty() && stored && state.request.target.backend != "none")
      section("Perturbations", [this] { return perturbations(); });
    return status;
  }

private:
  /// What a section finds wrong stands in it, and does not end the others.
  template <class Show>
  void section(const std::string& title, Show&& show) {
    page.section(title);
    reportsOf(state.sink(), [&] {
      const int shown = show();
      status = worse(status, finish(out, state, shown));
    });
  }

  int specifications() {
    if (const auto done = runStages(state, "spec"); !done) return out.fail(done.error());
    printProofs(out, *state.workspace, state.proved, false);
    return state.proved.against(false) ? kVerdictAgainst : kOk;
  }

  int estimates() {
    EstimateView view = options.view;
    const bool none = state.request.target.backend == "none", many = state.chosenRows() > kMostLowered;
    if (many) view.folder.clear();
    if (none) state.plainAbove = 0;
    if (many && view.roofline.empty() && state.request.target.backend.empty()) state.plainAbove = kMostLowered;
    if (const Progressed done = runPipeline(out, state, options.stages, none ? "graph" : "lower"); !done.proceed)
      return done.status;
    if (!none && state.plain()) notePlainRows(out, state);
    auto budgets = checkBudgets(state, {.plans = true, .pytorch = false, .eager = {}, .engines = {}});
    if (!budgets) return out.fail(budgets.error());
    view.budgets = *std::move(budgets);
    return printEstimates(out, state, view);
  }

  int pytorch() {
    Request request = options;
    if (!isPyTorch(request.target.backend)) request.target.backend = "pytorch";
    PipelineState eager(request, out);
    const LentProgram lent(state, eager);
    if (const auto done = runStages(eager, "graph"); !done) return out.fail(done.error());
    return printPyTorchEstimates(out, eager, {options.eager, options.engines, options.view.folder, {}}, {});
  }

  int screening() {
    ScreenOptions screen;
    static_cast<Request&>(screen) = state.request;
    screen.roofline = options.view.roofline;
    screen.view.folder = options.view.folder;
    screen.rows.grid = screen.grid;
    PipelineState every(screen, out);
    const LentProgram lent(state, every);
    return screenProgram(out, every, screen);
  }

  int measurements() {
    MeasureOptions measured;
    static_cast<Request&>(measured) = state.request;
    measured.out = options.view.folder;
    if (!state.plain()) return showStored(out, state, measured);
    PipelineState rows(measured, out);
    const LentProgram lent(state, rows);
    if (const auto done = runStages(rows, "graph"); !done) return out.fail(done.error());
    return showStored(out, rows, measured);
  }

  int perturbations() {
    auto done = runStages(state, "lower");
    if (done) done = readPerturbed(state);
    if (!done) return out.fail(done.error());
    for (const Perturbed& perturbed : state.perturbed) printPerturbedPage(out, perturbed, options.view.folder);
    return kOk;
  }

  show::PageOut& out;
  report::Page& page;
  const ReportOptions& options;
  PipelineState& state;
  int status = kOk;
};

/// Writes the page of a state that has passed `design`. The exit status.
int writePage(show::Out& out, PipelineState& state, const ReportOptions& options) {
  const std::string& path = state.workspace->path;
  const bool isFile = !path.empty() && path != "-";
  const std::string name = isFile ? std::filesystem::path(path).stem().string() : "program";
  report::Page page(name, fmt::format("{}tbemc {}", isFile ? path + ", " : "", kVersion));
  show::PageOut onPage(out.display, page);
  const int status = Sections(onPage, page, options, state).all();
  const std::string file = (std::filesystem::path(options.view.folder) / (name + ".html")).string();
  if (const auto written = report::writeAtomically(file, page.html()); !written) {
    out.failure(written.error());
    return kEnvironment;
  }
  out.note(fmt::format("report in {}", file));
  return status == kVerdictAgainst ? kOk : status;  // a verdict is what the page says, and the page is whole
}

int run(show::Out& out, const ReportOptions& given) {
  if (given.display.json) {
    out.failure("`tbemc report` writes HTML: --json is of the commands that it is made of");
    return kUsage;
  }
  if (const auto gates = estimate::parseProbabilities(given.view.gates); !gates) {
    out.failure(fmt::format("--gates: {}", gates.error()));
    return kUsage;
  }
  Request own = given;
  own.training.folder = given.out;
  if (isPyTorch(own.target.backend)) own.target.backend.clear();
  PipelineState state(own, out);
  state.proofs = spec::Work(kEffort);
  if (const Progressed done = runPipeline(out, state, given.stages, "design"); !done.proceed) return done.status;
  if (state.sink().hasErrors()) return finish(out, state, kOk);
  ReportOptions options = given;
  options.view.folder = outFolder(*state.workspace, given.out);
  if (options.view.folder.empty()) {
    out.failure("the program is no file beside which the page could lie: give a folder, --out DIR");
    return kUsage;
  }
  return writePage(out, state, options);
}

}  // namespace

const Command kReport = {"report",
                         "one offline HTML page: designs, specifications, estimates, memory over the step, what the store holds",
                         Takes::Program, false, invocation<ReportOptions, declare, unheeded, run>};

}  // namespace tbem::driver
