// An exported graph without nodes that give on what they are given, and with what is known of its weights. Internal to
// compiler/import.
#pragma once

#include "compiler/import/Exported.h"

namespace tbem::imports {

/// Finds Value::isShared, too. A node that writes into a part of a tensor that is read as a whole behind it has "in-place "
/// before its operator's name: it has no form in the language.
Exported simplified(Exported exported);

}  // namespace tbem::imports
