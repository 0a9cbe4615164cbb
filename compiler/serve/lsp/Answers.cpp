// What the server answers to each request.
#include "compiler/serve/Completion.h"
#include "compiler/serve/Fixes.h"
#include "compiler/serve/Hover.h"
#include "compiler/serve/Names.h"
#include "compiler/serve/Outline.h"
#include "compiler/serve/Signature.h"
#include "compiler/serve/Tokens.h"
#include "compiler/serve/lsp/ConvertCosts.h"
#include "compiler/serve/lsp/Refused.h"
#include "compiler/serve/lsp/Server.h"
#include "compiler/syntax/format/Format.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tbem::serve {

namespace {

/// The encoding of places that the editor likes best of those that there are (LSP 3.17, "PositionEncodingKind").
Encoding agreedEncoding(const Json& parameters, std::string& name) {
  const Json general = parameters.value("capabilities", Json::object()).value("general", Json::object());
  for (const Json& one : general.value("positionEncodings", Json::array())) {
    name = one.get<std::string>();
    if (name == "utf-8") return Encoding::Utf8;
    if (name == "utf-16") return Encoding::Utf16;
    if (name == "utf-32") return Encoding::Utf32;
  }
  name = "utf-16";
  return Encoding::Utf16;
}

/// Whether the editor can be told that answers of this kind have changed.
bool asksAgain(const Json& workspace, const char* what) {
  return workspace.value(what, Json::object()).value("refreshSupport", false);
}

template <class List>
Json namesOf(const List& list) {
  Json names = Json::array();
  for (const std::string_view one : list) names.push_back(one);
  return names;
}

}  // namespace

const std::map<std::string_view, Server::Answer>& Server::answers() {
  static const std::map<std::string_view, Answer> table = {
      {"initialize", &Server::initialize},
      {"shutdown", &Server::shutdown},
      {"textDocument/hover", &Server::hover},
      {"textDocument/definition", &Server::definition},
      {"textDocument/references", &Server::references},
      {"textDocument/documentHighlight", &Server::highlights},
      {"textDocument/prepareRename", &Server::prepareRename},
      {"textDocument/rename", &Server::renamed},
      {"textDocument/completion", &Server::completion},
      {"textDocument/documentSymbol", &Server::symbols},
      {"textDocument/foldingRange", &Server::folds},
      {"textDocument/semanticTokens/full", &Server::tokens},
      {"textDocument/formatting", &Server::formatted},
      {"textDocument/codeAction", &Server::actions},
      {"textDocument/signatureHelp", &Server::signature},
      {"textDocument/inlayHint", &Server::hints},
      {"textDocument/codeLens", &Server::lenses},
  };
  return table;
}

Json Server::initialize(const Json& parameters) {
  if (locations) throw Refused{"the server was initialized before"};
  std::string name;
  encoding = agreedEncoding(parameters, name);
  locations.emplace(encoding, settings.libraryFolder);
  const Json editor = parameters.value("capabilities", Json::object());
  const Json workspace = editor.value("workspace", Json::object());
  showsProgress = editor.value("window", Json::object()).value("workDoneProgress", false);
  refreshesHints = asksAgain(workspace, "inlayHint");
  refreshesLenses = asksAgain(workspace, "codeLens");
  constexpr int kIncremental = 2;  // TextDocumentSyncKind
  const Json legend = {{"tokenTypes", namesOf(kTokenTypes)}, {"tokenModifiers", namesOf(kTokenModifiers)}};
  const Json capabilities = {{"positionEncoding", name},
                             {"textDocumentSync", {{"openClose", true}, {"change", kIncremental}, {"save", false}}},
                             {"hoverProvider", true},
                             {"definitionProvider", true},
                             {"referencesProvider", true},
                             {"documentHighlightProvider", true},
                             {"renameProvider", {{"prepareProvider", true}}},
                             {"completionProvider", {{"triggerCharacters", {".", "(", ":"}}}},
                             {"documentSymbolProvider", true},
                             {"foldingRangeProvider", true},
                             {"semanticTokensProvider", {{"legend", legend}, {"full", true}}},
                             {"documentFormattingProvider", true},
                             {"signatureHelpProvider", {{"triggerCharacters", {"(", ","}}, {"retriggerCharacters", {")", ";"}}}},
                             {"inlayHintProvider", true},
                             {"codeLensProvider", {{"resolveProvider", false}}},
                             {"codeActionProvider", {{"codeActionKinds", {"quickfix"}}}}};
  return {{"capabilities", capabilities}, {"serverInfo", {{"name", "tbemc"}, {"version", settings.version}}}};
}

Json Server::shutdown(const Json& /*parameters*/) {
  shuttingDown = true;
  return nullptr;
}

Document& Server::document(const Json& parameters) {
  const auto uri = parameters.at("textDocument").at("uri").get<std::string>();
  const auto found = documents.find(uri);
  if (found == documents.end()) throw Refused{fmt::format("{} is not open", uri)};
  return found->second;
}

// ---- Names ----------------------------------------------------------------------------------------------------------

Json Server::hover(const Json& parameters) {
  Document& open = document(parameters);
  const auto found = hoverAt(open.reading(), open.loc(positionOf(parameters.at("position"))));
  return found ? hoverJson(open, *found, costsAt(open, found->range)) : Json(nullptr);
}

Json Server::definition(const Json& parameters) {
  Document& open = document(parameters);
  Json list = Json::array();
  for (const SrcRange range : declarationsOf(open.reading(), open.loc(positionOf(parameters.at("position"))))) {
    if (Json location = locations->location(open, range); !location.is_null()) list.push_back(std::move(location));
  }
  return list;
}

Json Server::references(const Json& parameters) {
  Document& open = document(parameters);
  const Loc place = open.loc(positionOf(parameters.at("position")));
  const bool declarationToo = parameters.value("context", Json::object()).value("includeDeclaration", true);
  const std::vector<SrcRange> declarations = declarationsOf(open.reading(), place);
  Json list = Json::array();
  for (const SrcRange range : placesOf(open.reading(), place)) {
    if (declarationToo || std::ranges::find(declarations, range) == declarations.end())
      list.push_back(locations->location(open, range));
  }
  return list;
}

Json Server::highlights(const Json& parameters) {
  Document& open = document(parameters);
  Json list = Json::array();
  for (const SrcRange range : placesOf(open.reading(), open.loc(positionOf(parameters.at("position")))))
    list.push_back({{"range", toJson(open.span(range))}});
  return list;
}

Json Server::prepareRename(const Json& parameters) {
  Document& open = document(parameters);
  const auto word = renamable(open.reading(), open.loc(positionOf(parameters.at("position"))));
  if (!word) throw Refused{word.error()};
  return toJson(open.span(*word));
}

Json Server::edits(Document& open, const std::vector<SrcRange>& places, const std::string& name) {
  Json list = Json::array();
  for (const SrcRange place : places) list.push_back({{"range", toJson(open.span(place))}, {"newText", name}});
  return {{"changes", {{open.uri, std::move(list)}}}};
}

Json Server::renamed(const Json& parameters) {
  Document& open = document(parameters);
  const auto name = parameters.at("newName").get<std::string>();
  const auto places = rename(open.reading(), open.loc(positionOf(parameters.at("position"))), name);
  if (!places) throw Refused{places.error()};
  return edits(open, *places, name);
}

Json Server::completion(const Json& parameters) {
  Document& open = document(parameters);
  const std::size_t place = open.text().offset(positionOf(parameters.at("position")));
  return completionsJson(open, completionsAt(open.reading(), place), place);
}

Json Server::signature(const Json& parameters) {
  Document& open = document(parameters);
  const auto found = signatureAt(open.reading(), open.text().offset(positionOf(parameters.at("position"))));
  return found ? signatureJson(*found) : Json(nullptr);
}

// ---- Costs ----------------------------------------------------------------------------------------------------------

Json Server::hints(const Json& parameters) {
  const Document& open = document(parameters);
  return hintsJson(open, spanOf(parameters.at("range")));
}

Json Server::lenses(const Json& parameters) { return lensesJson(document(parameters)); }

// ---- Text -----------------------------------------------------------------------------------------------------------

Json Server::symbols(const Json& parameters) {
  Document& open = document(parameters);
  return outlineJson(open, outlineOf(open.reading()));
}

Json Server::folds(const Json& parameters) {
  Document& open = document(parameters);
  return foldsJson(open, foldsOf(open.reading()));
}

Json Server::tokens(const Json& parameters) { return tokensJson(document(parameters)); }

Json Server::formatted(const Json& parameters) {
  Document& open = document(parameters);
  Session session;
  const std::optional<std::string> text = syntax::format(session.sources.add(open.path, open.text().all()), session.sink);
  return text ? editsTo(open.text(), *text) : Json::array();
}

Json Server::actions(const Json& parameters) {
  Document& open = document(parameters);
  const Span span = spanOf(parameters.at("range"));
  Json list = Json::array();
  for (const OfferedFix& fix : fixesAt(open.reading(), {open.loc(span.begin), open.loc(span.end)})) {
    Json edits = Json::array();
    for (const Fix& edit : fix.edits) edits.push_back({{"range", toJson(open.span(edit.range))}, {"newText", edit.replacement}});
    list.push_back({{"title", fix.title},
                    {"kind", "quickfix"},
                    {"isPreferred", fix.certain && fix.of != nullptr},
                    {"edit", {{"changes", {{open.uri, std::move(edits)}}}}}});
  }
  return list;
}

}  // namespace tbem::serve
