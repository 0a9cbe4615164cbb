#include "compiler/diagnostics/Repeats.h"

#include <deque>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

namespace tbem {

void mergeRepeats(DiagnosticSink& sink, std::size_t from) {
  if (sink.all().size() <= from) return;
  std::map<std::tuple<Diag, Loc, Loc, std::string_view>, std::size_t> firsts;
  std::vector<std::size_t> saidBy;  // of each diagnostic: the first that says it
  bool any = false;
  for (const Diagnostic& one : sink.all()) {
    const std::size_t here = saidBy.size();
    const std::tuple said(one.kind, one.range.begin, one.range.end, std::string_view(one.message));
    const std::size_t first = firsts.emplace(said, here).first->second;
    saidBy.push_back(here < from ? here : first);
    any = any || saidBy.back() != here;
  }
  if (!any) return;  // references into the sink stay good
  const std::deque<Diagnostic> all = sink.all();
  sink.clear();
  std::vector<Diagnostic*> kept;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (saidBy[i] == i) {
      kept.push_back(&sink.append(all[i]));
      continue;
    }
    Diagnostic* const told = kept[saidBy[i]];
    told->alsoAt(all[i].levels);
    for (const auto& levels : all[i].also) told->alsoAt(levels);
    kept.push_back(told);
  }
}

void keepOnly(DiagnosticSink& sink, const std::function<bool(const Diagnostic&)>& stays) {
  const std::deque<Diagnostic> all = sink.all();
  sink.clear();
  for (const Diagnostic& said : all) {
    if (stays(said)) sink.append(said);
  }
}

}  // namespace tbem
