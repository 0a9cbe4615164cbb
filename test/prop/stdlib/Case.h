// A use of an operator of the standard library with random shapes and parameters, as text.
//
// The table of generators has one for every public operator of std.nn: a test fails for one that has none (LibraryTest.cpp).
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace tbem::test {

/// Random numbers of a test: the same on every machine.
class Dice {
public:
  explicit Dice(std::uint64_t seed) : engine(seed) {}
  std::int64_t integer(std::int64_t low, std::int64_t high) {  ///< both included
    return low + static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(high - low + 1));
  }
  bool coin() { return (engine() & 1U) != 0; }
  double uniform() { return static_cast<double>(engine() >> 11U) * 0x1p-53; }
  double normal();
  std::int64_t one(const std::vector<std::int64_t>& of) {
    return of[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(of.size()) - 1))];
  }

private:
  std::mt19937_64 engine;
};

using Dims = std::vector<std::int64_t>;

/// A tensor that a case gives to its operator.
struct Given {
  enum class Kind { Normal, Positive, Share, Whole, Truth } kind = Kind::Normal;  ///< Share: in (0, 1); Whole: i64 in [0, bound)
  Dims dims;
  std::vector<double> kinks = {};  ///< values from which each element keeps 0.05 away: the operator has no derivative there
  std::int64_t bound = 0;
  bool floating() const { return kind != Kind::Whole && kind != Kind::Truth; }
};

struct Case {
  std::string call;             ///< "clamp(%0, low: -1, high: 1)": %i is tensor i
  std::vector<Given> tensors;   ///< in the order of their numbers
  std::string result = "real";  ///< real, bool, whole (i64): of what the call gives
  int results = 1;              ///< more: a tuple or list
  /// False where the operator has no gradient, or its definition has none in some floating tensor: nothing is differentiated.
  bool gradient = true;
  std::string optimizer = {};  ///< instead of all this: an optimiser whose updates are compared
};

using Generator = Case (*)(Dice&);

/// By the operator's name.
const std::map<std::string, Generator>& generators();

// One function a file of generators.
void addElementwise(std::map<std::string, Generator>& table);
void addLayers(std::map<std::string, Generator>& table);
void addShapes(std::map<std::string, Generator>& table);
void addLosses(std::map<std::string, Generator>& table);
void addIndicesAndLists(std::map<std::string, Generator>& table);

/// "[2, 3]"
std::string listText(const Dims& dims);
/// One to `most` dimensions; the number of elements is one of a few, so that cases share compiled loops.
Dims anyDims(Dice& dice, std::size_t most = 4);
std::int64_t product(const Dims& dims);
/// A number with three digits, in [low, high].
std::string numberText(Dice& dice, double low, double high);

}  // namespace tbem::test
