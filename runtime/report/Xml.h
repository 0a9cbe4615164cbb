// Text inside SVG. Private to this folder.
#pragma once

#include <string>
#include <string_view>

namespace tbem::report {

/// With `& < > "` written as entities; line ends and tabs become spaces, other controls, which XML does not allow, are left out.
std::string escapeXml(std::string_view text);

}  // namespace tbem::report
