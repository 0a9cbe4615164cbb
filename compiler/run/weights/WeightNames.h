// Tables that give the names of weights in other people's files our paths: stdlib/names/SET/NETWORK.names.
//
// A line is two patterns, theirs and ours. `{}` stands for a number, `{a,b}` for one of these words (the longest that fits), `*`
// for any text without a dot. The names that match the left pattern, in the order of their numbers, are the paths that match the
// right one, in the order of theirs; words count by their place in the braces, texts of `*` by the order in which paths are
// defined. A line whose counts differ is an error. What an earlier line matched is not there for a later one. `/4` behind the
// left pattern: only arrays of four dimensions. `-` on the right: not used. `#` begins a comment.
//
//     conv1.weight                 conv_bn_relu.conv2d.weight
//     layer{}.{}.{bn1,bn2}.weight  stage[{}].unit[{}].residual.{conv_bn_relu.batch_norm,batch_norm}.weight
//     layer{}.{}.bn1.num_batches_tracked   -
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbem::driver {

struct NameRule {
  std::string theirs, ours;         ///< patterns; `ours` empty: not used
  std::optional<std::size_t> rank;  ///< of the arrays that `theirs` may match
  std::size_t line = 0;
};

/// The first six names, and how many more there are.
std::string listed(std::span<const std::string> names);

/// Errors: the line, what is wrong with it.
tl::expected<std::vector<NameRule>, std::string> parseNameTable(std::string_view text);

/// The table for a network: `set` is a set's name ("torchvision", in the standard library) or the path of a file. Errors: there
/// is no such table (with those there are), as above.
tl::expected<std::vector<NameRule>, std::string> loadNameTable(const std::string& set, const std::string& network);

struct NamedRank {
  std::string_view name;
  std::size_t rank = 0;
};

/// Whether a line has this name of theirs.
bool isNamed(std::span<const NameRule> rules, const NamedRank& theirs);

/// For each of `theirs` the index of its path in `ours`, kUnused where the table says so, kUnmatched where no line matches it.
constexpr std::size_t kUnused = ~std::size_t{0}, kUnmatched = kUnused - 1;
/// Errors: a line that matches more names on one side than on the other.
tl::expected<std::vector<std::size_t>, std::string> matchNames(std::span<const NameRule> rules, std::span<const NamedRank> theirs,
                                                               std::span<const std::string> ours);

}  // namespace tbem::driver
