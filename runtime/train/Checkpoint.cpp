#include "runtime/train/Checkpoint.h"

#include "runtime/data/ArrayFile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <xxhash.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

namespace tbem::train {

namespace {

using Json = nlohmann::ordered_json;
using Failure = tl::unexpected<std::string>;
using runtime::BufferClass;

constexpr std::string_view kFormat = "training 1", kChecksum = "checksum";

constexpr std::pair<BufferClass, std::string_view> kGroups[] = {
    {BufferClass::Weight, "weight/"}, {BufferClass::Buffer, "buffer/"}, {BufferClass::State, "state/"}};

void addArrays(const Snapshot& snapshot, std::string_view prefix, std::vector<data::Array>& out) {
  for (const Snapshot::Entry& entry : snapshot.entries) {
    for (const auto& [kind, group] : kGroups) {
      if (kind == entry.kind) out.push_back(data::fromTensor(fmt::format("{}{}{}", prefix, group, entry.path), entry.value));
    }
  }
}

using Texts = std::vector<std::pair<std::string, std::string>>;

Json toJson(const Texts& texts) {
  Json out = Json::object();
  for (const auto& [name, value] : texts) out[name] = value;
  return out;
}
Texts toTexts(const Json& json) {
  Texts texts;
  for (const auto& [name, value] : json.items()) texts.emplace_back(name, value.get<std::string>());
  return texts;
}

/// JSON knows no infinity and no NaN: they are texts, "inf", "-inf", "nan".
Json lossJson(double loss) { return std::isfinite(loss) ? Json(loss) : Json(fmt::format("{}", loss)); }
double toLoss(const Json& json) {
  return json.is_string() ? std::strtod(json.get_ref<const std::string&>().c_str(), nullptr) : json.get<double>();
}

Json toJson(const Score& score) {
  Json out{{"loss", lossJson(score.loss)}};
  if (score.accuracy) out["accuracy"] = *score.accuracy;
  if (score.flops) out["flops"] = *score.flops;
  for (const runtime::GateCount& gate : score.gates)
    out["gates"].push_back({{"gate", gate.gate}, {"exits", gate.exits}, {"reached", gate.reached}, {"taken", gate.taken}});
  for (const double loss : score.turns) out["turns"].push_back(lossJson(loss));
  return out;
}
Score toScore(const Json& json) {
  Score score;
  score.loss = toLoss(json.at("loss"));
  if (json.contains("accuracy")) score.accuracy = json.at("accuracy").get<double>();
  if (json.contains("flops")) score.flops = json.at("flops").get<double>();
  for (const Json& gate : json.value("gates", Json::array())) {
    score.gates.push_back({gate.at("gate").get<std::string>(), gate.at("exits").get<bool>(),
                           gate.at("reached").get<std::int64_t>(), gate.at("taken").get<std::int64_t>()});
  }
  for (const Json& loss : json.value("turns", Json::array())) score.turns.push_back(toLoss(loss));
  return score;
}

Json toJson(const EpochReport& epoch) {
  Json out{{"epoch", epoch.epoch},         {"steps", epoch.steps},
           {"seconds", epoch.seconds},     {"examples_per_second", epoch.examplesPerSecond},
           {"train", toJson(epoch.train)}, {"best", epoch.best}};
  if (epoch.rate) out["rate"] = *epoch.rate;
  if (epoch.validation) out["validation"] = toJson(*epoch.validation);
  return out;
}
EpochReport toEpoch(const Json& json) {
  EpochReport epoch;
  epoch.epoch = json.at("epoch").get<std::int64_t>();
  epoch.steps = json.at("steps").get<std::int64_t>();
  epoch.seconds = json.at("seconds").get<double>();
  epoch.examplesPerSecond = json.at("examples_per_second").get<double>();
  if (json.contains("rate")) epoch.rate = json.at("rate").get<double>();
  epoch.train = toScore(json.at("train"));
  epoch.best = json.at("best").get<bool>();
  if (json.contains("validation")) epoch.validation = toScore(json.at("validation"));
  return epoch;
}

Json toJson(const Progress& progress) {
  Json out{{"epoch", progress.epoch},
           {"in_epoch", progress.inEpoch},
           {"step", progress.step},
           {"loss_sum", progress.tally.loss},
           {"correct", progress.tally.correct},
           {"counted", progress.tally.counted},
           {"weight", progress.tally.weight},
           {"seconds", progress.seconds},
           {"best_epoch", progress.bestEpoch},
           {"ended", progress.ended},
           {"early", progress.early}};
  for (const double sum : progress.tally.turns) out["turn_sums"].push_back(lossJson(sum));
  if (progress.bestLoss) out["best_loss"] = *progress.bestLoss;
  if (progress.test) out["test"] = toJson(*progress.test);
  out["epochs"] = Json::array();
  for (const EpochReport& epoch : progress.epochs) out["epochs"].push_back(toJson(epoch));
  return out;
}
Progress toProgress(const Json& json) {
  Progress progress;
  progress.epoch = json.at("epoch").get<std::int64_t>();
  progress.inEpoch = json.at("in_epoch").get<std::int64_t>();
  progress.step = json.at("step").get<std::int64_t>();
  progress.tally.loss = json.at("loss_sum").get<double>();
  progress.tally.correct = json.at("correct").get<std::int64_t>();
  progress.tally.counted = json.value("counted", std::int64_t{-1});
  progress.tally.weight = json.value("weight", 0.0);
  for (const Json& sum : json.value("turn_sums", Json::array())) progress.tally.turns.push_back(toLoss(sum));
  progress.tally.steps = progress.inEpoch;
  progress.seconds = json.at("seconds").get<double>();
  progress.bestEpoch = json.at("best_epoch").get<std::int64_t>();
  progress.ended = json.at("ended").get<bool>();
  progress.early = json.at("early").get<bool>();
  if (json.contains("best_loss")) progress.bestLoss = json.at("best_loss").get<double>();
  if (json.contains("test")) progress.test = toScore(json.at("test"));
  for (const Json& epoch : json.at("epochs")) progress.epochs.push_back(toEpoch(epoch));
  return progress;
}

/// The array's place in the checkpoint; false for a name that has none.
bool addEntry(std::string_view name, runtime::HostTensor value, Checkpoint& out) {
  Snapshot& snapshot = name.starts_with("best/") ? out.best : out.now;
  if (name.starts_with("best/")) name.remove_prefix(5);
  for (const auto& [kind, group] : kGroups) {
    if (!name.starts_with(group)) continue;
    snapshot.entries.push_back({kind, std::string(name.substr(group.size())), std::move(value)});
    return true;
  }
  return false;
}

/// Of everything that the file holds, in whatever order: 128 bits of XXH3 in hexadecimal digits.
std::string checksumOf(std::vector<data::ArrayView> arrays, const data::Metadata& metadata) {
  std::sort(arrays.begin(), arrays.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string all;
  for (const auto& [name, text] : metadata) {
    if (name != kChecksum) all += fmt::format("{} {} {}\n", name, text.size(), text);
  }
  for (const data::ArrayView& array : arrays)
    all += fmt::format("{} {} {} {:016x}\n", array.name, array.dtype, fmt::join(array.shape, ","),
                       XXH3_64bits(array.bytes.data(), array.bytes.size()));
  const XXH128_hash_t sum = XXH3_128bits(all.data(), all.size());
  return fmt::format("{:016x}{:016x}", sum.high64, sum.low64);
}

tl::expected<Checkpoint, std::string> parse(const data::ArrayFile& file) {
  const auto format = file.metadata.find("tbem");
  if (format == file.metadata.end()) return Failure("it is no checkpoint of a training");
  if (format->second != kFormat)
    return Failure(fmt::format("it is a checkpoint of another version (`{}`, this one reads `{}`)", format->second, kFormat));
  const auto checksum = file.metadata.find(kChecksum);
  if (checksum != file.metadata.end() && checksum->second != checksumOf(file.arrays, file.metadata))
    return Failure("its checksum does not fit: the file has changed since it was written");
  Checkpoint out;
  try {
    out.identity = toTexts(Json::parse(file.metadata.at("identity")));
    out.machine = toTexts(Json::parse(file.metadata.at("machine")));
    out.progress = toProgress(Json::parse(file.metadata.at("progress")));
  } catch (const std::exception& error) {
    return Failure(fmt::format("its metadata cannot be read: {}", error.what()));
  }
  const Progress& p = out.progress;
  if (p.epoch < 0 || p.inEpoch < 0 || p.step < p.inEpoch || p.tally.correct < 0 || p.tally.counted < -1)
    return Failure("its metadata is not sound");
  for (const data::ArrayView& array : file.arrays) {
    const data::ElementType* type = data::findElementType(array.dtype);
    if (type == nullptr || type->runtime < 0)
      return Failure(fmt::format("`{}` has elements of type {}", array.name, array.dtype));
    auto tensor = data::toTensor(array, type->runtime);
    if (!tensor) return Failure(tensor.error());
    if (!addEntry(array.name, std::move(*tensor), out)) return Failure(fmt::format("`{}` has no place in it", array.name));
  }
  return out;
}

}  // namespace

tl::expected<void, std::string> prepareFolder(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Failure(fmt::format("cannot make the folder {}: {}", folder.string(), failed.message()));
  if (access(folder.c_str(), W_OK) == 0) return {};
  return Failure(fmt::format("cannot write into {}: {} (errno {})", folder.string(), std::strerror(errno), errno));
}

tl::expected<void, std::string> writeCheckpoint(const std::string& path, const Checkpoint& checkpoint) {
  if (auto ready = prepareFolder(path); !ready) return ready;
  std::vector<data::Array> arrays;
  addArrays(checkpoint.now, "", arrays);
  addArrays(checkpoint.best, "best/", arrays);
  data::Metadata metadata = {{"tbem", std::string(kFormat)},
                             {"identity", toJson(checkpoint.identity).dump()},
                             {"machine", toJson(checkpoint.machine).dump()},
                             {"progress", toJson(checkpoint.progress).dump()}};
  const std::vector<data::ArrayView> views(arrays.begin(), arrays.end());
  metadata[std::string(kChecksum)] = checksumOf(views, metadata);
  return data::writeSafetensors(path, views, metadata);
}

tl::expected<std::optional<Checkpoint>, std::string> readCheckpoint(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::optional<Checkpoint>();
  const auto file = data::ArrayFile::open(path);
  if (!file) return Failure(fmt::format("{}; --fresh trains anew", file.error()));
  auto checkpoint = parse(*file);
  if (!checkpoint) return Failure(fmt::format("cannot take up {}: {}; --fresh trains anew", path, checkpoint.error()));
  return std::optional<Checkpoint>(std::move(*checkpoint));
}

std::string differences(const std::vector<std::pair<std::string, std::string>>& was,
                        const std::vector<std::pair<std::string, std::string>>& is) {
  const auto find = [](const auto& list, const std::string& name) -> const std::string* {
    for (const auto& [key, value] : list) {
      if (key == name) return &value;
    }
    return nullptr;
  };
  // A turn with the network's own loss begins with a blank.
  const auto text = [](const std::string& value) {
    const std::size_t first = value.find_first_not_of(' ');
    return first == std::string::npos ? std::string("none") : value.substr(first);
  };
  std::vector<std::string> found;
  for (const auto& [name, value] : is) {
    const std::string* before = find(was, name);
    if (before == nullptr || *before != value)
      found.push_back(fmt::format("{} was {}, is {}", name, before == nullptr ? "none" : text(*before), text(value)));
  }
  for (const auto& [name, value] : was) {
    if (find(is, name) == nullptr) found.push_back(fmt::format("{} was {}, is none", name, text(value)));
  }
  return fmt::format("{}", fmt::join(found, "; "));
}

}  // namespace tbem::train
