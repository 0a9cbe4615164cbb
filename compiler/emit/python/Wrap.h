// Lines of Python of at most 88 columns, broken as Black breaks them (the formatter's own description: "The Black code style").
#pragma once

#include <string>
#include <string_view>

namespace tbem::emit {

/// A logical line, which has no line breaks, with `indent` spaces before it. Ends in a line break.
std::string wrapped(std::size_t indent, std::string_view line);

}  // namespace tbem::emit
