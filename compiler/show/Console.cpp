#include "compiler/show/Console.h"

#include "compiler/diagnostics/Render.h"
#include "compiler/show/WrappedText.h"
#include "compiler/show/json/Check.h"
#include "compiler/support/Failed.h"
#include "compiler/support/Json.h"
#include "compiler/support/Streams.h"
#include "compiler/support/Unicode.h"
#include "compiler/support/Version.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Svg.h"

#include <embedded/tbem_explanations.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace tbem::show {

namespace {

constexpr double kFirstSeconds = 0.5;  // before progress is shown: most searches end sooner

/// Its texts with their controls escaped: what is rendered may have colours.
report::Table onTerminal(report::Table table) {
  table.title = wrapped(printable(table.title), STDOUT_FILENO);
  for (report::Column& column : table.columns) column.title = printableLine(column.title);
  for (auto& row : table.rows) {
    for (report::Cell& cell : row) cell.text = printableLine(cell.text);
  }
  return table;
}

report::TableStyle tableStyle(const Display& display) {
  report::TableStyle style;
  style.width = report::terminalWidth(STDOUT_FILENO);
  style.color = report::useColor(display.color, STDOUT_FILENO);
  return style;
}

}  // namespace

std::string_view explanationOf(Diag kind) {
  const std::string name = fmt::format("{}.md", info(kind).code);
  for (const explanations::File& file : explanations::files()) {
    if (file.name == name) return file.text;
  }
  return {};
}

Console::Console(Display how, std::function<void()> readerGone) : Out(std::move(how)), readerGone(std::move(readerGone)) {
  report::ProgressStyle style = progressStyle();
  style.quiet = style.quiet || !style.terminal;
  if (const char* when = std::getenv("TBEM_PROGRESS"); when != nullptr && std::string_view(when) == "at-once")
    style.redrawSeconds = 0;
  else
    style.firstSeconds = kFirstSeconds;
  search.emplace(
      [this](std::string_view text) {
        flush();
        writeStyled(stderr, text);
      },
      style);
}

void Console::text(std::string_view text) {
  rest();
  writeText(stdout, wrapped(text, STDOUT_FILENO));
  noticeReader();
}

void Console::plain(std::string_view text) {
  writeText(stdout, text);
  noticeReader();
}

void Console::data(std::string_view text) {
  writeData(text);
  noticeReader();
}

void Console::flush() {
  flushOutput();
  noticeReader();
}

void Console::noticeReader() const {
  if (readerGone && outputHasNoReader()) readerGone();
}

void Console::table(const report::Table& table) {
  rest();
  writeStyled(stdout, report::render(onTerminal(table), tableStyle(display)) + "\n");
  flush();
}

void Console::ranked(report::Table table) {
  if (display.verbose) return this->table(table);
  rest();
  table = onTerminal(std::move(table));
  const report::TableStyle style = tableStyle(display);
  const std::vector<std::string> dropped = report::dropWide(table, style.width);
  writeStyled(stdout,
              (report::fits(table, style.width) ? report::render(table, style) : report::renderRecords(table, style)) + "\n");
  if (!dropped.empty()) say("left out for want of width: {} (--verbose has all)\n", fmt::join(dropped, ", "));
  flush();
}

BarStyle Console::bars() const {
  const std::size_t terminal = report::terminalWidth(STDOUT_FILENO);
  return {std::clamp<std::size_t>(terminal > 66 ? terminal - 66 : 10, 10, 40), isatty(STDOUT_FILENO) != 1};
}

bool Console::plots(const std::string& folder, const std::vector<PlotFile>& plots) {
  bool good = true;
  std::string names;
  for (const PlotFile& plot : plots) {
    const auto written = report::writeAtomically((std::filesystem::path(folder) / plot.name).string(), plot.text);
    if (!written) failure(written.error());
    good = good && written;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", plot.name);
  }
  if (!good || plots.empty()) return good;
  note(plots.size() == 1 ? fmt::format("plot in {}", (std::filesystem::path(folder) / names).string())
                         : fmt::format("plots in {}: {}", folder, names));
  return true;
}

bool Console::timeline(const std::string& folder, const std::string& name, const report::Timeline& timeline) {
  return plots(folder, {{name, report::timelineSvg(timeline)}});
}

void Console::jsonLine(std::string_view json) {
  checkPrinted(json);
  rest();
  writeStyled(stdout, printableJson(json) + "\n");
  flush();
}

std::string Console::rendered(const Session& session) const {
  RenderOptions style;
  style.color = report::useColor(display.color, STDERR_FILENO);
  style.width = display.width != 0 ? display.width : static_cast<unsigned>(report::terminalWidth(STDERR_FILENO));
  return renderAll(session.sink, session.sources, style);
}

int Console::diagnostics(const Session& session) {
  rest();
  if (display.sarif) {
    sarifRuns.push_back(renderSarifRun(session.sink, session.sources, {kVersion, explanationOf}));
  } else if (display.json) {
    for (const Diagnostic& diagnostic : session.sink.all()) jsonLine(renderJson(diagnostic, session.sources));
  } else {
    writeStyled(stderr, rendered(session));
  }
  flush();
  return session.sink.hasErrors() ? kProgramErrors : kOk;
}

void Console::failure(std::string_view text) {
  rest();
  printErr("tbemc: {}\n", text);
}

void Console::error(std::string_view text) {
  rest();
  printErr("{}", text);
}

report::ProgressStyle Console::progressStyle() const {
  report::ProgressStyle style;
  style.terminal = isatty(STDERR_FILENO) == 1;
  style.quiet = display.quiet;
  style.color = report::useColor(display.color, STDERR_FILENO);
  style.width = report::terminalWidth(STDERR_FILENO);
  return style;
}

std::unique_ptr<report::Progress> Console::progressBar() const {
  // One bar at a time: what a stage showed of itself goes.
  const auto write = [this](std::string_view text) {
    search->hide();
    writeStyled(stderr, text);
  };
  return std::make_unique<report::Progress>(write, progressStyle());
}

void Console::stageBegins(std::string_view /*name*/, std::string_view help) { progress(0, 0, help); }

void Console::stageEnds(std::string_view name, double seconds) {
  rest();
  if (display.time) error(fmt::format("{:<8} {}\n", name, report::seconds(seconds)));
}

void Console::progress(std::size_t done, std::size_t total, std::string_view what) { search->update(done, total, what, -1); }

void Console::rest() { search->hide(); }

void Console::note(std::string_view text) {
  rest();
  if (!display.quiet) printErr("{}\n", wrapped(text, STDERR_FILENO));
}

bool Console::opensLibrary(const OwnLibrary& library) {
  const bool known = library.told == OwnLibrary::Told::Before;
  if (display.json) {
    json("library", {{"path", library.path}, {"sha256", library.sha256}, {"told_before", known}});
    return true;
  }
  if (known || display.quiet) return false;
  const bool first = library.told == OwnLibrary::Told::Never;
  note(fmt::format("the program's own library {} {}, with SHA-256 {}", library.path,
                   first ? "is opened for the first time" : "is opened, changed since the last time", library.sha256));
  return true;
}

std::string Console::sarif() const { return sarifLog(sarifRuns); }

}  // namespace tbem::show
