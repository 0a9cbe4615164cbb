// Where the files of this source tree lie, for tests that read them.
#pragma once

#include <string>
#include <string_view>

namespace tbem::test {

/// The path of a file or folder that is named from the top of the tree: "stdlib/nn".
std::string inSources(std::string_view path);

}  // namespace tbem::test
