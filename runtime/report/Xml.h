// Text inside SVG. Private to this folder.
#pragma once

#include <string>
#include <string_view>

namespace tbem::report {

/// With `& < > "` written as entities; line ends and tabs become spaces. What a terminal would obey and bytes that are not UTF-8
/// are escaped (compiler/support/Unicode.h); so are U+FFFE and U+FFFF, which XML does not allow.
std::string escapeXml(std::string_view text);

}  // namespace tbem::report
