#include "compiler/pytorch/allocator/AllocatorOptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

namespace tbem::estimate {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
// 2.15 was tried (earlierFirst); 2.11 goes by address, and which between them was the first is not known.
constexpr std::array<AllocatorVersion, 7> kVersions = {{{"2.1", false, false, false, false, false, false, true, false},
                                                        {"2.4", true, false, false, false, false, false, true, false},
                                                        {"2.6", true, true, false, false, false, false, true, false},
                                                        {"2.8", true, true, false, false, false, false, true, true},
                                                        {"2.10", true, true, true, true, false, false, true, true},
                                                        {"2.11", true, true, true, true, true, false, true, true},
                                                        {"2.15", true, true, true, true, true, true, false, false}}};
// They do not bear on what a history takes of the card's memory, or only where the driver is at its limits.
constexpr std::array<std::string_view, 15> kIgnored = {"backend",
                                                       "release_lock_on_cudamalloc",
                                                       "release_lock_on_hipmalloc",
                                                       "pinned_use_cuda_host_register",
                                                       "pinned_use_hip_host_register",
                                                       "pinned_num_register_threads",
                                                       "pinned_reserve_segment_size_mb",
                                                       "pinned_use_background_threads",
                                                       "pinned_max_round_threshold_mb",
                                                       "pinned_max_cached_size_mb",
                                                       "pinned_free_catch_all",
                                                       "graph_capture_record_stream_reuse",
                                                       "throw_on_cudamalloc_oom",
                                                       "expandable_segments_reserve",
                                                       "expandable_segments_reserve_by_class"};

struct Token {
  std::string text;
  std::size_t begin = 0, end = 0;
};

/// Words between `,` `:` `[` `]`, each of which is a token itself; blanks count nowhere.
std::vector<Token> tokensOf(std::string_view text) {
  std::vector<Token> tokens;
  bool open = false;  // the last token is a word that may go on
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (std::string_view(" \t\n\v\f\r").find(c) != std::string_view::npos) continue;
    const bool mark = std::string_view(",:[]").find(c) != std::string_view::npos;
    if (mark || !open) tokens.push_back({"", i, i});
    tokens.back().text += c;
    tokens.back().end = i + 1;
    open = !mark;
  }
  return tokens;
}

class Parser {
public:
  Parser(std::string_view text, const AllocatorVersion& version) : tokens(tokensOf(text)), length(text.size()), version(version) {
    made.roundsOne = version.roundsOne;
    made.earlierFirst = version.earlierFirst;
  }

  tl::expected<AllocatorOptions, OptionFault> run() {
    while (!fault && at < tokens.size()) {
      option();
      if (!fault && at < tokens.size())
        take(",", "options are separated by commas: max_split_size_mb:128,expandable_segments:True");
    }
    if (!fault) settle();
    if (fault) return tl::unexpected(*fault);
    return std::move(made);
  }

private:
  std::vector<Token> tokens;
  std::size_t length, at = 0;
  const AllocatorVersion& version;
  AllocatorOptions made;
  std::optional<OptionFault> fault;
  std::optional<Token> split, rounding;  ///< values of options that the large segment's size limits

  void fail(const Token& where, std::string cause, std::string wayOut) {
    if (!fault) fault = OptionFault{where.begin, where.end, std::move(cause), std::move(wayOut)};
  }
  Token here() const { return at < tokens.size() ? tokens[at] : Token{"", length, length}; }
  void take(std::string_view mark, std::string_view wayOut) {
    if (here().text != mark)
      fail(here(),
           here().text.empty() ? fmt::format("the text ends where `{}` is expected", mark)
                               : fmt::format("`{}` where `{}` is expected", here().text, mark),
           std::string(wayOut));
    ++at;
  }

  void option() {
    const Token name = here();
    ++at;
    const std::string& key = name.text;
    const bool mine = key == "max_split_size_mb" || key == "garbage_collection_threshold" || key == "expandable_segments" ||
                      key == "roundup_power2_divisions" || (key == "max_non_split_rounding_mb" && version.nonSplitRounding) ||
                      (key == "per_process_memory_fraction" && version.fraction) ||
                      (key == "large_segment_size_mb" && version.largeSegmentSize);
    const bool ignored = std::find(kIgnored.begin(), kIgnored.end(), key) != kIgnored.end();
    if (!mine && !ignored) {
      fail(name, fmt::format("PyTorch has no option `{}` (rules of {})", key, version.name),
           "options are max_split_size_mb, max_non_split_rounding_mb, roundup_power2_divisions, garbage_collection_threshold, "
           "expandable_segments, large_segment_size_mb, per_process_memory_fraction");
      return;
    }
    take(":", fmt::format("an option is NAME:VALUE: {}:..", key));
    if (fault) return;
    if (ignored) return ignore(key);
    if (key == "max_split_size_mb") split = value();
    if (key == "max_non_split_rounding_mb") rounding = value();
    if (key == "large_segment_size_mb") largeSegment(value());
    if (key == "garbage_collection_threshold") made.collectionThreshold = share(value(), false);
    if (key == "per_process_memory_fraction") made.memoryFraction = share(value(), true);
    if (key == "expandable_segments") expandable(value());
    if (key == "roundup_power2_divisions") divisions();
  }

  Token value() {
    const Token token = here();
    if (token.text.empty() || std::string_view(",:[]").find(token.text.front()) != std::string_view::npos)
      fail(token, "a value is missing", "an option is NAME:VALUE");
    ++at;
    return token;
  }

  std::uint64_t whole(const Token& token) {
    std::uint64_t number = 0;
    const char* end = token.text.data() + token.text.size();
    const auto [stop, error] = std::from_chars(token.text.data(), end, number);
    if (error == std::errc() && stop == end) return number;
    if (error == std::errc())
      fail(token, fmt::format("`{}` is no whole number (PyTorch reads the {} before it stops)", token.text, number),
           "a number without a unit");
    else
      fail(token, fmt::format("`{}` is no whole number", token.text), "a number without a sign or unit");
    return 0;
  }

  double share(const Token& token, bool ends) {
    double number = 0;
    const char* end = token.text.data() + token.text.size();
    const auto [stop, error] = std::from_chars(token.text.data(), end, number);
    const bool good = error == std::errc() && stop == end && (ends ? number >= 0 && number <= 1 : number > 0 && number < 1);
    if (!good)
      fail(token, fmt::format("`{}` is no share", token.text),
           ends ? "a number from 0 to 1" : "a number between 0 and 1, both left out");
    return number;
  }

  void expandable(const Token& token) {
    if (token.text != "True" && token.text != "False")
      fail(token, fmt::format("`{}` is neither True nor False", token.text), "True or False, with a capital");
    made.expandableSegments = token.text == "True";
  }

  void largeSegment(const Token& token) {
    const std::uint64_t number = whole(token);
    if (fault) return;
    if (number <= 10 || number > (std::uint64_t{1} << 36U))
      return fail(token, fmt::format("large_segment_size_mb is {}", token.text), "more than 10 (MiB)");
    made.largeSegmentSize = number * kMiB;
  }

  void divisions() {
    if (here().text != "[") {
      const Token token = value();
      const std::uint64_t number = fault ? 0 : whole(token);
      if (!fault && !std::has_single_bit(number))
        fail(token, fmt::format("{} divisions", number), "a power of 2: 1, 2, 4, 8, ..; a list can turn them off by 0");
      made.divisions.fill(number);
      return;
    }
    ++at;
    std::size_t last = 0;
    bool first = true;
    while (!fault && here().text != "]") {
      const Token boundary = value();
      take(":", "a list is [SIZE:DIVISIONS,..,>:DIVISIONS], sizes in MiB");
      if (fault) return;
      const Token token = value();
      const std::uint64_t number = fault ? 0 : whole(token);
      if (!fault && number != 0 && !std::has_single_bit(number))
        fail(token, fmt::format("{} divisions", number), "a power of 2, or 0 for none");
      if (!fault) interval(boundary, number, last, first);
      if (!fault && here().text != "]") take(",", "a list ends with `]`, its entries are separated by commas");
    }
    ++at;
  }

  void interval(const Token& boundary, std::uint64_t number, std::size_t& last, bool& first) {
    if (boundary.text == ">") {
      for (std::size_t i = last + (version.restAfterLast ? 1 : 0); i < made.divisions.size(); ++i) made.divisions[i] = number;
      return;
    }
    const std::uint64_t size = whole(boundary);
    if (fault) return;
    if (!std::has_single_bit(size))
      return fail(boundary, fmt::format("an interval that begins at {} MiB", size), "a power of 2, or `>` for all larger ones");
    last = std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(size)) - 1, made.divisions.size() - 1);
    if (first) std::fill_n(made.divisions.begin(), last, number);
    first = false;
    made.divisions[last] = number;
  }

  void ignore(const std::string& key) {
    const Token first = here();
    if (first.text == "[") {
      while (at < tokens.size() && here().text != "]") ++at;
      take("]", "a list ends with `]`");
    } else {
      value();
    }
    if (fault) return;
    if (key == "backend" && first.text != "native")
      return fail(first, fmt::format("the backend `{}` is not simulated", first.text), "backend:native, or leave it out");
    made.ignored.push_back(key);
  }

  /// What the size of large segments limits is known when all is read.
  void settle() {
    const auto megabytes = [&](const Token& token, std::string_view key) -> std::uint64_t {
      const std::uint64_t number = whole(token);
      if (!fault && number < made.largeSegmentSize / kMiB)
        fail(token, fmt::format("{} is {}", key, number),
             fmt::format("{} (MiB, the size of large segments) or more", made.largeSegmentSize / kMiB));
      return std::min(number, AllocatorOptions::kUnlimited / kMiB) * kMiB;
    };
    made.maxNonSplitRounding = made.largeSegmentSize;
    if (split) made.maxSplitSize = megabytes(*split, "max_split_size_mb");
    if (rounding) made.maxNonSplitRounding = megabytes(*rounding, "max_non_split_rounding_mb");
  }
};

}  // namespace

std::span<const AllocatorVersion> allocatorVersions() { return kVersions; }

const AllocatorVersion* allocatorVersion(std::string_view version) {
  const auto read = [](std::string_view text, int(&parts)[2]) {
    const char* end = text.data() + text.size();
    const auto [dot, error] = std::from_chars(text.data(), end, parts[0]);
    if (error != std::errc() || dot == end || *dot != '.') return false;
    return std::from_chars(dot + 1, end, parts[1]).ec == std::errc();
  };
  int wanted[2], row[2];
  if (!read(version, wanted)) return nullptr;
  const AllocatorVersion* found = nullptr;
  for (const AllocatorVersion& one : kVersions) {
    if (!read(one.name, row)) continue;
    if (row[0] < wanted[0] || (row[0] == wanted[0] && row[1] <= wanted[1])) found = &one;
  }
  return found;
}

tl::expected<AllocatorOptions, OptionFault> parseAllocatorOptions(std::string_view text, const AllocatorVersion& version) {
  return Parser(text, version).run();
}

}  // namespace tbem::estimate
