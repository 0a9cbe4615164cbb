// What `tbemc doc` shows: a module's declarations, a line each, or a declaration's documentation and text, or what a search
// finds. What is printed is what the compiler reads: there is no second source. Of a word of the language it is docs/words.md.
#pragma once

#include "compiler/experiment/Workspace.h"
#include "compiler/show/Out.h"

#include <string>

namespace tbem::driver {

/// Of the program's own file and of the standard modules that it has loaded: a module (std.nn), or declarations (conv2d,
/// std.nn.conv2d), and behind these what the language itself calls so (skip, i64). Errors: there is none of that name.
tl::expected<void, Failed> printDoc(show::Out& out, const Workspace& workspace, const std::string& name);

/// Every public declaration of the standard modules that are loaded, with its documentation and text.
void printLibrary(show::Out& out, const Workspace& workspace);

/// The declarations of the program's own file, a line each.
void listProgram(show::Out& out, const Workspace& workspace);

/// The declarations, and the words of the language, that have every word (DocSearch.h says where); a line each, those first whose
/// names have them. Errors: there is none.
tl::expected<void, Failed> searchDocs(show::Out& out, const Workspace& workspace, const std::string& words);

}  // namespace tbem::driver
