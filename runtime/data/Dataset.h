// A dataset: examples in two splits, read by their numbers. A reader (fashion_mnist, cifar10, npy, synthetic, ...) makes one from
// the settings that the program gives; training and measuring know datasets by this header alone.
//
// Everything here is deterministic: the same files and settings give the same examples, whatever was read before and by how many
// threads. Errors are texts for the user: the path, what was found and expected, and the way out
// ("apt-get install dataset-fashion-mnist").
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tbem::data {

enum class Split : std::uint8_t { Train, Test };

/// One tensor of an example, without the batch's dimension: {"image", {3, 32, 32}}.
struct Feature {
  std::string name;
  std::vector<std::int64_t> shape;  ///< empty: one number an example

  std::int64_t elements() const;  ///< of one example: the product of `shape`
};

/// What is known of a dataset before an example is read.
struct Description {
  std::vector<Feature> inputs;          ///< f32 each, in the order of the network's inputs: one or more
  Feature target;                       ///< class numbers (one an example: shape empty), or numbers to be approximated
  std::int64_t classes = 0;             ///< > 0: labels are i64 in [0, classes), or kNoClass. 0: the target is f32
  std::vector<std::string> classNames;  ///< `classes` of them, or none
  std::int64_t train = 0, test = 0;     ///< examples of each split; a dataset without a test split has 0

  std::int64_t count(Split split) const { return split == Split::Train ? train : test; }
};

/// Where examples are written, one after the other, each row-major. The caller owns the memory: examples * elements() numbers
/// each.
struct Batch {
  std::vector<float*> inputs;      ///< one an input of the description
  std::int64_t* labels = nullptr;  ///< the target, where there are classes
  float* targets = nullptr;        ///< the target, where there are none
};

class Dataset {
public:
  virtual ~Dataset() = default;
  virtual const Description& description() const = 0;
  /// A hash of everything that decides what `read` gives: contents (or name, size and time of each file, where contents are too
  /// many to be read at once) and settings. A checkpoint keeps it, and is not resumed on other data.
  virtual std::uint64_t fingerprint() const = 0;
  /// Writes the examples with these numbers, each in [0, count(split)), in this order; a number may occur twice. Several threads
  /// may read at once. An error leaves `into` undefined.
  virtual tl::expected<void, std::string> read(Split split, std::span<const std::int64_t> examples, const Batch& into) const = 0;
};

/// A value of the program: `size: 32` is an int64, `mean: [0.5]` a list of doubles, `folder: "x"` a string.
using Setting = std::variant<bool, std::int64_t, double, std::string, std::vector<double>, std::vector<std::string>>;

/// All parameters of the dataset's declaration in stdlib/data, defaults included, so a reader finds every one that is declared
/// there.
struct Settings {
  std::map<std::string, Setting, std::less<>> values;
  std::string folder;  ///< of the program: relative paths in the values begin here; "": the working folder

  /// The value of a parameter that the declaration has with this type; anything else is a bug. Whole numbers are given as
  /// doubles where those are asked for, and a list without elements as any list.
  template <class T>
  T get(std::string_view name) const;
  /// A path of the program: relative ones are taken from `folder`.
  std::string path(std::string_view name) const;
};

/// How one kind of dataset is opened: one row a `dataset` declaration of stdlib/data, whose parameters are its settings and whose
/// `native` name is `name`.
struct Reader {
  const char* name;
  /// Without reading files where shapes and counts are fixed (a program is checked on a machine without the data); else from
  /// the files' headers. Errors: a setting out of its range, files as above.
  tl::expected<Description, std::string> (*describe)(const Settings& settings);
  /// With its files found and their sizes checked.
  tl::expected<std::unique_ptr<Dataset>, std::string> (*open)(const Settings& settings);
};

/// All readers, in the order of their names.
const std::vector<Reader>& readers();
const Reader* findReader(std::string_view name);  ///< nullptr: no such reader

}  // namespace tbem::data
