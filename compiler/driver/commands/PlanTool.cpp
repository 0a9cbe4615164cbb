// tbemc plan: places of buffers in one arena; of a CSV file's, or of a row's step. Plans are written, verified and compared.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/RunPipeline.h"
#include "compiler/lower/memory/StepPlan.h"
#include "compiler/plan/BufferPlan.h"
#include "compiler/run/OwnLibraries.h"
#include "compiler/show/Out.h"
#include "compiler/show/memory/PlanReport.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace tbem::driver {

namespace {

struct PlanOptions : CommandOptions {
  std::string capacity;
  estimate::PlanWish wish;
  bool verify = false, diff = false;
};

void declare(OptionList& list, PlanOptions& o) {
  addProgram(list, o,
             {.files = "buffers or a plan as CSV (id,lower,upper,size[,offset]; - is standard input), or a program (.tbem)",
              .text = kTextInPlace});
  addRows(list, o);
  const Option capacity = list.add("--capacity", o.capacity,
                                   "exit with 5 where no plan that fits was found: 1MiB; of a "
                                   "file's buffers a plan that fits is enough")
                              .type("SIZE");
  const Option align = list.add("--align", o.wish.alignment, "offsets of a file's buffers are multiples of so many bytes")
                           .wholeNumber(1, 1 << 30)
                           .showDefault();
  const Option effort = list.add("--effort", o.wish.effort, "placements that the complete search for a file's buffers tries")
                            .wholeNumber()
                            .showDefault();
  list.flag("--verify", o.verify, "check the offsets that the file has; exit with 5 where two buffers share bytes")
      .excludes(effort);
  list.flag("--diff", o.diff, "compare two plans; exit with 5 where the second takes more")
      .excludes("--verify")
      .excludes(capacity)
      .excludes(align)
      .excludes(effort);
  addDisplay(list, o);
}

/// What is read is no program.
bool readsBuffers(const PlanOptions& options) {
  return !options.program.text && !options.program.files.empty() && !options.program.files.front().ends_with(".tbem");
}

std::string unheeded(const Given& given, const PlanOptions& options) {
  if (readsBuffers(options)) {
    if (std::string why = unheededProgram(given, options, "a file of buffers"); !why.empty()) return why;
  } else if (!options.diff) {
    if (const char* option = given.firstOf({"--align", "--effort", "--verify"}))
      return fmt::format("{} is of buffers in a file (CSV): the plan of a program is the one that runs", option);
  }
  return unheededRows(given, options, {});
}

/// Errors: kProgramErrors.
tl::expected<estimate::PlanFile, Failed> readPlan(const std::string& path) {
  Session session;
  const auto source = readSource(session, path);
  if (!source) return tl::unexpected(Failed{kProgramErrors, source.error().messages});
  auto plan = estimate::readPlanFile((*source)->text);
  if (plan) return std::move(*plan);
  const CsvFault& fault = plan.error();
  const std::string place = session.sources.describe((*source)->base + static_cast<Loc>(fault.begin));
  return failed(kProgramErrors, fmt::format("{}: {}: {}", place, fault.cause, fault.wayOut));
}

int against(show::Out& out, const std::string& why) {
  out.failure(why);
  return kVerdictAgainst;
}

int planFile(show::Out& out, const std::string& path, const estimate::PlanWish& wish) {
  auto buffers = readPlan(path);
  if (!buffers) return out.fail(buffers.error());
  const estimate::BufferPlan plan = estimate::planBuffers(std::move(*buffers), wish);
  if (plan.verdict != estimate::BufferPlan::Verdict::Fits) return against(out, whyNoPlan(plan, wish));
  printPlan(out, plan);
  return kOk;
}

int planProgram(show::Out& out, const PlanOptions& options, const estimate::PlanWish& wish) {
  PipelineState state(options, out);
  state.firstRowOnly = true;
  if (const Progressed done = runPipeline(out, state, options.stages, "lower"); !done.proceed) return done.status;
  const RowState* const first = firstRow(
      out, state, "there is no network to plan: the program has no design of one (or give --input, and --task, for its network)");
  if (first == nullptr) return finish(out, state, kUsage);
  const RowState& row = *first;
  noteUnknownWorkspaces(out, state.unknownWorkspaces());
  estimate::BufferPlan plan{.file = estimate::planOf(*row.program), .peak = row.program->arena};
  plan.bound = plan.proved = estimate::liveBound(plan.file.requests);
  printPlan(out, plan);
  if (!wish.capacity || plan.peak <= *wish.capacity) return finish(out, state, kOk);
  return finish(
      out, state,
      against(out, fmt::format("the step's plan takes {}, more than {}", bytesText(plan.peak), bytesText(*wish.capacity))));
}

int verify(show::Out& out, const std::string& path, const estimate::PlanWish& wish) {
  const auto plan = readPlan(path);
  if (!plan) return out.fail(plan.error());
  if (plan->offsets.size() != plan->requests.size()) {
    out.failure(fmt::format("{}: it has no column `offset`: buffers without places are no plan", path));
    return kProgramErrors;
  }
  if (const auto fault = estimate::checkOverlap(plan->requests, plan->offsets, wish.alignment))
    return against(out, fmt::format("{}: {}", path, *fault));
  if (const std::uint64_t peak = estimate::topOf(*plan); wish.capacity && peak > *wish.capacity)
    return against(out, fmt::format("{}: the plan takes {}, more than {}", path, bytesText(peak), bytesText(*wish.capacity)));
  printVerified(out, *plan, estimate::bytesBound(plan->requests, wish.alignment));
  return kOk;
}

/// 5 where the second takes more.
int compare(show::Out& out, const PlanOptions& options) {
  if (options.program.files.size() != 2) {
    out.failure("`tbemc plan --diff` takes two plans");
    return kUsage;
  }
  const auto a = readPlan(options.program.files[0]);
  if (!a) return out.fail(a.error());
  const auto b = readPlan(options.program.files[1]);
  if (!b) return out.fail(b.error());
  printDifferences(out, *a, *b);
  return estimate::topOf(*b) > estimate::topOf(*a) ? kVerdictAgainst : kOk;
}

int run(show::Out& out, const PlanOptions& options) {
  if (options.diff) return compare(out, options);
  if (options.program.files.size() > 1) {
    out.failure("`tbemc plan` takes one file of buffers, or one program");
    return kUsage;
  }
  estimate::PlanWish wish = options.wish;
  if (!options.capacity.empty()) {
    const auto given = report::parseBytes(options.capacity);
    if (!given) {
      out.failure(fmt::format("--capacity {}: {}", options.capacity, given.error()));
      return kUsage;
    }
    wish.capacity = *given;
  }
  if (!readsBuffers(options)) return planProgram(out, options, wish);
  const std::string& path = options.program.files.front();
  return options.verify ? verify(out, path, wish) : planFile(out, path, wish);
}

}  // namespace

const Command kPlan = {"plan", "places of buffers in one arena: of a CSV file's, or of a row's step", Takes::Programs, false,
                       invocation<PlanOptions, declare, unheeded, run>};

}  // namespace tbem::driver
