#include "compiler/show/WrappedText.h"

#include "runtime/report/Numbers.h"
#include "runtime/report/Table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace tbem::show {

namespace {

std::string trimmed(const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1); }

}  // namespace

std::string hanging(const std::string& left, std::string_view text, std::size_t indent, std::size_t width) {
  std::string out, line = left;
  std::size_t used = report::displayWidth(left);
  const auto begin = [&] {
    line += std::string(indent - std::min(indent, used), ' ');
    used = std::max(used, indent);
  };
  const auto end = [&] {
    out += trimmed(line) + "\n";
    line.clear();
    used = 0;
  };
  if (used >= indent && !left.empty() && !text.empty()) end();
  begin();
  bool isFirst = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find(' ', at), text.size());
    const std::string word(text.substr(at, stop - at));
    const std::size_t columns = report::displayWidth(word);
    if (!isFirst && used + 1 + columns > width) {
      end();
      begin();
      isFirst = true;
    }
    line += (isFirst ? "" : " ") + word;
    used += columns + (isFirst ? 0 : 1);
    isFirst = false;
    at = stop + 1;
  }
  end();
  return out;
}

std::string wrapped(std::string_view text, int descriptor) {
  if (isatty(descriptor) != 1 && std::getenv("COLUMNS") == nullptr) return std::string(text);
  const std::size_t width = report::terminalWidth(descriptor);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line(text.substr(at, end - at));
    const bool fits = report::displayWidth(line) <= width;
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    std::string shown = fits ? line + "\n" : hanging("", line.substr(indent), indent, width);
    if (end == text.size()) shown.pop_back();
    out += shown;
    at = end + 1;
  }
  return out;
}

}  // namespace tbem::show
