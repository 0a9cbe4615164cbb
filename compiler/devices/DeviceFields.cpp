#include "compiler/devices/DeviceFields.h"

#include "compiler/diagnostics/Diagnostics.h"
#include "compiler/diagnostics/tables/Plan.h"

#include <algorithm>
#include <cmath>

namespace tbem::driver {

namespace {

using estimate::Architecture;
using estimate::Device;

/// Exponents of bytes, seconds, joules, FLOPs.
constexpr sema::UnitPowers kPlain{}, kBytes{1, 0, 0, 0}, kBandwidth{1, -1, 0, 0}, kRate{0, -1, 0, 1}, kHertz{0, -1, 0, 0};

/// A field that is a number: its unit, what it takes in words, what it means, where it goes.
template <class Record>
struct NumberField {
  const char* name;
  sema::UnitPowers unit;
  const char* takes;
  const char* means;
  bool whole;
  void (*set)(Record& record, double value);
  bool zero = false;  ///< 0 is an answer
};

std::uint64_t toBytes(double value) { return static_cast<std::uint64_t>(std::llround(value)); }
std::int64_t toInt(double value) { return std::llround(value); }

constexpr const char* kCount = "a whole number of 1 or more";
constexpr const char* kSize = "a size such as 48 KiB";

const std::vector<NumberField<Device>>& deviceNumbers() {
  static const std::vector<NumberField<Device>> list = {
      {"memory", kBytes, "a size such as 24 GiB", "of the card", true, [](Device& d, double v) { d.memory = toBytes(v); }},
      {"bandwidth", kBandwidth, "a rate such as 900 GB / 1 s", "to that memory", false,
       [](Device& d, double v) { d.bandwidth = v; }},
      {"tf32", kRate, "a rate such as 156 TFLOP / 1 s", "f32 products whose inputs are rounded to TF32", false,
       [](Device& d, double v) { d.tf32 = v; }},
      {"multiprocessors", kPlain, kCount, "streaming multiprocessors", true,
       [](Device& d, double v) { d.multiprocessors = toInt(v); }},
      {"clock", kHertz, "a frequency such as 1980 MHz", "of the multiprocessors, boost", false,
       [](Device& d, double v) { d.clock = v; }},
      {"memory_clock", kHertz, "a frequency such as 3201 MHz", "as the driver reports it", false,
       [](Device& d, double v) { d.memoryClock = v; }},
      {"l2", kBytes, "a size such as 50 MiB", "cache", true, [](Device& d, double v) { d.l2 = toBytes(v); }},
      {"context", kBytes, "a size such as 300 MiB", "measured: of a CUDA context without kernels", true,
       [](Device& d, double v) { d.context = toBytes(v); }},
      {"handles", kBytes, "a size such as 80 MiB", "measured: of cuDNN's and cuBLAS's handles", true,
       [](Device& d, double v) { d.handles = toBytes(v); }},
      {"kernels", kBytes, "a size such as 200 MiB", "measured: of the kernels that a step loads", true,
       [](Device& d, double v) { d.kernels = toBytes(v); }},
  };
  return list;
}

const std::vector<NumberField<Architecture>>& architectureNumbers() {
  using A = Architecture;
  static const std::vector<NumberField<A>> list = {
      {"capability", kPlain, "a number such as 9.0", "compute capability", false,
       [](A& a, double v) { a.capability = toInt(v * 10); }},
      {"warp", kPlain, kCount, "threads of a warp", true, [](A& a, double v) { a.warp = toInt(v); }},
      {"threads_per_block", kPlain, kCount, "most", true, [](A& a, double v) { a.threadsPerBlock = toInt(v); }},
      {"threads_per_sm", kPlain, kCount, "most resident", true, [](A& a, double v) { a.threadsPerMultiprocessor = toInt(v); }},
      {"blocks_per_sm", kPlain, kCount, "most resident", true, [](A& a, double v) { a.blocksPerMultiprocessor = toInt(v); }},
      {"registers_per_block", kPlain, kCount, "of 32 bits", true, [](A& a, double v) { a.registersPerBlock = toInt(v); }},
      {"registers_per_sm", kPlain, kCount, "of 32 bits", true, [](A& a, double v) { a.registersPerMultiprocessor = toInt(v); }},
      {"shared_per_block", kBytes, kSize, "without asking for more", true, [](A& a, double v) { a.sharedPerBlock = toBytes(v); }},
      {"shared_per_block_most", kBytes, kSize, "asked for", true, [](A& a, double v) { a.sharedPerBlockMost = toBytes(v); }},
      {"shared_reserved", kBytes, "a size such as 1 KiB, or 0 B", "kept of each block by the system", true,
       [](A& a, double v) { a.sharedReserved = toBytes(v); }, true},
  };
  return list;
}

class Reader {
public:
  Reader(const sema::ExprPool& pool, DiagnosticSink& sink) : pool(pool), sink(sink) {}

  std::optional<Device> device(const ast::Constant& constant, const sema::Value& record) {
    Device device;
    device.name = constant.name.text;
    const auto* literal = ast::dynCast<ast::Record>(constant.value);
    bool good = true;
    for (std::size_t i = 0; i < record.words.size(); ++i) {
      place = literal != nullptr && i < literal->fields.size() ? literal->fields[i].value->range : constant.value->range;
      namePlace = literal != nullptr && i < literal->fields.size() ? literal->fields[i].name.range : constant.value->range;
      good = field(device, record.words[i], record.items[i]) && good;
    }
    if (!good) return std::nullopt;
    if (device.bandwidth <= 0) {
      sink.report(diag::device_field_missing, constant.name.range, constant.name.text, "bandwidth", "such as 900 GB / 1 s");
      return std::nullopt;
    }
    return device;
  }

private:
  bool wrong(const std::string& field, const char* takes) {
    sink.report(diag::device_field_wrong, place, field, takes);
    return false;
  }

  bool unknown(const std::string& field) {
    std::vector<std::string> names;
    for (const DeviceFieldText& known : deviceFields()) names.push_back(known.name);
    const std::string close = nearest(field, names);
    Diagnostic& told = sink.report(diag::device_field_unknown, namePlace, field);
    told.note(close.empty() ? "`tbemc doc --devices` lists the fields" : "did you mean `" + close + "`?");
    return false;
  }

  template <class Record>
  bool number(Record& record, const NumberField<Record>& known, const sema::Value& value) {
    const std::optional<Rational> number =
        value.is(sema::ValueKind::Number) ? pool.constantValue(value.expr) : std::optional<Rational>();
    const bool good = number && value.unit == known.unit && (number->num > 0 || (known.zero && number->num == 0)) &&
                      (!known.whole || number->den == 1);
    if (!good) return wrong(known.name, known.takes);
    known.set(record, number->toDouble());
    return true;
  }

  bool text(const std::string& name, std::string& into, const sema::Value& value) {
    if (!value.is(sema::ValueKind::String)) return wrong(name, "a string");
    into = value.text();
    return true;
  }

  bool three(const std::string& name, std::array<std::int64_t, 3>& into, const sema::Value& value) {
    constexpr const char* kThree = "a list of three whole numbers of 1 or more";
    if (!value.is(sema::ValueKind::List) || value.items.size() != into.size()) return wrong(name, kThree);
    for (std::size_t i = 0; i < into.size(); ++i) {
      const sema::Value& item = value.items[i];
      const auto number = item.is(sema::ValueKind::Number) ? pool.constantValue(item.expr) : std::optional<Rational>();
      if (!number || number->den != 1 || number->num < 1 || item.unit != kPlain) return wrong(name, kThree);
      into[i] = number->num;
    }
    return true;
  }

  bool architecture(Device& device, const sema::Value& record) {
    if (!record.is(sema::ValueKind::Record)) return wrong("architecture", "a record such as sm_90 of std.devices");
    Architecture read;
    std::size_t found = 0;
    for (std::size_t i = 0; i < record.words.size(); ++i) {
      const std::string& name = record.words[i];
      const sema::Value& value = record.items[i];
      const auto& numbers = architectureNumbers();
      const auto known = std::find_if(numbers.begin(), numbers.end(), [&](const auto& f) { return name == f.name; });
      const bool good = known != numbers.end() ? number(read, *known, value)
                        : name == "block"      ? three(name, read.block, value)
                        : name == "grid"       ? three(name, read.grid, value)
                                               : unknown(name);
      if (!good) return false;
      ++found;
    }
    if (found != architectureNumbers().size() + 2) {
      for (const DeviceFieldText& known : deviceFields()) {
        const bool there = std::find(record.words.begin(), record.words.end(), known.name) != record.words.end();
        if (!known.ofArchitecture || there) continue;
        sink.report(diag::device_field_missing, place, "architecture", known.name, known.takes);
        return false;
      }
    }
    device.architecture = read;
    return true;
  }

  bool field(Device& device, const std::string& name, const sema::Value& value) {
    if (name == "name") return text(name, device.name, value);
    if (name == "measured") return text(name, device.measured, value);
    if (name == "architecture") return architecture(device, value);
    for (const NumberField<Device>& known : deviceNumbers()) {
      if (name == known.name) return number(device, known, value);
    }
    const int dtype = sema::dtypeIndex(name);
    if (dtype < 0) return unknown(name);
    double rate = 0;
    const NumberField<double> known{name.c_str(), kRate, "a rate such as 15.7 TFLOP / 1 s",
                                    "",           false, [](double& into, double v) { into = v; }};
    if (!number(rate, known, value)) return false;
    device.rates[static_cast<std::size_t>(dtype)] = rate;
    return true;
  }

  const sema::ExprPool& pool;
  DiagnosticSink& sink;
  SrcRange place, namePlace;
};

}  // namespace

const std::vector<DeviceFieldText>& deviceFields() {
  static const std::vector<DeviceFieldText> list = [] {
    std::vector<DeviceFieldText> all = {{"name", "a string", "as the driver calls it"}};
    for (const auto& field : deviceNumbers()) {
      if (std::string_view(field.name) == "tf32")
        all.push_back({"f64, f32, f16, bf16, ..", "a rate such as 15.7 TFLOP / 1 s", "peak of the element type, dense"});
      all.push_back({field.name, field.takes, field.means});
    }
    all.push_back({"measured", "a string", "when and with which driver `context`, `handles`, `kernels` were"});
    all.push_back({"architecture", "a record such as sm_90", "the limits below"});
    for (const auto& field : architectureNumbers()) all.push_back({field.name, field.takes, field.means, true});
    all.push_back({"block", "a list of three whole numbers", "threads of a block along each axis, most", true});
    all.push_back({"grid", "a list of three whole numbers", "blocks of a grid along each axis, most", true});
    return all;
  }();
  return list;
}

std::optional<Device> readDevice(const sema::Program& program, const sema::Module& module, const ast::Constant& constant,
                                 DiagnosticSink& sink) {
  sema::ExprPool pool;
  sema::Evaluator evaluator(program, pool, sink);
  const sema::Value value = evaluator.constant(module, constant);
  if (value.isPoison()) return std::nullopt;
  if (!value.is(sema::ValueKind::Record)) {
    sink.report(diag::device_field_missing, constant.name.range, constant.name.text, "bandwidth", "for it is no record");
    return std::nullopt;
  }
  return Reader(pool, sink).device(constant, value);
}

bool isDevice(const ast::Constant& constant) {
  const auto* record = ast::dynCast<ast::Record>(constant.value);
  return record != nullptr && std::any_of(record->fields.begin(), record->fields.end(),
                                          [](const ast::Record::Field& field) { return field.name.text == "bandwidth"; });
}

}  // namespace tbem::driver
