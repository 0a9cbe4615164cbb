#include "compiler/show/PageOut.h"

#include "compiler/diagnostics/Render.h"
#include "compiler/support/Failed.h"
#include "compiler/support/Streams.h"
#include "runtime/report/Rises.h"

#include <cstdio>

namespace tbem::show {

void PageOut::text(std::string_view text) {
  rest();
  page.text(text);
}

void PageOut::table(const report::Table& table) {
  rest();
  page.table(table);
}

bool PageOut::plots(const std::string& /*folder*/, const std::vector<PlotFile>& plots) {
  for (const PlotFile& plot : plots) page.plot(plot.text);
  return true;
}

bool PageOut::timeline(const std::string& /*folder*/, const std::string& /*name*/, const report::Timeline& timeline) {
  report::Timeline anchored = timeline;
  const report::Rises rises = report::risesOf(anchored, fmt::format("t{}-", ++timelines));
  page.plot(report::timelineSvg(anchored));
  page.table(rises.table, rises.anchors);
  return true;
}

int PageOut::diagnostics(const Session& session) {
  rest();
  if (!session.sink.hasErrors()) {
    const std::string listing = renderAll(session.sink, session.sources, {});
    if (!listing.empty() && isFirst(listing)) page.listing(listing);
  } else if (const std::string text = rendered(session); isFirst(text)) {
    writeStyled(stderr, text);
  }
  flush();
  return session.sink.hasErrors() ? kProgramErrors : kOk;
}

void PageOut::failure(std::string_view text) {
  if (isFirst(text)) Console::failure(text);
}

void PageOut::note(std::string_view text) {
  const std::string line = fmt::format("{}\n", text);
  if (isFirst(line)) this->text(line);
}

}  // namespace tbem::show
