#include "compiler/serve/lsp/Convert.h"

#include "compiler/serve/Tokens.h"
#include "runtime/files/Write.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace tbem::serve {

Position positionOf(const Json& json) {
  return {json.at("line").get<std::uint32_t>(), json.at("character").get<std::uint32_t>()};
}
Span spanOf(const Json& json) { return {positionOf(json.at("start")), positionOf(json.at("end"))}; }
Json toJson(Position position) { return {{"line", position.line}, {"character", position.character}}; }
Json toJson(Span span) { return {{"start", toJson(span.begin)}, {"end", toJson(span.end)}}; }

// ---- Places ---------------------------------------------------------------------------------------------------------

std::string Locations::uriOfLibrary(const Source& source) const {
  static constexpr std::string_view kEmbedded = "<std>/";
  if (!source.name.starts_with(kEmbedded)) return uriOf(source.name);
  const std::filesystem::path path = std::filesystem::path(libraryFolder) / source.name.substr(kEmbedded.size());
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) {
    std::filesystem::create_directories(path.parent_path(), unknown);
    if (unknown || !files::writeFile(path.string(), source.text)) return "";
  }
  return uriOf(path.string());
}

Json Locations::location(Document& document, SrcRange range) const {
  const Reading& reading = document.reading();
  if (!range.valid()) return nullptr;
  if (reading.isOwn(range)) return {{"uri", document.uri}, {"range", toJson(document.span(range))}};
  const Source* source = reading.sources().find(range.begin);
  if (source == nullptr) return nullptr;
  const std::string uri = uriOfLibrary(*source);
  if (uri.empty()) return nullptr;
  const Text text(source->text, encoding);
  return {{"uri", uri}, {"range", toJson(text.span(range.begin - source->base, range.end - source->base))}};
}

// ---- Diagnostics ----------------------------------------------------------------------------------------------------

namespace {

std::string levelsText(const std::vector<std::pair<std::string, std::string>>& levels) {
  std::string text;
  for (const auto& [factor, value] : levels) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", factor, value);
  return text;
}

std::string wholeMessage(const Diagnostic& diagnostic) {
  std::string text = diagnostic.message;
  if (!diagnostic.levels.empty()) text += "\nat " + levelsText(diagnostic.levels);
  for (const auto& levels : diagnostic.also) text += "\nand at " + levelsText(levels);
  for (const std::string& note : diagnostic.notes) text += "\nnote: " + note;
  return text;
}

/// Where a diagnostic of another file is shown in the document.
SrcRange standIn(const Reading& reading) {
  for (const ast::Decl* decl : reading.workspace.file().declarations) {
    if (decl->kind == ast::NodeKind::Import) return decl->range;
  }
  return {reading.source.base, reading.source.base};
}

constexpr int kUnnecessary = 1;  // DiagnosticTag

Json diagnosticJson(Document& document, const Diagnostic& diagnostic, const Locations& locations) {
  const Reading& reading = document.reading();
  const bool own = reading.isOwn(diagnostic.range);
  std::string message = wholeMessage(diagnostic);
  if (!own && diagnostic.range.valid()) message = reading.sources().describe(diagnostic.range.begin) + ": " + message;
  Json json = {{"range", toJson(document.span(own ? diagnostic.range : standIn(reading)))},
               {"severity", static_cast<int>(diagnostic.severity) + 1},
               {"code", info(diagnostic.kind).code},
               {"source", "tbemc"},
               {"message", message}};
  if (info(diagnostic.kind).name.find("unused") != std::string_view::npos) json["tags"] = Json::array({kUnnecessary});
  Json related = Json::array();
  const auto relate = [&](SrcRange range, const std::string& text) {
    if (Json location = locations.location(document, range); !location.is_null())
      related.push_back({{"location", std::move(location)}, {"message", text}});
  };
  for (const Label& label : diagnostic.labels) relate(label.range, label.text);
  if (!own) relate(diagnostic.range, diagnostic.message);
  if (!related.empty()) json["relatedInformation"] = std::move(related);
  return json;
}

}  // namespace

Json diagnosticsJson(Document& document, const std::deque<Diagnostic>& told, const Locations& locations) {
  Json list = Json::array();
  for (const Diagnostic& diagnostic : told) list.push_back(diagnosticJson(document, diagnostic, locations));
  return {{"uri", document.uri}, {"version", document.version()}, {"diagnostics", std::move(list)}};
}

// ---- Names ----------------------------------------------------------------------------------------------------------

Json hoverJson(Document& document, const Hover& hover, const std::string& more) {
  std::string text = fmt::format("```tbem\n{}\n```", hover.declaration);
  if (!hover.documentation.empty()) text += "\n\n" + hover.documentation;
  if (!more.empty()) text += "\n\n---\n\n" + more;
  return {{"contents", {{"kind", "markdown"}, {"value", text}}}, {"range", toJson(document.span(hover.range))}};
}

Json signatureJson(const SignatureHelp& help) {
  // Places in the label are counted in UTF-16, whatever was agreed for the document ("ParameterInformation").
  const Text label(help.text, Encoding::Utf16);
  const auto unit = [&](std::size_t place) { return label.position(place).character; };
  Json parameters = Json::array();
  for (const Piece one : help.parameters) parameters.push_back({{"label", {unit(one.begin), unit(one.end)}}});
  Json signature = {{"label", help.text}, {"parameters", std::move(parameters)}};
  if (!help.documentation.empty()) signature["documentation"] = {{"kind", "markdown"}, {"value", help.documentation}};
  Json all = {{"signatures", Json::array({std::move(signature)})}, {"activeSignature", 0}};
  if (help.active) all["activeParameter"] = *help.active;
  return all;
}

Json completionsJson(const Document& document, const Completions& completions, std::size_t place) {
  // CompletionItemKind, in the order of Completion::Kind.
  static constexpr int kKinds[] = {10, 6, 21, 3, 7, 22, 9, 14};
  const Json range = toJson(document.text().span(completions.begin, place));
  Json items = Json::array();
  for (const Completion& one : completions.list) {
    Json item = {{"label", one.label},
                 {"kind", kKinds[static_cast<std::size_t>(one.kind)]},
                 {"sortText", fmt::format("{:05}", items.size())},
                 {"textEdit", {{"range", range}, {"newText", one.insert}}}};
    if (!one.detail.empty()) item["detail"] = one.detail;
    if (!one.documentation.empty()) item["documentation"] = {{"kind", "markdown"}, {"value", one.documentation}};
    items.push_back(std::move(item));
  }
  return {{"isIncomplete", false}, {"items", std::move(items)}};
}

// ---- Text -----------------------------------------------------------------------------------------------------------

namespace {

/// SymbolKind.
int symbolKind(const ast::Decl& decl) {
  constexpr int kClass = 5, kInterface = 11, kFunction = 12, kVariable = 13, kConstant = 14, kStruct = 23;
  switch (decl.kind) {
    case ast::NodeKind::Callable:
      return ast::cast<ast::Callable>(decl).callable == ast::CallableKind::Operator ? kFunction : kClass;
    case ast::NodeKind::Function:
      return kFunction;
    case ast::NodeKind::Process:
      return kInterface;
    case ast::NodeKind::Constant:
      return kConstant;
    case ast::NodeKind::Dataset:
      return kVariable;
    default:
      return kStruct;
  }
}

constexpr int kProperty = 7;  // SymbolKind of a parameter or factor

}  // namespace

Json outlineJson(Document& document, const std::vector<Outlined>& outline) {
  Json list = Json::array();
  for (const Outlined& one : outline) {
    Json symbol = {{"name", one.name},
                   {"detail", one.detail},
                   {"kind", symbolKind(*one.decl)},
                   {"range", toJson(document.span(one.decl->range))},
                   {"selectionRange", toJson(document.span(one.word))}};
    Json parts = Json::array();
    for (const Outlined& part : one.parts) {
      const Json range = toJson(document.span(part.word));
      parts.push_back(
          {{"name", part.name}, {"detail", part.detail}, {"kind", kProperty}, {"range", range}, {"selectionRange", range}});
    }
    if (!parts.empty()) symbol["children"] = std::move(parts);
    list.push_back(std::move(symbol));
  }
  return list;
}

Json foldsJson(const Document& document, const std::vector<Fold>& folds) {
  Json list = Json::array();
  for (const Fold& fold : folds) {
    const Position begin = document.text().position(fold.begin), end = document.text().position(fold.end);
    // The line that closes stays to be seen.
    const std::uint32_t last = fold.what == Fold::What::Code && end.line > begin.line ? end.line - 1 : end.line;
    if (last <= begin.line) continue;
    Json one = {{"startLine", begin.line}, {"endLine", last}};
    if (fold.what == Fold::What::Comment) one["kind"] = "comment";
    if (fold.what == Fold::What::Imports) one["kind"] = "imports";
    list.push_back(std::move(one));
  }
  return list;
}

Json tokensJson(Document& document) {
  Json data = Json::array();
  Position last;
  for (const Token& token : tokensOf(document.reading())) {
    const Span span = document.span(token.range);
    if (span.end.line != span.begin.line) continue;
    const std::uint32_t lines = span.begin.line - last.line;
    data.push_back(lines);
    data.push_back(lines == 0 ? span.begin.character - last.character : span.begin.character);
    data.push_back(span.end.character - span.begin.character);
    data.push_back(static_cast<int>(token.type));
    data.push_back(static_cast<int>(token.modifiers));
    last = span.begin;
  }
  return {{"data", std::move(data)}};
}

Json editsTo(const Text& from, const std::string& to) {
  const std::string& text = from.all();
  if (text == to) return Json::array();
  // Whole lines at both ends stay as they are, so that an editor keeps its place.
  std::size_t begin =
      static_cast<std::size_t>(std::mismatch(text.begin(), text.end(), to.begin(), to.end()).first - text.begin());
  begin = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;  // npos + 1 is 0
  std::size_t behind = 0;
  const std::size_t most = std::min(text.size(), to.size()) - begin;
  while (behind < most && text[text.size() - 1 - behind] == to[to.size() - 1 - behind]) ++behind;
  while (behind > 0 && behind < text.size() && text[text.size() - behind - 1] != '\n') --behind;
  return Json::array(
      {{{"range", toJson(from.span(begin, text.size() - behind))}, {"newText", to.substr(begin, to.size() - behind - begin)}}});
}

}  // namespace tbem::serve
