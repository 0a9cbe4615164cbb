#include "compiler/show/proofs/DesignProofReport.h"

#include "compiler/experiment/designs/DesignFilter.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace tbem::driver {

void printDesignProof(show::Out& out, const DesignProof& proved) {
  const spec::LevelProof& proof = proved.proof;
  if (out.display.json) {
    Json breaches = Json::array();
    for (std::size_t b = 0; b < proof.breaches.size(); ++b) {
      const spec::Breach& one = proof.breaches[b];
      Json causes = Json::array(), remedies = Json::array();
      for (const LevelRemedy& remedy : proved.remedies[b])
        remedies.push_back({{"kind", word(remedy.kind)}, {"text", remedy.text}, {"combinations", remedy.combinations}});
      for (const auto& cause : one.causes) causes.push_back(causeText(cause));
      Json nearest = Json::object();
      for (std::size_t f = 0; f < one.nearest.size(); ++f) {
        const graph::Level& level = proved.run->spec.factors[f].levels[one.nearest[f]];
        nearest[proved.run->spec.factors[f].name] = level.absent ? Json() : Json(level.text);
      }
      breaches.push_back({{"subject", one.subject},
                          {"condition", one.text},
                          {"combinations", one.combinations},
                          {"at_least", one.isLeast},
                          {"rows", one.rows},
                          {"nearest", nearest},
                          {"causes", causes},
                          {"all_causes", one.allCauses},
                          {"remedies", remedies}});
    }
    Json fields = {{"design", proved.run->spec.name},   {"verdict", proved.verdict()},    {"combinations", proof.combinations},
                   {"rows", countLeft(*proved.run)},    {"structures", proof.structures}, {"conditions", proof.conditions},
                   {"by_intervals", proof.byIntervals}, {"points", proof.points},         {"breaches", breaches}};
    Json doubts = Json::array();
    for (const spec::Doubt& one : proof.doubts)
      doubts.push_back({{"subject", one.subject}, {"condition", one.text}, {"reason", one.reason}});
    fields["checked_at_run_time"] = std::move(doubts);
    if (!proof.reason.empty()) fields["reason"] = proof.reason;
    out.json("levels", std::move(fields));
    return;
  }
  const std::string where = proved.run->spec.factors.empty() ? "its sizes"
                                                             : fmt::format("{} combination{} of levels", proof.combinations,
                                                                           proof.combinations == 1 ? "" : "s");
  out.say("design {}: {} for {} ({} structure{}, {} conditions, {} by intervals, {} values computed){}{}\n",
          proved.run->spec.name, proved.verdict(), where, proof.structures, proof.structures == 1 ? "" : "s", proof.conditions,
          proof.byIntervals, proof.points, proof.reason.empty() ? "" : ": ", proof.reason);
  for (const spec::Doubt& one : proof.doubts)
    out.say("  residual `{}`: `{}`: {}; checked when a row is built\n", one.subject, one.text, one.reason);
}

}  // namespace tbem::driver
