// tbemc doctor: what this machine has for us, what passed and what is missing, with the way out.
#include "compiler/devices/Devices.h"
#include "compiler/driver/Commands.h"
#include "compiler/driver/OptionGroups.h"
#include "compiler/jit/glue/Jit.h"
#include "compiler/backends/Backends.h"
#include "compiler/show/Out.h"
#include "compiler/support/PrivateFolder.h"
#include "compiler/support/Version.h"
#include "runtime/measure/Meters.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace tbem::driver {

namespace {

struct DoctorOptions : CommandOptions {
  bool measureMachine = false;
};

void declare(OptionList& list, DoctorOptions& o) {
  list.flag("--measure", o.measureMachine, "measure this machine's rates, for --roofline cpu");
  addDisplay(list, o, {.width = nullptr});
}

std::string unheeded(const Given& /*given*/, const DoctorOptions& /*options*/) { return {}; }

struct Finding {
  std::string what;
  bool good = true;
  std::string text;
};

void lookAtBackends(std::vector<Finding>& findings) {
  for (const BackendChoice& choice : knownBackends()) {
    if (choice.table == nullptr) continue;
    const Opened opened = openBackend(choice.name);
    std::string text = opened.reason;
    if (opened.backend != nullptr) {
      text = fmt::format("{}, {}", opened.device.name, opened.device.library);
      if (opened.device.isa[0] != '\0') text += fmt::format(", {}", opened.device.isa);
      text += fmt::format(", {} threads", opened.device.threads);
    }
    findings.push_back({fmt::format("backend {}", choice.name), opened.backend != nullptr, text});
  }
  for (const BackendChoice& choice : knownBackends()) {
    if (choice.table == nullptr && std::string_view(choice.name) != "onednn") {
      findings.push_back({fmt::format("backend {}", choice.name), false, choice.why});
    }
  }
}

void lookAtMeters(std::vector<Finding>& findings) {
  const auto memory = measure::readMemory();
  findings.push_back({"memory meter", memory.has_value(),
                      memory ? fmt::format("VmHWM in /proc/self/status ({} now)", report::bytes(memory->peak)) : memory.error()});
  const auto reset = measure::resetPeak();
  findings.push_back({"peak reset", reset.has_value(), reset ? "5 to /proc/self/clear_refs" : reset.error()});
  const measure::EnergyMeter energy;
  findings.push_back({"energy meter", energy.available(), energy.available() ? "RAPL" : energy.reason()});
}

int run(show::Out& out, const DoctorOptions& options) {
  std::vector<Finding> findings;
  findings.push_back({"tbemc", true, kVersion});
  findings.push_back({"processors", true, std::to_string(std::thread::hardware_concurrency())});
  lookAtBackends(findings);
  lookAtMeters(findings);
  const std::string cache = jit::defaultCacheDir();
  const std::string wrong = cache.empty()                     ? "no folder: set XDG_CACHE_HOME or HOME"
                            : !std::filesystem::exists(cache) ? std::string()
                                                              : whyNotPrivate(cache);
  findings.push_back({"cache", wrong.empty(), wrong.empty() ? cache : wrong});
  if (options.measureMachine) {
    const auto device = measureThisMachine();
    findings.push_back({"rates of the cpu", device.has_value(), device ? describeRates(*device) : device.error()});
  }
  if (options.display.json) {
    for (const Finding& finding : findings)
      out.json("doctor", {{"what", finding.what}, {"ok", finding.good}, {"text", finding.text}});
    return kOk;
  }
  for (const Finding& finding : findings) out.print("{:>3} {:<16} {}\n", finding.good ? "ok" : "--", finding.what, finding.text);
  return kOk;
}

}  // namespace

const Command kDoctor = {"doctor", "what this machine has, and what is missing", Takes::Own, false,
    invocation<DoctorOptions, declare, unheeded, run>};

}  // namespace tbem::driver
