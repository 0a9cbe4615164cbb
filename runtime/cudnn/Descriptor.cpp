#include "runtime/cudnn/Descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tbem::cudnn {

std::string failureText(const api::Functions& functions, api::Status status, const char* what) {
  if (status == 0) return {};
  std::array<char, 512> detail{};
  if (functions.lastError != nullptr) functions.lastError(detail.data(), detail.size() - 1);
  return fmt::format("cuDNN refuses {}: {}{}{}", what, functions.errorString(status), detail[0] != '\0' ? ": " : "",
                     detail.data());
}

Descriptor::Descriptor(const api::Functions& functions, Failure& failure, api::Descriptor type)
    : functions(&functions), failure(&failure) {
  if (failure.ok()) check(functions.create(type, &self), "a descriptor");
}

Descriptor::~Descriptor() {
  if (self != nullptr) functions->destroy(self);
}

Descriptor::Descriptor(Descriptor&& other) noexcept
    : functions(other.functions), failure(other.failure), self(std::exchange(other.self, nullptr)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(functions, other.functions);
  std::swap(failure, other.failure);
  std::swap(self, other.self);
  return *this;
}

void Descriptor::check(api::Status status, const char* what) const {
  if (failure->ok()) failure->text = failureText(*functions, status, what);
}

void Descriptor::finish(const char* what) {
  if (failure->ok()) check(functions->finalize(self), what);
}

void Descriptor::setRaw(api::Attribute attribute, api::Type type, std::int64_t count, const void* values) {
  if (failure->ok()) check(functions->set(self, attribute, type, count, values), fmt::format("attribute {}", +attribute).c_str());
}

std::size_t Descriptor::getRaw(api::Attribute attribute, api::Type type, std::int64_t room, void* values) const {
  std::int64_t count = 0;
  if (failure->ok()) {
    check(functions->get(self, attribute, type, room, &count, values), fmt::format("to tell attribute {}", +attribute).c_str());
  }
  return static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, room));
}

std::vector<Descriptor> Descriptor::parts(api::Attribute attribute, api::Descriptor type, std::int64_t most) const {
  constexpr std::int64_t kFirst = 16;
  for (std::int64_t room = std::min(kFirst, most);; room = std::min(room * 4, most)) {
    // The interface fills descriptors that the caller has made.
    std::vector<Descriptor> made;
    std::vector<void*> raw;
    for (std::int64_t i = 0; i < room; ++i) raw.push_back(made.emplace_back(*functions, *failure, type).get());
    const std::size_t count = getRaw(attribute, api::kDescriptor, room, raw.data());
    if (std::cmp_equal(count, room) && room < most && failure->ok()) continue;
    made.erase(made.begin() + static_cast<std::ptrdiff_t>(count), made.end());
    return made;
  }
}

}  // namespace tbem::cudnn
