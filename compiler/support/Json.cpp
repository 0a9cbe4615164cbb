#include "compiler/support/Json.h"

#include "compiler/support/Unicode.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tbem {

std::string jsonString(std::string_view text) {
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; };
  std::string out = "\"";
  if (std::all_of(text.begin(), text.end(), plain)) return out.append(text) += '"';
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = decode(text, i);
    if (point.value == '"' || point.value == '\\') {
      out += '\\';
      out += static_cast<char>(point.value);
    } else if (point.value == '\n') {
      out += "\\n";
    } else if (point.value == '\t') {
      out += "\\t";
    } else if (point.value == '\r') {
      out += "\\r";
    } else if (!point.valid) {
      out += "\xEF\xBF\xBD";
    } else if (isControl(point.value)) {
      out += fmt::format("\\u{:04x}", point.value);
    } else {
      out += text.substr(i, point.bytes);
    }
    i += point.bytes;
  }
  return out + '"';
}

std::string printableJson(std::string_view json) {
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    const CodePoint point = decode(json, at);
    if (!point.valid)
      out += "\xEF\xBF\xBD";
    else if (point.value >= 0x7F && isControl(point.value))
      out += fmt::format("\\u{:04x}", point.value);
    else
      out += json.substr(at, point.bytes);
    at += point.bytes;
  }
  return out;
}

void JsonWriter::separate() {
  if (!afterKey && !first.empty()) {
    if (!first.back()) out += ',';
    first.back() = false;
  }
  afterKey = false;
}

JsonWriter& JsonWriter::open(char bracket) {
  separate();
  out += bracket;
  first.push_back(true);
  return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
  first.pop_back();
  out += bracket;
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  out += jsonString(name);
  out += ':';
  afterKey = true;
  lastKey = name;
  return *this;
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  out += json;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return raw(jsonString(text)); }
JsonWriter& JsonWriter::value(bool truth) { return raw(truth ? "true" : "false"); }
JsonWriter& JsonWriter::value(double number) {
  if (!std::isfinite(number)) {
    const bool isField = afterKey;
    null();
    const char* text = std::isnan(number) ? "nan" : number < 0 ? "-inf" : "inf";
    return isField ? field(lastKey + "_not_finite", text) : *this;
  }
  return raw(fmt::format("{}", number));
}

}  // namespace tbem
