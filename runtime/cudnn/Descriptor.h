// A descriptor of cuDNN's graph interface that is destroyed with its owner. Inside runtime/cudnn only. The first failure
// is kept in a `Failure` that the descriptors of one question share: what is done after it does nothing, so a question is
// written without a check behind every line and asked once at the end.
#pragma once

#include "runtime/cudnn/Api.h"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tbem::cudnn {

/// The first thing that went wrong; "" so far nothing.
struct Failure {
  std::string text;
  bool ok() const { return text.empty(); }
};

/// "" for success; else "cuDNN refuses WHAT: " and its words.
std::string failureText(const api::Functions& functions, api::Status status, const char* what);

class Descriptor {
public:
  Descriptor(const api::Functions& functions, Failure& failure, api::Descriptor type);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;

  void* get() const { return self; }

  template <class T>
  void set(api::Attribute attribute, api::Type type, std::span<const T> values) {
    setRaw(attribute, type, static_cast<std::int64_t>(values.size()), values.data());
  }
  template <class T>
  void set(api::Attribute attribute, api::Type type, T value) {
    setRaw(attribute, type, 1, &value);
  }
  void set(api::Attribute attribute, const Descriptor& part) {
    void* raw = part.get();
    setRaw(attribute, api::kDescriptor, 1, &raw);
  }
  /// Nothing can be set afterwards. `what` names it in the failure.
  void finish(const char* what);

  /// At most `room` values.
  template <class T>
  std::vector<T> list(api::Attribute attribute, api::Type type, std::int64_t room) const {
    std::vector<T> values(static_cast<std::size_t>(room));
    values.resize(getRaw(attribute, type, room, values.data()));
    return values;
  }
  template <class T>
  T one(api::Attribute attribute, api::Type type) const {
    T value{};
    if (getRaw(attribute, type, 1, &value) != 1 && failure->ok()) failure->text = "cuDNN: an attribute has no value";
    return value;
  }
  /// The descriptors of a kind, at most `most`.
  std::vector<Descriptor> parts(api::Attribute attribute, api::Descriptor type, std::int64_t most) const;

private:
  void setRaw(api::Attribute attribute, api::Type type, std::int64_t count, const void* values);
  std::size_t getRaw(api::Attribute attribute, api::Type type, std::int64_t room, void* values) const;
  void check(api::Status status, const char* what) const;

  const api::Functions* functions;
  Failure* failure;
  void* self = nullptr;
};

}  // namespace tbem::cudnn
