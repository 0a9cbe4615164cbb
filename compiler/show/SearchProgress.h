// What a search is at, on a terminal: the one place by which commands show it. Nothing on a pipe, with --quiet, and in the first
// half second of a command; what else is printed takes it away.
#pragma once

#include "compiler/driver/Options.h"

#include <cstddef>
#include <string_view>

namespace tbem::driver {

/// While it lives, searches are shown on standard error. One a process.
class SearchScope {
public:
  explicit SearchScope(const Options& options);
  ~SearchScope();
  SearchScope(const SearchScope&) = delete;
  SearchScope& operator=(const SearchScope&) = delete;
};

/// `done` of `total` (0: nobody knows how many), and what is in hand.
void showSearch(std::size_t done, std::size_t total, std::string_view what);
/// Takes it away until the next `showSearch`.
void hideSearch();

}  // namespace tbem::driver
