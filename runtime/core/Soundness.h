// What a compiler's bug would make of memory, found before it does: executables that contradict themselves or each other.
#pragma once

#include "tbem/executable.h"

#include <span>
#include <string>

namespace tbem::runtime {

/// What is wrong with an executable as a description; "" if nothing.
std::string checkExecutable(const Executable& executable);

/// Why these executables, each sound by itself, cannot have one arena; "" if they can: a storage that two of them have differs in
/// type, shape or place; two storages lie over each other; one has a temporary below the end of what is persistent.
std::string checkTogether(std::span<const Executable* const> executables);

}  // namespace tbem::runtime
