#include "compiler/run/certify/Certifications.h"

#include "compiler/certify/Certify.h"
#include "compiler/experiment/Identity.h"
#include "compiler/jit/glue/Cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

namespace tbem::driver {

using perturb::Certificate;
using perturb::Failure;
using perturb::KeptCertificates;

namespace {

/// Weights and running statistics as doubles, by path.
std::map<std::string, std::vector<double>, std::less<>> arraysOf(const train::Snapshot& weights) {
  std::map<std::string, std::vector<double>, std::less<>> arrays;
  for (const train::Snapshot::Entry& entry : weights.entries) {
    if (entry.kind != runtime::BufferClass::State) arrays.emplace(entry.path, entry.value.doubles());
  }
  return arrays;
}

/// Of each example, the most that it or a point of it costs.
std::map<std::int64_t, double> foundOf(const perturb::Outcome& outcome) {
  std::map<std::int64_t, double> found;
  for (const perturb::Series& series : outcome.series) {
    for (const perturb::Point& point : series.points) {
      double& most = found[point.example];
      most = std::max({most, point.flopsBefore, point.flops});
    }
  }
  return found;
}

/// Raised when bounds change: a store goes on with those that it has of the same version.
constexpr int kVersion = 3;

/// A point that costs more than its bound would show that the bound is wrong. FLOPs are sums of whole numbers divided by a batch.
constexpr double kRounding = 1e-9;

double meanOf(const std::vector<Certificate>& certificates, double Certificate::*member) {
  double sum = 0;
  for (const Certificate& certificate : certificates) sum += certificate.*member;
  return certificates.empty() ? 0 : sum / static_cast<double>(certificates.size());
}

}  // namespace

std::int64_t Certified::below() const {
  return std::ranges::count_if(certificates,
                               [&](const Certificate& certificate) { return certificate.flops < most * (1 - kRounding); });
}
double Certified::meanFlops() const { return meanOf(certificates, &Certificate::flops); }
double Certified::meanFound() const { return meanOf(certificates, &Certificate::found); }

std::vector<std::string> Certified::unsupported() const {
  std::vector<std::string> names;
  for (const Certificate& certificate : certificates) {
    for (const std::string& name : certificate.unsupported)
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string certificateIdentity(const Certifying& of, const std::string& weightsHash) {
  const perturb::Plan& plan = of.run.plan;
  const certify::Limits limits;
  return jit::hashKey(fmt::format("certificate {};{};{:016x};{};{};{};{};{};{};{};{};{}", kVersion, weightsHash,
                                  of.dataset.fingerprint(), static_cast<int>(plan.split), static_cast<int>(plan.norm),
                                  plan.radius, plan.low, plan.high, limits.products, limits.splits, fmt::join(of.flops, " "),
                                  graphIdentity(of.network.graph(), of.network.values)));
}

namespace {

tl::unexpected<Failure> failed(std::string message) { return tl::unexpected(Failure{Failure::Kind::Run, std::move(message)}); }

std::int64_t countOf(const PerturbationRun& run) { return std::min(run.spec.certify.value_or(run.plan.count), run.plan.count); }

/// Bounds of examples. They may be computed in several threads.
class Certifier {
public:
  static tl::expected<Certifier, std::string> of(const Certifying& certifying) {
    const auto arrays = arraysOf(certifying.weights);
    const auto arrayOf = [&](std::string_view path) -> std::optional<std::span<const double>> {
      const auto array = arrays.find(path);
      return array == arrays.end() ? std::nullopt : std::optional<std::span<const double>>(array->second);
    };
    auto network = certify::Network::of(certifying.network, arrayOf, certifying.flops);
    if (!network) return tl::unexpected(network.error());
    return Certifier(certifying, std::move(*network));
  }

  std::vector<std::string> gates() const { return network.gates(); }
  std::int64_t count() const { return countOf(certifying.run); }

  /// Errors: the example cannot be read.
  tl::expected<Certificate, std::string> certificateOf(std::int64_t example) {
    std::vector<float> input(network.inputSize());
    if (const auto read = readInto(input, example); !read) return tl::unexpected(read.error());
    certify::Bound bound = certify::bound(network, input, ball);
    Certificate certificate{example, bound.flops, bound.least, std::move(bound.decided), {}, std::move(bound.unsupported), 0};
    for (const std::vector<std::int8_t>& rows : bound.rows) certificate.open.push_back(std::ranges::count(rows, -1));
    return certificate;
  }

private:
  Certifier(const Certifying& certifying, certify::Network network) : certifying(certifying), network(std::move(network)) {
    const perturb::Plan& plan = certifying.run.plan;
    ball = {plan.norm == perturb::Norm::L2 ? certify::Norm::L2 : certify::Norm::Linf, plan.radius, plan.low, plan.high};
  }

  /// A dataset is read by one thread at a time.
  tl::expected<void, std::string> readInto(std::vector<float>& input, std::int64_t example) {
    const auto elements = static_cast<std::size_t>(certifying.dataset.description().target.elements());
    std::vector<std::int64_t> labels(elements);
    std::vector<float> targets(elements);
    const std::lock_guard lock(*reading);
    return certifying.dataset.read(certifying.run.plan.split, {&example, 1}, {{input.data()}, labels.data(), targets.data()});
  }

  const Certifying& certifying;
  certify::Network network;
  certify::Ball ball;
  std::unique_ptr<std::mutex> reading = std::make_unique<std::mutex>();
};

/// Certificates of examples in their order, computed by several threads.
class Ahead {
public:
  /// All must outlive it. With fewer threads where the system gives no more; without any, `next` computes.
  Ahead(Certifier& certifier, std::vector<std::int64_t> wanted, int threads)
      : certifier(certifier), examples(std::move(wanted)), results(examples.size()) {
    const std::size_t most = std::min(examples.size(), static_cast<std::size_t>(threads));
    while (workers.size() < most) {
      try {
        workers.push_back(std::async(std::launch::async, [this] { work(); }));
      } catch (const std::system_error&) {
        break;
      }
    }
  }
  ~Ahead() {
    ends = true;
    for (const std::future<void>& worker : workers) {
      if (worker.valid()) worker.wait();
    }
  }
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  /// The next one. Nothing: `goesOn`, which is asked while it is waited for, said so. Errors: as certificateOf.
  std::optional<tl::expected<Certificate, std::string>> next(const std::function<bool()>& goesOn) {
    constexpr std::chrono::milliseconds kLook(50);
    const std::size_t number = given++;
    if (workers.empty()) return certifier.certificateOf(examples[number]);
    std::unique_lock lock(mutex);
    while (!done.wait_for(lock, kLook, [&] { return results[number].has_value(); })) {
      lock.unlock();
      for (std::future<void>& worker : workers) {  // throws what a worker threw
        if (worker.valid() && worker.wait_for(std::chrono::seconds(0)) == std::future_status::ready) worker.get();
      }
      if (!goesOn()) return std::nullopt;
      lock.lock();
    }
    return std::move(results[number]);
  }

private:
  void work() {
    for (std::size_t number = begun++; number < examples.size() && !ends; number = begun++) {
      auto certificate = certifier.certificateOf(examples[number]);
      {
        const std::lock_guard lock(mutex);
        results[number] = std::move(certificate);
      }
      done.notify_all();
    }
  }

  Certifier& certifier;
  const std::vector<std::int64_t> examples;
  std::mutex mutex;  ///< of `results`
  std::condition_variable done;
  std::vector<std::optional<tl::expected<Certificate, std::string>>> results;  ///< by place in `examples`
  std::size_t given = 0;
  std::atomic<std::size_t> begun = 0;
  std::atomic<bool> ends = false;
  std::vector<std::future<void>> workers;
};

/// Puts the most that was found beside a bound. Failures: it is more than the bound.
tl::expected<void, Failure> compare(Certificate& certificate, const std::map<std::int64_t, double>& found, bool stored) {
  const auto most = found.find(certificate.example);
  certificate.found = most == found.end() ? 0 : most->second;
  if (certificate.found <= certificate.flops * (1 + kRounding)) return {};
  return failed(fmt::format("a point of example {} costs {} FLOPs, and its bound is {}: this is a mistake of tbemc{}",
                            certificate.example, certificate.found, certificate.flops,
                            stored ? "; `tbemc perturb --again` computes the bound anew" : ""));
}

/// Takes from the store what is there, and computes and keeps what is not.
tl::expected<void, Failure> certifyEach(Certifier& certifier, int threads, KeptCertificates& kept,
                                        const std::map<std::int64_t, double>& found, Certified& certified,
                                        const std::function<bool(std::int64_t, std::int64_t)>& next) {
  const std::int64_t total = certifier.count();
  auto stored = kept.first(total, certified.gates.size());
  if (!stored) return tl::unexpected(stored.error());
  std::vector<std::int64_t> missing;
  for (std::int64_t example = 0; example < total; ++example) {
    if (!stored->contains(example)) missing.push_back(example);
  }
  Ahead ahead(certifier, std::move(missing), threads);
  for (std::int64_t example = 0; example < total && next(example, total); ++example) {
    if (const auto there = stored->find(example); there != stored->end()) {
      if (auto done = compare(there->second, found, true); !done) return done;
      certified.certificates.push_back(std::move(there->second));
      ++certified.stored;
      continue;
    }
    auto certificate = ahead.next([&] { return next(example, total); });
    if (!certificate) return {};
    if (!*certificate) return failed(certificate->error());
    if (auto done = compare(**certificate, found, false); !done) return done;
    if (auto done = kept.add(**certificate); !done) return done;
    certified.certificates.push_back(std::move(**certificate));
  }
  return {};
}

}  // namespace

tl::expected<Certified, Failure> certify(const Certifying& of, const perturb::Outcome& outcome, const perturb::Keeping& keeping,
                                         const std::function<bool(std::int64_t, std::int64_t)>& next) {
  auto certifier = Certifier::of(of);
  if (!certifier) return failed(certifier.error());
  Certified certified;
  certified.gates = certifier->gates();
  auto kept = KeptCertificates::open(keeping, of.identity);
  if (!kept) return tl::unexpected(kept.error());
  const auto start = std::chrono::steady_clock::now();
  const auto done = certifyEach(*certifier, of.threads, *kept, foundOf(outcome), certified, next);
  const auto written = kept->flush();  // also those before a failure
  if (!done) return tl::unexpected(done.error());
  if (!written) return tl::unexpected(written.error());
  certified.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return certified;
}

tl::expected<Certified, Failure> storedCertificates(const Certifying& of, const perturb::Outcome& outcome,
                                                    const std::vector<std::string>& gates, const std::string& store) {
  const perturb::Keeping keeping{store};
  auto kept = KeptCertificates::open(keeping, of.identity, store::Mode::ReadOnly);
  if (!kept) return tl::unexpected(kept.error());
  auto stored = kept->first(countOf(of.run), gates.size());
  if (!stored) return tl::unexpected(stored.error());
  const std::map<std::int64_t, double> found = foundOf(outcome);
  Certified certified;
  certified.gates = gates;
  certified.stored = std::ssize(*stored);
  for (auto& [example, certificate] : *stored) {
    if (auto done = compare(certificate, found, true); !done) return tl::unexpected(done.error());
    certified.certificates.push_back(std::move(certificate));
  }
  return certified;
}

}  // namespace tbem::driver
