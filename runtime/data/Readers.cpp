#include "runtime/data/Readers.h"

#include "compiler/support/Bug.h"

#include <filesystem>

namespace tbem::data {

const std::vector<Reader>& readers() {
  static const std::vector<Reader> list = {
      {"cifar10", describeCifar10, openCifar10},
      {"cifar100", describeCifar100, openCifar100},
      {"fashion_mnist", describeFashionMnist, openFashionMnist},
      {"image_folder", describeImageFolder, openImageFolder},
      {"mnist", describeMnist, openMnist},
      {"npy", describeNpy, openNpy},
      {"svhn", describeSvhn, openSvhn},
      {"synthetic", describeSynthetic, openSynthetic},
  };
  return list;
}

const Reader* findReader(std::string_view name) {
  for (const Reader& reader : readers()) {
    if (name == reader.name) return &reader;
  }
  return nullptr;
}

std::int64_t Feature::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t dim : shape) count *= dim;
  return count;
}

namespace {

/// A declaration and its reader that do not agree: a mistake of ours, which tests find.
[[noreturn]] void disagree(std::string_view name) { TBEM_BUG("no setting `{}` of the type that its reader asks for", name); }

template <class T>
T convert(const Setting& setting, std::string_view name) {
  if (const T* same = std::get_if<T>(&setting)) return *same;
  if constexpr (std::is_same_v<T, double>) {
    if (const auto* whole = std::get_if<std::int64_t>(&setting)) return static_cast<double>(*whole);
  }
  if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    if (const auto* empty = std::get_if<std::vector<double>>(&setting); empty != nullptr && empty->empty()) return {};
  }
  disagree(name);
}

}  // namespace

template <class T>
T Settings::get(std::string_view name) const {
  const auto found = values.find(name);
  if (found == values.end()) disagree(name);
  return convert<T>(found->second, name);
}

template bool Settings::get(std::string_view) const;
template std::int64_t Settings::get(std::string_view) const;
template double Settings::get(std::string_view) const;
template std::string Settings::get(std::string_view) const;
template std::vector<double> Settings::get(std::string_view) const;
template std::vector<std::string> Settings::get(std::string_view) const;

std::string Settings::path(std::string_view name) const {
  const auto given = get<std::string>(name);
  if (given.empty() || folder.empty() || std::filesystem::path(given).is_absolute()) return given;
  return (std::filesystem::path(folder) / given).string();
}

}  // namespace tbem::data
