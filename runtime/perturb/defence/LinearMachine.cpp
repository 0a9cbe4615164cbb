#include "runtime/perturb/defence/LinearMachine.h"

#include "runtime/core/Symbol.h"
#include "runtime/perturb/defence/Defence.h"

#include <fmt/format.h>
#include <linear.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace tbem::perturb {

namespace {

constexpr const char* kLibrary = "liblinear.so.4";
constexpr double kTolerance = 1e-3;  // of the gradient's length, as a share of what it was at 0

/// Its functions. It is linked with a BLAS, which takes longer to load than most commands run: so it is opened here.
struct Liblinear {
  decltype(&::train) train = nullptr;
  decltype(&::free_and_destroy_model) destroy = nullptr;
  decltype(&::set_print_string_function) print = nullptr;
  int version = 0;
};

tl::expected<Liblinear, std::string> openLiblinear() {
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return tl::unexpected(fmt::format("{} (Debian's package liblinear4 has it)", ::dlerror()));
  Liblinear opened;
  const int* version = nullptr;
  const auto find = [library](const char* name, auto& symbol) { return runtime::findSymbol(library, name, symbol); };
  const bool whole = find("train", opened.train) && find("free_and_destroy_model", opened.destroy) &&
                     find("set_print_string_function", opened.print) && find("liblinear_version", version);
  if (!whole) return tl::unexpected(fmt::format("{} lacks a function of liblinear 2", kLibrary));
  opened.version = *version;
  opened.print([](const char*) {});
  return opened;
}

const tl::expected<Liblinear, std::string>& liblinear() {
  static const tl::expected<Liblinear, std::string> opened = openLiblinear();
  return opened;
}

struct Scale {
  std::vector<double> mean, unit;  ///< numbers from the mean are divided by the unit; 0: the number is always the same
};

/// Numbers that are all the same are told by comparison: what their mean rounds is no deviation.
Scale scaleOf(std::span<const LabelledRow> rows) {
  const std::size_t size = rows.front().numbers.size();
  Scale scale{std::vector<double>(size, 0), std::vector<double>(size, 0)};
  const double count = static_cast<double>(rows.size());
  for (const LabelledRow& row : rows)
    for (std::size_t j = 0; j < size; ++j) scale.mean[j] += row.numbers[j] / count;
  for (const LabelledRow& row : rows) {
    for (std::size_t j = 0; j < size; ++j) {
      const double from = row.numbers[j] - scale.mean[j];
      scale.unit[j] += from * from / count;
    }
  }
  double varying = 0;
  for (std::size_t j = 0; j < size; ++j) {
    const float first = rows.front().numbers[j];
    const bool varies = std::ranges::any_of(rows, [&](const LabelledRow& row) { return row.numbers[j] != first; });
    if (!varies) scale.unit[j] = 0;
    varying += varies ? 1 : 0;
  }
  for (double& unit : scale.unit) unit = std::sqrt(unit * varying);
  return scale;
}

/// Rows as liblinear takes them: numbers that are always the same say nothing and are left out, the last one is the offset's.
class Problem {
public:
  Problem(std::span<const LabelledRow> rows, const Scale& scale) {
    std::vector<std::size_t> varying;
    for (std::size_t j = 0; j < scale.unit.size(); ++j)
      if (scale.unit[j] > 0) varying.push_back(j);
    const std::size_t length = varying.size() + 2;
    nodes.resize(rows.size() * length);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      feature_node* node = &nodes[i * length];
      first.push_back(node);
      labels.push_back(rows[i].label ? 1 : -1);
      for (const std::size_t j : varying)
        *node++ = {static_cast<int>(j) + 1, (rows[i].numbers[j] - scale.mean[j]) / scale.unit[j]};
      *node++ = {static_cast<int>(scale.unit.size()) + 1, 1};
      *node = {-1, 0};
    }
    all = {static_cast<int>(rows.size()), static_cast<int>(scale.unit.size()) + 1, labels.data(), first.data(), 1};
  }
  const problem& get() const { return all; }

private:
  std::vector<feature_node> nodes;
  std::vector<feature_node*> first;
  std::vector<double> labels;
  problem all{};
};

}  // namespace

tl::expected<std::string, std::string> detectorLibrary() {
  const auto& library = liblinear();
  if (!library) return tl::unexpected(library.error());
  return fmt::format("{}.{}", library->version / 100, library->version % 100);
}

double LinearMachine::score(std::span<const float> row) const {
  double sum = offset;
  for (std::size_t j = 0; j < weights.size(); ++j) sum += weights[j] * row[j];
  return sum;
}

tl::expected<LinearMachine, std::string> separate(std::span<const LabelledRow> rows, double cost) {
  const auto& library = liblinear();
  if (!library) return tl::unexpected(library.error());
  const Scale scale = scaleOf(rows);
  const Problem problem(rows, scale);
  parameter settings{};
  settings.solver_type = L2R_L2LOSS_SVC;  // in the primal, which draws no random numbers
  settings.C = cost;
  settings.eps = kTolerance;
  const auto destroy = [&](model* of) { library->destroy(&of); };
  const std::unique_ptr<model, decltype(destroy)> learned(library->train(&problem.get(), &settings), destroy);
  const double side = learned->label[0] == 1 ? 1 : -1;  // the first row's class is the positive one
  LinearMachine machine;
  machine.offset = side * learned->w[scale.mean.size()];
  for (std::size_t j = 0; j < scale.mean.size(); ++j) {
    const double weight = scale.unit[j] > 0 ? side * learned->w[j] / scale.unit[j] : 0;
    machine.weights.push_back(weight);
    machine.offset -= weight * scale.mean[j];
  }
  return machine;
}

}  // namespace tbem::perturb
