// The backend table of `fake`: the reference backend with scripted failures (Script.h), so that every error path can be tested.
#include "runtime/backends/fake/Script.h"
#include "runtime/core/Primitive.h"
#include "runtime/core/ThreadLocal.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

namespace tbem::fake {
namespace {

alignas(runtime::kThreadLocalAlign) thread_local char lastError[640] = "";

tbem_status fail(tbem_status status, const std::string& message) {
  std::snprintf(lastError, sizeof lastError, "%s", message.c_str());
  return status;
}

/// What ref answered, with its message.
tbem_status passOn(tbem_status status) { return status == TBEM_OK ? status : fail(status, tbem_backend_ref()->last_error()); }

/// The script and what was counted under it. A table of functions has no object of its own, so this is the process's.
struct State {
  std::mutex mutex;
  Script script;
  std::int64_t runs[TBEM_PRIMITIVE_COUNT + 1] = {};  ///< the last one counts steps
  std::atomic<std::uint64_t> held{0};                ///< bytes allocated and not released
};

State& state() {
  static State made;
  return made;
}

/// The script as the environment says it now. Stays valid until the text changes; allocates only then.
const Script& script() {
  const char* text = std::getenv("TBEM_FAKE");
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (std::strcmp(s.script.text.c_str(), text != nullptr ? text : "") != 0) {
    s.script = readScript(text != nullptr ? text : "");
    std::fill(std::begin(s.runs), std::end(s.runs), 0);
  }
  return s.script;
}

/// Counts one more run of a primitive (or step) and returns the events that are due.
std::vector<Event> due(const Script& now, int primitive) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const std::int64_t count = ++s.runs[primitive];
  std::vector<Event> events;
  for (const Event& event : now.events) {
    if (event.primitive == primitive && event.count == count) events.push_back(event);
  }
  return events;
}

std::string nameOf(int primitive) {
  return primitive == TBEM_PRIMITIVE_COUNT ? "step"
                                           : std::string(runtime::signature(static_cast<tbem_primitive>(primitive)).name);
}

/// Crashes or sleeps where it is due; true where a failure is.
bool misbehave(const std::vector<Event>& events) {
  bool fails = false;
  for (const Event& event : events) {
    if (event.deed == Deed::Crash) std::abort();
    while (event.deed == Deed::Hang) std::this_thread::sleep_for(std::chrono::hours(1));
    fails = fails || event.deed == Deed::Fail;
  }
  return fails;
}

struct Op {
  tbem_op* inner = nullptr;
  int primitive = 0, firstResult = 0, dtype = 0;
};

tbem_status probe(tbem_device_info* info) {
  const Script& now = script();
  if (!now.wrong.empty()) return fail(TBEM_INVALID, now.wrong);
  if (now.absent) return fail(TBEM_FAILED, "fake: the device is not there (TBEM_FAKE says so)");
  const tbem_status status = passOn(tbem_backend_ref()->probe(info));
  std::snprintf(info->name, sizeof info->name, "fake device");
  std::snprintf(info->library, sizeof info->library, "TBEM_FAKE=%.100s", now.text.c_str());
  info->memory = std::min(info->memory, now.memory);
  return status;
}

tbem_status query(tbem_op_desc* op, tbem_op_info* info) {
  const Script& now = script();
  if (!now.wrong.empty()) return fail(TBEM_INVALID, now.wrong);
  if (std::find(now.unsupported.begin(), now.unsupported.end(), op->primitive) != now.unsupported.end()) {
    return fail(TBEM_UNSUPPORTED, fmt::format("fake: {} is not there (TBEM_FAKE says so)", nameOf(op->primitive)));
  }
  return passOn(tbem_backend_ref()->query(op, info));
}

tbem_status create(const tbem_op_desc* op, tbem_op** out) {
  const Script& now = script();
  if (!now.wrong.empty()) return fail(TBEM_INVALID, now.wrong);
  auto made = std::make_unique<Op>();
  if (const tbem_status status = passOn(tbem_backend_ref()->create(op, &made->inner))) return status;
  made->primitive = op->primitive, made->firstResult = op->inputs, made->dtype = op->operands[op->inputs].dtype;
  *out = reinterpret_cast<tbem_op*>(made.release());
  return TBEM_OK;
}

tbem_status run(tbem_op* op, void* const* operands, void* work, const double* scalars) {
  const auto* made = reinterpret_cast<const Op*>(op);
  const Script& now = script();
  if (!now.wrong.empty()) return fail(TBEM_INVALID, now.wrong);
  const std::vector<Event> events = due(now, made->primitive);
  if (misbehave(events)) return fail(TBEM_FAILED, fmt::format("fake: {} failed (TBEM_FAKE says so)", nameOf(made->primitive)));
  const auto start = std::chrono::steady_clock::now();
  if (const tbem_status status = passOn(tbem_backend_ref()->run(made->inner, operands, work, scalars))) return status;
  const bool wrong = std::any_of(events.begin(), events.end(), [](const Event& e) { return e.deed == Deed::Wrong; });
  if (wrong && made->dtype == TBEM_F64) *static_cast<double*>(operands[made->firstResult]) += 1;
  if (wrong && made->dtype == TBEM_F32) *static_cast<float*>(operands[made->firstResult]) += 1;
  if (now.slow > 1) {
    const auto taken = std::chrono::steady_clock::now() - start;
    std::this_thread::sleep_until(start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(taken * now.slow));
  }
  return TBEM_OK;
}

void destroy(tbem_op* op) {
  auto* made = reinterpret_cast<Op*>(op);
  if (made != nullptr) tbem_backend_ref()->destroy(made->inner);
  delete made;
}

tbem_status allocate(std::uint64_t bytes, void** out) {
  const Script& now = script();
  *out = nullptr;
  if (!now.wrong.empty()) return fail(TBEM_INVALID, now.wrong);
  const std::uint64_t held = state().held.load();
  if (bytes > now.memory || held > now.memory - bytes) {
    return fail(TBEM_OUT_OF_MEMORY, fmt::format("fake: {} bytes asked for, {} of {} held", bytes, held, now.memory));
  }
  const tbem_status status = passOn(tbem_backend_ref()->allocate(bytes, out));
  if (status == TBEM_OK) state().held += bytes;
  return status;
}

void release(void* memory, std::uint64_t bytes) {
  if (memory != nullptr) state().held -= bytes;
  tbem_backend_ref()->release(memory, bytes);
}

tbem_status copyIn(void* to, const void* from, std::uint64_t bytes) {
  return passOn(tbem_backend_ref()->copy_in(to, from, bytes));
}
tbem_status copyOut(void* to, const void* from, std::uint64_t bytes) {
  return passOn(tbem_backend_ref()->copy_out(to, from, bytes));
}

tbem_status synchronize() {
  const Script& now = script();
  if (!now.wrong.empty()) return fail(TBEM_INVALID, now.wrong);
  if (misbehave(due(now, TBEM_PRIMITIVE_COUNT))) return fail(TBEM_FAILED, "fake: step failed (TBEM_FAKE says so)");
  return TBEM_OK;
}

void parallel(std::int32_t threads, void (*body)(void*, std::int64_t, std::int64_t), void* context, std::int64_t count) {
  tbem_backend_ref()->parallel(threads, body, context, count);
}

const char* lastErrorText() { return lastError; }

constexpr tbem_backend kBackend = {
    TBEM_BACKEND_ABI, sizeof(tbem_backend), "fake",   probe,         query,  create, run, destroy, allocate, release, copyIn,
    copyOut,          synchronize,          parallel, lastErrorText, nullptr};

}  // namespace
}  // namespace tbem::fake

extern "C" const tbem_backend* tbem_backend_fake(void) { return &tbem::fake::kBackend; }
