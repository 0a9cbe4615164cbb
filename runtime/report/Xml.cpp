#include "runtime/report/Xml.h"

namespace tbem::report {

std::string escapeXml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
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
      default:
        if (static_cast<unsigned char>(c) >= 0x20)
          out += c;
        else if (c == '\n' || c == '\t')
          out += ' ';  // other controls are not allowed in XML
    }
  }
  return out;
}

}  // namespace tbem::report
