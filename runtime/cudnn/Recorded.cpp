#include "runtime/cudnn/Recorded.h"

#include "runtime/core/Fields.h"

#include <embedded/tbem_recorded.h>
#include <fmt/format.h>

#include <mutex>

namespace tbem::cudnn {

using runtime::readNumber;
using runtime::takeUntil;

namespace {

constexpr std::size_t kNumbers = 16;  // x[4], out, kernel[2], stride[2], pad[4], dilation[2], groups
constexpr std::array<Pass, 3> kPasses{Pass::Forward, Pass::DataGradient, Pass::WeightGradient};
constexpr std::array<std::int32_t, 2> kTypes{TBEM_F32, TBEM_BF16};
constexpr std::array<Order, 2> kOrders{Order::Nchw, Order::Nhwc};

bool readEngine(std::string_view word, Engine& engine) {
  engine.index = -1;
  if (!word.empty() && word.back() == 't') {
    engine.numerical = 1U << static_cast<unsigned>(Numerical::TensorCore);
    word.remove_suffix(1);
  }
  return readNumber(word, engine.workspace);
}

bool readProblem(std::string_view& line, Convolution& p) {
  std::array<std::int64_t, kNumbers> v{};
  for (std::int64_t& number : v) {
    if (!readNumber(takeUntil(line, ' '), number) || number < 0) return false;
  }
  p.n = v[0], p.c = v[1], p.h = v[2], p.w = v[3], p.out = v[4];
  p.kernel = {v[5], v[6]};
  p.stride = {v[7], v[8]};
  p.pad = {v[9], v[10], v[11], v[12]};
  p.dilation = {v[13], v[14]};
  p.groups = v[15];
  const auto known = p.groups > 0 ? readConvolution(describe(p)) : std::nullopt;
  return known && *known == p;
}

bool readLine(std::string_view line, std::map<std::string, std::vector<Engine>, std::less<>>& lists) {
  Convolution p;
  if (!readProblem(line, p)) return false;
  for (const Pass pass : kPasses) {
    for (const std::int32_t type : kTypes) {
      for (const Order order : kOrders) {
        std::string_view answer = takeUntil(line, ' ');
        if (answer == "-") continue;
        p.pass = pass, p.dtype = type, p.order = order;
        std::vector<Engine>& engines = lists[describe(p)];
        while (!answer.empty()) {
          if (!readEngine(takeUntil(answer, ','), engines.emplace_back())) return false;
        }
        if (engines.empty()) return false;
      }
    }
  }
  return line.empty();
}

}  // namespace

const std::vector<Engine>* Recorded::find(const DeviceProperties& device, const Convolution& problem) const {
  const auto lists = devices.find({device.capability, device.clockKHz, device.memoryClockKHz});
  if (lists == devices.end()) return nullptr;
  const auto found = lists->second.find(describe(problem));
  return found == lists->second.end() ? nullptr : &found->second;
}

std::optional<Recorded> readRecorded(std::string_view text) {
  Recorded table;
  table.made = takeUntil(text, '\n');
  std::map<std::string, std::vector<Engine>, std::less<>>* lists = nullptr;
  while (!text.empty()) {
    std::string_view line = takeUntil(text, '\n');
    if (line.substr(0, 7) == "device ") {
      line.remove_prefix(7);
      std::array<std::int64_t, 3> device{};
      for (std::int64_t& number : device) {
        if (!readNumber(takeUntil(line, ' '), number)) return std::nullopt;
      }
      lists = &table.devices[device];
    } else if (lists == nullptr || !readLine(line, *lists)) {
      return std::nullopt;
    }
  }
  return table;
}

const Recorded& recordedTable(const DeviceProperties& device) {
  static std::mutex one;
  static std::map<std::array<std::int64_t, 3>, Recorded> tables;
  const std::lock_guard lock(one);
  const auto [place, isNew] = tables.try_emplace({device.capability, device.clockKHz, device.memoryClockKHz});
  if (!isNew) return place->second;
  const std::string head = fmt::format("\ndevice {} {} {} ", device.capability, device.clockKHz, device.memoryClockKHz);
  for (const auto& file : recorded::files()) {
    const std::string_view text = file.text;
    const std::size_t from = text.find(head);
    if (from == std::string_view::npos) continue;
    const std::size_t end = text.find("\ndevice ", from + 1);
    const std::string_view own = text.substr(from, end == std::string_view::npos ? end : end + 1 - from);
    if (auto read = readRecorded(fmt::format("{}{}", text.substr(0, text.find('\n')), own))) place->second = std::move(*read);
  }
  return place->second;
}

const Recorded& recordedTable() {
  static const Recorded table = [] {
    for (const auto& file : recorded::files()) {
      if (auto read = readRecorded(file.text)) return std::move(*read);
    }
    return Recorded{};
  }();
  return table;
}

std::vector<Engine> modelled(const Convolution& problem) {
  Engine engine;
  engine.index = -1;
  const bool depthwise = problem.groups > 1 && problem.groups == problem.c;
  if (problem.order == Order::Nchw && !depthwise) {
    const std::uint64_t element = problem.dtype == TBEM_F32 ? 4 : 2;
    for (const auto& dims : {problem.x(), problem.weight(), problem.y()}) {
      std::uint64_t bytes = element;
      for (const std::int64_t dim : dims) bytes *= static_cast<std::uint64_t>(dim);
      engine.workspace += bytes;
    }
  }
  return {engine};
}

}  // namespace tbem::cudnn
