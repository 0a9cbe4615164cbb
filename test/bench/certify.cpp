// How tight certified costs are, and what they take: the bounds of the first test images of Fashion-MNIST around a trained
// network.
//
//   bench_certify PROGRAM CHECKPOINT EXAMPLES PRODUCTS RADIUS...
//
// PROGRAM has a design of the network for one image, CHECKPOINT its weights (tbemc train); PRODUCTS as certify::Limits. A line
// for each radius and method: the mean cost of the examples themselves, the mean of the bounds, the share of examples that no
// input of the ball costs more than, that of gates reached by examples which are decided for the ball, and milliseconds of
// processor time and linear forms for each example.
#include "compiler/certify/Certify.h"
#include "compiler/diagnostics/Render.h"
#include "runtime/data/ArrayFile.h"
#include "runtime/data/Gzip.h"
#include "runtime/data/Idx.h"

#include <fmt/format.h>

#include <cstring>
#include <ctime>
#include <map>
#include <stdexcept>

namespace {

using namespace tbem;

template <class T>
T orThrow(tl::expected<T, std::string> value) {
  if (!value) throw std::runtime_error(value.error());
  return std::move(*value);
}

certify::Network networkOf(const std::string& program, const std::string& checkpoint) {
  Session session;
  const Source& source = session.sources.add(program, std::string(orThrow(data::MappedFile::open(program)).text()));
  const auto loaded = sema::load(session.sources, session.sink, source, {});
  std::optional<graph::DesignSpec> spec;
  for (const auto& file : loaded->main().files) {
    for (const ast::Decl* decl : file->declarations)
      if (decl->kind == ast::NodeKind::Design && !spec)
        spec = graph::readDesign(session, *loaded, *static_cast<const ast::Design*>(decl));
  }
  if (!spec) throw std::runtime_error("no design: " + renderAll(session.sink, session.sources, {}));
  graph::Experiment experiment(session, *loaded, *spec);
  const std::optional<graph::Row> row = experiment.row(std::vector<std::uint32_t>(spec->factors.size(), 0));
  if (!row) throw std::runtime_error(renderAll(session.sink, session.sources, {}));
  std::map<std::string, std::vector<double>, std::less<>> arrays;
  const data::ArrayFile file = orThrow(data::ArrayFile::open(checkpoint));
  for (const data::ArrayView& array : file.arrays) {
    for (const std::string prefix : {"best/weight/", "best/buffer/"}) {
      if (array.name.rfind(prefix, 0) != 0 || array.dtype != "f4") continue;
      std::vector<float> numbers(array.bytes.size() / sizeof(float));
      std::memcpy(numbers.data(), array.bytes.data(), array.bytes.size());
      arrays[array.name.substr(prefix.size())].assign(numbers.begin(), numbers.end());
    }
  }
  return orThrow(certify::Network::of(*row, [&](std::string_view path) -> std::optional<std::span<const double>> {
    const auto array = arrays.find(path);
    return array == arrays.end() ? std::nullopt : std::optional(std::span<const double>(array->second));
  }));
}

std::vector<std::vector<float>> images(std::size_t count, std::size_t size) {
  const auto file = orThrow(data::MappedFile::open("/usr/share/datasets/fashion-mnist/t10k-images-idx3-ubyte.gz"));
  const data::IdxArray all = orThrow(data::parseIdx(orThrow(data::unpackGzip(file.text(), std::size_t{1} << 26))));
  std::vector<std::vector<float>> out(count, std::vector<float>(size));
  for (std::size_t i = 0; i < count * size; ++i) out[i / size][i % size] = static_cast<float>(all.bytes[i]) / 255.0F;
  return out;
}

void measure(const certify::Network& network, const std::vector<std::vector<float>>& examples, double radius,
             certify::Limits limits) {
  const auto n = static_cast<double>(examples.size());
  double clean = 0, bounded = 0, same = 0, gates = 0, decided = 0, forms = 0, seconds = 0;
  for (const std::vector<float>& example : examples) {
    const certify::Bound own = certify::bound(network, example, {certify::Norm::Linf, 0, 0, 1});
    const std::clock_t start = std::clock();
    const certify::Bound bound = certify::bound(network, example, {certify::Norm::Linf, radius, 0, 1}, limits);
    seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    clean += own.flops;
    bounded += bound.flops;
    same += bound.flops <= own.flops ? 1 : 0;
    forms += static_cast<double>(bound.forms);
    for (std::size_t g = 0; g < own.decided.size(); ++g) {
      gates += own.decided[g] >= 0 ? 1 : 0;
      decided += own.decided[g] >= 0 && bound.decided[g] == own.decided[g] ? 1 : 0;
    }
  }
  fmt::print("{:8.5f}  {:8}  {:8.3f}  {:8.3f}  {:6.1f} %  {:6.1f} %  {:9.1f}  {:8.0f}\n", radius,
             limits.method == certify::Method::Linear ? "linear" : "interval", clean / n / 1e6, bounded / n / 1e6, 100 * same / n,
             100 * decided / gates, 1000 * seconds / n, forms / n);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 6) {
    fmt::print(stderr, "bench_certify PROGRAM CHECKPOINT EXAMPLES PRODUCTS RADIUS...\n");
    return 2;
  }
  const std::clock_t start = std::clock();
  const certify::Network network = networkOf(arguments[1], arguments[2]);
  fmt::print("{:.2f} s to read the network\n", static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  const auto examples = images(std::stoul(arguments[3]), network.inputSize());
  fmt::print("  radius  method    MFLOPs own  at most  no more   decided  ms each  forms each\n");
  for (int i = 5; i < count; ++i) {
    for (const certify::Method method : {certify::Method::Interval, certify::Method::Linear})
      measure(network, examples, std::stod(arguments[i]), {method, std::stoll(arguments[4])});
  }
}
