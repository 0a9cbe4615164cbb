// Prose at the width of a terminal: lines end between words.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tbem::show {

/// `left`, and `text` from column `indent` on, wrapped at words at `width` columns; on a line of its own where `left` reaches
/// there.
std::string hanging(const std::string& left, std::string_view text, std::size_t indent, std::size_t width);

/// Lines of prose for standard output or standard error: those that are wider than the terminal (or COLUMNS) go on below, as far
/// indented. As they are where nobody says how wide it is: who reads a pipe finds a sentence in one line.
std::string wrapped(std::string_view text, int descriptor);

}  // namespace tbem::show
