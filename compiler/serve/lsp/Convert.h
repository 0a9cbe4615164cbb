// Values of the server as the protocol writes them, and back. What is read throws nlohmann's exceptions where it is not what the
// protocol says.
#pragma once

#include "compiler/emit/OrderedJson.h"
#include "compiler/serve/Completion.h"
#include "compiler/serve/Hover.h"
#include "compiler/serve/Outline.h"
#include "compiler/serve/Signature.h"
#include "compiler/serve/Text.h"
#include "compiler/serve/lsp/Document.h"

#include <deque>
#include <string>

namespace tbem::serve {

Position positionOf(const Json& json);
Span spanOf(const Json& json);
Json toJson(Position position);
Json toJson(Span span);

/// Where a range lies that may be of another file of the program.
class Locations {
public:
  /// `libraryFolder`: where files of the embedded standard library are written when an editor is to open them.
  Locations(Encoding encoding, std::string libraryFolder) : encoding(encoding), libraryFolder(std::move(libraryFolder)) {}

  /// {"uri": .., "range": ..}; null where it lies nowhere, or in a file of the library that cannot be written.
  Json location(Document& document, SrcRange range) const;

private:
  std::string uriOfLibrary(const Source& source) const;

  Encoding encoding;
  std::string libraryFolder;
};

/// Of `textDocument/publishDiagnostics`: those of other files stand at the import that led to them, or where the file begins.
Json diagnosticsJson(Document& document, const std::deque<Diagnostic>& told, const Locations& locations);
/// `more`: Markdown below it; "": nothing.
Json hoverJson(Document& document, const Hover& hover, const std::string& more);
Json signatureJson(const SignatureHelp& help);
Json completionsJson(const Document& document, const Completions& completions, std::size_t place);
Json outlineJson(Document& document, const std::vector<Outlined>& outline);
Json foldsJson(const Document& document, const std::vector<Fold>& folds);
/// The relative form of `textDocument/semanticTokens`.
Json tokensJson(Document& document);
/// One edit that makes the text another one, or none.
Json editsTo(const Text& from, const std::string& to);

}  // namespace tbem::serve
