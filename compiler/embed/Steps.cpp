// tbem.h: steps and their tensors.
#include "compiler/embed/Guard.h"
#include "compiler/embed/Handles.h"
#include "runtime/core/Layout.h"

#include <fmt/format.h>

#include <memory>
#include <type_traits>
#include <utility>

using namespace tbem::embed;

namespace {

tbem_outcome refused(tbem_step& step, tbem_outcome outcome, std::string why) {
  step.error = std::move(why);
  return outcome;
}

/// Whether `tensor` was read-only to whom it came from.
bool isReadOnly(const DLManagedTensor& /*tensor*/) { return false; }
bool isReadOnly(const DLManagedTensorVersioned& tensor) { return (tensor.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0; }

/// Why nothing but its deleter may be used, or "".
std::string wrongVersion(const DLManagedTensor& /*tensor*/) { return {}; }
std::string wrongVersion(const DLManagedTensorVersioned& tensor) {
  if (tensor.version.major == DLPACK_MAJOR_VERSION) return {};
  return fmt::format("the tensor is of DLPack's version {}.{}; known is {}", tensor.version.major, tensor.version.minor,
                     DLPACK_MAJOR_VERSION);
}

template <class Managed>
void release(Managed* tensor) {
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

/// A tensor of the caller's that the step has.
template <class Managed>
struct Owner {
  Managed* tensor = nullptr;
  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    if (tensor != nullptr) release(tensor);
  }
};

template <class Managed>
tbem_outcome set(tbem_step* step, const char* name, Managed* tensor, tbem_transfer transfer) {
  if (step == nullptr) return TBEM_MISUSE;
  return guarded(&step->error, [&] {
    if (name == nullptr || tensor == nullptr) return refused(*step, TBEM_MISUSE, "`name` or `tensor` is null");
    if (transfer != TBEM_SHARE && transfer != TBEM_COPY)
      return refused(*step, TBEM_MISUSE, "`transfer` is none of tbem_transfer");
    const auto wrong = [&](const std::string& why) { return refused(*step, TBEM_USAGE, fmt::format("`{}`: {}", name, why)); };
    const auto to = step->step->find(name);
    if (!to) return refused(*step, TBEM_USAGE, to.error());
    if (!(*to)->begins) return wrong("it is a result of the step, which no step begins with");
    if (const std::string why = wrongVersion(*tensor); !why.empty()) return wrong(why);
    const auto from = view(tensor->dl_tensor);
    if (!from) return wrong(from.error());
    if (from->shape.dtype != (*to)->shape.dtype || from->shape.dims != (*to)->shape.dims)
      return wrong(fmt::format("the tensor is {}, the step's is {}", describe(from->shape), describe((*to)->shape)));
    if (transfer == TBEM_COPY) {
      if (const Done copied = step->step->copyIn(**to, *from); !copied) return wrong(copied.error());
      release(tensor);
      return TBEM_DONE;
    }
    if (const std::string why = step->step->whyNotShared(**to, *from); !why.empty())
      return wrong(fmt::format("a copy would be needed: {}", why));
    const auto owner = std::make_shared<Owner<Managed>>();
    step->step->shareIn(**to, Memory(owner, from->data), isReadOnly(*tensor));
    owner->tensor = tensor;  // last of all: where anything before it fails, the tensor stays the caller's
    return TBEM_DONE;
  });
}

template <class Managed>
Managed* made(Memory memory, const Shape& shape, bool readOnly, bool copied);
template <>
DLManagedTensor* made(Memory memory, const Shape& shape, bool /*readOnly*/, bool /*copied*/) {
  return managed(std::move(memory), shape);
}
template <>
DLManagedTensorVersioned* made(Memory memory, const Shape& shape, bool readOnly, bool copied) {
  return managedVersioned(std::move(memory), shape,
                          (readOnly ? DLPACK_FLAG_BITMASK_READ_ONLY : 0) | (copied ? DLPACK_FLAG_BITMASK_IS_COPIED : 0));
}

template <class Managed>
tbem_outcome get(tbem_step* step, const char* name, tbem_transfer transfer, Managed** out) {
  if (out != nullptr) *out = nullptr;
  if (step == nullptr) return TBEM_MISUSE;
  return guarded(&step->error, [&] {
    if (name == nullptr || out == nullptr) return refused(*step, TBEM_MISUSE, "`name` or `out` is null");
    if (transfer != TBEM_SHARE && transfer != TBEM_COPY)
      return refused(*step, TBEM_MISUSE, "`transfer` is none of tbem_transfer");
    const auto wrong = [&](const std::string& why) { return refused(*step, TBEM_USAGE, fmt::format("`{}`: {}", name, why)); };
    const auto found = step->step->find(name);
    if (!found) return refused(*step, TBEM_USAGE, found.error());
    const StepTensor& from = **found;
    if (const std::string why = whyNoCode(from.shape.dtype); !why.empty()) return wrong(why);
    if (transfer == TBEM_COPY) {
      auto memory = step->step->copyOut(from);
      if (!memory) return wrong(memory.error());
      *out = made<Managed>(std::move(*memory), rowMajor(from.shape.dtype, from.shape.dims), false, true);
      return TBEM_DONE;
    }
    if (!from.copiedOut.empty()) return wrong(fmt::format("a copy would be needed: {}", from.copiedOut));
    if (from.readOnly && std::is_same_v<Managed, DLManagedTensor>)
      return wrong("a copy would be needed: it is read-only, which only versioned tensors say (tbem_step_get_versioned)");
    *out = made<Managed>(step->step->shareOut(from, step->step), from.shape, from.readOnly, false);
    return TBEM_DONE;
  });
}

/// Another tensor of the same memory.
template <class Managed>
tbem_outcome share(const DLManagedTensorVersioned* tensor, Managed** out) {
  if (out != nullptr) *out = nullptr;
  if (tensor == nullptr || out == nullptr) return TBEM_MISUSE;
  return guarded(nullptr, [&] {
    const bool readOnly = isReadOnly(*tensor);
    auto shared = sharedBy(*tensor);
    if (!shared || (readOnly && std::is_same_v<Managed, DLManagedTensor>)) return TBEM_USAGE;
    *out = made<Managed>(std::move(shared->memory), shared->shape, readOnly, false);
    return TBEM_DONE;
  });
}

}  // namespace

extern "C" {

tbem_outcome tbem_step_new(tbem_session* session, const tbem_option* options, size_t count, tbem_step** out,
                           tbem_result** result) {
  if (out != nullptr) *out = nullptr;
  if (result != nullptr) *result = nullptr;
  if (session == nullptr) return TBEM_MISUSE;
  return guarded(&session->error, [&] {
    const char* const wrong = out == nullptr ? "`out` is null" : wrongOptions(options, count);
    if (*wrong != '\0') {
      session->error = wrong;
      return TBEM_MISUSE;
    }
    auto made = std::make_unique<tbem_step>();
    made->step = std::make_shared<Step>();
    const tbem_outcome outcome = hand(made->step->compile(session->session, {options, count}), session->error, result);
    if (outcome == TBEM_DONE) *out = made.release();
    return outcome;
  });
}

void tbem_step_free(tbem_step* step) { delete step; }
const char* tbem_step_error(const tbem_step* step) { return step == nullptr ? "" : step->error.c_str(); }
size_t tbem_step_tensor_count(const tbem_step* step) { return step == nullptr ? 0 : step->step->tensors().size(); }

tbem_outcome tbem_step_tensor(tbem_step* step, size_t number, tbem_tensor* out) {
  if (step == nullptr) return TBEM_MISUSE;
  return guarded(&step->error, [&] {
    if (out == nullptr || out->size != sizeof *out)
      return refused(*step, TBEM_MISUSE, "`out` is null, or its `size` is not that of tbem_tensor");
    if (number >= step->step->tensors().size())
      return refused(*step, TBEM_USAGE,
                     fmt::format("there is no tensor {}: the step has {}", number, step->step->tensors().size()));
    const StepTensor& tensor = step->step->tensors()[number];
    const bool in = tensor.begins && tensor.copiedIn.empty(), shared = tensor.copiedOut.empty();
    out->flags =
        (tensor.begins ? TBEM_TENSOR_BEGINS : 0) | (in ? TBEM_TENSOR_SHARED_IN : 0) | (shared ? TBEM_TENSOR_SHARED_OUT : 0);
    out->name = tensor.name.c_str();
    out->dtype = tbem::runtime::dtypeName(tensor.shape.dtype);
    out->shape = tensor.shape.dims.data();
    out->rank = static_cast<int32_t>(tensor.shape.dims.size());
    out->bytes = tensor.shape.bytes();
    out->copied_in = tensor.copiedIn.c_str();
    out->copied_out = tensor.copiedOut.c_str();
    return TBEM_DONE;
  });
}

tbem_outcome tbem_step_set(tbem_step* step, const char* name, struct DLManagedTensor* tensor, tbem_transfer transfer) {
  return set(step, name, tensor, transfer);
}
tbem_outcome tbem_step_set_versioned(tbem_step* step, const char* name, struct DLManagedTensorVersioned* tensor,
                                     tbem_transfer transfer) {
  return set(step, name, tensor, transfer);
}
tbem_outcome tbem_step_get(tbem_step* step, const char* name, tbem_transfer transfer, struct DLManagedTensor** out) {
  return get(step, name, transfer, out);
}
tbem_outcome tbem_step_get_versioned(tbem_step* step, const char* name, tbem_transfer transfer,
                                     struct DLManagedTensorVersioned** out) {
  return get(step, name, transfer, out);
}

tbem_outcome tbem_share_tensor(const struct DLManagedTensorVersioned* tensor, struct DLManagedTensor** out) {
  return share(tensor, out);
}
tbem_outcome tbem_share_tensor_versioned(const struct DLManagedTensorVersioned* tensor, struct DLManagedTensorVersioned** out) {
  return share(tensor, out);
}

tbem_outcome tbem_step_run(tbem_step* step, uint32_t steps, tbem_result** result) {
  if (result != nullptr) *result = nullptr;
  if (step == nullptr) return TBEM_MISUSE;
  return guarded(&step->error, [&] {
    if (steps == 0) return refused(*step, TBEM_MISUSE, "`steps` is 0: a step runs once or more");
    return hand(step->step->run(steps, result != nullptr), step->error, result);
  });
}

}  // extern "C"
