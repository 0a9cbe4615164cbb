// tbemc explain CODE: the page docs/errors/CODE.md, embedded in the binary.
#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/show/Console.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tbem::driver {

namespace {

struct ExplainOptions : CommandOptions {
  std::string code;
};

void declare(OptionList& list, ExplainOptions& o) {
  list.add("CODE", o.code, "the diagnostic's code: E0101").required();
  addDisplay(list, o, {.width = nullptr});
}

std::string unheeded(const Given& /*given*/, const ExplainOptions& /*options*/) { return {}; }

int run(show::Out& out, const ExplainOptions& options) {
  const DiagInfo* found = findDiagnostic(options.code);
  if (found == nullptr) {
    std::vector<std::string> codes;
    for (const DiagInfo& one : allDiagnostics()) codes.emplace_back(one.code);
    const std::string close = nearest(options.code, codes);
    out.failure(fmt::format("no diagnostic has the code `{}`{}", options.code,
                            close.empty() ? "" : fmt::format(": did you mean `{}`?", close)));
    return kUsage;
  }
  const DiagInfo& row = *found;
  const std::string_view page = show::explanationOf(kindOf(row.code));
  const char* severity = row.severity == Severity::Error ? "error" : row.severity == Severity::Warning ? "warning" : "note";
  if (options.display.json) {
    out.json("explain",
             {{"code", row.code}, {"name", row.name}, {"severity", severity}, {"message", row.message}, {"text", page}});
    return kOk;
  }
  if (page.empty()) {
    out.print("{} ({}): {}\n", row.code, severity, row.message);
  } else {
    out.print("{}", page);
  }
  return kOk;
}

}  // namespace

const Command kExplain = {"explain", "explain a diagnostic: tbemc explain E0101", Takes::Own, false,
                          invocation<ExplainOptions, declare, unheeded, run>};

}  // namespace tbem::driver
