#include "compiler/embed/Options.h"

#include "compiler/driver/Commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace tbem::embed {

namespace {

using driver::NamedOption;

struct Refusal {
  std::string_view name;
  const char* why;
  std::optional<Question> of = {};  ///< of this question alone
};

constexpr const char* kOfTerminals = "says what a terminal shows; a result is read line by line";
constexpr const char* kOfFiles = "is of files, which this interface does not write or take";
constexpr const char* kOfTensors = "is of files of arrays; set and get the step's tensors";
constexpr const char* kOfRuns = "is of the program tbemc; run the step as often as you like";
constexpr const char* kOfCommands = "runs a command, which the program tbemc alone does";
constexpr const char* kOfRecords = "reads what tbemc keeps of this machine, which the program tbemc alone does";
constexpr Refusal kRefused[] = {
    {"json", kOfTerminals},
    {"sarif", kOfTerminals},
    {"quiet", kOfTerminals},
    {"color", kOfTerminals},
    {"width", kOfTerminals},
    {"time", kOfTerminals},
    {"verbose", kOfTerminals},
    {"emit", kOfTerminals},
    {"print-after", kOfTerminals},
    {"fix", kOfFiles},
    {"out", kOfFiles},
    {"save", kOfTensors, Question::Step},
    {"load", kOfTensors, Question::Step},
    {"names", kOfTensors, Question::Step},
    {"partial", kOfTensors, Question::Step},
    {"steps", kOfRuns, Question::Step},
    {"repeat", kOfRuns, Question::Step},
    {"profile", kOfRuns, Question::Step},
    {"run", kOfCommands, Question::Spec},
    {"csv", kOfTerminals, Question::Spec},
    {"tune", kOfRecords},
};

/// Why this interface does not take the option, or "".
std::string whyRefused(Question question, const NamedOption& option) {
  for (const Refusal& refused : kRefused) {
    if (option.name == refused.name && (!refused.of || question == *refused.of))
      return fmt::format("the option `{}` {}", option.name, refused.why);
  }
  if (option.name == "roofline" && option.value && (*option.value == "cpu" || option.value->starts_with("cpu:")))
    return fmt::format("`roofline` of `{}` {}", *option.value, kOfRecords);
  return {};
}

const driver::Command& commandOf(Question question) {
  switch (question) {
    case Question::Check:
      return driver::kCheck;
    case Question::Estimate:
      return driver::kEstimate;
    case Question::Fit:
      return driver::kFit;
    case Question::Step:
      return driver::kStep;
    case Question::WhatIf:
      return driver::kWhatIf;
    case Question::Spec:
      return driver::kSpec;
  }
  return driver::kCheck;
}

/// Without a folder a command looks for cuDNN where the environment says.
void askNoCudnn(Question question, std::vector<NamedOption>& options) {
  if (question != Question::Estimate && question != Question::Fit && question != Question::WhatIf) return;
  const auto has = [&](std::string_view name, std::string_view value) {
    return std::any_of(options.begin(), options.end(), [&](const NamedOption& option) {
      return option.name == name && (value.empty() || option.value == value);
    });
  };
  const bool asks = question == Question::WhatIf || has("on", "pytorch") || has("explain", "workspace");
  if (asks && !has("cudnn", "")) options.push_back({"cudnn", "none"});
}

}  // namespace

tl::expected<std::unique_ptr<driver::Invocation>, std::string> invocationOf(Question question,
                                                                            std::span<const tbem_option> options) {
  std::vector<NamedOption> named;
  for (const tbem_option& option : options) {
    named.push_back({option.name, {}});
    if (option.value != nullptr) named.back().value = option.value;
    if (std::string why = whyRefused(question, named.back()); !why.empty()) return tl::unexpected(std::move(why));
  }
  askNoCudnn(question, named);
  auto invocation = driver::withOptions(commandOf(question), named);
  if (!invocation) return tl::unexpected(fmt::format("{}", fmt::join(invocation.error().messages, "; ")));
  return std::move(*invocation);
}

}  // namespace tbem::embed
