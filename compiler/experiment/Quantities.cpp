#include "compiler/experiment/Quantities.h"

namespace tbem::driver {

namespace {

using report::Quantity;
using runtime::Measurement;
using Wants = ExampleQuantity::Wants;

constexpr MeasuredQuantity kMeasured[] = {
    {"memory_peak", Quantity::Bytes, &Measurement::memoryPeak},
    {"memory_baseline", Quantity::Bytes, &Measurement::memoryBaseline},
    {"arena_peak", Quantity::Bytes, &Measurement::arenaPeak},
    {"allocated_peak", Quantity::Bytes, &Measurement::allocatedPeak},
    {"reserved_peak", Quantity::Bytes, &Measurement::reservedPeak},
    {"device_peak", Quantity::Bytes, &Measurement::devicePeak},
    {"latency", Quantity::Seconds, &Measurement::latencyMedian},
    {"energy", Quantity::Joules, &Measurement::energy},
};

constexpr ExampleQuantity kOfExamples[] = {
    {"mean_flops", "FLOPs", Quantity::Flops, &Measurement::meanFlops},
    {"least_flops", "least", Quantity::Flops, &Measurement::leastFlops},
    {"most_flops", "most", Quantity::Flops, &Measurement::mostFlops},
    {"mean_latency", "latency", Quantity::Seconds, &Measurement::meanLatency},
    {"least_latency", "shortest", Quantity::Seconds, &Measurement::leastLatency},
    {"most_latency", "longest", Quantity::Seconds, &Measurement::mostLatency},
    {"accuracy", "accuracy", Quantity::Number, &Measurement::accuracy, true},
    {"coverage", "coverage", Quantity::Number, &Measurement::coverage, true},
    {"correlation", "correlation", Quantity::Number, &Measurement::correlation},
    {"mean_energy", "energy", Quantity::Joules, &Measurement::meanEnergy, false, Wants::Energy},
    {"least_energy", "least energy", Quantity::Joules, &Measurement::leastEnergy, false, Wants::Energy},
    {"most_energy", "most energy", Quantity::Joules, &Measurement::mostEnergy, false, Wants::Energy},
    {"energy_correlation", "energy correlation", Quantity::Number, &Measurement::energyCorrelation, false, Wants::Energy},
    {"attacked_flops", "attacked", Quantity::Flops, &Measurement::attackedFlops, false, Wants::Attack},
    {"increase_mean", "I-FLOPs", Quantity::Number, &Measurement::increaseMean, true, Wants::Attack},
    {"headroom", "head-room", Quantity::Number, &Measurement::headroom, true, Wants::Attack},
    {"raised_share", "raised", Quantity::Number, &Measurement::raisedShare, true, Wants::Attack},
    {"attacked_accuracy", "attacked accuracy", Quantity::Number, &Measurement::attackedAccuracy, true, Wants::Attack},
    {"psnr", "PSNR, dB", Quantity::Number, &Measurement::psnr, false, Wants::Attack},
};

/// What is estimated.
struct EstimatedQuantity {
  const char* name;
  Quantity quantity;
};
constexpr EstimatedQuantity kEstimated[] = {
    {"static_memory", Quantity::Bytes}, {"live", Quantity::Bytes},        {"arena", Quantity::Bytes},
    {"flops", Quantity::Flops},         {"parameters", Quantity::Number},
};

/// `visit(name, quantity)` for each.
template <class Visit>
void forEachQuantity(const Visit& visit) {
  for (const auto& each : kMeasured) visit(each.name, each.quantity);
  for (const auto& each : kEstimated) visit(each.name, each.quantity);
  for (const auto& each : kOfExamples) visit(each.name, each.quantity);
}

}  // namespace

std::span<const MeasuredQuantity> measuredQuantities() { return kMeasured; }

std::span<const ExampleQuantity> exampleQuantities() { return kOfExamples; }

const std::vector<std::string>& quantityNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    forEachQuantity([&](const char* name, Quantity) { list.emplace_back(name); });
    return list;
  }();
  return names;
}

Quantity quantityOf(std::string_view name) {
  Quantity quantity = Quantity::Number;
  forEachQuantity([&](std::string_view known, Quantity of) {
    if (known == name) quantity = of;
  });
  return quantity;
}

}  // namespace tbem::driver
