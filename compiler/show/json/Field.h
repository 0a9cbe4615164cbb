// A field of what `--json` prints, as data: its type, unit and meaning. The functions below make the tables in this folder read
// like their documentation:
//   seconds("latency", "of the step").orNull()
//   count("level_counts", "how often each level occurs").listed().keyed("FACTOR")      an object of lists of integers
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tbem::show {

enum class JsonType : std::uint8_t { String, Boolean, Integer, Number, Object, Any };

enum class JsonUnit : std::uint8_t {
  None,
  Count,
  Bytes,
  BytesPerSecond,
  Seconds,
  Hertz,
  Flops,
  FlopsPerByte,
  FlopsPerSecond,
  Joules,
  Share
};

/// "bytes", "FLOPs per second"; "" for none.
const char* unitText(JsonUnit unit);

/// What stands around a value: a list of such values, or an object whose names the program gives.
enum class JsonAround : std::uint8_t { List, Names };

struct JsonField {
  static constexpr std::size_t kMostAround = 2;

  std::string_view name;
  std::string_view means;
  std::string_view words;            ///< of a string: those it may be, with spaces between; "": any
  std::string_view when;             ///< where the field is there; "": always
  std::string_view key;              ///< what the names of JsonAround::Names are
  const JsonField* inner = nullptr;  ///< of an object: its fields, `innerCount` of them
  std::size_t innerCount = 0;
  std::size_t depth = 0;
  JsonType type = JsonType::Any;
  JsonUnit unit = JsonUnit::None;
  std::array<JsonAround, kMostAround> around{};  ///< `depth` of them, the innermost first
  std::array<bool, kMostAround + 1> nullable{};  ///< of the value itself, then of what stands around it

  constexpr std::span<const JsonField> fields() const { return {inner, innerCount}; }

  /// Null is another value of what has been said so far.
  constexpr JsonField orNull() const {
    JsonField field = *this;
    field.nullable[depth] = true;
    return field;
  }
  constexpr JsonField listed() const { return inside(JsonAround::List); }
  constexpr JsonField keyed(std::string_view names) const {
    JsonField field = inside(JsonAround::Names);
    field.key = names;
    return field;
  }
  constexpr JsonField oneOf(std::string_view these) const {
    JsonField field = *this;
    field.words = these;
    return field;
  }
  constexpr JsonField in(JsonUnit of) const {
    JsonField field = *this;
    field.unit = of;
    return field;
  }
  /// The field is not always there.
  constexpr JsonField only(std::string_view where) const {
    JsonField field = *this;
    field.when = where;
    return field;
  }

private:
  constexpr JsonField inside(JsonAround what) const {
    JsonField field = *this;
    field.around[field.depth++] = what;
    return field;
  }
};

/// Those of JsonField::words.
std::vector<std::string_view> wordsOf(const JsonField& field);

/// `measure`, `estimate`: an object of one line.
struct JsonKind {
  std::string_view name;
  std::string_view help;  ///< a sentence or two, Markdown
  const JsonField* inner = nullptr;
  std::size_t innerCount = 0;

  constexpr std::span<const JsonField> fields() const { return {inner, innerCount}; }
};

template <std::size_t N>
constexpr JsonKind jsonKind(std::string_view name, std::string_view help, const JsonField (&fields)[N]) {
  return {name, help, fields, N};
}

namespace fields {

constexpr JsonField field(std::string_view name, JsonType type, std::string_view means, JsonUnit unit = JsonUnit::None) {
  JsonField field;
  field.name = name;
  field.type = type;
  field.means = means;
  field.unit = unit;
  return field;
}

constexpr JsonField text(std::string_view name, std::string_view means) { return field(name, JsonType::String, means); }
constexpr JsonField truth(std::string_view name, std::string_view means) { return field(name, JsonType::Boolean, means); }
constexpr JsonField integer(std::string_view name, std::string_view means) { return field(name, JsonType::Integer, means); }
constexpr JsonField number(std::string_view name, std::string_view means) { return field(name, JsonType::Number, means); }
/// A value of any type, such as a level of a factor.
constexpr JsonField value(std::string_view name, std::string_view means) { return field(name, JsonType::Any, means); }
constexpr JsonField count(std::string_view name, std::string_view means) {
  return field(name, JsonType::Integer, means, JsonUnit::Count);
}
constexpr JsonField bytes(std::string_view name, std::string_view means) {
  return field(name, JsonType::Integer, means, JsonUnit::Bytes);
}
constexpr JsonField flops(std::string_view name, std::string_view means) {
  return field(name, JsonType::Integer, means, JsonUnit::Flops);
}
constexpr JsonField seconds(std::string_view name, std::string_view means) {
  return field(name, JsonType::Number, means, JsonUnit::Seconds);
}
constexpr JsonField share(std::string_view name, std::string_view means) {
  return field(name, JsonType::Number, means, JsonUnit::Share);
}
template <std::size_t N>
constexpr JsonField object(std::string_view name, std::string_view means, const JsonField (&inner)[N]) {
  JsonField made = field(name, JsonType::Object, means);
  made.inner = inner;
  made.innerCount = N;
  return made;
}

// Fields of many kinds.

/// Of an arena, or of static memory.
inline constexpr JsonField kKindsOfMemory[] = {
    bytes("weights", "weights"),
    bytes("gradients", "gradients of weights"),
    bytes("optimizer", "the optimiser's state"),
    bytes("buffers", "buffers"),
    bytes("activations", "activations"),
    bytes("input", "inputs"),
    bytes("constants", "constants"),
    bytes("workspace", "workspaces of calls"),
    bytes("gaps", "gaps of the plan; with them the kinds add up to the arena"),
};

inline constexpr JsonField kDesign = text("design", "the design's name");
inline constexpr JsonField kRow = integer("row", "the row's number, counted from 0");
inline constexpr JsonField kLevels = value("levels", "the row's level of each factor").keyed("FACTOR");
inline constexpr JsonField kNetwork = text("network", "the network's name");
inline constexpr JsonField kBackend = text("backend", "the backend's name");
inline constexpr JsonField kTune = text("tune", "the setting of `tune` ([algorithms.md](algorithms.md))");

}  // namespace fields

}  // namespace tbem::show
