// Which declaration each name of a program means, and back: what an editor asks to go to a declaration, to show what a name is
// and to rename it.
#pragma once

#include "compiler/sema/Modules.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tbem::sema {

enum class NameKind : std::uint8_t {
  // Inside a declaration
  Let,
  Var,
  Loop,
  Label,  ///< of a `for`: `as stage`
  Parameter,
  Tensor,
  Dimension,
  Weight,
  Buffer,
  Result,
  Factor,
  // At top level
  Constant,
  Function,
  Callable,  ///< operator, block or network
  Process,
  Design,
  Regression,
  Training,
  Dataset,
  Declared,  ///< what else is declared: a mutation's or perturbation's name
  Module,
  // Without a declaration
  Builtin,     ///< the language's own: functions, element types, `training`, words of element-wise expressions
  Elaborated,  ///< known when the graph is built: arguments of a parameter that is a block, places in a body, fields of values
};

/// A name at a place. A declaration is the use of itself: both ranges are the same.
struct Use {
  SrcRange range;        ///< the word; of `dy` in a gradient: `y`
  SrcRange declaration;  ///< the word that declares it; empty, where it begins, of a result without a name and of a module;
                         ///< invalid: none
  NameKind kind{};
  bool isDeclaration() const { return range == declaration; }
};

/// A factor is declared by its design and is also a use of the parameter that it fills: then two stand at one place. So are names
/// that `...` hands on.
class Uses {
public:
  Uses() = default;
  explicit Uses(std::vector<Use> found);

  /// All, by place. A loop over those of a value that ends before it would read what is gone.
  std::span<const Use> all() const& { return list; }
  std::span<const Use> all() const&& = delete;
  /// Those whose word holds this place: none, one, or one for each declaration that is meant.
  std::span<const Use> at(Loc place) const;
  /// Where a declaration is used, itself among them, by place.
  std::vector<SrcRange> usesOf(SrcRange declaration) const;
  /// What has to be renamed with a declaration: its uses, and those of declarations that share a place with one of them.
  std::vector<SrcRange> sameName(SrcRange declaration) const;

private:
  std::vector<Use> list;
  std::vector<std::uint32_t> byDeclaration;  ///< into `list`
};

/// Of all modules of the program, the standard library's too. Names that mean nothing are left out; nothing is reported.
Uses findUses(const Program& program);
/// Of one of its modules.
Uses findUses(const Program& program, const Module& module);

}  // namespace tbem::sema
