// The functions of the stand-in that the backend calls.
#include "test/standin/Cudnn.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

using namespace tbem::standin;  // NOLINT: the functions are C's

namespace {

constexpr int kDescriptorType = 15;

std::shared_ptr<Descriptor>& at(void* descriptor) { return *static_cast<std::shared_ptr<Descriptor>*>(descriptor); }

struct Handle {
  void* stream = nullptr;
};

}  // namespace

extern "C" {

std::size_t cudnnGetVersion() { return 91900; }
const char* cudnnGetErrorString(int status) { return status == kUnsupported ? "NOT_SUPPORTED" : "BAD_PARAM"; }
void cudnnGetLastErrorString(char* text, std::size_t size) { std::snprintf(text, size, "told by a stand-in"); }

/// For tests: no function of cuDNN.
int standin_plans() { return madePlans(); }

int cudnnCreate(void** handle) {
  *handle = new Handle;
  return kFine;
}
int cudnnDestroy(void* handle) {
  delete static_cast<Handle*>(handle);
  return kFine;
}
int cudnnSetStream(void* handle, void* stream) {
  static_cast<Handle*>(handle)->stream = stream;
  return kFine;
}

int cudnnBackendCreateDescriptor(int type, void** descriptor) {
  *descriptor = new std::shared_ptr<Descriptor>(std::make_shared<Descriptor>(Descriptor{.type = type}));
  return kFine;
}
int cudnnBackendDestroyDescriptor(void* descriptor) {
  delete &at(descriptor);
  return kFine;
}

int cudnnBackendSetAttribute(void* descriptor, int attribute, int type, std::int64_t count, const void* values) {
  Descriptor& it = *at(descriptor);
  if (it.finished || bytesOf(type) == 0 || count < 1) return kBadParameter;
  const auto size = static_cast<std::size_t>(count);
  if (type != kDescriptorType) {
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(values), size * bytesOf(type));
    it.values[attribute].assign(bytes.begin(), bytes.end());
    return kFine;
  }
  it.parts[attribute].clear();
  for (void* part : std::span<void* const>(static_cast<void* const*>(values), size)) {
    if (!at(part)->finished) return kBadParameter;
    it.parts[attribute].push_back(at(part));
  }
  return kFine;
}

int cudnnBackendFinalize(void* descriptor) {
  Descriptor& it = *at(descriptor);
  if (it.finished) return kBadParameter;
  const int status = finish(it);
  it.finished = status == kFine;
  return status;
}

/// Descriptors are filled that the caller has made.
int cudnnBackendGetAttribute(const void* descriptor, int attribute, int type, std::int64_t room, std::int64_t* count,
                             void* values) {
  const Descriptor& it = *at(const_cast<void*>(descriptor));
  if (!it.finished || bytesOf(type) == 0) return kBadParameter;
  if (type == kDescriptorType) {
    const auto known = it.parts.find(attribute);
    const std::size_t there = known == it.parts.end() ? 0 : known->second.size();
    const std::size_t taken = std::min(there, static_cast<std::size_t>(room));
    for (std::size_t i = 0; i < taken; ++i) {
      std::shared_ptr<Descriptor>& empty = at(static_cast<void**>(values)[i]);
      if (empty->type != known->second[i]->type || empty->finished) return kBadParameter;
      empty = known->second[i];
    }
    *count = static_cast<std::int64_t>(there);
    return kFine;
  }
  const auto known = it.values.find(attribute);
  *count = known == it.values.end() ? 0 : static_cast<std::int64_t>(known->second.size() / bytesOf(type));
  if (known != it.values.end())
    std::memcpy(values, known->second.data(), std::min(known->second.size(), static_cast<std::size_t>(room) * bytesOf(type)));
  return kFine;
}

int cudnnBackendExecute(void* handle, void* plan, void* pack) {
  const Descriptor &ready = *at(plan), &addresses = *at(pack);
  if (handle == nullptr || handle != ready.one<void*>(400) || !ready.finished || !addresses.finished) return kBadParameter;
  return execute(ready, addresses, static_cast<Handle*>(handle)->stream);
}

}  // extern "C"
