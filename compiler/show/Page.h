// Standard output of the commands, or the page of `tbemc report` while one is made: what a command says to people goes through
// here.
#pragma once

#include "compiler/driver/Options.h"
#include "runtime/report/Html.h"
#include "runtime/report/Timeline.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace tbem::driver {

/// The command.
int runReport(const Options& options);

/// While it lives, what is said lands on its page. One at a time.
class PageScope {
public:
  explicit PageScope(report::Page& page);
  ~PageScope();
  PageScope(const PageScope&) = delete;
  PageScope& operator=(const PageScope&) = delete;
};
/// The page that is made, or nullptr.
report::Page* openPage();

void sayText(std::string_view text);
template <class... T>
void say(fmt::format_string<T...> format, T&&... values) {
  sayText(fmt::format(format, std::forward<T>(values)...));
}

/// What the page that is made has not been told yet: as text, or as a listing whose columns stand under each other.
void sayOnce(std::string_view text);
void listOnce(std::string_view text);

/// Whether something is said for the first time, for standard error: the commands that a page is made of say the same of a
/// program that has mistakes. True where no page is made.
bool isFirstTold(std::string_view text);

/// A timeline with the table of its rises, on the page that is made.
void addTimeline(report::Page& page, report::Timeline timeline);

}  // namespace tbem::driver
