// Diagnostics in the Static Analysis Results Interchange Format (SARIF 2.1.0, OASIS 2020); section numbers are that text's.
#include "compiler/diagnostics/ModelLine.h"
#include "compiler/diagnostics/Render.h"
#include "compiler/support/Json.h"

#include <algorithm>
#include <cstddef>

namespace tbem {

namespace {

std::string_view levelOf(Severity severity) {
  return severity == Severity::Error ? "error" : severity == Severity::Warning ? "warning" : "note";
}

/// A file's name as a reference (RFC 3986): what may not stand in a path is written as %XX.
std::string uriOf(std::string_view name) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos)
      uri += c;
    else
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return !uri.empty() && uri.front() == '/' ? "file://" + uri : uri;
}

void artifact(JsonWriter& w, const Source& source) { w.key("artifactLocation").begin().field("uri", uriOf(source.name)).end(); }

/// 3.30: lines and columns from 1, the end behind the last character.
void region(JsonWriter& w, std::string_view name, SrcRange range, const SourceManager& sources) {
  const LineColumn begin = sources.lineColumn(range.begin);
  const LineColumn end = sources.lineColumn(std::max(range.begin, range.end));
  w.key(name).begin().field("startLine", begin.line).field("startColumn", begin.column);
  w.field("endLine", end.line).field("endColumn", end.column).end();
}

void location(JsonWriter& w, SrcRange range, const SourceManager& sources) {
  const Source* source = sources.find(range.begin);
  if (source == nullptr) return;
  w.key("physicalLocation").begin();
  artifact(w, *source);
  region(w, "region", range, sources);
  w.end();
}

void text(JsonWriter& w, std::string_view name, std::string_view content) { w.key(name).begin().field("text", content).end(); }

std::string levelsText(const std::vector<std::pair<std::string, std::string>>& levels) {
  std::string made;
  for (const auto& [factor, level] : levels) made.append(made.empty() ? "" : ", ").append(factor).append(" = ").append(level);
  return made;
}

/// The message, the levels at which it happens, and the notes.
std::string messageOf(const Diagnostic& d) {
  std::string made = d.message;
  if (!d.levels.empty()) made += "\nat " + levelsText(d.levels);
  if (!d.also.empty()) made += " and " + std::to_string(d.also.size()) + " other combinations of levels";
  for (const std::string& note : d.notes) made += "\n" + note;
  return made;
}

/// 3.55: all of them together, by file. A model is not mended by what is replaced in the program that was written from it.
void fixes(JsonWriter& w, const Diagnostic& d, const SourceManager& sources) {
  std::vector<const Source*> files;
  for (const Fix& fix : d.fixes) {
    if (modelLineOf(sources, fix.range.begin).known()) return;
    const Source* source = sources.find(fix.range.begin);
    if (source != nullptr && std::find(files.begin(), files.end(), source) == files.end()) files.push_back(source);
  }
  if (files.empty()) return;
  w.key("fixes").beginList().begin().key("artifactChanges").beginList();
  for (const Source* file : files) {
    w.begin();
    artifact(w, *file);
    w.key("replacements").beginList();
    for (const Fix& fix : d.fixes) {
      if (sources.find(fix.range.begin) != file) continue;
      w.begin();
      region(w, "deletedRegion", fix.range, sources);
      text(w, "insertedContent", fix.replacement);
      w.end();
    }
    w.endList().end();
  }
  w.endList().end().endList();
}

void location(JsonWriter& w, const ModelLine& line) {
  w.key("physicalLocation").begin().key("artifactLocation").begin().field("uri", uriOf(line.file)).end();
  w.key("region").begin().field("startLine", line.line).end().end();
}

/// A place as a reader of the log can open it. What was written from a model is in the model: the program need not be a file of
/// the repository.
void openable(JsonWriter& w, SrcRange range, const SourceManager& sources) {
  const ModelLine model = modelLineOf(sources, range.begin);
  if (model.known())
    location(w, model);
  else
    location(w, range, sources);
}

/// The place of the result, and others.
void locations(JsonWriter& w, const Diagnostic& d, const SourceManager& sources) {
  if (sources.find(d.range.begin) != nullptr) {
    w.key("locations").beginList().begin();
    openable(w, d.range, sources);
    w.end().endList();
  }
  const auto isSomewhere = [&](const Label& label) {
    const Source* const source = sources.find(label.range.begin);
    return source != nullptr && !source->name.starts_with("<std>");  // the library is in no file that a reader has
  };
  if (std::none_of(d.labels.begin(), d.labels.end(), isSomewhere)) return;
  w.key("relatedLocations").beginList();
  for (const Label& label : d.labels) {
    if (!isSomewhere(label)) continue;
    w.begin();
    openable(w, label.range, sources);
    text(w, "message", label.text);
    w.end();
  }
  w.endList();
}

void result(JsonWriter& w, const Diagnostic& d, std::size_t rule, const SourceManager& sources) {
  w.begin().field("ruleId", info(d.kind).code).field("ruleIndex", rule).field("level", levelOf(d.severity));
  text(w, "message", messageOf(d));
  locations(w, d, sources);
  fixes(w, d, sources);
  w.end();
}

/// 3.49: a rule for each kind that is reported. Its help is the page of `tbemc explain`; the page's title describes it.
void rule(JsonWriter& w, Diag kind, const SarifTool& tool) {
  const DiagInfo& row = info(kind);
  const std::string_view page = tool.page(kind);
  const std::string_view title = page.substr(0, page.find('\n'));
  const std::size_t words = title.find(": ");
  w.begin().field("id", row.code).field("name", row.name);
  text(w, "shortDescription", words == std::string_view::npos ? row.message : title.substr(words + 2));
  if (!page.empty()) w.key("help").begin().field("text", page).field("markdown", page).end();
  w.key("defaultConfiguration").begin().field("level", levelOf(row.severity)).end();
  w.end();
}

}  // namespace

std::string renderSarifRun(const DiagnosticSink& sink, const SourceManager& sources, const SarifTool& tool) {
  std::vector<Diag> rules;
  for (const Diagnostic& one : sink.all()) {
    if (std::find(rules.begin(), rules.end(), one.kind) == rules.end()) rules.push_back(one.kind);
  }
  JsonWriter w;
  w.begin().key("tool").begin().key("driver").begin().field("name", "tbemc").field("version", tool.version);
  w.key("rules").beginList();
  for (const Diag kind : rules) rule(w, kind, tool);
  w.endList().end().end().field("columnKind", "unicodeCodePoints").key("results").beginList();
  for (const Diagnostic& one : sink.all())
    result(w, one, static_cast<std::size_t>(std::find(rules.begin(), rules.end(), one.kind) - rules.begin()), sources);
  return w.endList().end().str();
}

std::string sarifLog(const std::vector<std::string>& runs) {
  JsonWriter w;
  w.begin().field("$schema", "https://json.schemastore.org/sarif-2.1.0.json").field("version", "2.1.0");
  w.key("runs").beginList();
  for (const std::string& run : runs) w.raw(run);
  return w.endList().end().str();
}

}  // namespace tbem
