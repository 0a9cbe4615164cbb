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
    {"mean_flops", "FLOPs", &Measurement::meanFlops, Quantity::Flops},
    {"least_flops", "least", &Measurement::leastFlops, Quantity::Flops},
    {"most_flops", "most", &Measurement::mostFlops, Quantity::Flops},
    {"mean_latency", "latency", &Measurement::meanLatency, Quantity::Seconds},
    {"least_latency", "shortest", &Measurement::leastLatency, Quantity::Seconds},
    {"most_latency", "longest", &Measurement::mostLatency, Quantity::Seconds},
    {"accuracy", "accuracy", &Measurement::accuracy, Quantity::Number, true},
    {"coverage", "coverage", &Measurement::coverage, Quantity::Number, true},
    {"correlation", "correlation", &Measurement::correlation, Quantity::Number},
    {"mean_energy", "energy", &Measurement::meanEnergy, Quantity::Joules, false, Wants::Energy},
    {"least_energy", "least energy", &Measurement::leastEnergy, Quantity::Joules, false, Wants::Energy},
    {"most_energy", "most energy", &Measurement::mostEnergy, Quantity::Joules, false, Wants::Energy},
    {"energy_correlation", "energy correlation", &Measurement::energyCorrelation, Quantity::Number, false, Wants::Energy},
    {"attacked_flops", "attacked", &Measurement::attackedFlops, Quantity::Flops, false, Wants::Attack},
    {"increase_mean", "I-FLOPs", &Measurement::increaseMean, Quantity::Number, true, Wants::Attack},
    {"headroom", "head-room", &Measurement::headroom, Quantity::Number, true, Wants::Attack},
    {"raised_share", "raised", &Measurement::raisedShare, Quantity::Number, true, Wants::Attack},
    {"attacked_accuracy", "attacked accuracy", &Measurement::attackedAccuracy, Quantity::Number, true, Wants::Attack},
    {"psnr", "PSNR, dB", &Measurement::psnr, Quantity::Number, false, Wants::Attack},
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
