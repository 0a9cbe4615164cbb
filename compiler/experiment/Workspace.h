// A program in memory: its sources, modules and declarations by kind. Every command that takes FILE or -e begins with one.
#pragma once

#include "compiler/diagnostics/Session.h"
#include "compiler/experiment/Request.h"
#include "compiler/sema/Modules.h"
#include "compiler/support/Failed.h"

#include <tl/expected.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tbem::driver {

/// Reads a file, standard input ("-") or what a shell hands over as a pipe (files::readText). Errors: kEnvironment, why it cannot
/// be read.
tl::expected<const Source*, Failed> readSource(Session& session, const std::string& path);

struct Workspace {
  Session session;
  std::string path;  ///< of the program; "" for -e, "-" where it can be read but once (files::isInherited)
  sema::LoadOptions load;
  std::unique_ptr<sema::Program> program;

  const ast::File& file() const { return *program->main().files.front(); }
  /// All declarations of one kind in the program's own file, in order.
  template <class T>
  std::vector<const T*> all() const {
    std::vector<const T*> found;
    for (const ast::Decl* decl : file().declarations) {
      if (const T* one = ast::dynCast<T>(decl)) found.push_back(one);
    }
    return found;
  }
  /// "table1.tbem" -> "table1" + extension, beside the program; "" where the program is no file.
  std::string beside(const std::string& extension) const;
};

/// Parses and loads what the command line names: a file, standard input, or -e. A network given by -e, or a file that has
/// networks but no design and is given --input, gets a design of one row. Diagnostics are left in the session. Errors:
/// kEnvironment (the file cannot be read), kUsage (--input is not what the program can be given).
tl::expected<std::unique_ptr<Workspace>, Failed> loadWorkspace(const Request& request, const std::string& path);
/// The program of a text. `name`: what messages call it; `path`: as Workspace::path. Diagnostics are left in the session.
std::unique_ptr<Workspace> workspaceOf(std::string path, std::string name, std::string text, const sema::LoadOptions& load);
/// The same program with another text of its file; what it imports is looked for in the same places.
std::unique_ptr<Workspace> withText(const Workspace& from, std::string text);
/// The same for the first of `request.program.files`.
tl::expected<std::unique_ptr<Workspace>, Failed> loadWorkspace(const Request& request);

}  // namespace tbem::driver
