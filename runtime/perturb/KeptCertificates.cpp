#include "runtime/perturb/KeptCertificates.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace tbem::perturb {

namespace {

using Json = nlohmann::ordered_json;

/// Doubles come back bit for bit; bounds of FLOPs are finite.
std::string textOf(const Certificate& certificate) {
  return Json{{"flops", certificate.flops},
              {"least", certificate.least},
              {"decided", certificate.decided},
              {"open", certificate.open},
              {"unsupported", certificate.unsupported}}
      .dump();
}

/// Errors: what is wrong with the text.
tl::expected<Certificate, std::string> certificateOf(std::int64_t example, const std::string& text, std::size_t gates) {
  Certificate certificate;
  certificate.example = example;
  try {
    const Json json = Json::parse(text);
    json.at("flops").get_to(certificate.flops);
    json.at("least").get_to(certificate.least);
    json.at("decided").get_to(certificate.decided);
    json.at("open").get_to(certificate.open);
    json.at("unsupported").get_to(certificate.unsupported);
  } catch (const Json::exception& problem) {
    return tl::unexpected(std::string(problem.what()));
  }
  if (certificate.decided.size() != gates || certificate.open.size() != gates)
    return tl::unexpected(std::string("it is of a network with other gates"));
  return certificate;
}

}  // namespace

Result<KeptCertificates> KeptCertificates::open(const Keeping& keeping, std::string identity, store::Mode mode) {
  KeptCertificates kept(keeping, std::move(identity));
  if (keeping.store.empty()) return kept;
  auto opened = store::Store::open(keeping.store, mode);
  if (!opened) return failure(Failure::Kind::Environment, opened.error().message);
  kept.store.emplace(std::move(*opened));
  return kept;
}

Result<std::map<std::int64_t, Certificate>> KeptCertificates::first(std::int64_t total, std::size_t gates) {
  std::map<std::int64_t, Certificate> certificates;
  if (!store || keeping.fresh) return certificates;
  const auto all = store->points(identity);
  if (!all) return failure(Failure::Kind::Environment, all.error().message);
  for (const store::StoredPoint& row : *all) {
    if (row.example >= total) break;
    auto certificate = certificateOf(row.example, row.text, gates);
    if (!certificate) {
      return failure(
          Failure::Kind::Environment,
          fmt::format("store {}: its certificate of example {} cannot be taken up: {}; `tbemc perturb --again` computes it anew",
                      keeping.store, row.example, certificate.error()));
    }
    certificates.emplace(row.example, std::move(*certificate));
  }
  return certificates;
}

Result<void> KeptCertificates::add(const Certificate& certificate) {
  if (!store) return {};
  waiting.push_back({certificate.example, textOf(certificate), {}});
  if (std::chrono::steady_clock::now() - written < std::chrono::seconds(1)) return {};
  return flush();
}

Result<void> KeptCertificates::flush() {
  if (waiting.empty()) return {};
  if (auto done = store->commitPoints(identity, waiting); !done) return failure(Failure::Kind::Environment, done.error().message);
  waiting.clear();
  written = std::chrono::steady_clock::now();
  return {};
}

}  // namespace tbem::perturb
