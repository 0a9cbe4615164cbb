// tbemc explain CODE: the page docs/errors/CODE.md, embedded in the binary; --all: every diagnostic.
#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/show/Console.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tbem::driver {

namespace {

struct ExplainOptions : CommandOptions {
  std::string code;
  bool all = false;
};

void declare(OptionList& list, ExplainOptions& o) {
  const Option code = list.add("CODE", o.code, "the diagnostic's code: E0101");
  list.flag("--all", o.all, "every diagnostic, a line each; with --json also its page").excludes(code);
  addDisplay(list, o, {.width = nullptr});
}

std::string unheeded(const Given& /*given*/, const ExplainOptions& /*options*/) { return {}; }

void printJson(show::Out& out, const DiagInfo& row) {
  out.json("explain", {{"code", row.code},
                       {"name", row.name},
                       {"severity", severityName(row.severity)},
                       {"message", row.message},
                       {"text", show::explanationOf(kindOf(row.code))}});
}

void printAll(show::Out& out) {
  for (const DiagInfo& row : allDiagnostics()) {
    if (out.display.json)
      printJson(out, row);
    else
      out.print("{} {:<7} {}\n", row.code, severityName(row.severity), row.message);
  }
}

int run(show::Out& out, const ExplainOptions& options) {
  if (options.all) {
    printAll(out);
    return kOk;
  }
  if (options.code.empty()) {
    out.failure("tbemc explain wants the CODE of a diagnostic (E0101), or --all");
    return kUsage;
  }
  const DiagInfo* row = findDiagnostic(options.code);
  if (row == nullptr) {
    std::vector<std::string> codes;
    for (const DiagInfo& known : allDiagnostics()) codes.emplace_back(known.code);
    const std::string close = nearest(options.code, codes);
    out.failure(fmt::format("no diagnostic has the code `{}`{}", options.code,
                            close.empty() ? " (tbemc explain --all)" : fmt::format(": did you mean `{}`?", close)));
    return kUsage;
  }
  const std::string_view page = show::explanationOf(kindOf(row->code));
  if (out.display.json)
    printJson(out, *row);
  else if (page.empty())
    out.print("{} ({}): {}\n", row->code, severityName(row->severity), row->message);
  else
    out.print("{}", page);
  return kOk;
}

}  // namespace

const Command kExplain = {"explain", "explain a diagnostic: tbemc explain E0101", Takes::Own, false,
                          invocation<ExplainOptions, declare, unheeded, run>};

}  // namespace tbem::driver
