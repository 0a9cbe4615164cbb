// tbemc plan: places of buffers in one arena; of a CSV file's, or of a row's step. Plans are written, verified and compared.
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/driver/Pipeline.h"
#include "compiler/plan/Pack.h"
#include "compiler/plan/PlanFile.h"
#include "compiler/run/OwnLibraries.h"
#include "compiler/show/Out.h"
#include "compiler/support/Bug.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

struct PlanOptions : CommandOptions {
  std::string capacity;                ///< a plan that fits is enough
  std::uint64_t align = 1;             ///< of offsets, bytes
  std::uint64_t effort = 20'000'000;   ///< placements that the search tries
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
  const Option align =
      list.add("--align", o.align, "offsets of a file's buffers are multiples of so many bytes").wholeNumber(1, 1 << 30).showDefault();
  const Option effort = list.add("--effort", o.effort, "placements that the complete search for a file's buffers tries")
                            .wholeNumber()
                            .showDefault();
  list.flag("--verify", o.verify, "check the offsets that the file has; exit with 5 where two buffers share bytes").excludes(effort);
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

using estimate::PlanFile;

constexpr std::uint64_t kLooks = 40'000'000;  // a tool may take longer than every estimate does

/// Nothing after saying what is wrong.
std::optional<PlanFile> readFile(show::Out& out, const std::string& path) {
  Session session;
  const auto read = readSource(session, path);
  if (!read) {
    out.fail(read.error());
    return std::nullopt;
  }
  const Source* source = *read;
  auto plan = estimate::readPlanFile(source->text);
  if (plan) return std::move(*plan);
  const CsvFault& fault = plan.error();
  out.failure(fmt::format("{}: {}: {}", session.sources.describe(source->base + static_cast<Loc>(fault.begin)), fault.cause,
                          fault.wayOut));
  return std::nullopt;
}

/// The places that the compiler gives the buffers of a row's step. Buffers of one name are numbered.
PlanFile planOf(const estimate::Program& program) {
  std::vector<std::string> names(program.allocations.size(), "temporary");
  for (std::size_t b = program.buffers.size(); b-- > 0;) names[program.buffers[b].allocation] = program.buffers[b].name;
  std::map<std::string, int> seen;
  PlanFile plan;
  const auto steps = static_cast<std::uint32_t>(program.steps.size());
  for (std::size_t a = 0; a < program.allocations.size(); ++a) {
    const estimate::Allocation& one = program.allocations[a];
    const int number = ++seen[names[a]];
    plan.ids.push_back(number == 1 ? names[a] : fmt::format("{} #{}", names[a], number));
    plan.requests.push_back({one.bytes, one.persistent ? 0 : one.first, one.persistent ? std::max(steps, 1U) - 1 : one.last});
    plan.offsets.push_back(one.offset);
  }
  return plan;
}

std::string amount(std::uint64_t bytes) { return fmt::format("{} ({} B)", report::bytes(bytes), bytes); }

/// Where complete search was not begun, the reason.
std::string unsearched(const PlanFile& plan) {
  return plan.ids.size() <= estimate::kMostSearched
             ? ""
             : fmt::format(" (complete search is for up to {} buffers)", estimate::kMostSearched);
}

/// The plan on standard output; what is known of it on standard error, or all of it as JSON.
int print(show::Out& out, const PlanOptions& options, const PlanFile& plan, std::uint64_t peak, std::uint64_t bound,
          std::uint64_t proved) {
  if (options.display.json) {
    Json offsets = Json::object();
    for (std::size_t i = 0; i < plan.ids.size(); ++i) offsets[plan.ids[i]] = plan.offsets[i];
    out.json("plan", {{"buffers", plan.ids.size()},
                      {"peak", peak},
                      {"bound", bound},
                      {"proved", proved},
                      {"lowest", peak == proved},
                      {"offsets", offsets}});
    return kOk;
  }
  out.data(estimate::planText(plan));
  std::string text = fmt::format("{} buffers in {}", plan.ids.size(), amount(peak));
  if (peak == proved)
    text += peak == bound ? ", the largest sum of live ones: no plan is lower" : ", no plan is lower: shown by complete search";
  else
    text += fmt::format("; no plan is lower than {}{}", amount(proved), unsearched(plan));
  out.note(text);
  return kOk;
}

/// What no plan is below, in bytes: of the buffers that live at one step all but the uppermost take multiples of the alignment.
std::uint64_t bytesBound(std::span<const estimate::Request> requests, std::uint64_t alignment) {
  struct Event {
    std::uint32_t step;
    bool begins;
    std::uint64_t rounded, slack;
  };
  std::vector<Event> events;
  for (const estimate::Request& request : requests) {
    if (request.bytes == 0) continue;
    const std::uint64_t rounded = estimate::alignUp(request.bytes, alignment);
    events.push_back({request.first, true, rounded, rounded - request.bytes});
    events.push_back({request.last + 1, false, rounded, rounded - request.bytes});
  }
  std::ranges::sort(events, {}, [](const Event& event) { return std::pair(event.step, event.begins); });
  std::uint64_t live = 0, most = 0;
  std::multiset<std::uint64_t> slacks;
  for (const Event& event : events) {
    if (event.begins) {
      live += event.rounded;
      slacks.insert(event.slack);
      most = std::max(most, live - *slacks.rbegin());
    } else {
      live -= event.rounded;
      slacks.erase(slacks.find(event.slack));
    }
  }
  return most;
}

int planFile(show::Out& out, const PlanOptions& options, std::optional<std::uint64_t> capacity) {
  const std::uint64_t alignment = options.align;
  std::optional<PlanFile> plan = readFile(out, options.program.files.front());
  if (!plan) return kProgramErrors;
  // Where a capacity is given the search is for a plan that fits, not for the lowest.
  const std::uint64_t nodes = capacity ? 0 : options.effort;
  estimate::Plan made = estimate::planOffsets(plan->requests, {kLooks, nodes}, alignment);
  plan->offsets = std::move(made.offsets);
  if (const std::uint64_t top = estimate::topOf(*plan); capacity && top > *capacity) {
    // In multiples of the alignment, of which the uppermost buffer may leave a part: what fits so is looked at again.
    estimate::Packing packing =
        estimate::packWithin(plan->requests, estimate::alignUp(*capacity, alignment), options.effort, alignment);
    if (packing.fit == estimate::Fit::Found) plan->offsets = std::move(packing.offsets);
    if (packing.fit != estimate::Fit::Found || estimate::topOf(*plan) > *capacity) {
      out.failure(packing.fit == estimate::Fit::None
                      ? fmt::format("no plan fits in {}: that was shown; the lowest that was found takes {}", amount(*capacity),
                                    amount(top))
                      : fmt::format("no plan that fits in {} was found{}; the lowest takes {}", amount(*capacity),
                                    unsearched(*plan).empty()
                                        ? fmt::format(" in {} placements (--effort gives more)", options.effort)
                                        : unsearched(*plan),
                                    amount(std::min(top, estimate::topOf(*plan)))));
      return kVerdictAgainst;
    }
  }
  if (const auto fault = estimate::checkOverlap(plan->requests, plan->offsets, alignment))
    TBEM_BUG("the plan is wrong: {}", *fault);
  const std::uint64_t bound = bytesBound(plan->requests, alignment);
  // The search has shown that no plan is lower when rounded up.
  const std::uint64_t proved = std::max(bound, made.proved - std::min(made.proved, alignment - 1));
  return print(out, options, *plan, estimate::topOf(*plan), bound, proved);
}

int planProgram(show::Out& out, const PlanOptions& options, std::optional<std::uint64_t> capacity) {
  State state(options, out);
  state.firstRowOnly = true;
  if (const Progressed done = runPipeline(out, state, options.stages, "lower"); !done.proceed) return done.status;
  if (state.rows.empty()) {
    out.failure("there is no network to plan: the program has no design of one (or give --input, and --task, for its network)");
    return finish(out, state, kUsage);
  }
  const RowState& row = state.rows.front();
  if (row.run->chosen.size() > 1) out.note(fmt::format("the first of {} rows; pick another with --at", row.run->chosen.size()));
  noteUnknownWorkspaces(out, state.unknownWorkspaces());
  const PlanFile plan = planOf(*row.program);
  const std::uint64_t bound = estimate::liveBound(plan.requests);
  print(out, options, plan, row.program->arena, bound, bound);
  if (!capacity || row.program->arena <= *capacity) return finish(out, state, kOk);
  out.failure(fmt::format("the step's plan takes {}, more than {}", amount(row.program->arena), amount(*capacity)));
  return finish(out, state, kVerdictAgainst);
}

int verify(show::Out& out, const PlanOptions& options, std::optional<std::uint64_t> capacity) {
  const std::optional<PlanFile> plan = readFile(out, options.program.files.front());
  if (!plan) return kProgramErrors;
  if (plan->offsets.size() != plan->requests.size()) {
    out.failure(fmt::format("{}: it has no column `offset`: buffers without places are no plan", options.program.files.front()));
    return kProgramErrors;
  }
  if (const auto fault = estimate::checkOverlap(plan->requests, plan->offsets, options.align)) {
    out.failure(fmt::format("{}: {}", options.program.files.front(), *fault));
    return kVerdictAgainst;
  }
  const std::uint64_t top = estimate::topOf(*plan), bound = bytesBound(plan->requests, options.align);
  if (capacity && top > *capacity) {
    out.failure(fmt::format("{}: the plan takes {}, more than {}", options.program.files.front(), amount(top), amount(*capacity)));
    return kVerdictAgainst;
  }
  if (options.display.json)
    out.json("plan", {{"buffers", plan->ids.size()}, {"peak", top}, {"bound", bound}, {"holds", true}});
  else
    out.print("{} buffers in {}: no two share a byte at one step; the largest sum of live ones is {}\n", plan->ids.size(),
              amount(top), amount(bound));
  return kOk;
}

/// 5 where the second takes more.
int compare(show::Out& out, const PlanOptions& options) {
  if (options.program.files.size() != 2) {
    out.failure("`tbemc plan --diff` takes two plans");
    return kUsage;
  }
  const std::optional<PlanFile> a = readFile(out, options.program.files[0]);
  const std::optional<PlanFile> b = a ? readFile(out, options.program.files[1]) : std::nullopt;
  if (!b) return kProgramErrors;
  const std::vector<std::string> told = estimate::differences(*a, *b);
  const std::uint64_t before = estimate::topOf(*a), after = estimate::topOf(*b);
  if (options.display.json) {
    out.json("plan_diff", {{"before", before}, {"after", after}, {"differences", told}});
  } else {
    for (const std::string& line : told) out.print("{}\n", line);
    out.print("{} of {} and {} buffers differ; {} -> {}\n", told.size(), a->ids.size(), b->ids.size(), amount(before),
              amount(after));
  }
  return after > before ? kVerdictAgainst : kOk;
}

int run(show::Out& out, const PlanOptions& options) {
  if (options.diff) return compare(out, options);
  if (options.program.files.size() > 1) {
    out.failure("`tbemc plan` takes one file of buffers, or one program");
    return kUsage;
  }
  std::optional<std::uint64_t> capacity;
  if (!options.capacity.empty()) {
    const auto given = report::parseBytes(options.capacity);
    if (!given) {
      out.failure(fmt::format("--capacity {}: {}", options.capacity, given.error()));
      return kUsage;
    }
    capacity = *given;
  }
  if (!readsBuffers(options)) return planProgram(out, options, capacity);
  return options.verify ? verify(out, options, capacity) : planFile(out, options, capacity);
}

}  // namespace

const Command kPlan = {"plan", "places of buffers in one arena: of a CSV file's, or of a row's step", Takes::Programs, false,
    invocation<PlanOptions, declare, unheeded, run>};

}  // namespace tbem::driver
