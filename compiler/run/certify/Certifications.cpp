#include "compiler/run/certify/Certifications.h"

#include "compiler/certify/Certify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <utility>

namespace tbem::driver {

namespace {

/// Weights and running statistics as doubles, by path.
std::map<std::string, std::vector<double>, std::less<>> arraysOf(const train::Snapshot& weights) {
  std::map<std::string, std::vector<double>, std::less<>> arrays;
  for (const train::Snapshot::Entry& entry : weights.entries) {
    if (entry.kind != runtime::BufferClass::State) arrays.emplace(entry.path, entry.value.doubles());
  }
  return arrays;
}

/// Of each example, the most that it or a point of it costs.
std::map<std::int64_t, double> foundOf(const perturb::Outcome& outcome) {
  std::map<std::int64_t, double> found;
  for (const perturb::Series& series : outcome.series) {
    for (const perturb::Point& point : series.points) {
      double& most = found[point.example];
      most = std::max({most, point.flopsBefore, point.flops});
    }
  }
  return found;
}

/// A point that costs more than its bound would show that the bound is wrong. FLOPs are sums of whole numbers divided by a batch.
constexpr double kRounding = 1e-9;

double meanOf(const std::vector<Certificate>& certificates, double Certificate::*member) {
  double sum = 0;
  for (const Certificate& certificate : certificates) sum += certificate.*member;
  return certificates.empty() ? 0 : sum / static_cast<double>(certificates.size());
}

}  // namespace

std::int64_t Certified::below() const {
  return std::ranges::count_if(certificates,
                               [&](const Certificate& certificate) { return certificate.flops < most * (1 - kRounding); });
}
double Certified::meanFlops() const { return meanOf(certificates, &Certificate::flops); }
double Certified::meanFound() const { return meanOf(certificates, &Certificate::found); }

tl::expected<Certified, std::string> certify(const PerturbationRun& run, const graph::Row& row, const train::Snapshot& weights,
                                             const data::Dataset& dataset, const perturb::Outcome& outcome,
                                             const std::function<bool(std::int64_t, std::int64_t)>& next) {
  const auto arrays = arraysOf(weights);
  const auto network = certify::Network::of(row, [&](std::string_view path) -> std::optional<std::span<const double>> {
    const auto array = arrays.find(path);
    return array == arrays.end() ? std::nullopt : std::optional<std::span<const double>>(array->second);
  });
  if (!network) return tl::unexpected(network.error());
  const perturb::Plan& plan = run.plan;
  const certify::Ball ball{plan.norm == perturb::Norm::L2 ? certify::Norm::L2 : certify::Norm::Linf, plan.radius, plan.low,
                           plan.high};
  const std::map<std::int64_t, double> found = foundOf(outcome);
  const std::int64_t total = std::min(run.spec.certify.value_or(plan.count), plan.count);
  std::vector<float> input(network->inputSize());
  std::vector<std::int64_t> labels(static_cast<std::size_t>(dataset.description().target.elements()));
  std::vector<float> targets(labels.size());
  Certified made;
  made.gates = network->gates();
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t example = 0; example < total && next(example, total); ++example) {
    const data::Batch into{{input.data()}, labels.data(), targets.data()};
    if (const auto read = dataset.read(plan.split, {&example, 1}, into); !read) return tl::unexpected(read.error());
    certify::Bound bound = certify::bound(*network, input, ball);
    const auto most = found.find(example);
    made.certificates.push_back(
        {example, bound.flops, bound.least, std::move(bound.decided), most == found.end() ? 0 : most->second});
    const Certificate& certificate = made.certificates.back();
    if (certificate.found > certificate.flops * (1 + kRounding))
      return tl::unexpected(fmt::format("a point of example {} costs {} FLOPs, and its bound is {}: this is a mistake of tbemc",
                                        example, certificate.found, certificate.flops));
    for (const std::string& name : bound.unsupported) {
      if (std::ranges::find(made.unsupported, name) == made.unsupported.end()) made.unsupported.push_back(name);
    }
  }
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return made;
}

}  // namespace tbem::driver
