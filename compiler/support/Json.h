// A small writer of JSON lines. Keys and texts are escaped; bytes that are not UTF-8 become U+FFFD; a number that is not finite
// becomes null, and where it has a key a field KEY_not_finite behind it says "inf", "-inf" or "nan".
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbem {

/// `text` in quotes, escaped; so are the controls that JSON itself allows (Unicode.h).
std::string jsonString(std::string_view text);
/// JSON from elsewhere, with such controls escaped and bytes that are not UTF-8 replaced. Its values are the same.
std::string printableJson(std::string_view json);

/// Use: `JsonWriter w; w.begin().field("kind", "check").key("rows").beginList().value(1).endList().end(); print(w.str());`
class JsonWriter {
public:
  JsonWriter& begin() { return open('{'); }
  JsonWriter& end() { return close('}'); }
  JsonWriter& beginList() { return open('['); }
  JsonWriter& endList() { return close(']'); }
  JsonWriter& key(std::string_view name);
  JsonWriter& value(std::string_view text);
  JsonWriter& value(const char* text) { return value(std::string_view(text)); }
  JsonWriter& value(const std::string& text) { return value(std::string_view(text)); }
  JsonWriter& value(double number);
  JsonWriter& value(bool truth);
  template <std::integral T>
  requires(!std::same_as<T, bool>) JsonWriter& value(T number) { return raw(std::to_string(number)); }
  JsonWriter& null() { return raw("null"); }
  /// Text that is JSON already.
  JsonWriter& raw(std::string_view json);
  template <class T>
  JsonWriter& field(std::string_view name, const T& content) {
    key(name);
    return value(content);
  }
  const std::string& str() const { return out; }

private:
  JsonWriter& open(char bracket);
  JsonWriter& close(char bracket);
  void separate();
  std::string out;
  std::vector<bool> first;  ///< one an open bracket: nothing written in it yet
  bool afterKey = false;
  std::string lastKey;  ///< of the last `key`
};

}  // namespace tbem
