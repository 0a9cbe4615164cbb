// A vector that its copies share until one of them is changed.
//
// Values of elaboration time are copied far more often than changed: a name is read, an argument is bound, a scope is kept.
// Copies may be read by several threads, as those of any vector.
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tbem::sema {

template <class T>
class SharedVector {
public:
  SharedVector() = default;
  SharedVector(std::vector<T> elements) {  // NOLINT(google-explicit-constructor): it is one
    if (!elements.empty()) shared = std::make_shared<std::vector<T>>(std::move(elements));
  }
  SharedVector(std::initializer_list<T> elements) : SharedVector(std::vector<T>(elements)) {}
  explicit SharedVector(std::size_t count) : SharedVector(std::vector<T>(count)) {}

  // Reading
  std::size_t size() const { return shared ? shared->size() : 0; }
  bool empty() const { return size() == 0; }
  const T* data() const { return shared ? shared->data() : nullptr; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  const T& operator[](std::size_t i) const { return (*shared)[i]; }
  const T& front() const { return shared->front(); }
  const T& back() const { return shared->back(); }
  operator const std::vector<T>&() const {  // NOLINT(google-explicit-constructor)
    static const std::vector<T> none;
    return shared ? *shared : none;
  }
  friend bool operator==(const SharedVector& a, const SharedVector& b) {
    if (a.shared == b.shared) return true;
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(a[i] == b[i])) return false;
    }
    return true;
  }

  // Changing. References into it end where it was shared.
  std::vector<T>& own() {
    if (!shared)
      shared = std::make_shared<std::vector<T>>();
    else if (shared.use_count() != 1)
      shared = std::make_shared<std::vector<T>>(*shared);
    else
      std::atomic_thread_fence(std::memory_order_acquire);  // behind the reads of a thread that dropped the last copy
    return *shared;
  }
  void push_back(T element) { own().push_back(std::move(element)); }
  void reserve(std::size_t count) { own().reserve(count); }
  void clear() { shared.reset(); }
  /// The elements, moved where nobody shares them; it is empty then.
  std::vector<T> take() {
    std::vector<T> elements = std::move(own());
    clear();
    return elements;
  }

private:
  std::shared_ptr<std::vector<T>> shared;
};

}  // namespace tbem::sema
