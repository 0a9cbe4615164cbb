#include "compiler/show/SearchProgress.h"

#include "compiler/show/Output.h"

#include <cstdlib>
#include <optional>
#include <string_view>

namespace tbem::driver {

namespace {

constexpr double kFirstSeconds = 0.5;

std::optional<report::Progress> current;  // as standard error is, one a process

}  // namespace

SearchScope::SearchScope(const Options& options) {
  report::ProgressStyle style = progressStyle(options);
  style.quiet = style.quiet || !style.terminal;
  if (const char* when = std::getenv("TBEM_PROGRESS"); when != nullptr && std::string_view(when) == "at-once")
    style.redrawSeconds = 0;
  else
    style.firstSeconds = kFirstSeconds;
  current.emplace(
      [](std::string_view text) {
        flushOutput();
        writeProgress(text);
      },
      style);
}
SearchScope::~SearchScope() { current.reset(); }

void showSearch(std::size_t done, std::size_t total, std::string_view what) {
  if (current) current->update(done, total, what, -1);
}
void hideSearch() {
  if (current) current->hide();
}

}  // namespace tbem::driver
