// Diagnostics as text for people, as JSON lines and SARIF for programs, and as changes to the source.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/Source.h"

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tbem {

struct RenderOptions {
  bool color = false;
  unsigned width = 100;  ///< columns; longer source lines are cut around the mark
};

/// "error", "warning", "note".
std::string_view severityName(Severity severity);
/// "E0302: `a` needs `l <= 1000`", without a place: for a sentence or a table's cell.
std::string renderBrief(const Diagnostic& diagnostic);
/// One diagnostic, ending in an empty line: heading, place, source lines with marks, notes, help. Tabs are shown as four columns.
std::string renderText(const Diagnostic& diagnostic, const SourceManager& sources, const RenderOptions& options);
/// All of them, and "2 errors, 1 warning" at the end where there are any.
std::string renderAll(const DiagnosticSink& sink, const SourceManager& sources, const RenderOptions& options);
/// One JSON object without a newline: `{"kind":"check","schema":1,"code":...}` (fields: docs of `check`).
std::string renderJson(const Diagnostic& diagnostic, const SourceManager& sources);

/// What a run in SARIF says of the tool.
struct SarifTool {
  std::string version;
  std::function<std::string_view(Diag)> page;  ///< what `tbemc explain` prints; empty where there is no page
};
/// All diagnostics as one `run` of SARIF 2.1.0, on one line.
std::string renderSarifRun(const DiagnosticSink& sink, const SourceManager& sources, const SarifTool& tool);
/// The log that has these runs.
std::string sarifLog(const std::vector<std::string>& runs);

/// The text of `source` with all certain fixes that lie in it applied. Of two that overlap the first wins; the fixes of one
/// diagnostic are applied all or none. `applied`, if given, counts the diagnostics that were mended.
std::string applyFixes(const Source& source, const std::deque<Diagnostic>& diagnostics, std::size_t* applied = nullptr);

}  // namespace tbem
