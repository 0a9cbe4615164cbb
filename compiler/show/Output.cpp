#include "compiler/show/Output.h"

#include "compiler/diagnostics/Render.h"
#include "compiler/show/Page.h"
#include "compiler/show/SearchProgress.h"
#include "compiler/show/WrappedText.h"
#include "compiler/support/Json.h"
#include "compiler/support/Unicode.h"
#include "compiler/support/Version.h"
#include "runtime/report/Numbers.h"

#include <embedded/tbem_explanations.h>
#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace tbem::driver {

namespace {

/// What a field FIELD_not_finite says of a value: a text, of a list the texts of its elements; null where all is finite.
Json notFiniteIn(const Json& value) {
  if (value.is_number_float()) {
    const std::string text = report::notFinite(value.get<double>());
    return text.empty() ? Json() : Json(text);
  }
  if (!value.is_array()) return {};
  Json texts = Json::array();
  for (const Json& element : value) texts.push_back(notFiniteIn(element));
  return std::all_of(texts.begin(), texts.end(), [](const Json& text) { return text.is_null(); }) ? Json() : texts;
}

bool isFinite(const Json& value) {
  if (value.is_structured()) return std::all_of(value.begin(), value.end(), isFinite);
  return !value.is_number_float() || std::isfinite(value.get<double>());
}

/// JSON knows no infinity and no NaN: they are written as null, and a field beside each says what was there.
void sayNotFinite(Json& value) {
  if (value.is_array()) {
    for (Json& element : value) sayNotFinite(element);
  }
  if (!value.is_object()) return;
  Json told = Json::object();
  for (auto& [name, field] : value.items()) {
    sayNotFinite(field);
    Json text = notFiniteIn(field);
    told[name] = std::move(field);
    if (!text.is_null()) told[name + "_not_finite"] = std::move(text);
  }
  value = std::move(told);
}

report::TableStyle tableStyle(const Options& options) {
  report::TableStyle style;
  style.width = report::terminalWidth(STDOUT_FILENO);
  style.color = report::useColor(options.color, STDOUT_FILENO);
  return style;
}

/// Its texts with their controls escaped: what is rendered may have colours.
report::Table onTerminal(report::Table table) {
  table.title = wrapped(printable(table.title), STDOUT_FILENO);
  for (report::Column& column : table.columns) column.title = printableLine(column.title);
  for (auto& row : table.rows) {
    for (report::Cell& cell : row) cell.text = printableLine(cell.text);
  }
  return table;
}

}  // namespace

void printJson(const char* kind, Json fields) {
  hideSearch();
  Json object;
  object["kind"] = kind;
  object["schema"] = kJsonSchema;
  object.update(fields);
  if (!isFinite(object)) sayNotFinite(object);
  printJsonLine(object.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void printJsonLine(std::string_view json) {
  writeStyled(stdout, printableJson(json) + "\n");
  flushOutput();
}

std::string_view explanationOf(Diag kind) {
  const std::string name = fmt::format("{}.md", info(kind).code);
  for (const explanations::File& file : explanations::files()) {
    if (file.name == name) return file.text;
  }
  return {};
}

int printDiagnostics(const Session& session, const Options& options) {
  hideSearch();
  RenderOptions style;
  style.color = report::useColor(options.color, STDERR_FILENO);
  style.width = options.width != 0 ? options.width : static_cast<unsigned>(report::terminalWidth(STDERR_FILENO));
  if (options.sarif) {
    options.sarifRuns->push_back(renderSarifRun(session.sink, session.sources, {kVersion, explanationOf}));
  } else if (options.json) {
    for (const Diagnostic& diagnostic : session.sink.all()) printJsonLine(renderJson(diagnostic, session.sources));
  } else if (openPage() != nullptr && !session.sink.hasErrors()) {
    listOnce(renderAll(session.sink, session.sources, {}));
  } else if (const std::string text = renderAll(session.sink, session.sources, style); isFirstTold(text)) {
    writeStyled(stderr, text);
  }
  flushOutput();
  return session.sink.hasErrors() ? kProgramErrors : kOk;
}

void printFailure(std::string_view text) {
  hideSearch();
  if (isFirstTold(text)) printErr("tbemc: {}\n", text);
}

void printNote(const Options& options, std::string_view text) {
  hideSearch();
  if (openPage() != nullptr) return sayOnce(fmt::format("{}\n", text));
  if (!options.quiet) printErr("{}\n", wrapped(text, STDERR_FILENO));
}

report::ProgressStyle progressStyle(const Options& options) {
  report::ProgressStyle style;
  style.terminal = isatty(STDERR_FILENO) == 1;
  style.quiet = options.quiet;
  style.color = report::useColor(options.color, STDERR_FILENO);
  style.width = report::terminalWidth(STDERR_FILENO);
  return style;
}

void writeProgress(std::string_view text) { writeStyled(stderr, text); }

void printTable(const Options& options, const report::Table& table) {
  hideSearch();
  if (openPage() != nullptr) return openPage()->table(table);
  writeStyled(stdout, report::render(onTerminal(table), tableStyle(options)) + "\n");
  flushOutput();
}

void printRanked(const Options& options, report::Table table) {
  hideSearch();
  if (openPage() != nullptr || options.verbose) return printTable(options, table);
  table = onTerminal(std::move(table));
  const report::TableStyle style = tableStyle(options);
  const std::vector<std::string> dropped = report::dropWide(table, style.width);
  writeStyled(stdout,
              (report::fits(table, style.width) ? report::render(table, style) : report::renderRecords(table, style)) + "\n");
  if (!dropped.empty()) say("left out for want of width: {} (--verbose has all)\n", fmt::join(dropped, ", "));
  flushOutput();
}

}  // namespace tbem::driver
