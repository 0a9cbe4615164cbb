// What an unknown name was probably meant to be.
#pragma once

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/syntax/tree/Ast.h"

#include <string>
#include <string_view>
#include <vector>

namespace tbem::sema {

struct Module;

/// How a network that torchvision.models calls so is written here: "resnet(depth: 18)" for "resnet18"; "" for other names.
std::string_view asTorchvision(std::string_view name);

/// The packages ("timm and transformers") that have a network of this name which the standard library lacks; "" for other names.
std::string_view absentFamily(std::string_view name);

/// What a module's own files declare, in the order of letters.
std::vector<std::string> ownNames(const Module& module);

/// Adds to the report of an unknown name, in this order of trust: the standard module that declares it and must be imported, what
/// other frameworks call by that name, the nearest of `own` (what the program itself declares and binds, at any place), the
/// network of another package that is called so, the nearest of `candidates` (the names in scope).
void suggest(Diagnostic& report, const ast::Name& name, const std::vector<std::string>& candidates,
             const std::vector<std::string>& own);

/// The same for a parameter that is not declared: one whose name is near, or is part of the name given or has it as a part
/// (`kernel_size`, `bias`); else all of them.
void suggestParameter(Diagnostic& report, const ast::Name& name, const std::vector<std::string>& declared);

/// The type among these that other languages call `word`, or the nearest; "" where none is.
std::string nearestType(std::string_view word, const std::vector<std::string>& types);

/// The same for the type of a tensor's elements: "f16" for `half`.
std::string nearestElementType(std::string_view word);

/// Our name of an operator that other frameworks call so; "" where they do not.
std::string_view elsewhere(std::string_view name);

}  // namespace tbem::sema
