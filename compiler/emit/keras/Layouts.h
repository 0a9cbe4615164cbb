// Where the channels of each tensor lie in the program: images, signals and volumes have them last, all other tensors as here.
// Internal to compiler/emit/keras.
#pragma once

#include "compiler/emit/python/Reader.h"

#include <set>
#include <string_view>

namespace tbem::emit::keras {

class Layouts {
public:
  /// Of the network's inputs, those of four and five dimensions of real numbers have their channels last.
  explicit Layouts(const graph::Row& row);

  bool isLast(graph::TensorId tensor) const { return last.contains(tensor); }
  void setLast(graph::TensorId tensor) { last.insert(tensor); }
  /// The tensor's text with its dimensions in our order, or with the channels last.
  Marked inOrder(graph::TensorId tensor, Binding least = Binding::Any) const;
  Marked withLast(graph::TensorId tensor, Binding least = Binding::Any) const;

private:
  const graph::Row& row;
  std::set<graph::TensorId> last;
};

/// Which of our dimensions lies at each place where the channels are last: (0, 2, 3, 1).
Numbers channelsLast(std::size_t rank);
/// The place of our dimension there.
std::int64_t placeOf(std::int64_t axis, std::size_t rank);
/// The tensor with its dimensions in this order.
Marked transposed(const Marked& text, const Numbers& order);

/// What decides over a whole program.
struct Choices {
  bool pads = false;  ///< convolutions take their zeros as numbers, as "same" and "valid" do not say all of them
};
Choices choicesOf(const graph::Row& row);

/// A call with its layouts. Writers say by `makesLast` which results have their channels last.
class KerasCall : public CallReader {
public:
  KerasCall(const graph::Row& row, const graph::Call& call, Scribe& scribe, Layouts& layouts, const Choices& choices)
      : CallReader(row, call, scribe), choices(choices), layouts(layouts) {}

  bool isLast(std::size_t position = 0) const { return layouts.isLast(tensor(position)); }
  std::size_t rank(std::size_t position = 0) const { return shape(position).size(); }
  Marked inOrder(std::size_t position, Binding least = Binding::Any) const { return layouts.inOrder(tensor(position), least); }
  Marked withLast(std::size_t position, Binding least = Binding::Any) const { return layouts.withLast(tensor(position), least); }
  void makesLast() const;
  void keepsLayout() const {
    if (isLast()) makesLast();
  }
  /// Our axis of the first operand, as the program counts it: -1 for the last.
  std::int64_t axisOf(std::int64_t axis) const;

  const Choices& choices;
  Layouts& layouts;
};

/// Zeros at [top, left, bottom, right] of an image or at both ends of a signal; what Keras's "same" puts there agrees with it.
bool isSame(const Numbers& size, const Numbers& kernel, const Numbers& stride, const Numbers& dilation, const Numbers& pad,
            const Numbers& result);
/// The text, padded by these numbers; channels are last. `value`: ", constant_values=..." of what is put there.
Marked padded(const KerasCall& call, const Marked& text, const Numbers& pad, std::string_view value = "");
/// These numbers as `ops.pad` takes them, of a tensor with its channels last.
Marked sidesText(const KerasCall& call, const Numbers& pad);

}  // namespace tbem::emit::keras
