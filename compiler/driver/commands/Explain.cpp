// tbemc explain CODE: the page docs/errors/CODE.md, embedded in the binary.
#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/driver/Commands.h"
#include "compiler/show/Console.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tbem::driver {

int runExplain(show::Out& out, const Options& options) {
  const DiagInfo* found = findDiagnostic(options.word);
  if (found == nullptr) {
    std::vector<std::string> codes;
    for (const DiagInfo& one : allDiagnostics()) codes.emplace_back(one.code);
    const std::string close = nearest(options.word, codes);
    out.failure(fmt::format("no diagnostic has the code `{}`{}", options.word,
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

}  // namespace tbem::driver
