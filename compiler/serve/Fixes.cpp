#include "compiler/serve/Fixes.h"

#include <fmt/format.h>

#include <algorithm>

namespace tbem::serve {

namespace {

std::string titleOf(const Reading& reading, const Fix& fix) {
  const std::string there = sourceText(reading.sources(), fix.range);
  if (there.empty()) return fmt::format("insert `{}`", fix.replacement);
  if (fix.replacement.empty()) return fmt::format("remove `{}`", there);
  return fmt::format("replace `{}` by `{}`", there, fix.replacement);
}

bool meets(SrcRange a, SrcRange b) { return a.begin <= b.end && b.begin <= a.end; }

}  // namespace

std::vector<OfferedFix> fixesAt(const Reading& reading, SrcRange range) {
  std::vector<OfferedFix> offered;
  OfferedFix all{"apply all certain fixes", nullptr, {}, true};
  for (const Diagnostic& diagnostic : reading.workspace.session.sink.all()) {
    for (const Fix& fix : diagnostic.fixes) {
      if (!reading.isOwn(fix.range)) continue;
      const bool certain = fix.applicability == Applicability::Certain;
      const bool free = std::ranges::none_of(all.edits, [&](const Fix& other) { return meets(other.range, fix.range); });
      if (certain && free) all.edits.push_back(fix);
      if (meets(diagnostic.range, range) || meets(fix.range, range))
        offered.push_back({titleOf(reading, fix), &diagnostic, {fix}, certain});
    }
  }
  if (all.edits.size() > 1) offered.push_back(std::move(all));
  return offered;
}

}  // namespace tbem::serve
