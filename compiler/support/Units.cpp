#include "compiler/support/Units.h"

#include <array>

namespace tbem {

namespace {
constexpr std::int64_t k = 1000;
constexpr std::int64_t ki = 1024;

constexpr std::array kUnits{
    UnitWord{"B", Dimension::Bytes, {1, 1}},
    UnitWord{"KB", Dimension::Bytes, {k, 1}},
    UnitWord{"KiB", Dimension::Bytes, {ki, 1}},
    UnitWord{"MB", Dimension::Bytes, {k * k, 1}},
    UnitWord{"MiB", Dimension::Bytes, {ki * ki, 1}},
    UnitWord{"GB", Dimension::Bytes, {k * k * k, 1}},
    UnitWord{"GiB", Dimension::Bytes, {ki * ki * ki, 1}},
    UnitWord{"TB", Dimension::Bytes, {k * k * k * k, 1}},
    UnitWord{"TiB", Dimension::Bytes, {ki * ki * ki * ki, 1}},
    UnitWord{"ns", Dimension::Seconds, {1, k* k* k}},
    UnitWord{"us", Dimension::Seconds, {1, k* k}},
    UnitWord{"ms", Dimension::Seconds, {1, k}},
    UnitWord{"s", Dimension::Seconds, {1, 1}},
    UnitWord{"min", Dimension::Seconds, {60, 1}},
    UnitWord{"h", Dimension::Seconds, {3600, 1}},
    UnitWord{"mJ", Dimension::Joules, {1, k}},
    UnitWord{"J", Dimension::Joules, {1, 1}},
    UnitWord{"kJ", Dimension::Joules, {k, 1}},
    UnitWord{"Wh", Dimension::Joules, {3600, 1}},
    UnitWord{"W", Dimension::Watts, {1, 1}},
    UnitWord{"FLOP", Dimension::Flops, {1, 1}},
    UnitWord{"kFLOP", Dimension::Flops, {k, 1}},
    UnitWord{"MFLOP", Dimension::Flops, {k * k, 1}},
    UnitWord{"GFLOP", Dimension::Flops, {k * k * k, 1}},
    UnitWord{"TFLOP", Dimension::Flops, {k * k * k * k, 1}},
    UnitWord{"PFLOP", Dimension::Flops, {k * k * k * k * k, 1}},
    UnitWord{"Hz", Dimension::Hertz, {1, 1}},
    UnitWord{"kHz", Dimension::Hertz, {k, 1}},
    UnitWord{"MHz", Dimension::Hertz, {k * k, 1}},
    UnitWord{"GHz", Dimension::Hertz, {k * k * k, 1}},
};
}  // namespace

std::span<const UnitWord> unitWords() { return kUnits; }

const UnitWord* findUnit(std::string_view word) {
  for (const UnitWord& unit : kUnits) {
    if (unit.word == word) return &unit;
  }
  return nullptr;
}

std::string_view describe(Dimension dimension) {
  switch (dimension) {
    case Dimension::Bytes:
      return "bytes";
    case Dimension::Seconds:
      return "seconds";
    case Dimension::Joules:
      return "joules";
    case Dimension::Watts:
      return "watts";
    case Dimension::Flops:
      return "FLOPs";
    case Dimension::Hertz:
      return "hertz";
  }
  return "";
}

std::string_view baseUnit(Dimension dimension) {
  switch (dimension) {
    case Dimension::Bytes:
      return "B";
    case Dimension::Seconds:
      return "s";
    case Dimension::Joules:
      return "J";
    case Dimension::Watts:
      return "W";
    case Dimension::Flops:
      return "FLOP";
    case Dimension::Hertz:
      return "Hz";
  }
  return "";
}

}  // namespace tbem
