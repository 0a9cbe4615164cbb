// A program's way through tbem.h: what is made is freed, and what DLPack tensors were made of is counted.
#pragma once

#include "compiler/embed/include/tbem/dlpack_abi.h"
#include "compiler/embed/include/tbem/tbem.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::test {

/// y = x w^T + b, and relu of it: two layers' worth of every kind of tensor.
constexpr std::string_view kNetwork = "network net(x: tensor[n, c]) -> tensor[n, 2] {\n  return dense(relu(dense(x, 4)), 2)\n}\n";
constexpr std::string_view kTrained =
    "network net(x: tensor[n, c]) -> tensor[n, 2] {\n  return dense(relu(dense(x, 4)), 2)\n}\n"
    "design d of net {\n  input x: [3, 5]\n  task train(loss: cross_entropy, optimizer: sgd(lr: 0.5))\n}\n";

inline testing::AssertionResult has(const std::string& text, std::string_view part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no \"" << part << "\" in \"" << text << "\"";
}

struct SessionHolder {
  tbem_session* session = nullptr;
  explicit SessionHolder(std::string_view text = {}, const char* name = "net.tbem") {
    EXPECT_EQ(tbem_session_new(nullptr, &session), TBEM_DONE);
    if (!text.empty()) {
      EXPECT_EQ(tbem_load(session, name, text.data(), text.size()), TBEM_DONE);
    }
  }
  SessionHolder(const SessionHolder&) = delete;
  SessionHolder& operator=(const SessionHolder&) = delete;
  ~SessionHolder() { tbem_session_free(session); }
  std::string error() const { return tbem_session_error(session); }
};

/// What one question came to.
struct Said {
  tbem_outcome outcome = TBEM_INTERNAL;
  bool there = false;
  std::string json, error, notes;
  std::size_t lines = 0;
};

using Ask = tbem_outcome (*)(tbem_session*, const tbem_option*, std::size_t, tbem_result**);
inline Said said(tbem_outcome outcome, tbem_result* result) {
  Said answer{outcome,
              result != nullptr,
              tbem_result_json(result),
              tbem_result_error(result),
              tbem_result_notes(result),
              tbem_result_line_count(result)};
  tbem_result_free(result);
  return answer;
}
inline Said ask(const SessionHolder& holder, Ask question, std::initializer_list<tbem_option> options = {}) {
  tbem_result* result = nullptr;
  const tbem_outcome outcome = question(holder.session, options.begin(), options.size(), &result);
  return said(outcome, result);
}

struct StepHolder {
  tbem_step* step = nullptr;
  Said made;
  StepHolder(const SessionHolder& holder, std::initializer_list<tbem_option> options) {
    tbem_result* result = nullptr;
    const tbem_outcome outcome = tbem_step_new(holder.session, options.begin(), options.size(), &step, &result);
    made = said(outcome, result);
  }
  StepHolder(const StepHolder&) = delete;
  StepHolder& operator=(const StepHolder&) = delete;
  ~StepHolder() { tbem_step_free(step); }
  std::string error() const { return tbem_step_error(step); }
};

/// A tensor whose memory is this object's; `released` counts the calls of its deleter.
template <class Managed = DLManagedTensor>
struct Given {
  Managed tensor{};
  std::vector<std::int64_t> shape, strides;
  int released = 0;
  Given(void* data, std::vector<std::int64_t> dims, DLDataType type = {kDLFloat, 32, 1}, std::vector<std::int64_t> steps = {})
      : shape(std::move(dims)), strides(std::move(steps)) {
    DLTensor& to = tensor.dl_tensor;
    to.data = data;
    to.device = {kDLCPU, 0};
    to.ndim = static_cast<std::int32_t>(shape.size());
    to.dtype = type;
    to.shape = shape.data();
    to.strides = strides.empty() ? nullptr : strides.data();
    tensor.manager_ctx = this;
    tensor.deleter = [](Managed* self) { ++static_cast<Given*>(self->manager_ctx)->released; };
  }
  Given(const Given&) = delete;
  Given& operator=(const Given&) = delete;
};

/// The elements of a tensor that `get` copies, of type T.
template <class T>
std::vector<T> copied(tbem_step* step, const char* name) {
  DLManagedTensor* tensor = nullptr;
  EXPECT_EQ(tbem_step_get(step, name, TBEM_COPY, &tensor), TBEM_DONE) << tbem_step_error(step);
  if (tensor == nullptr) return {};
  std::size_t count = 1;
  for (std::int32_t k = 0; k < tensor->dl_tensor.ndim; ++k) count *= static_cast<std::size_t>(tensor->dl_tensor.shape[k]);
  const T* const data = static_cast<const T*>(tensor->dl_tensor.data);
  std::vector<T> elements(data, data + count);
  tensor->deleter(tensor);
  return elements;
}

}  // namespace tbem::test
