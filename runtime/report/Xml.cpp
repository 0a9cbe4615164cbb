#include "runtime/report/Xml.h"

#include "compiler/support/Unicode.h"

namespace tbem::report {

std::string escapeXml(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode(text, at);
    switch (point.value) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
      case '\t':
        out += ' ';
        break;
      case 0xFFFE:
        out += "\\u{fffe}";
        break;
      case 0xFFFF:
        out += "\\u{ffff}";
        break;
      default:
        out += shownAt(text, at, point);
    }
    at += point.bytes;
  }
  return out;
}

}  // namespace tbem::report
