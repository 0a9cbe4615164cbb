#include "compiler/devices/Findings.h"

#include "compiler/backends/Backends.h"
#include "compiler/devices/Devices.h"
#include "compiler/foreign/Engines.h"
#include "compiler/foreign/Python.h"
#include "compiler/jit/glue/Jit.h"
#include "compiler/jit/nvptx/MachineCode.h"
#include "compiler/support/PrivateFolder.h"
#include "compiler/support/Version.h"
#include "runtime/data/MatFile.h"
#include "runtime/measure/CardMeter.h"
#include "runtime/measure/Meters.h"
#include "runtime/perturb/defence/Defence.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <thread>

namespace tbem::driver {

namespace {

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
}

/// What makes a card's own code; without it the driver does.
void lookAtAssembler(std::vector<Finding>& findings) {
  const auto version = jit::assemblerVersion();
  findings.push_back({"assembler", version.has_value(),
                      version ? *version : fmt::format("{}: a card's driver compiles kernels", version.error())});
}

void lookAtMeters(std::vector<Finding>& findings) {
  const auto memory = measure::readMemory();
  findings.push_back({"memory meter", memory.has_value(),
                      memory ? fmt::format("VmHWM in /proc/self/status ({} now)", report::bytes(memory->peak)) : memory.error()});
  const auto reset = measure::resetPeak();
  findings.push_back({"peak reset", reset.has_value(), reset ? "5 to /proc/self/clear_refs" : reset.error()});
  const measure::EnergyMeter energy;
  findings.push_back({"energy meter", energy.available(), energy.available() ? "RAPL" : energy.reason()});
  if (const std::string card = cardBusId(); !card.empty()) {
    const measure::CardMeter meter(card);
    findings.push_back({"card energy", meter.joules().has_value(), meter.joules() ? "NVML" : meter.reason()});
  }
}

/// Where there is more than one card.
void lookAtCards(std::vector<Finding>& findings) {
  const auto cards = equalCards();
  if (!cards || cards->equal.size() + cards->others < 2) return;
  const std::size_t equal = cards->equal.size();
  findings.push_back({"equal cards", equal > 1,
                      fmt::format("{}{}{}", equal, equal > 1 ? " (rows run on them side by side: measure --cards)" : "",
                                  cards->others > 0 ? fmt::format(", and {} of another kind", cards->others) : "")});
}

void lookAtDetectors(std::vector<Finding>& findings) {
  const auto library = perturb::detectorLibrary();
  findings.push_back({"detectors", library.has_value(), library ? "liblinear " + *library : library.error()});
}

void lookAtMatFiles(std::vector<Finding>& findings) {
  const auto library = data::matLibrary();
  findings.push_back({".mat files", library.has_value(), library ? "matio " + *library : library.error()});
}

/// In which rows are measured that frameworks measure.
void lookAtPython(const std::string& asked, std::vector<Finding>& findings) {
  const std::string python = foreign::pythonOf({}, {.python = asked, .folder = ""});
  const auto facts = foreign::lookAt(python);
  findings.push_back(
      {"python", facts.has_value(), facts ? fmt::format("{}, {}, {}", python, facts->version, facts->allocator) : facts.error()});
  for (const foreign::Framework& framework : foreign::frameworks()) {
    const std::string missing = facts ? foreign::missingPackage(*facts, framework) : framework.package;
    findings.push_back({"rows on " + foreign::nameOf(framework), missing.empty(),
                        missing.empty() ? foreign::packagesText(*facts, framework)
                                        : fmt::format("this Python has no {} (--python PATH names another)", missing)});
  }
}

}  // namespace

std::vector<Finding> lookAtMachine(bool measured, const std::string& python) {
  std::vector<Finding> findings;
  findings.push_back({"tbemc", true, kVersion});
  findings.push_back({"processors", true, std::to_string(std::thread::hardware_concurrency())});
  lookAtBackends(findings);
  lookAtAssembler(findings);
  lookAtPython(python, findings);
  lookAtMeters(findings);
  lookAtCards(findings);
  lookAtDetectors(findings);
  lookAtMatFiles(findings);
  const std::string cache = jit::defaultCacheDir();
  const std::string wrong = cache.empty()                     ? "no folder: set XDG_CACHE_HOME or HOME"
                            : !std::filesystem::exists(cache) ? std::string()
                                                              : whyNotPrivate(cache);
  findings.push_back({"cache", wrong.empty(), wrong.empty() ? cache : wrong});
  if (measured) {
    const auto device = measureThisMachine();
    findings.push_back({"rates of the cpu", device.has_value(), device ? describeRates(*device) : device.error()});
  }
  return findings;
}

}  // namespace tbem::driver
