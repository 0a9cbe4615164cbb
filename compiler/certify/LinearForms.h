// Bounds of linear forms of a network's values over a ball of inputs, by carrying them back to the input: CROWN (Zhang et al.
// 2018), DeepPoly (Singh et al. 2019). Internal to this folder.
//
// A form is a coefficient for each element of some values and a constant, which is at most what is asked for at every input.
// Behind a linear step the form is one of its inputs, exactly; at another step each element is replaced by its line below it
// where the coefficient is positive, above it where it is negative (Relaxation.h), or by its interval's end. What the network's
// arithmetic and ours lose at a step is taken off (Value::slack). At the input the least value over the ball is known in closed
// form.
#pragma once

#include "compiler/certify/Kernels.h"
#include "compiler/certify/Relaxation.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tbem::certify {

/// The inputs: `around`, an element's interval, and within an L2 distance of `centre` where `radius` is finite.
struct Inputs {
  Box around;
  std::vector<double> centre;
  double radius = kInfinity;
};

/// What is known of the values so far.
struct Knowledge {
  const Steps& steps;
  Losses losses;
  Inputs inputs;
  std::vector<Value> values;                   ///< by step; none of constants
  std::vector<Relaxation> relaxations;         ///< by step; empty: none
  std::vector<std::int8_t> decided;            ///< by gate: as Bound::decided
  std::vector<std::vector<std::int8_t>> rows;  ///< as Bound::rows

  const Box& box(ValueId id) const { return steps.isConstant(id) ? steps[id].constant : values[id].box; }
  /// Which of a join's inputs has this element of its value; nothing where that is not known. A row of places has as many
  /// elements as another.
  std::optional<std::size_t> armOf(const Step& join, std::size_t element) const {
    const std::vector<std::int8_t>& of = rows[join.gate];
    const std::int8_t here = of[element / (join.shape.count() / of.size())];
    return here < 0 ? std::nullopt : std::optional<std::size_t>(static_cast<std::size_t>(here));
  }
};

/// What is known of all rows that a gate decides about together, as Bound::decided.
std::int8_t together(std::span<const std::int8_t> rows);

struct Term {
  ValueId value = 0;
  std::size_t element = 0;
  double factor = 1;
};

class LinearForms {
public:
  explicit LinearForms(const Knowledge& knowledge);

  /// Contains the sum of the terms at every input.
  Interval range(std::span<const Term> terms) { return {least(terms, 1), -least(terms, -1)}; }
  /// At most `sign` times the sum of the terms at every input; not finite where nothing is known.
  double least(std::span<const Term> terms, double sign);
  std::int64_t products = 0;  ///< multiply-adds of convolutions so far
  std::int64_t touched = 0;   ///< elements to which sums and moves were carried back, one by one

private:
  struct Form {
    std::vector<double> of;  ///< by element, 0 outside of the window
    Window window;
  };

  double* open(ValueId value, const Window& window);
  void touch(ValueId value, std::size_t element, double factor);
  void back(ValueId value);
  void backConvolve(const Step& step, const Form& form);
  void backAffine(ValueId value, const Form& form);
  void backLines(const Step& step, const Form& form, const Relaxation& lines);
  void backGather(const Step& step, const Form& form);
  void backSums(const Step& step, const Form& form);
  template <class From>
  void backOneOf(ValueId value, const Form& form, From from);
  void backSelect(ValueId value, const Form& form);
  void backJoin(ValueId value, const Form& form);
  void backInput(const Form& form);
  void hand(const Step& step, const Form& form, std::size_t input, double factor);
  void end(const Shape& shape, const Form& form, const std::vector<double>& low, const std::vector<double>& high);
  void takeSlack(ValueId value, const Form& form);
  void collect(const Lanes& sums, double count);
  void addConstant(double term);

  const Knowledge& known;
  std::vector<Form> forms;  ///< by value
  double constant = 0, absolute = 0;
  double terms = 0;  ///< additions to the constant
};

}  // namespace tbem::certify
