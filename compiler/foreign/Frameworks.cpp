#include "compiler/foreign/Frameworks.h"

#include "compiler/emit/keras/Keras.h"

#include <algorithm>
#include <array>

namespace tbem::foreign {

namespace {

constexpr std::array kTensorFlow = {"tensorflow"};
constexpr std::array kJax = {"jax", "jaxlib"};
constexpr std::array kTorch = {"torch"};
constexpr Engine kKerasEngines[] = {{"tensorflow", kTensorFlow}, {"jax", kJax}, {"torch", kTorch}};

constexpr Framework kFrameworks[] = {
    {"pytorch", "PyTorch", "torch", emit::emitPyTorch},
    {"keras", "Keras", "keras", emit::emitKeras, &kKerasEngines[0]},
    {"keras", "Keras", "keras", emit::emitKeras, &kKerasEngines[1]},
    {"keras", "Keras", "keras", emit::emitKeras, &kKerasEngines[2]},
};

}  // namespace

std::span<const Framework> frameworks() { return kFrameworks; }

const Framework* frameworkOf(std::string_view name) {
  const auto* const found = std::ranges::find_if(kFrameworks, [&](const Framework& each) { return each.name == name; });
  return found == std::end(kFrameworks) ? nullptr : found;
}

const Framework* withEngine(const Framework& framework, std::string_view engine) {
  const auto* const row = std::ranges::find_if(kFrameworks, [&](const Framework& each) {
    return each.engine != nullptr && each.engine->name == engine && std::string_view(each.name) == framework.name;
  });
  return row == std::end(kFrameworks) ? nullptr : row;
}

}  // namespace tbem::foreign
