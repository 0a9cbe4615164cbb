#include "compiler/support/Csv.h"

#include <algorithm>
#include <utility>

namespace tbem {

namespace {

constexpr const char* kQuoteHelp = "a field that holds commas, quotes or line ends stands in quotes, in which `\"\"` is a quote";

bool blank(char c) { return c == ' ' || c == '\t'; }

std::string csvField(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_of(",\"\r\n") == std::string::npos && text.front() != ' ' &&
                     text.front() != '\t' && text.back() != ' ' && text.back() != '\t' && !text.starts_with("\xEF\xBB\xBF");
  if (plain) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

CsvReader::CsvReader(std::string_view text) : text(text) {
  if (text.starts_with("\xEF\xBB\xBF")) at = 3;
}

bool CsvReader::next(std::vector<CsvField>& fields) {
  while (at < text.size()) {
    fields.clear();
    do {
      fields.push_back(field());
    } while (!fault && at < text.size() && text[at] == ',' && ++at <= text.size());
    if (fault) return false;
    if (!endLine()) return fail(at, at + 1, "behind a field in quotes stands more", kQuoteHelp);
    if (fields.size() > 1 || fields.front().begin != fields.front().end) return true;
  }
  return false;
}

bool CsvReader::fail(std::size_t begin, std::size_t end, std::string cause, std::string wayOut) {
  fault = CsvFault{begin, std::min(end, text.size()), std::move(cause), std::move(wayOut)};
  return false;
}

void CsvReader::skipBlanks() {
  while (at < text.size() && blank(text[at])) ++at;
}

bool CsvReader::endLine() {
  const std::size_t before = at;
  if (at < text.size() && text[at] == '\r') ++at;
  if (at < text.size() && text[at] == '\n') ++at;
  return at == text.size() || at > before;
}

CsvField CsvReader::field() {
  skipBlanks();
  return at < text.size() && text[at] == '"' ? quoted() : plain();
}

CsvField CsvReader::plain() {
  CsvField made;
  made.begin = at;
  while (at < text.size() && text[at] != ',' && text[at] != '\n' && text[at] != '\r' && text[at] != '"') ++at;
  if (at < text.size() && text[at] == '"')
    fail(at, at + 1, "a quote stands inside a field that does not begin with one", kQuoteHelp);
  made.end = at;
  while (made.end > made.begin && blank(text[made.end - 1])) --made.end;
  made.text = text.substr(made.begin, made.end - made.begin);
  return made;
}

CsvField CsvReader::quoted() {
  CsvField made;
  made.begin = at++;
  for (;; ++at) {
    if (at >= text.size()) {
      fail(made.begin, made.begin + 1, "this quote has no end", kQuoteHelp);
      break;
    }
    if (text[at] == '"') {
      if (at + 1 >= text.size() || text[at + 1] != '"') break;
      ++at;
    }
    made.text += text[at];
  }
  at = std::min(at + 1, text.size());
  made.end = at;
  skipBlanks();
  return made;
}

std::string csvLine(std::span<const std::string> fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + csvField(fields[i]);
  return line + "\n";
}

std::string csvLine(std::span<const std::optional<std::string>> fields) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + (fields[i] ? csvField(*fields[i]) : "");
  return line + "\n";
}

}  // namespace tbem
