#include "runtime/backends/cpu/ops/Carry.h"

#include "runtime/backends/cpu/ops/Parallel.h"
#include "runtime/core/Layout.h"
#include "runtime/core/NarrowFloat.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

namespace tbem::cpu {
namespace {

/// Runs shorter than this are not worth a copy of their own: the last dimension is then walked by its tables.
constexpr std::int64_t kShortRun = 4;

std::vector<Run> runsOf(const CarriedAxis& axis) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < axis.to.size(); ++i) {
    if (!runs.empty() && axis.from[i] == runs.back().from + runs.back().length &&
        axis.to[i] == runs.back().to + runs.back().length) {
      ++runs.back().length;
    } else {
      runs.push_back({axis.from[i], axis.to[i], 1});
    }
  }
  return runs;
}

/// The step that a table takes from each coordinate to the next, where it is always the same.
std::optional<std::int64_t> stepOf(const std::vector<std::int64_t>& table) {
  for (std::size_t i = 2; i < table.size(); ++i) {
    if (table[i] - table[i - 1] != table[1] - table[0]) return std::nullopt;
  }
  return table[1] - table[0];
}

/// Makes runs longer: those that touch become one, and an axis along which every run goes on where it ended is taken in.
void lengthen(Carriage& carriage) {
  std::vector<Run>& runs = carriage.runs;
  bool changed = true;
  while (changed) {
    std::vector<Run> joined;
    for (const Run& run : runs) {
      if (!joined.empty() && run.from == joined.back().from + joined.back().length &&
          run.to == joined.back().to + joined.back().length) {
        joined.back().length += run.length;
      } else {
        joined.push_back(run);
      }
    }
    runs = std::move(joined);
    const std::int64_t length = runs.front().length;
    const bool even = std::all_of(runs.begin(), runs.end(), [&](const Run& run) { return run.length == length; });
    const auto next = std::find_if(carriage.axes.begin(), carriage.axes.end(), [&](const CarriedAxis& axis) {
      return even && stepOf(axis.from) == length && stepOf(axis.to) == length;
    });
    changed = next != carriage.axes.end();
    if (!changed) break;
    for (Run& run : runs) run.from += next->from.front(), run.to += next->to.front(), run.length *= next->size();
    carriage.axes.erase(next);
  }
}

template <class From, class To>
void copyRun(const From* from, To* to, std::int64_t length) {
  if constexpr (std::is_same_v<From, To>) {
    std::memcpy(to, from, static_cast<std::size_t>(length) * sizeof(To));
  } else {
    for (std::int64_t i = 0; i < length; ++i) to[i] = static_cast<To>(from[i]);
  }
}

/// Every run at every coordinate of the last axis, from one place.
template <class From, class To>
void carryPiece(const Carriage& carriage, const From* x, To* y) {
  if (carriage.axes.empty()) {
    for (const Run& run : carriage.runs) copyRun(x + run.from, y + run.to, run.length);
    return;
  }
  const CarriedAxis& last = carriage.axes.back();
  const auto count = static_cast<std::size_t>(last.size());
  if (carriage.runs.size() == 1 && carriage.runs.front().length == 1) {
    x += carriage.runs.front().from, y += carriage.runs.front().to;
    for (std::size_t i = 0; i < count; ++i) y[last.to[i]] = static_cast<To>(x[last.from[i]]);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (const Run& run : carriage.runs) copyRun(x + last.from[i] + run.from, y + last.to[i] + run.to, run.length);
  }
}

template <class From, class To>
void carryAll(const Carriage& carriage, const void* source, void* destination, int threads) {
  const auto* x = static_cast<const From*>(source);
  auto* y = static_cast<To*>(destination);
  const std::size_t outer = carriage.axes.empty() ? 0 : carriage.axes.size() - 1;
  std::int64_t pieces = 1;
  for (std::size_t d = 0; d < outer; ++d) pieces *= carriage.axes[d].size();
  parallelFor(threads, pieces, carriage.elements, [&](std::int64_t piece) {
    std::int64_t from = 0, to = 0;
    for (std::size_t d = outer; d-- > 0; piece /= carriage.axes[d].size()) {
      const auto at = static_cast<std::size_t>(piece % carriage.axes[d].size());
      from += carriage.axes[d].from[at], to += carriage.axes[d].to[at];
    }
    carryPiece(carriage, x + from, y + to);
  });
}

using Function = void (*)(const Carriage&, const void*, void*, int);

Function sameType(std::uint64_t bytes) {
  switch (bytes) {
    case 1:
      return carryAll<std::uint8_t, std::uint8_t>;
    case 2:
      return carryAll<std::uint16_t, std::uint16_t>;
    case 4:
      return carryAll<std::uint32_t, std::uint32_t>;
    default:
      return carryAll<std::uint64_t, std::uint64_t>;
  }
}

template <class From>
Function conversionFrom(int to) {
  switch (to) {
    case TBEM_F64:
      return carryAll<From, double>;
    case TBEM_F32:
      return carryAll<From, float>;
    case TBEM_I64:
      return carryAll<From, std::int64_t>;
    case TBEM_I32:
      return carryAll<From, std::int32_t>;
    default:
      return nullptr;
  }
}

Function functionOf(int from, int to) {
  if (from == to) return sameType(runtime::elementBytes(from));
  if (from == TBEM_F32 && runtime::isNarrow(to))
    return runtime::withNarrow(to, [](auto narrow) -> Function { return carryAll<float, decltype(narrow)>; });
  if (runtime::isNarrow(from)) {
    if (to != TBEM_F32) return nullptr;
    return runtime::withNarrow(from, [](auto narrow) -> Function { return carryAll<decltype(narrow), float>; });
  }
  switch (from) {
    case TBEM_F64:
      return conversionFrom<double>(to);
    case TBEM_F32:
      return conversionFrom<float>(to);
    case TBEM_I64:
      return conversionFrom<std::int64_t>(to);
    case TBEM_I32:
      return conversionFrom<std::int32_t>(to);
    default:
      return nullptr;
  }
}

}  // namespace

Carriage planCarriage(std::vector<CarriedAxis> axes) {
  Carriage carriage;
  carriage.elements = 1;
  Run start{0, 0, 1};
  for (CarriedAxis& axis : axes) {
    carriage.elements *= axis.size();
    if (axis.size() == 1) {
      start.from += axis.from.front(), start.to += axis.to.front();
    } else {
      carriage.axes.push_back(std::move(axis));
    }
  }
  std::vector<Run> best;
  std::size_t inner = carriage.axes.size();
  for (std::size_t d = carriage.axes.size(); d-- > 0;) {
    std::vector<Run> runs = runsOf(carriage.axes[d]);
    const auto mean = [&](std::size_t axis, const std::vector<Run>& of) {
      return static_cast<double>(carriage.axes[axis].size()) / static_cast<double>(of.size());
    };
    if (inner == carriage.axes.size() || mean(d, runs) > mean(inner, best)) inner = d, best = std::move(runs);
  }
  const bool worth =
      inner < carriage.axes.size() && carriage.axes[inner].size() >= kShortRun * static_cast<std::int64_t>(best.size());
  if (worth) {
    carriage.runs = std::move(best);
    carriage.axes.erase(carriage.axes.begin() + static_cast<std::ptrdiff_t>(inner));
  } else {
    carriage.runs = {{0, 0, 1}};
  }
  for (Run& run : carriage.runs) run.from += start.from, run.to += start.to;
  lengthen(carriage);
  return carriage;
}

bool carries(int from, int to) { return functionOf(from, to) != nullptr; }

void carry(const Carriage& carriage, int fromType, int toType, const void* source, void* destination, int threads) {
  functionOf(fromType, toType)(carriage, source, destination, threads);
}

}  // namespace tbem::cpu
