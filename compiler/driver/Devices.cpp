#include "compiler/driver/Devices.h"

#include "compiler/driver/Backends.h"
#include "compiler/jit/Jit.h"
#include "compiler/sema/Evaluator.h"
#include "runtime/measure/Rates.h"
#include "runtime/report/Numbers.h"
#include "runtime/report/Svg.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>

namespace tbem::driver {

namespace {

using Read = tl::expected<estimate::Device, DeviceFailure>;

DeviceFailure usage(std::string message) { return {kUsage, std::move(message)}; }

std::string lettersAndDigits(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// The unit of a field: bytes, bytes a second, FLOPs a second (exponents of bytes, seconds, joules, FLOPs).
constexpr sema::UnitPowers kBytes{1, 0, 0, 0}, kBandwidth{1, -1, 0, 0}, kRate{0, -1, 0, 1};

/// A field that is a positive number of this unit.
tl::expected<double, std::string> numberOf(const sema::ExprPool& pool, const sema::Value& value, sema::UnitPowers unit,
                                           const char* example) {
  const std::optional<Rational> number =
      value.is(sema::ValueKind::Number) ? pool.constantValue(value.expr) : std::optional<Rational>();
  if (!number || value.unit != unit || number->num <= 0) return tl::unexpected(fmt::format("takes a number such as {}", example));
  return number->toDouble();
}

/// A record of the language as a device.
tl::expected<estimate::Device, std::string> deviceOf(const sema::ExprPool& pool, const std::string& name,
                                                     const sema::Value& record) {
  estimate::Device device;
  device.name = name;
  for (std::size_t i = 0; i < record.names.size(); ++i) {
    const std::string& field = record.names[i];
    const sema::Value& value = record.items[i];
    tl::expected<double, std::string> number = 0.0;
    const int dtype = sema::dtypeIndex(field);
    if (field == "name") {
      if (!value.is(sema::ValueKind::String)) return tl::unexpected(std::string("its field `name` takes a string"));
      device.name = value.text;
    } else if (field == "memory") {
      number = numberOf(pool, value, kBytes, "24 GiB");
      if (number) device.memory = static_cast<std::uint64_t>(*number);
    } else if (field == "bandwidth") {
      number = numberOf(pool, value, kBandwidth, "900 GB / 1 s");
      if (number) device.bandwidth = *number;
    } else if (field == "tf32" || dtype >= 0) {
      number = numberOf(pool, value, kRate, "15.7 TFLOP / 1 s");
      if (number) (field == "tf32" ? device.tf32 : device.rates[static_cast<std::size_t>(dtype)]) = *number;
    } else {
      return tl::unexpected(fmt::format("its field `{}` is none of name, memory, bandwidth, tf32 and the element types", field));
    }
    if (!number) return tl::unexpected(fmt::format("its field `{}` {}", field, number.error()));
  }
  if (device.bandwidth <= 0) return tl::unexpected(std::string("it has no field `bandwidth`, such as 900 GB / 1 s"));
  return device;
}

/// The record that a constant of a module is.
Read readRecord(const sema::Program& program, const sema::Module& module, const ast::Constant& constant) {
  DiagnosticSink sink;
  sema::ExprPool pool;
  sema::Evaluator evaluator(program, pool, sink);
  const sema::Value value = evaluator.constant(module, constant);
  const std::string& name = constant.name.text;
  if (!value.is(sema::ValueKind::Record))
    return tl::unexpected(usage(fmt::format("`{}` is no device: a record with a bandwidth is", name)));
  const auto device = deviceOf(pool, name, value);
  if (!device) return tl::unexpected(usage(fmt::format("device `{}`: {}", name, device.error())));
  return *device;
}

/// The folder `std.devices`, parsed apart from the user's program.
struct Library {
  Session session;
  std::unique_ptr<sema::Program> program;
  const sema::Module* module = nullptr;
  Library() {
    const Source& source = session.sources.add("<devices>", "import std.devices\n");
    program = sema::load(session.sources, session.sink, source, sema::LoadOptions::fromEnvironment());
    module = program->find("std.devices");
  }
  std::vector<const ast::Constant*> all() const {
    std::vector<const ast::Constant*> list;
    if (module == nullptr) return list;
    for (const auto& file : module->files) {
      for (const ast::Decl* decl : file->declarations) {
        if (const auto* constant = ast::dynCast<ast::Constant>(decl)) list.push_back(constant);
      }
    }
    return list;
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
  if (cpu.backend == nullptr) return tl::unexpected(DeviceFailure{kEnvironment, cpu.reason});
  const std::string way = "measure them with `tbemc doctor --measure`";
  std::ifstream file(ratesFile());
  if (!file) return tl::unexpected(DeviceFailure{kEnvironment, "the rates of this machine are not known: " + way});
  const auto json = nlohmann::json::parse(file, nullptr, false);
  const auto number = [&](const char* name) {
    return json.is_object() && json.contains(name) && json[name].is_number() ? json[name].get<double>() : 0.0;
  };
  const bool same = json.is_object() && json.contains("machine") && json["machine"] == machineText(cpu.device);
  if (!same || number("f32") <= 0 || number("bandwidth") <= 0) {
    return tl::unexpected(DeviceFailure{
        kEnvironment, fmt::format("{} is not of this processor, library and number of threads: {}", ratesFile(), way)});
  }
  return machineDevice(cpu.device, number("f32"), number("bandwidth"));
}

}  // namespace

tl::expected<DeviceChoice, DeviceFailure> findDevice(const Workspace& workspace, const std::string& text) {
  DeviceChoice choice;
  const std::size_t colon = text.rfind(':');
  const std::string name = text.substr(0, colon);
  if (colon != std::string::npos) {
    if (text.substr(colon + 1) != "tf32")
      return tl::unexpected(usage(fmt::format("--roofline {}: behind the colon stands `tf32` or nothing", text)));
    choice.tf32 = true;
  }
  Read found = tl::unexpected(usage(""));
  std::vector<std::string> names{"cpu"};
  const sema::Module& main = workspace.program->main();
  if (const auto own = main.own.find(name); own != main.own.end() && own->second->kind == ast::NodeKind::Constant) {
    found = readRecord(*workspace.program, main, *static_cast<const ast::Constant*>(own->second));
  } else if (name == "cpu") {
    found = thisMachine();
    choice.thisMachine = true;
  } else {
    const Library library;
    for (const ast::Constant* constant : library.all()) {
      names.push_back(constant->name.text);
      if (constant->name.text == lettersAndDigits(name)) found = readRecord(*library.program, *library.module, *constant);
    }
    if (!found && found.error().message.empty()) {
      std::sort(names.begin(), names.end());
      return tl::unexpected(
          usage(fmt::format("no device is called `{}` ({}; or a record of the program)", name, fmt::join(names, ", "))));
    }
  }
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
  if (const auto written = report::writeAtomically(path, json.dump(2) + "\n"); !written) return tl::unexpected(written.error());
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
