#include "compiler/show/proofs/NetworkProofReport.h"

#include "compiler/emit/JsonNumber.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace tbem::driver {

namespace {

std::string headline(const NetworkProof& proved) {
  std::string text = "network " + proved.name;
  if (!proved.at.empty()) text += " with " + proved.at;
  return text + ": " + word(proved.proof.verdict);
}

}  // namespace

void printNetworkProof(show::Out& out, const NetworkProof& proved) {
  const spec::SizeProof& proof = proved.proof;
  if (!out.display.json) {
    std::string text = headline(proved);
    if (!proved.reason.empty()) {
      text += ": " + proved.reason;
    } else {
      text += fmt::format(" for all {} ({} condition{})", proved.sizes.empty() ? "sizes" : proved.sizes, proof.conditions,
                          proof.conditions == 1 ? "" : "s");
    }
    out.say("{}\n", text);
    for (const spec::SizeBreach& breach : proof.breaches)
      out.say("  refuted  `{}`: `{}`: {}\n", breach.subject, breach.text, valuesText(breach));
    if (proof.unasked > 0) out.say("  and {} more that may follow from these\n", proof.unasked);
    for (const spec::Doubt& doubt : proof.doubts)
      out.say("  residual `{}`: `{}`: {}; checked when it is built\n", doubt.subject, doubt.text, doubt.reason);
    if (proof.remedy) out.say("  holds with  pre {}\n", proof.remedy->text);
    return;
  }
  Json breaches = Json::array();
  for (const spec::SizeBreach& one : proof.breaches) {
    Json values = Json::object();
    for (const auto& [name, value] : one.values) values[name] = jsonNumber(value);
    breaches.push_back({{"subject", one.subject}, {"condition", one.text}, {"values", values}});
  }
  Json doubts = Json::array();
  for (const spec::Doubt& one : proof.doubts)
    doubts.push_back({{"subject", one.subject}, {"condition", one.text}, {"reason", one.reason}});
  Json fields = {
      {"network", proved.name},         {"at", proved.at},      {"sizes", proved.sizes},        {"verdict", word(proof.verdict)},
      {"conditions", proof.conditions}, {"breaches", breaches}, {"checked_at_run_time", doubts}};
  if (proof.unasked > 0) fields["more"] = proof.unasked;
  if (proof.remedy) fields["pre"] = proof.remedy->text;
  if (!proved.reason.empty()) fields["reason"] = proved.reason;
  out.json("network", std::move(fields));
}

}  // namespace tbem::driver
