// What a `mutate` does to the template it is made of, while that is elaborated.
//
// A place is a path without the loop turns that it leaves out: `stage[2].conv2d` is every convolution in the third turn of the
// loop `stage`, whatever loops are inside. The last name is that of a value (`let`), of a numbered application (`relu_2`), of a
// loop, or of a declaration, which then means each of its applications there.
//
// | operation | at an application                              | at a turn of a loop                     |
// | repeat k  | its result goes through k - 1 more of its kind | the turn runs k times                   |
// | drop      | its tensor passes it by                        | the turn does not run                   |
// | insert    | after: its result goes through what is inserted; before: its tensor | the one tensor that the loop carries on |
// | swap      | another stands in its place, with those of the parameters given there that it declares | not |
// | widen f   | its parameter `out` is f times as large        | that of the applications in it, the outermost ones |
#pragma once

#include "compiler/sema/evaluate/Evaluator.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::graph {

/// One part of a path: "stage[2]", "conv2d_2". A list in a list is a part without a name: "blocks[0][1]" has two.
struct PathPart {
  std::string name;
  std::optional<std::int64_t> turn;
};
std::vector<PathPart> pathParts(std::string_view path);
std::string pathText(const std::vector<PathPart>& parts);

enum class Fit : std::uint8_t {
  None,
  Inside,  ///< within what the place names
  Exact
};
/// `declaration`: what is applied at the path; empty for a turn of a loop.
Fit fits(const std::vector<PathPart>& place, const std::vector<PathPart>& path, std::string_view declaration);

/// One operation, with the level that it has in the row at hand.
struct Change {
  enum class Word : std::uint8_t { Repeat, Drop, Insert, Swap, Widen } word{};
  const ast::Mutate::Operation* operation = nullptr;
  std::vector<PathPart> place;
  std::int64_t times = 1;     ///< Repeat
  bool done = false;          ///< Drop, Insert: the level is true
  sema::Value value;          ///< Insert: what; Swap: what instead; Widen: the factor
  bool met = false;           ///< the place was there
  bool isInProgress = false;  ///< what it makes is not changed by itself again
};

/// The operations of one `mutate` on one application of its template.
struct Mutation {
  const sema::Derivation* derivation = nullptr;
  std::string root;  ///< the application's path
  std::vector<Change> changes;
  std::set<std::string> seen;  ///< places that were there, turns of unnamed loops left out
};

}  // namespace tbem::graph
