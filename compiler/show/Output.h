// What goes to the terminal: diagnostics, JSON lines, notes. The only place that knows about colour and width.
#pragma once

#include "compiler/diagnostics/Session.h"
#include "compiler/driver/Options.h"
#include "compiler/support/Streams.h"
#include "runtime/report/Progress.h"
#include "runtime/report/Table.h"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace tbem::driver {

/// JSON objects whose fields stay in the order in which they are written.
using Json = nlohmann::ordered_json;

/// Prints one object of `--json` as a line, with its `kind` and `schema` in front. A number that is not finite is null, and a
/// field FIELD_not_finite behind it says "inf", "-inf" or "nan".
void printJson(const char* kind, Json fields);
/// Prints what is JSON text already, and a line end.
void printJsonLine(std::string_view json);
/// The page docs/errors/CODE.md, embedded in the binary; empty where there is none.
std::string_view explanationOf(Diag kind);
/// Prints all diagnostics of the session: to standard error, or with --json as `check` objects on standard output; with --sarif
/// they are kept for the log that ends the command. Returns kProgramErrors if one is an error, else kOk.
int printDiagnostics(const Session& session, const Options& options);
/// A line on standard error: "tbemc: text". For failures of the environment and wrong usage.
void printFailure(std::string_view text);
/// A note on standard error, unless --quiet.
void printNote(const Options& options, std::string_view text);
/// Progress on standard error as the options and the terminal want it.
report::ProgressStyle progressStyle(const Options& options);
/// What report::Progress writes with.
void writeProgress(std::string_view text);
/// A table on standard output in the terminal's width and colours.
void printTable(const Options& options, const report::Table& table);
/// The same for a table whose columns have ranks: where it is too wide, columns are left out by rank, which is told below it;
/// what is still too wide is printed as records. --verbose and the page have all columns.
void printRanked(const Options& options, report::Table table);

}  // namespace tbem::driver
