// The text of the file that keeps cuDNN's answers (Engines.h of runtime/cudnn): a line that names the format, a checksum
// of the rest, what was asked (library, libcuda, device), cuDNN's version, and for each question a line
// `LIST <tab> PROBLEM <tab> ENGINE..`, an engine being `INDEX WORKSPACE NUMERICAL BEHAVIOUR KNOB VALUE..`.
#pragma once

#include "runtime/cudnn/Engines.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tbem::driver {

/// A question: which list, and the problem's line.
std::string engineKey(cudnn::List list, const cudnn::Problem& problem);

struct EngineAnswers {
  std::string version;                                      ///< of cuDNN: "9.19.0"
  std::map<std::string, std::vector<cudnn::Engine>> lists;  ///< by engineKey
};

/// `asked`: one line.
std::string enginesText(const std::string& asked, const EngineAnswers& answers);
/// Format and checksum before what they stand for.
std::string sealEngines(std::string_view body);
/// The answers of a file's text, each read when it is asked for.
class KeptEngines {
public:
  KeptEngines() = default;  ///< none
  /// Nothing where the text is no such file, is damaged, or answers something else than `asked`.
  static std::optional<KeptEngines> open(std::string text, const std::string& asked);
  /// Whatever was asked.
  static std::optional<KeptEngines> open(std::string text);
  /// The line that says what was asked: library, libcuda, device.
  const std::string& asked() const { return question; }
  const std::string& version() const { return ofCudnn; }
  /// Nothing where there is no such answer, or its line is none.
  std::optional<std::vector<cudnn::Engine>> find(const std::string& key) const;

private:
  std::unique_ptr<const std::string> text;
  std::unordered_map<std::string_view, std::string_view> lines;  ///< engines by key, both in `text`
  std::string question, ofCudnn;
};

/// The answers of a file's text, all read; nothing where it is none, is damaged, or answers something else than `asked`.
std::optional<EngineAnswers> parseEngines(std::string_view text, const std::string& asked);

}  // namespace tbem::driver
