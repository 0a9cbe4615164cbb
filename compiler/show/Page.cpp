#include "compiler/show/Page.h"

#include "compiler/show/SearchProgress.h"
#include "compiler/show/WrappedText.h"
#include "compiler/support/Streams.h"
#include "runtime/report/Rises.h"

#include <unistd.h>

#include <cstdio>
#include <set>
#include <string>

namespace tbem::driver {

namespace {

report::Page* current = nullptr;  // as standard output is, one a process
std::size_t timelines = 0;        // of the page: anchors are told apart by it
std::set<std::string> told;

}  // namespace

PageScope::PageScope(report::Page& page) {
  current = &page;
  timelines = 0;
  told.clear();
}
PageScope::~PageScope() { current = nullptr; }

report::Page* openPage() { return current; }

void sayText(std::string_view text) {
  hideSearch();
  if (current != nullptr)
    current->text(text);
  else
    writeText(stdout, wrapped(text, STDOUT_FILENO));
}

void sayOnce(std::string_view text) {
  if (told.emplace(text).second) sayText(text);
}

void listOnce(std::string_view text) {
  if (!text.empty() && told.emplace(text).second) current->listing(text);
}

bool isFirstTold(std::string_view text) { return current == nullptr || told.emplace(text).second; }

void addTimeline(report::Page& page, report::Timeline timeline) {
  const report::Rises rises = report::risesOf(timeline, fmt::format("t{}-", ++timelines));
  page.plot(report::timelineSvg(timeline));
  page.table(rises.table, rises.anchors);
}

}  // namespace tbem::driver
