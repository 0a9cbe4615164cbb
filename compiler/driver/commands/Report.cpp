// tbemc report: what other commands say of a program, on one offline HTML page.
//
// Each section is the command's own run, with the page in place of standard output (PageOut.h): a number stands on the page as
// the command prints it.
#include "compiler/driver/Commands.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/experiment/Campaigns.h"
#include "compiler/pytorch/rows/EagerSteps.h"
#include "compiler/show/OutFolder.h"
#include "compiler/show/PageOut.h"
#include "compiler/show/rows/TrainReport.h"
#include "compiler/support/Version.h"
#include "runtime/report/Svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace tbem::driver {

namespace {

/// Rows up to which each is lowered, as `estimate` does.
constexpr std::size_t kMostLowered = 1000;

/// What decides which sections there are.
struct Facts {
  std::string name;    ///< of the program: "table1", "program"
  std::string folder;  ///< of the page
  std::size_t rows = 0;
  bool networks = false;  ///< some design has one
  bool screens = false;   ///< some design of a network has a factor with two levels
  bool measured = false;  ///< the store is there
  bool trains = false;    ///< the program has trainings
};

Facts factsOf(State& state, const Options& options) {
  const Workspace& workspace = *state.workspace;
  Facts facts;
  const bool isFile = !workspace.path.empty() && workspace.path != "-";
  facts.name = isFile ? std::filesystem::path(workspace.path).stem().string() : "program";
  facts.folder = outFolder(workspace, options.out);
  facts.rows = state.chosenRows();
  for (const auto& run : state.designs.runs) {
    if (run->experiment == nullptr) continue;
    facts.networks = true;
    facts.screens = facts.screens || (run->chosen.size() > 1 && std::ranges::any_of(run->spec.factors, [](const auto& factor) {
                                        return factor.values().size() > 1;
                                      }));
  }
  facts.measured = StoreFile(workspace, options.campaign.store).exists();
  facts.trains = !state.trainings.empty();
  return facts;
}

/// A later failure does not hide an earlier one; a verdict against the program is weaker than a failure.
int worse(int a, int b) { return a == kOk || (a == kVerdictAgainst && b != kOk) ? b : a; }

int showTrainings(show::Out& out, const Options& options) {
  State state(options, out);
  state.trainingsOnly = true;
  if (const Progressed done = runPipeline(out, state, options.stages, "graph"); !done.proceed) return done.status;
  for (const auto& training : state.trainings) printHistory(out, state, *training, options.out);
  return finish(out, state, kOk);
}

int fill(show::Out& out, report::Page& page, const Options& given, const Facts& facts) {
  const bool pytorch = isPyTorch(given.target.backend) || !given.engines.device.empty();
  Options own = given;
  own.out = facts.folder;
  if (isPyTorch(own.target.backend)) own.target.backend.clear();
  own.engines.device.clear();
  own.eager.allocConf.clear();
  page.section("Designs");
  int status = runDesign(out, own);
  page.section("Specifications");
  status = worse(status, runSpec(out, own));
  page.section("Estimates");
  if (facts.networks || facts.trains) {
    Options estimated = own;
    if (facts.rows > kMostLowered) estimated.out.clear();
    status = worse(status, runEstimate(out, estimated));
  }
  page.section(given.engines.device.empty() ? "Eager PyTorch" : "Eager PyTorch on " + given.engines.device);
  if ((facts.networks || facts.trains) && pytorch) {
    Options eager = given;
    eager.out = facts.folder;
    eager.roofline.clear();
    if (!isPyTorch(eager.target.backend)) eager.target.backend = "pytorch";
    status = worse(status, runEstimate(out, eager));
  }
  page.section("Screening");
  if (facts.screens) status = worse(status, runScreen(out, own));
  page.section("Measurements");
  if (facts.measured && facts.networks) status = worse(status, reportStored(out, own));
  page.section("Trainings");
  if (facts.trains) status = worse(status, showTrainings(out, own));
  return status;
}

}  // namespace

int runReport(show::Out& out, const Options& options) {
  if (options.display.json) {
    out.failure("`tbemc report` writes HTML: --json is of the commands that it is made of");
    return kUsage;
  }
  Facts facts;
  std::string text;
  {
    State state(options, out);
    if (const Progressed done = runPipeline(out, state, options.stages, "design"); !done.proceed) return done.status;
    facts = factsOf(state, options);
    text = state.workspace->path;
    if (state.sink().hasErrors()) return finish(out, state, kOk);
  }
  if (facts.folder.empty()) {
    out.failure("the program is no file beside which the page could lie: give a folder, --out DIR");
    return kUsage;
  }
  report::Page page(facts.name, fmt::format("{}tbemc {}", text.empty() || text == "-" ? "" : text + ", ", kVersion));
  int status = kOk;
  {
    show::PageOut onPage(out.display, page);
    status = fill(onPage, page, options, facts);
  }
  const std::string path = (std::filesystem::path(facts.folder) / (facts.name + ".html")).string();
  if (const auto written = report::writeAtomically(path, page.html()); !written) {
    out.failure(written.error());
    return kEnvironment;
  }
  out.note(fmt::format("report in {}", path));
  return status == kVerdictAgainst ? kOk : status;  // a verdict is what the page says, and the page is whole
}

}  // namespace tbem::driver
