// To a declaration, to its uses, and another name for it.
#pragma once

#include "compiler/serve/Reading.h"

#include <tl/expected.hpp>

#include <string>
#include <vector>

namespace tbem::serve {

/// Where the names at this place are declared, in any file of the program.
std::vector<SrcRange> declarationsOf(const Reading& reading, Loc place);

/// All places of the program's own file where the name at this place stands, its declaration among them.
std::vector<SrcRange> placesOf(const Reading& reading, Loc place);

/// The word at this place, if it can have another name. Errors: why not, in a sentence.
tl::expected<SrcRange, std::string> renamable(const Reading& reading, Loc place);

/// The places that get the new name. The program with it is read again and each name in it means what it meant before. Errors:
/// why it cannot be called so, in a sentence.
tl::expected<std::vector<SrcRange>, std::string> rename(const Reading& reading, Loc place, const std::string& name);

}  // namespace tbem::serve
