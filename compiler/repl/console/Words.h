// The words of a line, as a shell takes it apart.
#pragma once

#include <tl/expected.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::repl {

/// Blanks part words, but for those inside '..' and "..". Errors: a quote that is not closed.
tl::expected<std::vector<std::string>, std::string> splitWords(std::string_view line);

/// Where the first word that begins with `--` stands outside of brackets and quotes; npos: there is none.
std::size_t beginOfOptions(std::string_view line);

}  // namespace tbem::repl
