// A program as the questions of an editor are asked of it: read, and not necessarily right.
#pragma once

#include "compiler/experiment/Workspace.h"
#include "compiler/sema/check/Uses.h"

#include <optional>
#include <string_view>

namespace tbem::serve {

inline bool holds(SrcRange outer, SrcRange inner) { return outer.begin <= inner.begin && inner.end <= outer.end; }

/// A declaration and where it stands.
struct Declared {
  const ast::Decl* decl = nullptr;
  const sema::Module* module = nullptr;
};

class Reading {
public:
  /// The workspace has a program, and outlives this.
  explicit Reading(const driver::Workspace& workspace);

  const driver::Workspace& workspace;
  const Source& source;  ///< of the program's own file

  const sema::Program& program() const { return *workspace.program; }
  const SourceManager& sources() const { return workspace.session.sources; }
  /// Of the program's own file, found when they are first asked for.
  const sema::Uses& uses() const;
  bool isOwn(SrcRange range) const { return range.begin >= source.base && range.end <= source.base + source.text.size(); }
  /// The declaration at top level, of any module, whose name stands there.
  Declared named(SrcRange name) const;
  /// The declaration at top level that holds this range.
  Declared holding(SrcRange range) const;

private:
  mutable std::optional<sema::Uses> found;
};

}  // namespace tbem::serve
