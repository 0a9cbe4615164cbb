#include "compiler/process/OpenMp.h"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace tbem::driver {

namespace {

constexpr const char* kVariable = "GOMP_SPINCOUNT";
constexpr const char* kTurns = "1000";

bool isSet() { return std::getenv(kVariable) != nullptr || std::getenv("OMP_WAIT_POLICY") != nullptr; }

}  // namespace

std::vector<std::string> waitingThreads() {
  if (isSet()) return {};
  return {std::string(kVariable) + "=" + kTurns};
}

std::vector<std::string> waitingNames() {
  const char* const turns = std::getenv(kVariable);
  if (turns == nullptr || std::string_view(turns) != kTurns) return {};
  return {kVariable};
}

AllProcessors::AllProcessors() {
  std::vector<int> processors;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    const std::size_t had = processors.size();
    processors.resize(had + static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, processors.data() + had);
  }
  if (processors.empty()) return;  // nothing is bound
  const auto most = static_cast<std::size_t>(*std::max_element(processors.begin(), processors.end()));
  before.resize(
      std::max<std::size_t>(8, most / CPU_SETSIZE + 1));  // the system wants room for every processor that it could have
  const std::size_t bytes = before.size() * sizeof(cpu_set_t);
  if (::sched_getaffinity(0, bytes, before.data()) != 0) {
    before.clear();
    return;
  }
  std::vector<cpu_set_t> all(before.size());
  CPU_ZERO_S(bytes, all.data());
  for (const int processor : processors) CPU_SET_S(static_cast<std::size_t>(processor), bytes, all.data());
  (void)::sched_setaffinity(0, bytes, all.data());
}

AllProcessors::~AllProcessors() {
  if (!before.empty()) (void)::sched_setaffinity(0, before.size() * sizeof(cpu_set_t), before.data());
}

}  // namespace tbem::driver
