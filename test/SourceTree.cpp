// The one file that is compiled with the tree's path: all others are the same for every checkout, and found in a compiler's
// cache.
#include "test/SourceTree.h"

namespace tbem::test {

std::string inSources(std::string_view path) { return std::string(TBEM_SOURCE_DIR "/").append(path); }

}  // namespace tbem::test
