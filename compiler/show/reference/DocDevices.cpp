// tbemc doc --devices: the devices of the library in one table, and the fields of a device in another.
#include "compiler/devices/DeviceFields.h"
#include "compiler/devices/Devices.h"
#include "compiler/show/Out.h"
#include "compiler/show/reference/Reference.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tbem::driver {

namespace {

using estimate::Device;

template <class Number>
Json known(Number number) {
  return number == Number{} ? Json(nullptr) : Json(number);
}

Json rates(const Device& device) {
  Json json = Json::object();
  for (std::size_t i = 0; i < device.rates.size(); ++i) {
    if (device.rates[i]) json[std::string(sema::kDTypeNames[i])] = *device.rates[i];
  }
  if (device.tf32) json["tf32"] = *device.tf32;
  return json;
}

Json measured(const std::optional<std::uint64_t>& bytes) { return bytes ? Json(*bytes) : Json(nullptr); }

std::string capability(const Device& device) {
  if (!device.architecture) return "";
  return fmt::format("{}.{}", device.architecture->capability / 10, device.architecture->capability % 10);
}

std::string rate(const std::optional<double>& flops) { return flops ? fmt::format("{:g}", *flops / 1e12) : ""; }

std::string overhead(const Device& device) {
  if (!device.context || !device.handles || !device.kernels) return "not measured";
  return fmt::format("{}, {}, {} ({})", report::bytes(*device.context), report::bytes(*device.handles),
                     report::bytes(*device.kernels), device.measured);
}

void printDevice(show::Out& out, const std::string& name, const Device& d) {
  out.print("| `{}` | {} | {} | {} | {:g} | {} | {:g}, {:g} | {} | {} | {} | {} | {} | {} | {} |\n", name, d.name, capability(d),
            report::bytes(d.memory), d.bandwidth / 1e9, d.multiprocessors, d.clock / 1e6, d.memoryClock / 1e6,
            report::bytes(d.l2), rate(d.rates[TBEM_F64]), rate(d.rates[TBEM_F32]), rate(d.tf32), rate(d.rates[TBEM_BF16]),
            rate(d.rates[TBEM_F16]), overhead(d));
}

void printFields(show::Out& out, bool ofArchitecture) {
  out.print("\n| field of {} | takes | is |\n|---|---|---|\n", ofArchitecture ? "an architecture" : "a device");
  for (const DeviceFieldText& field : deviceFields()) {
    if (field.ofArchitecture == ofArchitecture) out.print("| `{}` | {} | {} |\n", field.name, field.takes, field.means);
  }
}

}  // namespace

void printDevices(show::Out& out) {
  std::vector<std::string> names;
  const std::vector<Device> devices = libraryDevices(names);
  if (out.display.json) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const Device& d = devices[i];
      out.json("device", {{"name", names[i]},
                          {"called", d.name},
                          {"compute_capability", d.architecture ? Json(capability(d)) : Json(nullptr)},
                          {"memory", known(d.memory)},
                          {"bandwidth", d.bandwidth},
                          {"multiprocessors", known(d.multiprocessors)},
                          {"clock", known(d.clock)},
                          {"memory_clock", known(d.memoryClock)},
                          {"l2", known(d.l2)},
                          {"rates", rates(d)},
                          {"context", measured(d.context)},
                          {"handles", measured(d.handles)},
                          {"kernels", measured(d.kernels)},
                          {"measured", d.measured.empty() ? Json(nullptr) : Json(d.measured)}});
    }
    return;
  }
  out.print(
      "| device | called | compute capability | memory | GB/s | multiprocessors | clocks, MHz | L2 | f64 TFLOP/s | f32 | tf32 | "
      "bf16 | f16 | context, handles, kernels |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (std::size_t i = 0; i < devices.size(); ++i) printDevice(out, names[i], devices[i]);
  printFields(out, false);
  printFields(out, true);
}

}  // namespace tbem::driver
