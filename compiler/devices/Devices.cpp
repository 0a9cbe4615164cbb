#include "compiler/devices/Devices.h"

#include "compiler/backends/Backends.h"
#include "compiler/devices/DeviceFields.h"
#include "compiler/diagnostics/Hints.h"
#include "compiler/jit/glue/CacheFile.h"
#include "compiler/jit/glue/Jit.h"
#include "compiler/sema/evaluate/Evaluator.h"
#include "runtime/measure/Rates.h"
#include "runtime/report/Numbers.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace tbem::driver {

namespace {

using Read = tl::expected<estimate::Device, Failed>;

Failed usage(std::string message) { return {kUsage, {std::move(message)}}; }

std::string lettersAndDigits(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// The folder `std.devices`: as the program has loaded it, or parsed apart.
struct Library {
  Session session;
  std::unique_ptr<sema::Program> own;
  const sema::Program* program = nullptr;
  const sema::Module* module = nullptr;
  Library(const sema::Program* loaded, const sema::LoadOptions& options) : program(loaded) {
    if (program != nullptr) module = program->find("std.devices");
    if (module != nullptr) return;
    const Source& source = session.sources.add("<devices>", "import std.devices\n");
    own = sema::load(session.sources, session.sink, source, options);
    program = own.get();
    module = program->find("std.devices");
  }
  std::vector<const ast::Constant*> all() const {
    std::vector<const ast::Constant*> list;
    if (module == nullptr) return list;
    for (const auto& file : module->files) {
      for (const ast::Decl* decl : file->declarations) {
        const auto* constant = ast::dynCast<ast::Constant>(decl);
        if (constant != nullptr && isDevice(*constant)) list.push_back(constant);
      }
    }
    return list;
  }
  Read read(const ast::Constant& constant) {
    auto device = readDevice(*program, *module, constant, session.sink);
    if (device) return std::move(*device);
    const std::string why = session.sink.all().empty() ? "" : ": " + session.sink.all().front().message;
    return failed(kEnvironment, "std.devices." + constant.name.text + " is no device" + why);
  }
};

// ---- This machine -----------------------------------------------------------------------------------------------------

std::string ratesFile() {
  const std::string folder = jit::defaultCacheDir();
  return folder.empty() ? std::string() : folder + "/cpu-rates.json";
}

/// What a measurement belongs to: another processor or library makes it void.
std::string machineText(const tbem_device_info& info) {
  return fmt::format("{}, {}, {}, {} threads", info.name, info.isa, info.library, info.threads);
}

estimate::Device machineDevice(const tbem_device_info& info, double flops, double bandwidth) {
  estimate::Device device;
  device.name = info.name;
  device.memory = info.memory;
  device.bandwidth = bandwidth;
  device.rates[TBEM_F32] = flops;
  return device;
}

Read thisMachine() {
  const Opened cpu = openBackend("cpu");
  if (cpu.backend == nullptr) return failed(kEnvironment, cpu.reason);
  const std::string way = "measure them with `tbemc doctor --measure`";
  std::string refused;
  const std::string text = readText(ratesFile(), refused);
  if (!refused.empty()) return failed(kEnvironment, fmt::format("{}; or {}", notBelieved(refused), way));
  if (text.empty()) return failed(kEnvironment, "the rates of this machine are not known: " + way);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto number = [&](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_number() ? json[name].get<double>() : 0.0;
  };
  const bool same = json.is_object() && json.contains("machine") && json["machine"] == machineText(cpu.device);
  if (!same || number("f32") <= 0 || number("bandwidth") <= 0) {
    return failed(kEnvironment, fmt::format("{} is not of this processor, library and number of threads: {}", ratesFile(), way));
  }
  return machineDevice(cpu.device, number("f32"), number("bandwidth"));
}

}  // namespace

tl::expected<estimate::Device, Failed> namedDevice(Workspace& workspace, const std::string& name,
                                                   std::vector<std::string> others) {
  const sema::Module& main = workspace.program->main();
  if (const auto own = main.own.find(name); own != main.own.end() && own->second->kind == ast::NodeKind::Constant) {
    const auto& constant = *static_cast<const ast::Constant*>(own->second);
    auto device = readDevice(*workspace.program, main, constant, workspace.session.sink);
    if (!device) return tl::unexpected(Failed{kProgramErrors, {}});
    return std::move(*device);
  }
  Library library(workspace.program.get(), {workspace.load.path, workspace.load.stdlib});
  for (const ast::Constant* constant : library.all()) {
    others.push_back(constant->name.text);
    if (lettersAndDigits(constant->name.text) == lettersAndDigits(name)) return library.read(*constant);
  }
  std::sort(others.begin(), others.end());
  return tl::unexpected(
      usage(fmt::format("no device is called `{}`: there are {} (tbemc doc --devices), or a record of the program", name,
                        nearestFew(name, std::move(others)))));
}

std::vector<estimate::Device> libraryDevices(std::vector<std::string>& names) {
  std::vector<estimate::Device> devices;
  Library library(nullptr, sema::LoadOptions::fromEnvironment());
  for (const ast::Constant* constant : library.all()) {
    if (auto device = library.read(*constant)) {
      names.push_back(constant->name.text);
      devices.push_back(std::move(*device));
    }
  }
  return devices;
}

tl::expected<DeviceChoice, Failed> findDevice(Workspace& workspace, const std::string& text) {
  DeviceChoice choice;
  const std::size_t colon = text.rfind(':');
  const std::string name = text.substr(0, colon);
  if (colon != std::string::npos) {
    if (text.substr(colon + 1) != "tf32")
      return tl::unexpected(usage(fmt::format("--roofline {}: behind the colon stands `tf32` or nothing", text)));
    choice.tf32 = true;
  }
  choice.thisMachine = name == "cpu" && !workspace.program->main().own.contains(name);
  Read found = choice.thisMachine ? thisMachine() : namedDevice(workspace, name, {"cpu"});
  if (!found) return tl::unexpected(found.error());
  if (choice.tf32 && !found->tf32) return tl::unexpected(usage(fmt::format("{} has no rate `tf32`", found->name)));
  choice.device = std::move(*found);
  return choice;
}

tl::expected<estimate::Device, std::string> measureThisMachine() {
  const Opened cpu = openBackend("cpu");
  if (cpu.backend == nullptr) return tl::unexpected(cpu.reason);
  const auto rates = measure::measureRates(*cpu.backend, cpu.device.threads);
  if (!rates) return tl::unexpected(rates.error());
  const std::string path = ratesFile();
  if (path.empty()) return tl::unexpected(std::string("no folder to keep the rates in: set XDG_CACHE_HOME or HOME"));
  const nlohmann::ordered_json json = {
      {"machine", machineText(cpu.device)}, {"f32", rates->flops}, {"bandwidth", rates->bandwidth}};
  if (const std::string problem = updateText(path, [&](const std::string&) { return json.dump(2) + "\n"; }); !problem.empty())
    return tl::unexpected(problem);
  return machineDevice(cpu.device, rates->flops, rates->bandwidth);
}

std::string describeRates(const estimate::Device& device) {
  std::string text;
  for (std::size_t i = 0; i < device.rates.size(); ++i) {
    if (device.rates[i]) text += fmt::format("{}/s {}, ", report::flops(*device.rates[i]), sema::kDTypeNames[i]);
  }
  return fmt::format("{}{:.4g} GB/s", text, device.bandwidth / 1e9);
}

}  // namespace tbem::driver
