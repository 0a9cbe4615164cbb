// The rows of campaigns as cases: what is known of each before it runs.
#include "compiler/backends/Algorithms.h"
#include "compiler/count/Flops.h"
#include "compiler/count/Static.h"
#include "compiler/diagnostics/tables/Plan.h"
#include "compiler/experiment/Identity.h"
#include "compiler/jit/glue/Cache.h"
#include "compiler/run/RunCampaigns.h"
#include "compiler/run/examples/Attacks.h"
#include "compiler/support/Version.h"
#include "compiler/worker/RowFile.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tbem::driver {

namespace {

/// False after a report: a count has no value.
bool countRow(const graph::Row& row, DiagnosticSink& sink, CaseRow& out) {
  const auto flops = estimate::countFlops(row.graph(), row.values);
  const auto memory = estimate::staticMemory(row.graph(), row.values);
  if (!flops || !memory) {
    const estimate::NoValue& why = flops ? memory.error() : flops.error();
    sink.report(diag::row_without_number, why.range, why.what);
    return false;
  }
  out.flops = estimate::toDouble(flops->most.step());
  out.parameters = static_cast<double>(flops->parameters);
  out.staticMemory = memory->bytes;
  return true;
}

/// With the content that they have as the identity is made.
std::vector<runtime::LibraryDesc> librariesOf(const estimate::Program& program) {
  std::set<std::string> paths;
  for (const estimate::NativeCall& call : program.calls) {
    if (!call.own.symbol.empty()) paths.insert(call.own.library);
  }
  std::vector<runtime::LibraryDesc> libraries;
  libraries.reserve(paths.size());
  for (const std::string& path : paths) libraries.push_back({path, libraryHash(path)});
  return libraries;
}

void fillPlan(const estimate::Program& program, CaseRow& out) {
  out.libraries = librariesOf(program);
  out.algorithms = algorithmsText(program, out.plan->tuning);
  out.live = program.live;
  out.arena = program.arena;
  out.arenaKinds = estimate::kindsJson(program.kinds, program.gaps);
  out.unknownWorkspaces = program.unknownWorkspaces();
}

/// Of a row that another program measures.
std::optional<CaseRow> foreignCase(const CaseInput& input, DiagnosticSink& sink, CaseRow out, const graph::Row& plain) {
  if (!countRow(plain, sink, out)) return std::nullopt;
  const tbem_device_info& processor = input.table.backend("cpu").device;
  const auto threads = static_cast<unsigned>(threadsOf(input.target, processor));
  if (!input.foreign.describe(out, plain, processor.name, threads)) return std::nullopt;
  return out;
}

/// Nothing after a report, or where the row broke a condition.
std::optional<CaseRow> caseOf(const CaseInput& input, DiagnosticSink& sink, CaseRow out, bool timing) {
  RowTable& table = input.table;
  const Target& target = input.target;
  std::optional<graph::Row> plain = table.elaborated(out.plan->run, out.row);
  if (!plain) return std::nullopt;
  if (out.foreign != nullptr) return foreignCase(input, sink, std::move(out), *plain);
  const graph::Row* row = &*plain;
  const Opened& opened = table.backend(out.backend);
  if (opened.backend == nullptr) {
    out.skip = opened.reason;
  } else {
    const auto lowered = table.lowered({out.plan->run, out.row, out.backend, out.plan->tuning}, timing);
    if (!lowered) {
      lowered.error().report(sink);
      return std::nullopt;
    }
    row = &*(*lowered)->elaborated;
    fillPlan(*(*lowered)->program, out);
  }
  if (!countRow(*row, sink, out)) return std::nullopt;
  const auto threads = static_cast<unsigned>(threadsOf(target, opened.device));
  out.identity = identityOf(row->graph(), row->values, protocolOf(out), target.seed,
                            {out.backend, opened.backend == nullptr ? nullptr : &opened.device, threads, out.algorithms});
  if (out.plan->examples) {
    const MeasuredExamples& examples = *out.plan->examples;
    const std::string& training = examples.trainingOf(out.plan->run->rows[out.row]).spec.decl->name.text;
    out.identity = jit::hashKey(out.identity + ", over " + examples.examplesText(training));
    if (const RowAttack* attack = attackOn(examples, out.row))
      out.identity = jit::hashKey(out.identity + identityOf(*attack, examples.about));
  }
  if (opened.backend != nullptr) {
    const Tuning& tuning = out.plan->tuning;
    out.machine = fmt::format("{}, {}, {} threads{}", opened.device.name, opened.device.isa, threads,
                              tuning.times() ? ", tune " + text(tuning) : "");
    out.versions = fmt::format("tbemc {}, {}", kVersion, opened.device.library);
  }
  return out;
}

}  // namespace

std::optional<CaseRow> caseElsewhere(const RowTable& table, DiagnosticSink& sink, CaseRow asked) {
  if (asked.plan->run->experiment == nullptr) {
    asked.flops = std::numeric_limits<double>::quiet_NaN();  // nothing to count
    return asked;
  }
  const std::optional<graph::Row> plain = table.elaborated(asked.plan->run, asked.row);
  if (!plain || !countRow(*plain, sink, asked)) return std::nullopt;
  return asked;
}

std::vector<CaseRow> caseRows(const CaseInput& input, DiagnosticSink& sink, bool timing) {
  std::vector<CaseRow> rows;
  for (const MeasurePlan& plan : input.plans) {
    for (const std::size_t row : plan.run->chosen) {
      for (const foreign::Asked& backend : plan.backends) {
        CaseRow asked;
        asked.plan = &plan;
        asked.row = row;
        asked.backend = backend.name;
        asked.foreign = backend.foreign ? &*backend.foreign : nullptr;
        if (auto known = caseOf(input, sink, std::move(asked), timing)) rows.push_back(std::move(*known));
      }
    }
  }
  return rows;
}

}  // namespace tbem::driver
