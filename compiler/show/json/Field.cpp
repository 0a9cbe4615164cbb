#include "compiler/show/json/Field.h"

#include <algorithm>

namespace tbem::show {

const char* unitText(JsonUnit unit) {
  switch (unit) {
    case JsonUnit::None:
      return "";
    case JsonUnit::Count:
      return "count";
    case JsonUnit::Bytes:
      return "bytes";
    case JsonUnit::BytesPerSecond:
      return "bytes per second";
    case JsonUnit::Seconds:
      return "seconds";
    case JsonUnit::Hertz:
      return "hertz";
    case JsonUnit::Flops:
      return "FLOPs";
    case JsonUnit::FlopsPerByte:
      return "FLOPs per byte";
    case JsonUnit::FlopsPerSecond:
      return "FLOPs per second";
    case JsonUnit::Joules:
      return "joules";
    case JsonUnit::Share:
      return "share";
  }
  return "";
}

std::vector<std::string_view> wordsOf(const JsonField& field) {
  std::vector<std::string_view> words;
  for (std::string_view rest = field.words; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

}  // namespace tbem::show
