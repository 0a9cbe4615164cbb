#include "compiler/show/measured/GateCounts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tbem::driver {

std::string gateText(const runtime::GateCount& gate) {
  return fmt::format("{}: {} of {} {}", gate.gate, gate.taken, gate.reached, gate.exits ? "left" : "skipped");
}

Json gatesJson(std::span<const runtime::GateCount> gates) {
  Json list = Json::array();
  for (const runtime::GateCount& gate : gates) {
    list.push_back(
        {{"path", gate.gate}, {"kind", gate.exits ? "exit" : "skip"}, {"reached", gate.reached}, {"taken", gate.taken}});
  }
  return list;
}

}  // namespace tbem::driver
