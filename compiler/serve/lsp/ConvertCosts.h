// What a program's designs take, as the protocol's hints, lenses and the lower part of a hover.
#pragma once

#include "compiler/emit/OrderedJson.h"
#include "compiler/serve/lsp/Document.h"

#include <string>

namespace tbem::serve {

/// Of `textDocument/inlayHint`: shapes behind calls, of the first design that makes the call. Empty while they are not known.
Json hintsJson(const Document& document, Span where);
/// Of `textDocument/codeLens`: what designs take, and the lines at which memory is highest. Empty while that is not known.
Json lensesJson(const Document& document);
/// Markdown: what the call takes whose callee stands there, or that gives its value to the `let` whose name stands there, in each
/// design that makes it. "" while that is not known, and of other places.
std::string costsAt(Document& document, SrcRange word);

}  // namespace tbem::serve
